#!/usr/bin/env python3
"""Matrices larger than a device's memory, by graphs and by programs, on the fake CUDA: what both cost beside each other.

usage: ways.py BUILD [N...]

Per routine, order, and way: bytes to and from the device, of a run on one thread whose kernels take no time; host
instructions of the call (first order alone), counted by callgrind, in what is compiled from runtime/ and dsl-examples/,
so without the fake, kernels on cores and the C library; and milliseconds on the machine of listed.py: of kernels, and of the
whole. For a program that is when its last command ends (listed.py), for a graph what it is at least, all copies and
kernels beside each other: the largest of kernels, copies in, copies out, and cores.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

import listed

BUILD = os.path.abspath(sys.argv[1])
ORDERS = list(map(int, sys.argv[2:])) or [1000, 2000] # instructions are counted for the first
MEMORY = "4M"
ROUTINES = {"gemm": ["dag_gemm"], "trsm": ["dag_blas3", "--routine", "trsm"], "potrf": ["dag_potrf"],
            "getrf": ["dag_getrf"], "getrf_nopiv": ["dag_getrf", "--pivoting", "none"]}
CALLS = {"gemm": "dag_gemm_with", "trsm": "dag_trsm", "potrf": "dag_potrf", "getrf": "dag_getrf_with",
         "getrf_nopiv": "dag_getrf_nopiv"}
OURS = re.compile(r"(^|/)(runtime|dsl-examples|include/dag)/")


def machine(memory):
    return listed.described(1, workers=1, memory=memory)


def environment(**more):
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("DAG_", "FAKE_"))}
    return dict(clean, LD_LIBRARY_PATH=BUILD + "/tests/gpu/fake/lib", DAG_WARNINGS="off", DAG_DEVICE_ALWAYS="on",
                DAG_DEVICE_PLUGIN="cuda=" + BUILD + "/lib/libdag_cuda.so", DAG_DIRECT="off",
                DAG_DEVICE_MEMORY="cuda=" + MEMORY, **more)


def command(routine, n, way, nb):
    driver, *more = ROUTINES[routine]
    return [BUILD + "/bin/" + driver, *more, "--n", str(n), "--nb", str(nb), "--layout", "slab", "--threads", "1",
            "--gpus", "1", "--out-of-core", way, "--json"]


def output(args, env):
    done = subprocess.run(args, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit("%s: exit status %d\n%s" % (" ".join(args), done.returncode, done.stderr))
    return done.stdout


def counted(routine, n, way, nb):
    """Tasks on the device, bytes in and out."""
    text = output(command(routine, n, way, nb), environment(FAKE_CUDA_ZERO_TIME="1"))
    device = json.loads(text.splitlines()[-1])["devices"][0]
    return device["tasks"], device["bytes_in"], device["bytes_out"]


def modelled(routine, n, nb):
    """Seconds of a graph, at least, and those of its kernels."""
    with tempfile.TemporaryDirectory() as where:
        path = where + "/machine"
        with open(path, "w", encoding="utf-8") as out:
            out.write(machine("8M"))
        env = environment(DAG_MACHINE=path, FAKE_CUDA_MACHINE=path, FAKE_CUDA_COMPUTE="0", DAG_STRETCH="2",
                          FAKE_CUDA_STRETCH="2", FAKE_CUDA_REPORT=where + "/report")
        result = json.loads(output(command(routine, n, "graph", nb), env).splitlines()[-1])
        with open(where + "/report", encoding="utf-8") as report:
            device = json.load(report)["devices"][0]
    link = listed.Machine(machine(MEMORY))
    each = [device[way]["calls"] * link.latency + device[way]["bytes"] / link.bandwidth for way in ("h2d", "d2h")]
    return max(device["seconds"], result["core_seconds"], *each), device["seconds"]


def program(routine, n):
    text = output([BUILD + "/bin/bench_outcore", routine, str(n), "0", "6", "list"], environment())
    run = listed.Run(listed.Machine(machine(MEMORY)), text)
    return run.seconds, run.most("EXEC")


def instructions(routine, n, way, nb):
    """Of the library and its plug-in, in the call of the routine."""
    with tempfile.TemporaryDirectory() as where:
        profile = where + "/profile"
        output(["valgrind", "--tool=callgrind", "--toggle-collect=" + CALLS[routine], "--callgrind-out-file=" + profile] +
               command(routine, n, way, nb), environment(FAKE_CUDA_ZERO_TIME="1"))
        count, ours, names = 0, False, {}
        with open(profile, encoding="utf-8") as file:
            for line in file:
                found = re.match(r"(c?)f[lie]=\((\d+)\)(?: (.*))?$", line)
                if found:
                    callee, number, name = found.groups()
                    if name:
                        names[number] = name
                    ours = ours if callee else OURS.search(names[number]) is not None
                elif line.startswith("calls="):
                    next(file)
                elif line[0] in "+-*" or line[0].isdigit():
                    count += int(line.split()[1]) if ours else 0
    if count == 0:
        sys.exit("%s was not called" % CALLS[routine])
    return count


def main():
    print("| | order | way | tasks | MB in + out | ms | ms of kernels | instructions, 10^6 |\n|" + "---|" * 8)
    for routine in ROUTINES:
        for n in ORDERS:
            for way, nb in (("graph", 200), ("graph", 100), ("program", 100)):
                tasks, into, out = counted(routine, n, way, nb)
                seconds, kernels = modelled(routine, n, nb) if way == "graph" else program(routine, n)
                count = instructions(routine, n, way, nb) if n == ORDERS[0] else 0
                print("| %s | %d | %s | %d | %.1f + %.1f | %s%.2f | %.2f | %s |" % (
                    routine, n, "graph, tiles of %d" % nb if way == "graph" else way, tasks, into / 1e6, out / 1e6,
                    ">= " if way == "graph" else "", 1e3 * seconds, 1e3 * kernels,
                    "%.2f" % (count / 1e6) if count else ""), flush=True)


if __name__ == "__main__":
    main()
