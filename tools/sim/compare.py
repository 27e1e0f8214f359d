#!/usr/bin/env python3
"""Simulated times beside measured ones, on this machine, which should do nothing else.

    compare.py BUILD [--rounds 15] [--minutes M] [--jobs 2x1,1x2] [--orders 2000,4000] [--cases LU,QR]
               [--machine FILE] [--simgrid BUILD-SIMGRID] [--note TEXT] [--doc FILE]

A job RxT has R ranks of T workers. Measured is the first run of a process, and beside it the last of three: in
the first one memory is touched for the first time, which dag_sim does not know of.

Describes the machine, unless a description is given: its network by `dag_doctor --network` (the shortest latency of
three), kernels by dag_sim_measure, as many beside each other as a job has workers. Runs each case really, all
cases in turn and in alternating order; with --simgrid under SimGrid too, with real kernels, one worker for each
rank. Kernels are measured anew in each round, for a processor's speed drifts. Takes medians of all, and
simulates each case once. --minutes: no round begins that would end later; how many there were is said. Prints a
table, and writes it, TEXT behind it, to FILE between the lines <!-- compare --> and <!-- /compare -->. Ends with 1
if a case is more than 10 % off.
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
LATER = 3 # this run of a process has found its memory touched
MPIRUN = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "mpirun"))


def output(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def seconds(command):
    return all_seconds(command)[-1]


def all_seconds(command):
    """Of each run of a process."""
    return [json.loads(line)["time_s"] for line in output(command).splitlines() if line.startswith("{")]


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


def kernels(options, programs):
    """What dag_sim_measure says now: rates by kernel and size."""
    busy = max(ranks * threads for ranks, threads in options.jobs)
    found = {}
    for line in output([os.path.join(programs, "dag_sim_measure"), "-s", "0.05", "-j", str(busy)]).splitlines():
        name, _, points = line.partition(" = ")[2].rpartition(" d ")
        for point in points.split():
            size, rate = point.split(":")
            found[name, size] = float(rate)
    return found


def describe(options, programs):
    ranks = max(ranks for ranks, _ in options.jobs)
    return ["name = this machine", "nodes = 1", f"ranks = {ranks}", "task = 0.15us", "copy = 6GB/s",
            *network(programs, max(ranks, 2))]


def curves(measured):
    """Lines of a description: the medians of what rounds have measured."""
    points = {}
    for name, size in measured[0]:
        rate = statistics.median(found[name, size] for found in measured)
        points.setdefault(name, []).append(f"{size}:{rate:.4g}")
    return [f"kernel = {name} d {' '.join(found)}" for name, found in points.items()]


def off(real, played):
    return 100 * (played / real - 1)


def summary(what, rows, real, column):
    errors = [abs(off(row[real], row[column])) for row in rows if row[column] is not None]
    return f"{what}: median error {statistics.median(errors):.1f} %, largest {max(errors):.1f} %.", max(errors)


def table(rows, rounds, grid):
    """Rows: job, case, order, measured first and later, by dag_sim, by SimGrid or None."""
    out = ["| job | case | n | first run, s | later run, s | dag_sim, s | error | beside later |" +
           " SimGrid, s | error |" * grid, "|---|---|---|---|---|---|---|---|" + "---|---|" * grid]
    for job, name, n, real, later, played, other in rows:
        line = (f"| {job} | {name} | {n} | {real:.4g} | {later:.4g} | {played:.4g} | {off(real, played):+.1f} % | "
                f"{off(later, played):+.1f} % |")
        if grid:
            line += " | |" if other is None else f" {other:.4g} | {off(real, other):+.1f} % |"
        out.append(line)
    text, worst = summary("dag_sim", rows, 3, 5)
    text += " " + summary("dag_sim beside later runs", rows, 4, 5)[0]
    if grid:
        more, other = summary("SimGrid", rows, 3, 6)
        text, worst = f"{text} {more}", max(worst, other)
    out += ["", f"Measured, and by SimGrid, is the median of {rounds} runs; all but the measured times are simulated. "
            f"{text}"]
    return "\n".join(out), worst


def jobs(text):
    return [tuple(int(count) for count in job.split("x")) for job in text.split(",")]


def runs(options, programs):
    """Job, case, order, and what it takes to start it: RANKS, THREADS, COMMAND."""
    for ranks, threads in options.jobs:
        for n in options.orders:
            for name, program, more in CASES:
                if name in options.cases and (ranks == 2 or "--grid" not in more):
                    yield (f"{ranks}x{threads}", name, n, str(ranks), str(threads),
                           [os.path.join(programs, program), *more, "--n", str(n), "--nb", "192", "--json"])


def real(case):
    """The first run and a later one of a process."""
    _, _, _, ranks, threads, command = case
    found = all_seconds([MPIRUN, "-np", ranks, "--threads", threads, *command, "--runs", str(LATER)])
    return found[0], found[-1]


def simgrid(options, machine, case):
    _, _, _, ranks, threads, command = case
    if not options.simgrid or threads != "1":
        return None
    program = os.path.join(options.simgrid, "bin", os.path.basename(command[0]))
    return seconds([os.path.join(os.path.dirname(MPIRUN), "simulate"), "-np", ranks, "--machine", machine,
                    "--compute", program, *command[1:]])


def measured(cases, options, programs, machine):
    """By rounds: real times of all cases, those under SimGrid, and rates of kernels."""
    rounds, longest, start = [], 0, time.monotonic()
    for k in range(options.rounds):
        before = time.monotonic()
        if options.minutes and k > 0 and before - start + 1.1 * longest > 60 * options.minutes:
            break
        rates = None if options.machine else kernels(options, programs)
        turn = list(enumerate(cases))
        found = {i: (real(case), simgrid(options, machine, case)) for i, case in (turn if k % 2 == 0 else turn[::-1])}
        rounds.append(([found[i][0] for i, _ in turn], [found[i][1] for i, _ in turn], rates))
        longest = max(longest, time.monotonic() - before)
        print(f"round {k + 1}: {time.monotonic() - before:.0f} s", file=sys.stderr)
    return rounds


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
    parser.add_argument("--cases", type=lambda text: text.split(","), default=[name for name, *_ in CASES])
    parser.add_argument("--doc")
    options = parser.parse_args()
    for name in options.cases:
        if name not in [known for known, *_ in CASES]:
            parser.error(f"{name} is no case; there are {', '.join(known for known, *_ in CASES)}")
    return options


def median(times):
    return None if times[0] is None else statistics.median(times)


def main():
    options = arguments()
    programs = os.path.join(options.build, "bin")
    with tempfile.TemporaryDirectory() as folder:
        return compare(options, programs, os.path.join(folder, "machine"))


def compare(options, programs, path):
    machine, lines = options.machine or path, [] if options.machine else describe(options, programs)

    def write(more):
        with open(path, "w", encoding="ascii") as file:
            file.write("\n".join(lines + more) + "\n")

    write([])
    cases = list(runs(options, programs))
    if not cases:
        sys.exit("compare.py: no job has these cases")
    rounds = measured(cases, options, programs, machine)
    if not options.machine:
        write(curves([rates for _, _, rates in rounds]))
        with open(path, encoding="ascii") as file:
            print(file.read(), file=sys.stderr)
    dag_sim = os.path.join(programs, "dag_sim")
    rows = []
    for i, (job, name, n, ranks, threads, command) in enumerate(cases):
        played = seconds([dag_sim, "-np", ranks, "--threads", threads, "--machine", machine, *command])
        rows.append((job, name, n, *(median([times[i][k] for times, _, _ in rounds]) for k in (0, 1)), played,
                     median([times[i] for _, times, _ in rounds])))
    text, worst = table(rows, len(rounds), bool(options.simgrid))
    text += f" {options.note}" if options.note else ""
    print(text)
    if options.doc:
        with open(options.doc, encoding="utf-8") as file:
            before, rest = file.read().split("<!-- compare -->", 1)
        after = rest.split("<!-- /compare -->", 1)[1]
        with open(options.doc, "w", encoding="utf-8") as file:
            file.write(f"{before}<!-- compare -->\n{text}\n<!-- /compare -->{after}")
    return worst > BOUND


if __name__ == "__main__":
    sys.exit(main())
