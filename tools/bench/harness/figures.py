"""Figures, their points, and who is measured at them."""


class Contestant:
    """One system under measurement.

    name      short, as it stands in tables
    measure   function(point) -> one sample (a number in the unit of the figure), or None where the
              system does not take part at this point. Raises on failure.
    absent    None, or why it cannot run here
    package   Debian package that holds it, named when it is absent
    """

    def __init__(self, name, measure, absent=None, package=None):
        self.name = name
        self.measure = measure
        self.absent = absent
        self.package = package


class Point:
    """One place on the x axis of a figure: a label, and what the contestants need to know
    (attributes of your choice). `series` splits a figure into several curves or groups of bars
    per contestant, like the number of threads. `goal` is (ratio or value, number, contestant):

        ("value", 150)            the median of ours reaches 150 in the unit of the figure
        ("ratio", 10, "StarPU")   we are at least 10 times as good as StarPU
    A list holds several goals.
    """

    def __init__(self, x, series="", goals=(), **what):
        self.x = x
        self.series = series
        self.goals = list(goals)
        self.__dict__.update(what)

    def label(self):
        return f"{self.x} {self.series}".strip()


class Figure:
    """A table and a plot.

    name         file name of the plot and key in the JSON
    title, unit
    points       list of Point
    contestants  list of Contestant; the first is ours, to which the ratios refer
    better       'lower' or 'higher' values
    plot         'bars' (x are names) or 'lines' (x are numbers)
    xlabel       of the plot; logx, logy: logarithmic axes
    """

    def __init__(self, name, title, unit, points, contestants, better="lower", plot="bars",
                 xlabel="", logx=False, logy=True):
        if better not in ("lower", "higher") or plot not in ("bars", "lines"):
            raise ValueError(f"figure {name}: better={better!r}, plot={plot!r}")
        self.name = name
        self.title = title
        self.unit = unit
        self.points = list(points)
        self.contestants = list(contestants)
        self.better = better
        self.plot = plot
        self.xlabel = xlabel
        self.logx = logx
        self.logy = logy
