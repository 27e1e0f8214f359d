#!/usr/bin/env python3
"""What bench_bound makes of traces, against what is known of the graph and of list schedules, and
the bound of each routine that tools/bench compares with one.

usage: bound.py tools/bench BUILD"""
import sys
import tempfile
from pathlib import Path

BENCH, BUILD = Path(sys.argv[1]), sys.argv[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(BENCH))

from harness import cli, environment, figures  # noqa: E402


def check(what, got, want):
    if got != want:
        sys.exit(f"{what}: {got!r}, expected {want!r}")


def trace(env, name, runs=1, inputs="on"):
    """Of a Cholesky factorisation of 5 x 5 tiles."""
    file = env.out / name
    env.mpirun(1, [env.program("dag_potrf"), "--n", 100, "--nb", 20, "--runs", runs, "--gpus", 0,
                   "--trace", file], 1, env={"DAG_TRACE_INPUTS": inputs})
    return file


def schedule(env, file, workers, runs=1):
    result, = env.objects(env.command([env.program("bench_bound"), file, workers, runs]))
    return result


def critical_path(env, file):
    """Seconds, to three digits, as dag_trace tells it of the factorisation."""
    units = {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
    text = env.command([env.program("dag_trace"), file])
    words = next(line.split() for line in text.splitlines() if " potrf_L " in line)
    return float(words[5]) * units[words[6]]


def schedules(env):
    file = trace(env, "once")
    one, two, many = (schedule(env, file, workers) for workers in (1, 2, 1000))
    # Each task but those of the first step continues one; TRSM and HERK take a tile more, GEMM two.
    check("tasks, edges", (one["tasks"], one["edges"]), (35, 20 + 10 + 10 + 2 * 10))
    check("classes", sorted((c["name"], c["tasks"]) for c in one["classes"]),
          [("GEMM", 10), ("HERK", 10), ("POTRF", 5), ("TRSM", 10)])
    check("seconds of all classes", round(sum(c["seconds"] for c in one["classes"]), 9),
          one["bodies"])
    check("one worker takes as long as all bodies", one["seconds"], one["bodies"])
    half, path, told = one["bodies"] / 2, many["seconds"], critical_path(env, file)
    check(f"as many workers as can be used: {path} s, the critical path {told} s",
          abs(path - told) <= 0.006 * told, True)
    # No schedule is shorter than either of these, and no greedy one longer than Graham's bound.
    for rank in ("by_priority", "by_path"):
        check(f"{rank}: {two[rank]} s on two workers, bodies {2 * half}, critical path {path}",
              max(half, path) - 2e-9 <= two[rank] <= half + path / 2 + 2e-9, True)
    check("the shorter of both", two["seconds"], min(two["by_priority"], two["by_path"]))


def runs(env):
    file = trace(env, "twice", runs=2)
    both, faster = schedule(env, file, 1), schedule(env, file, 1, runs=2)
    check("tasks of two runs, of one", (both["tasks"], faster["tasks"]), (70, 35))
    check(f"{faster['bodies']} s are at most half of {both['bodies']} s",
          faster["bodies"] <= both["bodies"] / 2 + 1e-9, True)


def refused(env):
    for file, count, text in ((trace(env, "paths", inputs="off"), 1, "DAG_TRACE_INPUTS=on"),
                              (env.out / "once", 2, "RUNS"), (env.out / "none", 1, "cannot read")):
        try:
            schedule(env, file, 2, count)
        except RuntimeError as error:
            check(f"{error}: has '{text}'", text in str(error), True)
        else:
            sys.exit(f"bench_bound took {file}, which should be refused: {text}")


def routines(env):
    la = cli.load("la")
    point = figures.Point(100, "2 thr", n=100, ranks=1, threads=2)
    for name, arguments in [("potrf", ()), *[(what[0], what[2]) for what in la.OTHERS]]:
        routine = la.Routine(env, name, arguments)
        check(f"{name}: without a measurement of ours there is no bound", routine.bound(point), 0.0)
        routine.with_tile(point, [20])
        check(f"{name}: a positive bound", routine.bound(point) > 0, True)
        check(f"{name}: the same a second time", routine.bound(point), routine.bound(point))


def main():
    with tempfile.TemporaryDirectory() as out:
        env = environment.Environment(BUILD, out, "tiny")
        schedules(env)
        runs(env)
        refused(env)
        routines(env)
        check("traces that are left", list(Path(out).glob("la-*.trace")), [])


main()
