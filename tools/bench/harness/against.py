"""This tree's build beside another one: is any point slower than before?"""
from . import measure, stats
from .figures import Contestant

NAME = "before"
MORE = 45  # rounds that decide where the first say slower


def beside(figures, others):
    """The figures with two contestants, ours and that of the other build. Points are matched by their
    labels; one that the other build does not have is left out."""
    theirs = {f.name: f for f in others}
    for figure in figures:
        other = theirs.get(figure.name)
        if not other:
            continue
        known = {p.label(): p for p in other.points}
        was = other.contestants[0]
        figure.points = [p for p in figure.points if p.label() in known]
        for p in figure.points:
            p.goals = []
        figure.contestants = [
            figure.contestants[0],
            Contestant(NAME, lambda p, m=was.measure, k=known: m(k[p.label()]), was.absent)]
        yield figure


def slower(point):
    """Differences may be negative; of those a ratio says nothing."""
    ratio = point["ratios"].get(NAME)
    return ratio is not None and ratio["high"] < 1 and \
        all(v > 0 for values in point["samples"].values() for v in values)


def decide(figure, result, probe):
    """Points that came out slower are measured again, MORE times; these rounds count alone."""
    for point in figure.points:
        at = next((r for r in result["points"] if (r["x"], r["series"]) == (point.x, point.series)), None)
        if not at or not slower(at):
            continue
        measure.note(f"bench: {figure.name}: {point.label()}: slower; {MORE} rounds more decide")
        samples, failed, probes = measure.sample_point(point, figure.contestants, MORE, probe)
        if not failed:
            at.update(samples=samples, between_cores_ns=probes,
                      values={n: stats.summary(v) for n, v in samples.items()},
                      ratios=measure.ratios(samples, result["ours"], result["better"]))


def verdict(results):
    """Lines to print, and how many points are slower."""
    points = [(r["name"], p) for r in results for p in r["points"] if NAME in p["ratios"]]
    lines = []
    for name, p in points:
        if slower(p):
            r = p["ratios"][NAME]
            label = f"{p['x']} {p['series']}".strip()
            lines.append(f"slower: {name}: {label}: {r['median']:.3f} times as good "
                         f"[{r['low']:.3f}, {r['high']:.3f}], {r['n']} pairs")
    bad = len(lines)
    lines.append(f"{len(points)} points beside the other build, {bad} of them slower")
    return lines, bad
