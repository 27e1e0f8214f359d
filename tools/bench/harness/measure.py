"""Takes the samples of a figure: contestants alternate, so that a change of the machine's mood
during the run meets all of them."""
import datetime
import sys

from . import stats


def note(text):
    print(text, file=sys.stderr, flush=True)


def sample_point(point, contestants, rounds, probe):
    """{name: [samples]}, {name: why}, [probes]. Round r runs all contestants forwards or backwards in
    turn; a first round, not counted, warms up. Who fails once is out, with its error. `probe` is
    taken once a round."""
    samples = {c.name: [] for c in contestants}
    failed = {}
    probes = []
    for r in range(-1, rounds):
        if probe and r >= 0:
            probes.append(probe())
        for c in contestants if r % 2 == 0 else reversed(contestants):
            if c.name in failed:
                continue
            try:
                value = c.measure(point)
            except Exception as e:  # a contestant that breaks is reported, the others go on
                failed[c.name] = f"{type(e).__name__}: {e}"
                note(f"bench: {point.label()}: {c.name} failed: {e}")
                continue
            if value is None:
                failed[c.name] = "does not take part"
            elif r >= 0:
                samples[c.name].append(value)
    return samples, failed, probes


def ratios(samples, ours, better):
    """How many times as good as each contestant we are, pair by pair."""
    result = {}
    for name, values in samples.items():
        if name == ours or not values or len(values) != len(samples[ours]):
            continue
        pairs = zip(samples[ours], values)
        each = [(b / a if better == "lower" else a / b) for a, b in pairs]
        result[name] = stats.summary(each)
    return result


def judge(goal, value, ratio, better):
    """Is a goal met? A goal is met when the interval reaches it."""
    if goal[0] == "value":
        met = value["low"] <= goal[1] if better == "lower" else value["high"] >= goal[1]
        return {"goal": f"{'<=' if better == 'lower' else '>='} {goal[1]:g}", "met": met}
    r = ratio.get(goal[2])
    return {"goal": f">= {goal[1]:g} x {goal[2]}", "met": None if r is None
            else r["high"] >= goal[1]}


def run_figure(figure, rounds, probe=None):
    """Yields the figure's result after each point, with all points so far. `probe`: function that
    tells a property of the machine that may change during the run."""
    present = [c for c in figure.contestants if not c.absent]
    ours = figure.contestants[0].name
    if not present or present[0].name != ours:
        raise RuntimeError(f"figure {figure.name}: {ours}: {figure.contestants[0].absent}")
    result = {"name": figure.name, "title": figure.title, "unit": figure.unit,
              "better": figure.better, "ours": ours, "rounds": rounds, "points": [],
              "absent": {c.name: {"why": c.absent, "package": c.package}
                         for c in figure.contestants if c.absent}}
    for p in figure.points:
        note(f"bench: {figure.name}: {p.label()}")
        samples, failed, probes = sample_point(p, present, rounds, probe)
        if not samples[ours]:
            raise RuntimeError(f"{figure.name}: {p.label()}: {ours}: {failed.get(ours)}")
        values = {n: stats.summary(v) for n, v in samples.items() if v}
        ratio = ratios(samples, ours, figure.better)
        result["points"].append({
            "x": p.x, "series": p.series,
            "date": datetime.datetime.now().isoformat(timespec="seconds"),
            "values": values, "ratios": ratio, "samples": samples, "failed": failed,
            "between_cores_ns": probes,
            "goals": [judge(g, values[ours], ratio, figure.better) for g in p.goals]})
        yield result
