#!/usr/bin/env python3
"""Tiles of one size and of two, on machines that are described: the tables of docs/performance/split.md.

    split_sweep.py DIRECTORY-OF-PROGRAMS MACHINES [auto|table|sweep|paper|runs] [MACHINE ...]

auto    for each machine, routine and size what `split = auto` takes, placement and form included, beside the best single size
table   for each machine, routine, size, placement and form what `split = auto` takes: its tiles, its time in a simulated
        run, and that of the best single size by the same placement and by cost
sweep   cuts (B, s, b, form, placement) simulated, five that the list schedule likes best and twenty at random, and how `auto`
        compares
paper   the node of Song and Dongarra, Cholesky, n = 960 to 34,560, both placements
runs    only when asked for: what the list schedule predicts beside runs of the scheduler itself, whose workers and devices
        (the fake CUDA) take modelled times on a stretched clock; the programs are those of a build that has the fake. By
        cost each runs twice: the second one has the times that the first one kept (perf_model), as the schedule has them

Machines named behind it are all that are looked at. All but the last are simulated (dag_sim); their numbers do not depend on
the machine that computes them.
"""

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile

BIN, MACHINES = sys.argv[1:3]
ALL = ("keeneland", "workstation", "h100")
NAMES = [name for name in ALL if name in sys.argv[3:]] or ALL
WHAT = [what for what in sys.argv[3:] if what not in ALL] or ["auto", "table", "sweep", "paper"]
ROUTINES = ("potrf", "gemm", "geqrf")
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


def sizes_of(routine):
    return (3840, 11520) if routine == "gemm" else (3840, 11520, 34560)


def auto_table():
    print("| machine | routine | n | auto: tiles | form | placement | Gflop/s | one size | form | placement | Gflop/s | gain |\n" +
          "|---" * 12 + "|")
    for machine in NAMES:
        for routine in ROUTINES:
            for n in sizes_of(routine):
                auto = run(machine, routine, n, "--split", "auto", placement="auto", update="auto")
                form, place = auto["split_uniform_form"], auto["split_uniform_place"]
                one = run(machine, routine, n, "--nb", auto["split_uniform_nb"], "--split", "0,1", placement=place, update=form)
                print(f"| {machine} | {routine} | {n} | {cut(auto)} | {auto['split_form']} | {auto['split_place']} | "
                      f"{auto['gflops']:.0f} | {one['nb']} | {form} | {place} | {one['gflops']:.0f} | "
                      f"{100 * (auto['gflops'] / one['gflops'] - 1):.1f} % |", flush=True)


def table():
    print("| machine | routine | n | placement | form | tiles | Gflop/s | one size | Gflop/s | gain |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for machine in NAMES:
        for routine in ROUTINES:
            for n in sizes_of(routine):
                for placement in ("cost", "static"):
                    for form in forms(routine):
                        how = {"placement": placement, "update": form}
                        auto = run(machine, routine, n, "--split", "auto", **how)
                        one = run(machine, routine, n, "--nb", auto["split_uniform_nb"], "--split", "0,1", **how)
                        print(f"| {machine} | {routine} | {n} | {placement} | {form} | {cut(auto)} | {auto['gflops']:.0f} | "
                              f"{one['nb']} | {one['gflops']:.0f} | {100 * (auto['gflops'] / one['gflops'] - 1):.1f} % |",
                              flush=True)


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
    for B, s, b, form, placement in random.sample(cuts, 20):
        r = run(machine, routine, n, "--nb", B, "--split", f"{s},{b}", placement=placement, update=form)
        tried.append((r["gflops"], f"{B}, {s} x {b}, {form}, {placement}"))
    return tried


def sweep():
    print("\n| machine | routine | n | the list schedule's best five: Gflop/s | best of twenty at random | auto "
          "| of the best |\n" + "|---" * 7 + "|")
    for machine in NAMES:
        for routine in ROUTINES:
            for n in (3840, 11520, 34560):
                tiles, widths = CUTS.get(routine, ((256, 384, 512, 768, 1152, 1536, 2048), (64, 128, 192)))
                tiles = [B for B in tiles if 2 * B <= n <= 96 * B]
                random.seed(f"{machine} {routine} {n}")
                five, twenty = listed(machine, routine, n, tiles), drawn(machine, routine, n, tiles, widths)
                auto = run(machine, routine, n, "--split", "auto", placement="auto", update="auto")
                best = max(five + twenty)[0]
                print(f"| {machine} | {routine} | {n} | " + "; ".join(f"{c}: {g:.0f}" for g, c in five) +
                      f" | {max(twenty)[1]}: {max(twenty)[0]:.0f} | {cut(auto)}, {auto['split_form']}, {auto['split_place']}: "
                      f"{auto['gflops']:.0f} | {auto['gflops'] / best:.3f} |", flush=True)


def paper():
    print("\n| n | static: tiles | Gflop/s | idle | cost: tiles | Gflop/s |")
    print("|---|---|---|---|---|---|")
    for n in (960, 1920, 3840, 7680, 11520, 15360, 19200, 23040, 26880, 30720, 34560):
        rows = [run("keeneland", "potrf", n, "--split", "auto", placement=p) for p in ("static", "cost")]
        print(f"| {n} | {cut(rows[0])} | {rows[0]['gflops']:.0f} | {rows[0]['device_idle_percent']:.0f} % | {cut(rows[1])} | "
              f"{rows[1]['gflops']:.0f} |", flush=True)
    print("\n| n = 34560, static | Gflop/s | devices idle |\n|---|---|---|")
    for cores in (12, 7): # all, and those that compute beside the threads of their runtime
        for split in ("0,1", "1,64", "1,72", "1,128", "1,192"):
            r = run("keeneland", "potrf", 34560, "--nb", 960, "--threads", cores, "--split", split, placement="static")
            print(f"| {cores} cores, 960 cut {split} | {r['gflops']:.0f} | {r['device_idle_percent']:.1f} % |", flush=True)


WORKERS = {"keeneland": 12, "workstation": 14, "h100": 16}
WALL = 12 # seconds that a run takes here, about


# What two processors play in time: few tasks, and few elements to make on the slow clock.
ROWS = [(machine, routine, n, placement) for machine in ALL for routine in ("potrf", "gemm") for n in (3840, 11520)
        for placement in ("cost", "static") if n == 3840 or machine == "workstation"]


def stretched(machine, routine, n, placement, seconds, **kept):
    """A run of real workers on a clock so slow that it takes WALL seconds; JSON."""
    path, build = os.path.join(MACHINES, machine + ".machine"), os.path.join(BIN, "..")
    factor = str(max(2, round(WALL / seconds)))
    done = subprocess.run(
        [os.path.join(BIN, "dag_" + routine), "--n", str(n), "--split", "auto", "--threads", str(WORKERS[machine]), "--json"],
        capture_output=True, text=True, check=False,
        env=os.environ | kept | {"DAG_SPLIT_PLACEMENT": placement, "DAG_SPLIT_UPDATE": "column", "DAG_MACHINE": path,
                          "DAG_STRETCH": factor, "DAG_DIRECT": "off", "FAKE_CUDA_MACHINE": path,
                          "FAKE_CUDA_STRETCH": factor, "FAKE_CUDA_COMPUTE": "0",
                          "LD_LIBRARY_PATH": build + "/tests/gpu/fake/lib", "DAG_DEVICE_PLUGIN": "CUDA=" + build + "/lib/libdag_cuda.so",
                          "DAG_BIND": "none", "DAG_WARNINGS": "off"})
    if done.returncode != 0:
        sys.exit(f"{machine} {routine} {n} {placement}: status {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout) | {"stretch": factor}


def runs():
    print("\n| machine | routine | n | placement | tiles | predicted | run | error | kept | error | stretched |\n" + "|---" * 11 + "|")
    first, best = [], []
    for machine, routine, n, placement in (row for row in ROWS if row[0] in NAMES):
        predicted = run(machine, routine, n, "--split", "auto", placement=placement)["split_predicted_s"]
        with tempfile.TemporaryDirectory() as where:
            kept = {"DAG_PERF_MODEL": os.path.join(where, "times")} if placement == "cost" else {}
            r = stretched(machine, routine, n, placement, predicted, **kept)
            again = stretched(machine, routine, n, placement, predicted, **kept) if kept else r
        errors = [x["split_predicted_s"] / x["time_s"] - 1 for x in (r, again)]
        first.append(abs(errors[0]))
        best.append(abs(errors[1]))
        second = f"{again['time_s']:.4g} | {100 * errors[1]:+.1f} %" if kept else " | "
        print(f"| {machine} | {routine} | {n} | {placement} | {cut(r)} | {r['split_predicted_s']:.4g} | {r['time_s']:.4g} | "
              f"{100 * errors[0]:+.1f} % | {second} | {r['stretch']} |", flush=True)
    for what, errors in ("first runs", first), ("with kept times, where there are some,", best):
        print(f"\n{what}: the median of {len(errors)} is off by {100 * statistics.median(errors):.1f} %, the worst by {100 * max(errors):.1f} %")


for what in WHAT:
    {"auto": auto_table, "table": table, "sweep": sweep, "paper": paper, "runs": runs}[what]()
