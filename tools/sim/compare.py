#!/usr/bin/env python3
"""Simulated times beside measured ones, on this machine, which should do nothing else.

    compare.py BUILD [--rounds 15] [--jobs 2x1,1x2] [--latency 0.4us] [--bandwidth 8GB/s]
               [--machine FILE] [--orders 2000,4000] [--note TEXT] [--doc FILE]

A job RxT has R ranks of T workers.

Measures the kernels (dag_sim_measure), unless a description is given; runs each case really, all cases in
turn and in alternating order, and takes the medians; simulates it once. Prints a table, and writes it,
TEXT behind it, to FILE between the lines <!-- compare --> and <!-- /compare -->. Ends with 1 if a case is more
than 10 % off.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

CASES = [("Cholesky", "dag_potrf", []), ("product", "dag_gemm", []),
         ("LU", "dag_getrf", ["--layout", "slab"]),
         ("LU on 2x1", "dag_getrf", ["--layout", "slab", "--grid", "2x1"]), # two ranks alone
         ("QR", "dag_geqrf", ["--layout", "slab"])]
BOUND = 10.0


def seconds(command, **more):
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout.strip().splitlines()[-1])["time_s"]


def describe(options, programs, path):
    lines = ["name = this machine", "nodes = 1", f"ranks = {max(ranks for ranks, _ in options.jobs)}",
             f"within = {options.latency} {options.bandwidth} copy", "send = 0.4us", "receive = 0.6us",
             "task = 0.15us", "copy = 6GB/s"]
    measured = subprocess.run([os.path.join(programs, "dag_sim_measure")], capture_output=True, text=True,
                              timeout=600, check=True).stdout
    with open(path, "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n" + measured)


def table(rows):
    out = ["| job | case | n | measured, s | simulated, s | error |", "|---|---|---|---|---|---|"]
    for job, name, n, real, played in rows:
        out.append(f"| {job} | {name} | {n} | {real:.4g} | {played:.4g} | {100 * (played / real - 1):+.1f} % |")
    errors = [abs(played / real - 1) * 100 for *_, real, played in rows]
    out.append("")
    out.append(f"All times in the column `simulated` are simulated. Median error {statistics.median(errors):.1f} "
               f"%, largest {max(errors):.1f} %.")
    return "\n".join(out), max(errors)


def jobs(text):
    return [tuple(int(count) for count in job.split("x")) for job in text.split(",")]


def runs(options, programs):
    """Job, case, order, and what it takes to start it: RANKS, THREADS, COMMAND."""
    for ranks, threads in options.jobs:
        for n in options.orders:
            for name, program, more in CASES:
                if ranks == 2 or "--grid" not in more:
                    yield (f"{ranks}x{threads}", name, n, str(ranks), str(threads),
                           [os.path.join(programs, program), *more, "--n", str(n), "--nb", "192", "--json"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--jobs", type=jobs, default=[(2, 1), (1, 2)])
    parser.add_argument("--note", default="")
    parser.add_argument("--latency", default="0.4us")
    parser.add_argument("--bandwidth", default="8GB/s")
    parser.add_argument("--machine")
    parser.add_argument("--orders", type=lambda text: [int(n) for n in text.split(",")], default=[2000, 4000])
    parser.add_argument("--doc")
    options = parser.parse_args()
    programs = os.path.join(options.build, "bin")
    mpirun = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "mpirun")
    handle, path = tempfile.mkstemp()
    os.close(handle)
    machine = options.machine or path
    if not options.machine:
        describe(options, programs, path)
    cases = list(runs(options, programs))
    times = [[] for _ in cases]
    for k in range(options.rounds):
        turn = list(zip(cases, times))
        for (_, _, _, ranks, threads, command), found in turn if k % 2 == 0 else reversed(turn):
            found.append(seconds([mpirun, "-np", ranks, "--threads", threads, *command]))
    dag_sim = os.path.join(programs, "dag_sim")
    text, worst = table([(job, name, n, statistics.median(found),
                          seconds([dag_sim, "-np", ranks, "--threads", threads, "--machine", machine, *command]))
                         for (job, name, n, ranks, threads, command), found in zip(cases, times)])
    text += f" {options.note}" if options.note else ""
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
