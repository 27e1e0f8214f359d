#!/usr/bin/env python3
"""Tiles of one size and of two, on machines that are described: the tables of docs/performance/split.md.

    split_sweep.py DIRECTORY-OF-PROGRAMS MACHINES [auto|table|sweep|paper|runs] [MACHINE ...] [ROUTINE ...] [N ...]
                   [--jobs COUNT] [--before COMMAND]

auto    for each machine, routine and size what `split = auto` takes, placement and form included, beside the single
        size that the list schedule likes best
table   for each machine, routine, size, placement and form what `split = auto` takes: its tiles, its time in a simulated
        run, and that of the single size that the list schedule likes best by the same placement and form
sweep   cuts (B, s, b, form, placement) simulated, five that the list schedule likes best and twenty at random, and how `auto`
        compares
paper   the node of Song and Dongarra, Cholesky, n = 960 to 34,560, both placements
runs    only when asked for: what the list schedule predicts beside runs of the scheduler itself, whose workers and devices
        (the fake CUDA) take modelled times on a stretched clock; the programs are those of a build that has the fake.
        Each runs twice: the second one has the times that the first one kept (perf_model), as the schedule has them.
        COMMAND stands before each of these programs, as one that waits until nothing else runs

Machines, routines and sizes named behind it, and for runs a placement, are all that are looked at (by
`paper` sizes alone), so a row can be made alone. All but the last are simulated (dag_sim), COUNT rows at once; their
numbers do not depend on the machine that computes them. How long a row took is said on the error output.
"""

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

BIN, MACHINES = sys.argv[1:3]
ASKED = sys.argv[3:]


def option(name, otherwise):
    if name not in ASKED:
        return otherwise
    at = ASKED.index(name)
    if at + 1 == len(ASKED):
        sys.exit(f"split_sweep.py: {name} needs a value")
    value = ASKED[at + 1]
    del ASKED[at:at + 2]
    return value


BEFORE, JOBS = option("--before", "").split(), int(option("--jobs", "1"))
ALL = ("keeneland", "workstation", "h100")
ROUTINES = ("potrf", "gemm", "geqrf")
TABLES = ("auto", "table", "sweep", "paper", "runs")
NAMES = [name for name in ALL if name in ASKED] or ALL
PAPER = (960, 1920, 3840, 7680, 11520, 15360, 19200, 23040, 26880, 30720, 34560)
SIZES = [int(n) for n in ASKED if n.isdigit()]
WHAT = [what for what in TABLES if what in ASKED] or TABLES[:-1]
if unknown := set(ASKED) - {"cost", "static", *ALL, *ROUTINES, *TABLES, *map(str, PAPER)}:
    sys.exit(f"split_sweep.py: what is {' '.join(sorted(unknown))}? Names are {', '.join(ALL + ROUTINES + TABLES)}, "
             f"sizes {', '.join(map(str, PAPER))}")
CUTS = {"geqrf": ((64, 96, 128, 192, 256, 384, 512, 768), (32, 64, 128))} # B and b; its panels are tasks of one core


def run(machine, routine, n, *options, placement="cost", update="column"):
    command = [os.path.join(BIN, "dag_sim"), "-np", "1", "--machine", os.path.join(MACHINES, machine + ".machine"),
               os.path.join(BIN, "dag_" + routine), "--n", str(n), *map(str, options), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          env=os.environ | {"DAG_SPLIT_PLACEMENT": placement, "DAG_SPLIT_UPDATE": update})
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return json.loads(done.stdout)


def cut(r):
    s, b = r["split_taken"].split(",")
    return f"{r['nb']}" + (f", {s} x {b}" if s != "0" else "")


def forms(routine):
    return ("column",) if routine == "gemm" else ("column", "tile")


def asked(routine, n):
    return (not set(ROUTINES) & set(ASKED) or routine in ASKED) and (not SIZES or n in SIZES)


def cases(*sizes):
    return [(machine, routine, n) for machine in NAMES for routine in ROUTINES for n in sizes if asked(routine, n)]


def timed(row, *case):
    start = time.monotonic()
    text = row(*case)
    print(f"{row.__name__} {' '.join(map(str, case))}: {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
    return text


def print_rows(row, each):
    with ThreadPoolExecutor(JOBS) as several:
        for text in several.map(lambda case: timed(row, *case), each):
            print(text, flush=True)


def auto_row(machine, routine, n):
    auto = run(machine, routine, n, "--split", "auto", placement="auto", update="auto")
    form, place = auto["split_uniform_form"], auto["split_uniform_place"]
    one = run(machine, routine, n, "--nb", auto["split_uniform_nb"], "--split", "0,1", placement=place, update=form)
    return (f"| {machine} | {routine} | {n} | {cut(auto)} | {auto['split_form']} | {auto['split_place']} | "
            f"{auto['gflops']:.0f} | {one['nb']} | {form} | {place} | {one['gflops']:.0f} | "
            f"{100 * (auto['gflops'] / one['gflops'] - 1):.1f} % |")


def auto_table():
    print("| machine | routine | n | auto: tiles | form | placement | Gflop/s | one size | form | placement | Gflop/s | gain |\n" +
          "|---" * 12 + "|")
    print_rows(auto_row, cases(3840, 11520, 34560))


def table_row(machine, routine, n, placement, form):
    how = {"placement": placement, "update": form}
    auto = run(machine, routine, n, "--split", "auto", **how)
    one = run(machine, routine, n, "--nb", auto["split_uniform_nb"], "--split", "0,1", **how)
    return (f"| {machine} | {routine} | {n} | {placement} | {form} | {cut(auto)} | {auto['gflops']:.0f} | "
            f"{one['nb']} | {one['gflops']:.0f} | {100 * (auto['gflops'] / one['gflops'] - 1):.1f} % |")


def table():
    print("\n| machine | routine | n | placement | form | tiles | Gflop/s | one size | Gflop/s | gain |\n" + "|---" * 10 + "|")
    print_rows(table_row, [(*case, placement, form) for case in cases(3840, 11520, 34560)
                           for placement in ("cost", "static") for form in forms(case[1])])


def listed(machine, routine, n, tiles):
    """The five cuts that the list schedule likes best, of one for each tile size, form and placement: simulated rates."""
    found = []
    for B in tiles:
        for form in forms(routine):
            for placement in ("cost", "static"):
                r = run(machine, routine, n, "--nb", B, "--split", "auto", placement=placement, update=form)
                found.append((r["split_predicted_s"], r["gflops"], f"{cut(r)}, {form}, {placement}"))
    return [(rate, what) for _, rate, what in sorted(found)[:5]]


def drawn(machine, routine, n, tiles, widths):
    """Twenty at random."""
    cuts = [(B, s, b, form, placement) for B in tiles for s in (0, 1, 2, 4)
            for b in widths for form in forms(routine) for placement in ("cost", "static")
            if s * b < B and (s > 0 or b == 64)]
    tried = []
    for B, s, b, form, placement in random.Random(f"{machine} {routine} {n}").sample(cuts, 20):
        r = run(machine, routine, n, "--nb", B, "--split", f"{s},{b}", placement=placement, update=form)
        tried.append((r["gflops"], f"{B}" + (f", {s} x {b}" if s else "") + f", {form}, {placement}"))
    return tried


def sweep_row(machine, routine, n):
    tiles, widths = CUTS.get(routine, ((256, 384, 512, 768, 1152, 1536, 2048), (64, 128, 192)))
    tiles = [B for B in tiles if 2 * B <= n <= 96 * B]
    five, twenty = listed(machine, routine, n, tiles), drawn(machine, routine, n, tiles, widths)
    auto = run(machine, routine, n, "--split", "auto", placement="auto", update="auto")
    best = max(five + twenty)[0]
    return (f"| {machine} | {routine} | {n} | " + "; ".join(f"{c}: {g:.0f}" for g, c in five) +
            f" | {max(twenty)[1]}: {max(twenty)[0]:.0f} | {cut(auto)}, {auto['split_form']}, {auto['split_place']}: "
            f"{auto['gflops']:.0f} | {auto['gflops'] / best:.3f} |")


def sweep():
    print("\n| machine | routine | n | the list schedule's best five: Gflop/s | best of twenty at random | auto "
          "| of the best |\n" + "|---" * 7 + "|")
    print_rows(sweep_row, cases(3840, 11520, 34560))


def paper_row(n):
    rows = [run("keeneland", "potrf", n, "--split", "auto", placement=p) for p in ("static", "cost")]
    return (f"| {n} | {cut(rows[0])} | {rows[0]['gflops']:.0f} | {rows[0]['device_idle_percent']:.0f} % | {cut(rows[1])} | "
            f"{rows[1]['gflops']:.0f} |")


def paper_cut_row(cores, split):
    r = run("keeneland", "potrf", 34560, "--nb", 960, "--threads", cores, "--split", split, placement="static")
    return f"| {cores} cores, 960 cut {split} | {r['gflops']:.0f} | {r['device_idle_percent']:.1f} % |"


def paper():
    print("\n| n | static: tiles | Gflop/s | devices idle | by cost: tiles | Gflop/s |\n" + "|---" * 6 + "|")
    print_rows(paper_row, [(n,) for n in PAPER if not SIZES or n in SIZES])
    print("\n| n = 34560, static | Gflop/s | devices idle |\n|---|---|---|")
    # All cores, and those that compute beside the threads of the text's runtime.
    print_rows(paper_cut_row, [(cores, split) for cores in (12, 7) for split in ("0,1", "1,64", "1,72", "1,128", "1,192")])


WORKERS = {"keeneland": 12, "workstation": 14, "h100": 16}
# Seconds that a run takes here, about: as long as two processors need for its tasks. Three matrices of 34,560 are more than
# their memory, and on the slower nodes a run takes a minute and more.
WALL = {("potrf", 3840): 10, ("gemm", 3840): 7, ("potrf", 11520): 8, ("gemm", 11520): 8, ("potrf", 34560): 6}


def is_played(machine, routine, n, placement):
    asked_for = placement in ASKED or not {"cost", "static"} & set(ASKED)
    return (routine, n) in WALL and (n < 34560 or machine == "h100") and asked_for


def planned(machine, routine, n, placement):
    """The tiles that `auto` takes, and how many times slower than on the machine a run of WALL seconds is."""
    r = run(machine, routine, n, "--split", "auto", placement=placement)
    s, b = r["split_taken"].split(",")
    seconds = WALL[routine, n] / (1 if routine == "potrf" or machine != "h100" else 2) # few tasks
    return r, ["--nb", str(r["nb"]), "--split", f"{s},{max(1, int(b))}"], str(max(2, round(seconds / r["split_predicted_s"])))


def stretched(machine, routine, n, placement, tiles, factor, **kept):
    """Seconds of a run of real workers on so slow a clock."""
    path, build = os.path.join(MACHINES, machine + ".machine"), os.path.join(BIN, "..")
    done = subprocess.run(
        BEFORE + [os.path.join(BIN, "dag_" + routine), "--n", str(n), *tiles, "--threads", str(WORKERS[machine]), "--json"],
        capture_output=True, text=True, check=False,
        env=os.environ | kept | {"DAG_SPLIT_PLACEMENT": placement, "DAG_SPLIT_UPDATE": "column", "DAG_MACHINE": path,
                          "DAG_STRETCH": factor, "DAG_DIRECT": "off", "FAKE_CUDA_MACHINE": path,
                          "FAKE_CUDA_STRETCH": factor, "FAKE_CUDA_COMPUTE": "0",
                          "LD_LIBRARY_PATH": build + "/tests/gpu/fake/lib", "DAG_DEVICE_PLUGIN": "CUDA=" + build + "/lib/libdag_cuda.so",
                          "DAG_BIND": "none", "DAG_WARNINGS": "off"})
    if done.returncode != 0:
        sys.exit(f"{machine} {routine} {n} {placement}: status {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)["time_s"]


def runs():
    print("\n| machine | routine | n | placement | tiles | predicted | run | error | kept | error | stretched |\n" + "|---" * 11 + "|")
    first, best = [], []
    for machine, routine, n in cases(3840, 11520, 34560):
        for placement in ("cost", "static"):
            if not is_played(machine, routine, n, placement):
                continue
            plan, tiles, factor = planned(machine, routine, n, placement)
            with tempfile.TemporaryDirectory() as where:
                kept = {"DAG_PERF_MODEL": os.path.join(where, "times")}
                times = [stretched(machine, routine, n, placement, tiles, factor, **kept) for _ in range(2)]
            errors = [plan["split_predicted_s"] / time_s - 1 for time_s in times]
            first.append(abs(errors[0]))
            best.append(abs(errors[-1]))
            second = f"{times[1]:.4g} | {100 * errors[1]:+.1f} %"
            print(f"| {machine} | {routine} | {n} | {placement} | {cut(plan)} | {plan['split_predicted_s']:.4g} | {times[0]:.4g} | "
                  f"{100 * errors[0]:+.1f} % | {second} | {factor} |", flush=True)
    if not first:
        sys.exit("split_sweep.py: none of these rows is played")
    for what, errors in ("first runs", first), ("with kept times", best):
        print(f"\n{what}: the median of {len(errors)} is off by {100 * statistics.median(errors):.1f} %, the worst by {100 * max(errors):.1f} %")


for what in WHAT:
    {"auto": auto_table, "table": table, "sweep": sweep, "paper": paper, "runs": runs}[what]()
