#!/usr/bin/env python3
"""How much of what programs out of core copy is hidden, on the fake CUDA with a described machine.

usage: outcore.py BUILD [STRETCH]

Kernels and copies take the times of a machine (listed.py), on a clock that is STRETCH (60) times slower; nothing is
computed. Beside the time of each run stand the seconds of its kernels and of its copies in, and the share of the
shorter of the two that is hidden; of several devices the efficiency; of orders near each other their speeds.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

import listed

BUILD = sys.argv[1]
STRETCH = sys.argv[2] if len(sys.argv) > 2 else "60"
LATENCY, BANDWIDTH = 10e-6, 12e9 # of the machine


def run(devices, *args):
    """Seconds, and of the device with most of them those of kernels and copies in."""
    with tempfile.TemporaryDirectory() as where:
        path = where + "/machine"
        with open(path, "w", encoding="utf-8") as out:
            out.write(listed.described(devices))
        env = dict(os.environ, DAG_MACHINE=path, DAG_STRETCH=STRETCH, FAKE_CUDA_MACHINE=path, FAKE_CUDA_COMPUTE="0",
                   FAKE_CUDA_STRETCH=STRETCH, FAKE_CUDA_REPORT=where + "/report", DAG_THREADS="2", DAG_WARNINGS="off",
                   LD_LIBRARY_PATH=BUILD + "/tests/gpu/fake/lib", DAG_DEVICE_PLUGIN="cuda=" + BUILD + "/lib/libdag_cuda.so")
        done = subprocess.run([BUILD + "/bin/bench_outcore", *map(str, args), "1"], env=env, capture_output=True,
                              text=True, check=False)
        if done.returncode:
            sys.exit(done.stderr)
        with open(where + "/report", encoding="utf-8") as report:
            each = json.load(report)["devices"]
    copies = [d["h2d"]["calls"] * LATENCY + d["h2d"]["bytes"] / BANDWIDTH for d in each]
    seconds = float(re.search(r": ([\d.]+) s;", done.stdout).group(1))
    return seconds, max(d["seconds"] for d in each), max(copies)


def hidden(seconds, kernels, copies):
    return 1 - max(seconds - max(kernels, copies), 0) / min(kernels, copies)


print("| routine | order | block | registers | ms | kernels | copies in | hidden of the shorter |\n|" + "---|" * 8)
for routine, block, registers in [("gemm", 256, 6), ("gemm", 256, 5), ("trsm", 256, 6), ("trsm", 256, 5),
                                  ("potrf", 256, 6), ("potrf", 256, 5), ("getrf", 256, 6), ("getrf", 128, 6)]:
    t = run(1, routine, 2048, block, registers)
    print("| %s | 2048 | %d | %d | %.1f | %.1f | %.1f | %.0f %% |"
          % (routine, block, registers, *(1e3 * x for x in t), 100 * max(hidden(*t), 0)), flush=True)
print("\n| routine | ms on 1 device | 2 | 4 | efficiency on 2 | 4 |\n|" + "---|" * 6)
for routine in "gemm", "trsm", "potrf", "getrf":
    t = [run(d, routine, 4096, 256, 6)[0] for d in (1, 2, 4)]
    print("| %s | %.1f | %.1f | %.1f | %.2f | %.2f |"
          % (routine, *(1e3 * x for x in t), t[0] / t[1] / 2, t[0] / t[2] / 4), flush=True)
print("\n| order | Gflop/s of gemm, blocks from memory |\n|---|---|")
for n in 2000, 2048, 2049, 2100, 2200, 2300, 4000, 4096, 4097, 4150, 4200, 4300:
    print("| %d | %.1f |" % (n, 2e-9 * n ** 3 / run(1, "gemm", n, 0, 6)[0]), flush=True)
