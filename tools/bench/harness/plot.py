"""One SVG per figure."""


def available():
    try:
        import matplotlib  # noqa: F401
        return True
    except ImportError:
        return False


def _series(result):
    """[(label, [x], [summary])] in the order of contestants, then series."""
    curves = {}
    for p in result["points"]:
        for name, v in p["values"].items():
            key = f"{name} {p['series']}".strip()
            xs, vs = curves.setdefault(key, ([], []))
            xs.append(p["x"])
            vs.append(v)
    return [(k, *curves[k]) for k in sorted(curves, key=lambda k: k.split()[0] != result["ours"])]


def draw(figure, result, path):
    import matplotlib
    matplotlib.use("svg")
    import matplotlib.pyplot as plt
    matplotlib.rcParams["svg.hashsalt"] = "dagcc"
    fig, ax = plt.subplots(figsize=(8, 4.5))
    curves = _series(result)
    if figure.plot == "bars":
        xs = list(dict.fromkeys(p["x"] for p in result["points"]))
        width = 0.8 / max(1, len(curves))
        for i, (label, x, v) in enumerate(curves):
            at = [xs.index(a) + (i - (len(curves) - 1) / 2) * width for a in x]
            ax.bar(at, [s["median"] for s in v], width, label=label)
            ax.errorbar(at, [s["median"] for s in v], _errors(v), fmt="none", ecolor="black",
                        elinewidth=0.7)
        ax.set_xticks(range(len(xs)), xs, rotation=20, ha="right")
    else:
        for label, x, v in curves:
            ax.errorbar(x, [s["median"] for s in v], _errors(v), label=label, marker=".",
                        capsize=2)
        if figure.logx:
            ax.set_xscale("log")
    if figure.logy:
        ax.set_yscale("log")
    ax.set(title=figure.title, xlabel=figure.xlabel, ylabel=figure.unit)
    ax.grid(axis="y", linewidth=0.3)
    ax.legend(fontsize="small")
    fig.tight_layout()
    fig.savefig(path, metadata={"Date": None})
    plt.close(fig)


def _errors(v):
    return [[s["median"] - s["low"] for s in v], [s["high"] - s["median"] for s in v]]
