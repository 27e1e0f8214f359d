"""The table of a figure, in the notation of Markdown."""
from . import stats


def number(x):
    if x == 0:
        return "0"
    digits = 0 if abs(x) >= 100 else 1 if abs(x) >= 10 else 2 if abs(x) >= 1 else 3
    return f"{x:,.{digits}f}"


def with_interval(s):
    return f"{number(s['median'])} [{number(s['low'])}, {number(s['high'])}]"


def goals(point):
    words = {True: "met", False: "**missed**", None: "not measured"}
    return "; ".join(f"{g['goal']}: {words[g['met']]}" for g in point["goals"])


def table(result):
    ours = result["ours"]
    names = [ours]
    for p in result["points"]:
        names += [n for n in p["values"] if n not in names]
    lines = [f"{result['title']}, {result['unit']}: median [95 % interval] of {result['rounds']}; "
             f"x: times as good we are", ""]
    lines.append("| | " + " | ".join(names) + " | goals |")
    lines.append("|---|" + "---|" * (len(names) + 1))
    for p in result["points"]:
        row = []
        for n in names:
            v = p["values"].get(n)
            if not v:
                row.append("failed" if p["failed"].get(n, "").find("take part") < 0 else "–")
                continue
            r = p["ratios"].get(n)
            row.append(with_interval(v) + (f" {number(r['median'])}x" if r else ""))
        label = f"{p['x']} {p['series']}".strip()
        lines.append(f"| {label} | " + " | ".join(row) + f" | {goals(p)} |")
    probes = [x for p in result["points"] for x in p.get("between_cores_ns", [])]
    if probes:
        lines.append(f"\nA cache line took {number(min(probes))} to {number(max(probes))} ns from core "
                     f"to core meanwhile, {number(stats.median(probes))} in the median.")
    for name, a in result["absent"].items():
        package = f" (package {a['package']})" if a["package"] else ""
        lines.append(f"\n{name} is absent: {a['why']}{package}")
    return "\n".join(lines) + "\n"
