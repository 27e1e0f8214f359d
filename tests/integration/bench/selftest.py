#!/usr/bin/env python3
"""The statistics of tools/bench against values from tables, and the command itself on the smallest
problems: the JSON has what it should, and a contestant that is absent is named.

usage: selftest.py tools/bench BUILD"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

BENCH, BUILD = Path(sys.argv[1]), sys.argv[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(BENCH))

from harness import against, cli, environment, figures, measure, report, stats  # noqa: E402


def check(what, got, want):
    if got != want:
        sys.exit(f"{what}: {got!r}, expected {want!r}")


def statistics():
    check("median of 4", stats.median([4, 1, 3, 2]), 2.5)
    # Tables of the sign test: ranks 4 and 12 of 15 (96.5 %), 1 and 6 of 6 (96.9 %), 6 and 15 of 20.
    for n, low, high, coverage in ((15, 4, 12, 0.9648), (6, 1, 6, 0.9688), (20, 6, 15, 0.9586)):
        got = stats.interval(list(range(1, n + 1)))
        check(f"interval of {n}", (got[0], got[1], round(got[2], 4)), (low, high, coverage))
    check("interval of 5", stats.interval([5, 4, 3, 2, 1])[:2], (1, 5))
    check("interval of 1", stats.interval([7])[:2], (7, 7))


def comparison():
    """Who is twice as slow, who breaks, who is absent."""
    order = []

    def one(name, value):
        def take(_):
            order.append(name)
            return value
        return take

    def broken(_):
        raise RuntimeError("no")

    figure = figures.Figure(
        "f", "F", "ns",
        [figures.Point("p", goals=[("value", 10), ("ratio", 3, "slow"), ("ratio", 1, "gone")])],
        [figures.Contestant("ours", one("ours", 10)), figures.Contestant("slow", one("slow", 20)),
         figures.Contestant("broken", broken),
         figures.Contestant("gone", None, absent="not installed", package="libgone")])
    result, = measure.run_figure(figure, 3)
    point = result["points"][0]
    check("order", order, ["slow", "ours", "ours", "slow", "slow", "ours", "ours", "slow"])
    check("ratio", point["ratios"]["slow"]["median"], 2)
    check("goals", [g["met"] for g in point["goals"]], [True, False, None])
    check("failed", list(point["failed"]), ["broken"])
    check("absent", result["absent"]["gone"]["package"], "libgone")
    table = report.table(result)
    for text in ("gone is absent: not installed (package libgone)", "**missed**", "2.00x"):
        check(f"'{text}' in the table", text in table, True)


def other_build():
    """Points are matched by name; one that is slower gets rounds that decide; a difference is not judged."""
    def build(values, x):
        taken = {}

        def take(p):
            taken[p.x] = taken.get(p.x, 0) + 1
            return values(p.x, taken[p.x])
        return [figures.Figure("f", "F", "ns", [figures.Point(n, goals=[("value", 1)]) for n in x],
                               [figures.Contestant("ours", take), figures.Contestant("peer", take)])]

    ours = {"same": 10, "slow": 30, "late": 30, "less than nothing": -1}
    new = build(lambda x, n: 20 if x == "late" and n > 4 else ours[x], [*ours, "new"])
    old = build(lambda x, _: 20 if x != "same" else 10, [*ours, "gone"])
    figure, = against.beside(new, old)
    result = list(measure.run_figure(figure, 3))[-1]
    check("points of both", [p["x"] for p in result["points"]], list(ours))
    check("two builds", list(result["points"][0]["values"]), ["ours", against.NAME])
    check("slower at first", [against.slower(p) for p in result["points"]], [False, True, True, False])
    against.decide(figure, result, None)
    lines, bad = against.verdict([result])
    check("slower in the end", (bad, lines[0][:15], result["points"][2]["values"]["ours"]["n"]),
          (1, "slower: f: slow", against.MORE))


def programs():
    """An older build may lack a program; ours may not."""
    with tempfile.TemporaryDirectory() as empty:
        older = environment.Environment(empty, empty, "tiny", older=True)
        check("program of an older build", older.has("insert_tasks"), False)
        try:
            check("program of our build", environment.Environment(empty, empty, "tiny").has("insert_tasks"), None)
        except FileNotFoundError as e:
            check("program of our build", "is its target built?" in str(e), True)


def earlier():
    """Points of an earlier run stay where they were among all; a new one takes its old one's place."""
    def points(*labels, when):
        return {"points": [{"x": x, "series": "", "when": when} for x in labels]}

    every = [(x, "") for x in "abc"]
    both = cli.with_earlier(points("a", "c", when="old"), points("b", "c", when="new"), every)
    check("earlier points", [(p["x"], p["when"]) for p in both["points"]],
          [("a", "old"), ("b", "new"), ("c", "new")])
    check("none earlier", len(cli.with_earlier(None, points("a", when="new"), every)["points"]), 1)


def document():
    """Tables go between the marks, twice as well as once; a file without marks is refused."""
    with tempfile.TemporaryDirectory() as d:
        file, env = Path(d) / "doc.md", environment.Environment(BUILD, d, "tiny")
        file.write_text("a\n<!-- bench g -->\nold\n<!-- end g -->\nb\n")
        for _ in range(2):
            cli.into_document(file, "g", "new table\n", env)
        text = file.read_text()
        check("document", [text.count(w) for w in ("a\n<!--", "old", "new table", "-->\nb\n")],
              [1, 0, 1, 1])
        try:
            cli.into_document(file, "h", "", env)
        except SystemExit:
            return
        sys.exit("a document without marks was not refused")


def run(group, only, points):
    with tempfile.TemporaryDirectory() as out:
        command = [str(BENCH / "run"), group, "--tiny", "--json", "--no-install", "--build", BUILD,
                   "--out", out, "--only", only]
        r = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                           check=False, timeout=700)
        check(f"{' '.join(command)}\n{r.stderr}\nexit status", r.returncode, 0)
        document = json.loads(r.stdout)
        check("file", json.loads((Path(out) / f"{group}.json").read_text()), document)
        found = {f"{f['name']}/{p['x']} {p['series']}".strip(): p
                 for f in document["figures"] for p in f["points"]}
        check(f"points of {group}", sorted(found), sorted(points))
        for name, p in found.items():
            ours = p["values"].get("dagcc")
            check(f"{name}: {p['failed']}: a positive value of ours",
                  bool(ours) and ours["median"] > 0, True)
            check(f"{name}: samples", ours["n"], 1)


def main():
    statistics()
    comparison()
    other_build()
    programs()
    earlier()
    document()
    run("tasks", "^overhead/(random|stencil) 1|^metg/stencil 1",
        ["overhead/random 1 thr", "overhead/stencil 1 thr", "metg/stencil 1 thr"])
    run("comm", "^hop/8 B|^waiting/2", ["hop/8 B", "waiting/2 ranks"])
    run("small", "^small_potrf/20 d", ["small_potrf/20 d 1 thr"])
    run("nests", "^nests_potrf", ["nests_potrf_L/200", "nests_potrf_L_ranks/200"])
    run("compile", "^lines/|^front-end", ["lines/cholesky/potrf_L", "front-end/many classes"])
    r = subprocess.run([str(BENCH / "run"), "nothing"], stderr=subprocess.PIPE, text=True,
                       check=False)
    check("unknown group", (r.returncode, "unknown group 'nothing'" in r.stderr), (2, True))


main()
