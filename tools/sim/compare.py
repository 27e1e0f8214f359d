#!/usr/bin/env python3
"""Simulated times beside measured ones, on this machine, which should do nothing else.

    compare.py BUILD [--rounds 15] [--ranks 2] [--threads 1] [--latency 0.4us] [--bandwidth 8GB/s]
               [--machine FILE] [--quick] [--doc FILE]

Measures the kernels (dag_sim_measure), unless a description is given; runs each case really, all cases in
turn and in alternating order, and takes the medians; simulates it once. Prints a table, and writes it to
FILE between the lines <!-- compare --> and <!-- /compare -->. Ends with 1 if a case is more than 10 % off.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

CASES = [("Cholesky", "dag_potrf", []), ("product", "dag_gemm", []),
         ("LU on 1x2", "dag_getrf", ["--layout", "slab", "--grid", "1x2"]),
         ("LU on 2x1", "dag_getrf", ["--layout", "slab", "--grid", "2x1"]),
         ("QR", "dag_geqrf", ["--layout", "slab"])]
BOUND = 10.0


def seconds(command, **more):
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout.strip().splitlines()[-1])["time_s"]


def describe(options, programs, path):
    lines = ["name = this machine", "nodes = 1", f"ranks = {options.ranks}", f"workers = {options.threads}",
             f"within = {options.latency} {options.bandwidth} copy", "send = 0.4us", "receive = 0.6us",
             "task = 0.15us", "copy = 6GB/s"]
    measured = subprocess.run([os.path.join(programs, "dag_sim_measure")], capture_output=True, text=True,
                              timeout=600, check=True).stdout
    with open(path, "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n" + measured)


def table(rows):
    out = ["| case | n | measured, s | simulated, s | error |", "|---|---|---|---|---|"]
    for name, n, real, played in rows:
        out.append(f"| {name} | {n} | {real:.4g} | {played:.4g} | {100 * (played / real - 1):+.1f} % |")
    errors = [abs(played / real - 1) * 100 for _, _, real, played in rows]
    out.append("")
    out.append(f"All times in the column `simulated` are simulated. Median error {statistics.median(errors):.1f} "
               f"%, largest {max(errors):.1f} %.")
    return "\n".join(out), max(errors)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--latency", default="0.4us")
    parser.add_argument("--bandwidth", default="8GB/s")
    parser.add_argument("--machine")
    parser.add_argument("--quick", action="store_true", help="n = 2000 alone")
    parser.add_argument("--doc")
    options = parser.parse_args()
    programs = os.path.join(options.build, "bin")
    mpirun = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "mpirun")
    handle, path = tempfile.mkstemp()
    os.close(handle)
    machine = options.machine or path
    if not options.machine:
        describe(options, programs, path)
    cases = [(name, n, [os.path.join(programs, program), *more, "--n", str(n), "--nb", "192", "--json"])
             for n in ((2000,) if options.quick else (2000, 4000)) for name, program, more in CASES]
    times = {(name, n): [] for name, n, _ in cases}
    threads = str(options.threads)
    for k in range(options.rounds):
        for name, n, command in cases if k % 2 == 0 else reversed(cases):
            times[name, n].append(seconds([mpirun, "-np", str(options.ranks), "--threads", threads, *command]))
    played = {(name, n): seconds([os.path.join(programs, "dag_sim"), "-np", str(options.ranks), "--threads",
                                  threads, "--machine", machine, *command]) for name, n, command in cases}
    text, worst = table([(name, n, statistics.median(times[name, n]), played[name, n])
                         for name, n, _ in cases])
    print(text)
    os.remove(path)
    if options.doc:
        with open(options.doc, encoding="utf-8") as file:
            before, rest = file.read().split("<!-- compare -->", 1)
        after = rest.split("<!-- /compare -->", 1)[1]
        with open(options.doc, "w", encoding="utf-8") as file:
            file.write(f"{before}<!-- compare -->\n{text}\n<!-- /compare -->{after}")
    return worst > BOUND


if __name__ == "__main__":
    sys.exit(main())
