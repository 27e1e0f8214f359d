"""The command line: which groups, how thoroughly, where to."""
import argparse
import datetime
import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

from . import against, measure, plot, report
from .environment import ROOT, Environment

GROUPS = ["tasks", "la", "small", "comm", "compile", "nests"]
ROUNDS = {"full": 15, "quick": 5, "tiny": 1}


def parse():
    p = argparse.ArgumentParser(
        prog="tools/bench/run", description="Measures dagcc and its runtime beside other systems: "
        "alternating runs, medians with 95 %% intervals, ratios. Writes GROUP.json, GROUP.md and a "
        "plot per figure into build/bench.")
    p.add_argument("groups", nargs="*", default=["all"], metavar="GROUP",
                   help="tasks, la, small, comm, compile, nests or all (default)")
    p.add_argument("--quick", action="store_true", help="fewer rounds and smaller problems")
    p.add_argument("--tiny", action="store_true",
                   help="show that it works: one round of the smallest problems")
    p.add_argument("--rounds", type=int, help="rounds (default: 15, with --quick 5)")
    p.add_argument("--only", metavar="REGEX", default="",
                   help="only points whose 'figure/x series' matches; results of other points in "
                   "the JSON of an earlier run are kept")
    p.add_argument("--json", action="store_true", help="JSON on standard output, not the tables")
    p.add_argument("--list", action="store_true", help="name the points and measure nothing")
    p.add_argument("--build", help="use this build directory as it is; without it, build/ is "
                   "configured and built")
    p.add_argument("--against", metavar="BUILD", help="only dagcc, beside another build of it, as it "
                   "is: an older tree's, built with the same options; exit status 1 if a point is slower")
    p.add_argument("--out", help="directory for results (default: bench in the build directory)")
    p.add_argument("--doc", metavar="FILE", help="also put the tables into this file, between "
                   "'<!-- bench GROUP -->' and '<!-- end GROUP -->'")
    p.add_argument("--no-install", action="store_true",
                   help="do not install missing packages of contestants")
    args = p.parse_args()
    for g in args.groups:
        if g not in [*GROUPS, "all"]:
            p.error(f"unknown group '{g}': one of {', '.join(GROUPS)}, all")
    if args.quick and args.tiny:
        p.error("--quick and --tiny exclude each other")
    if args.rounds is not None and args.rounds < 1:
        p.error("--rounds needs a positive number")
    try:
        re.compile(args.only)
    except re.error as e:
        p.error(f"--only: {e}")
    return args


def load(group):
    """The module of a group, or None where it does not exist."""
    path = ROOT / "tools" / "bench" / group / "group.py"
    if not path.exists():
        return None
    spec = importlib.util.spec_from_file_location(f"bench_{group}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def shell(script):
    """A piece of shell in the root of the tree, its output on our standard error."""
    return subprocess.run(["bash", "-c", script], cwd=ROOT, stdout=sys.stderr, check=False).returncode


def build(targets):
    names = " ".join(sorted(targets))
    if shell(f". tools/build.sh && dag_configure release >/dev/null && dag_build release {names}"):
        sys.exit("tools/bench/run: the build failed")


def document(name, figures, env):
    return {"group": name, "mode": env.mode, "machine": env.machine(),
            "command": " ".join(["tools/bench/run", *sys.argv[1:]]), "figures": figures}


def save(name, figures, env):
    env.out.mkdir(parents=True, exist_ok=True)
    (env.out / f"{name}.json").write_text(json.dumps(document(name, figures, env), indent=1) + "\n")


def figures_of(module, env, before):
    return against.beside(module.figures(env), module.figures(before)) if before \
        else module.figures(env)


def run_group(name, module, env, before, args):
    """[(figure, result)]. The file is written after each point, so that a run that is broken off has
    not been in vain."""
    rounds = args.rounds or ROUNDS[env.mode]
    probe = None if args.list else env.between_cores()
    wanted = re.compile(args.only)
    file = env.out / f"{name}.json"
    old = {}
    if args.only and file.exists():
        old = {f["name"]: f for f in json.loads(file.read_text())["figures"]}
    results = []
    for figure in figures_of(module, env, before):
        every = [(p.x, p.series) for p in figure.points]
        figure.points = [p for p in figure.points if wanted.search(f"{figure.name}/{p.label()}")]
        if args.list:
            print("\n".join(f"{name}: {figure.name}/{p.label()}" for p in figure.points))
            continue
        earlier = old.pop(figure.name, None)
        if earlier:
            results.append((figure, earlier))
        for new in measure.run_figure(figure, rounds, probe):
            if results and results[-1][0] is figure:
                results.pop()
            results.append((figure, with_earlier(earlier, new, every)))
            save(name, [r for _, r in results] + list(old.values()), env)
        if before and figure.points:
            against.decide(figure, results[-1][1], probe)
            save(name, [r for _, r in results] + list(old.values()), env)
    return results


def with_earlier(before, new, every):
    """The result `new`, and what an earlier one has of other points, in the order of `every`."""
    points = {(p["x"], p["series"]): p
              for p in (before["points"] if before else []) + new["points"]}
    return {**new, "points": [points[k] for k in every if k in points]}


def write(name, results, env, args):
    """The tables and plots of all figures; on standard output the tables or the JSON."""
    tables = "\n".join(report.table(r) for _, r in results)
    (env.out / f"{name}.md").write_text(tables)
    if args.doc:
        into_document(args.doc, name, tables, env)
    if plot.available():
        for figure, result in results:
            plot.draw(figure, result, env.out / f"{name}-{result['name']}.svg")
    else:
        measure.note("bench: no plots: matplotlib is absent (package python3-matplotlib)")
    print((env.out / f"{name}.json").read_text() if args.json else tables, flush=True)


def into_document(file, name, tables, env):
    """Replace what stands between the marks of a group by its tables."""
    begin, end = f"<!-- bench {name} -->", f"<!-- end {name} -->"
    text = Path(file).read_text()
    if begin not in text or end not in text.split(begin, 1)[1]:
        sys.exit(f"tools/bench/run: {file} has no '{begin}' ... '{end}'")
    before, rest = text.split(begin, 1)
    machine = env.machine()
    head = (f"{datetime.date.today().isoformat()}, {machine['cpu']}, {machine['cpus']} processors, "
            f"{machine['system']}.")
    Path(file).write_text(f"{before}{begin}\n{head}\n\n{tables}{end}{rest.split(end, 1)[1]}")


def with_matplotlib():
    """Python with matplotlib: Debian's own, when the first in the path has none."""
    if plot.available() or sys.executable == "/usr/bin/python3" \
            or not Path("/usr/bin/python3").exists():
        return
    probe = subprocess.run(["/usr/bin/python3", "-c", "import matplotlib"], check=False,
                           stderr=subprocess.DEVNULL)
    if probe.returncode == 0:
        os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])


def main():
    args = parse()
    if not args.no_install and not args.build and not args.list:
        shell(". tools/deps && dag_install_deps build bench")
    with_matplotlib()
    groups = GROUPS if "all" in args.groups else args.groups
    modules = {g: load(g) for g in groups}
    mode = "tiny" if args.tiny else "quick" if args.quick else "full"
    where = Path(args.build or ROOT / "build").resolve()
    if not args.build and not args.list:
        build({t for m in modules.values() if m for t in m.TARGETS})
    out = Path(args.out or where / ("against" if args.against else "bench")).resolve()
    env = Environment(where, out, mode)
    before = Environment(Path(args.against).resolve(), out / against.NAME, mode, older=True) \
        if args.against else None
    status = 0
    for g, module in modules.items():
        if not module:
            measure.note(f"bench: group {g} is not in this tree")
            continue
        results = run_group(g, module, env, before, args)
        if args.list:
            continue
        if not results:
            measure.note(f"bench: {g}: no point matches '{args.only}'")
            status = 1
            continue
        write(g, results, env, args)
        if before:
            lines, slower = against.verdict([r for _, r in results])
            print("\n".join(f"{g}: {line}" for line in lines))
            status |= slower > 0
    return status
