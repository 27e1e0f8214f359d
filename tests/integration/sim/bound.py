#!/usr/bin/env python3
"""Simulated products whose kernels take no time, beside what the bytes that a rank receives take on its wire.

    bound.py DIRECTORY-OF-PROGRAMS

SUMMA seven steps ahead, and what the library chooses, take at most MOST times the time of the bytes of SUMMA and of the
latencies along a tree there and back.
"""

import json
import math
import os
import subprocess
import sys
import tempfile

N, AHEAD, MOST = 4096, 7, 1.3
LATENCY, RATE = 3e-6, 1e9
MACHINE = """workers = 1
between = 3us 1GB/s
network = flat
send = 0us
receive = 0us
task = 0us
copy = 1000000GB/s
kernel = * * 32:1000000000000
"""


def product(programs, machine, side, nb, way):
    command = [os.path.join(programs, "dag_sim"), "-np", str(side * side), "--machine", machine,
               os.path.join(programs, "dag_gemm"), *way, "--grid", f"{side}x{side}", "--n", str(N), "--nb", str(nb), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def main():
    failures = 0
    with tempfile.TemporaryDirectory() as directory:
        machine = os.path.join(directory, "machine")
        with open(machine, "w", encoding="ascii") as file:
            file.write(f"name = wires\n{MACHINE}")
        for side, nb in ((8, 512), (16, 256)):
            received = 2 * (N // side) * (N - N // side) * 8 # rows of A and columns of B that others have
            bound = received / RATE + 2 * math.log2(side * side) * LATENCY
            summa = ["--method", "summa", "--product-grid", f"{side}x{side}x1", "--lookahead", str(AHEAD)]
            for name, way in ("SUMMA", summa), ("the library's choice", []):
                seconds = product(sys.argv[1], machine, side, nb, way)["time_s"]
                print(f"{side * side} ranks, {name}: {seconds:.4g} s, {seconds / bound:.3f} times the bound")
                failures += not 1 <= seconds / bound <= MOST
    return failures


if __name__ == "__main__":
    sys.exit(main())
