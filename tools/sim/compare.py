#!/usr/bin/env python3
"""Simulated times beside measured ones, on this machine, which should do nothing else.

    compare.py BUILD [--rounds 15] [--minutes M] [--jobs 2x1,1x2] [--orders 2000,4000] [--machine FILE]
               [--simgrid BUILD-SIMGRID] [--note TEXT] [--doc FILE]

A job RxT has R ranks of T workers.

Describes the machine, unless a description is given: its network by `dag_doctor --network` (the shortest latency of
three), kernels by dag_sim_measure, as many beside each other as a job has workers. Runs each case really, all
cases in turn and in alternating order, and takes the medians; simulates it once. --minutes: no round begins
that would end later; how many there were is said. --simgrid: SimGrid too, with real kernels, one worker for each
rank. Prints a table, and writes it, TEXT behind it, to FILE between the lines <!-- compare --> and
<!-- /compare -->. Ends with 1 if a case is more than 10 % off.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

CASES = [("Cholesky", "dag_potrf", []), ("product", "dag_gemm", []),
         ("LU", "dag_getrf", ["--layout", "slab"]),
         ("LU on 2x1", "dag_getrf", ["--layout", "slab", "--grid", "2x1"]), # two ranks alone
         ("QR", "dag_geqrf", ["--layout", "slab"])]
BOUND = 10.0
MPIRUN = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "mpirun"))


def output(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def seconds(command):
    return json.loads(output(command).strip().splitlines()[-1])["time_s"]


def network(programs, ranks):
    """Lines of a description: of three, those with the shortest latency. Ranks of one node, whatever their number."""
    found = []
    for _ in range(3):
        text = output([MPIRUN, "-np", str(ranks), "--threads", "1", os.path.join(programs, "dag_doctor"), "--network"])
        match = re.search(r"^within = ([0-9.]+)us .*$", text, re.MULTILINE)
        if not match:
            sys.exit(f"dag_doctor --network does not say how ranks of a node reach each other:\n{text}")
        kept = [line for line in text.splitlines() if re.match("(within|send|receive) =", line)]
        found.append((float(match[1]), kept))
    return min(found)[1]


def describe(options, programs, path):
    ranks = max(ranks for ranks, _ in options.jobs)
    busy = max(ranks * threads for ranks, threads in options.jobs)
    lines = ["name = this machine", "nodes = 1", f"ranks = {ranks}", "task = 0.15us", "copy = 6GB/s",
             *network(programs, max(ranks, 2))]
    measured = output([os.path.join(programs, "dag_sim_measure"), "-s", "0.1", "-j", str(busy)])
    with open(path, "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n" + measured)
    print("\n".join(lines) + "\n" + measured, file=sys.stderr)


def off(real, played):
    return 100 * (played / real - 1)


def summary(what, rows, column):
    errors = [abs(off(row[3], row[column])) for row in rows if row[column] is not None]
    return f"{what}: median error {statistics.median(errors):.1f} %, largest {max(errors):.1f} %.", max(errors)


def table(rows, rounds, grid):
    """Rows: job, case, order, measured, by dag_sim, by SimGrid or None."""
    out = ["| job | case | n | measured, s | dag_sim, s | error |" + " SimGrid, s | error |" * grid,
           "|---|---|---|---|---|---|" + "---|---|" * grid]
    for job, name, n, real, played, other in rows:
        line = f"| {job} | {name} | {n} | {real:.4g} | {played:.4g} | {off(real, played):+.1f} % |"
        if grid:
            line += " | |" if other is None else f" {other:.4g} | {off(real, other):+.1f} % |"
        out.append(line)
    text, worst = summary("dag_sim", rows, 4)
    if grid:
        more, other = summary("SimGrid", rows, 5)
        text, worst = f"{text} {more}", max(worst, other)
    out += ["", f"Measured is the median of {rounds} runs; all other times are simulated. {text}"]
    return "\n".join(out), worst


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


def measured(cases, options):
    """Times of all cases, in rounds."""
    times, longest, start = [[] for _ in cases], 0, time.monotonic()
    for k in range(options.rounds):
        before = time.monotonic()
        if options.minutes and k > 0 and before - start + 1.1 * longest > 60 * options.minutes:
            break
        turn = list(zip(cases, times))
        for (_, _, _, ranks, threads, command), found in turn if k % 2 == 0 else reversed(turn):
            found.append(seconds([MPIRUN, "-np", ranks, "--threads", threads, *command]))
        longest = max(longest, time.monotonic() - before)
        print(f"round {k + 1}: {time.monotonic() - before:.0f} s", file=sys.stderr)
    return times


def simgrid(options, machine, case):
    _, _, _, ranks, threads, command = case
    if not options.simgrid or threads != "1":
        return None
    program = os.path.join(options.simgrid, "bin", os.path.basename(command[0]))
    return seconds([os.path.join(os.path.dirname(MPIRUN), "simulate"), "-np", ranks, "--machine", machine,
                    "--compute", program, *command[1:]])


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--jobs", type=jobs, default=[(2, 1), (1, 2)])
    parser.add_argument("--note", default="")
    parser.add_argument("--machine")
    parser.add_argument("--simgrid")
    parser.add_argument("--orders", type=lambda text: [int(n) for n in text.split(",")], default=[2000, 4000])
    parser.add_argument("--doc")
    return parser.parse_args()


def main():
    options = arguments()
    programs = os.path.join(options.build, "bin")
    handle, path = tempfile.mkstemp()
    os.close(handle)
    machine = options.machine or path
    if not options.machine:
        describe(options, programs, path)
    cases = list(runs(options, programs))
    times = measured(cases, options)
    dag_sim = os.path.join(programs, "dag_sim")
    rows = []
    for case, found in zip(cases, times):
        job, name, n, ranks, threads, command = case
        played = seconds([dag_sim, "-np", ranks, "--threads", threads, "--machine", machine, *command])
        rows.append((job, name, n, statistics.median(found), played, simgrid(options, machine, case)))
    text, worst = table(rows, len(times[0]), bool(options.simgrid))
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
