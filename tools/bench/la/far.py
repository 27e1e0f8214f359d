"""Solves on slow networks."""
import os
import shlex

from harness import stats
from harness.figures import Contestant, Figure, Point


class Far:
    """A solve with one right-hand side where messages are slow, as a part of its factorisation: what
    dag_gesv takes beyond dag_getrf. Simulated; and on a network of that kind, where the variable
    BENCH_FAR has a command that starts a program on four ranks of it."""
    NETWORK = "name = far\nworkers = 1\nbetween = {}ms 0.125GB/s\n"

    def __init__(self, env):
        self.env = env
        self.launch = shlex.split(os.environ.get("BENCH_FAR", ""))

    def command(self, p, name):
        return [self.env.program(f"dag_{name}"), "--n", p.n, "--nb", self.env.scaled(192, 192, 32), "--grid",
                "1x4", "--json"]

    def simulated(self, p):
        network = self.env.out / f"la-far-{p.delay}.machine"
        network.write_text(self.NETWORK.format(p.delay))
        launch = [self.env.program("dag_sim"), "-np", 4, "--machine", network]
        factor, whole = (self.env.objects(self.env.command([*launch, *self.command(p, name)], {
            "DAG_EAGER_BYTES": "64k"}))[0]["time_s"] for name in ("getrf", "gesv"))
        return 100 * (whole / factor - 1)

    def real(self, p):
        if p.delay != 20:
            return None
        factor, whole = (stats.median([r["time_s"] for r in self.env.objects(self.env.command(
            [*self.launch, *self.command(p, name), *more, "--runs", 5]))][1:])
            for name, more in (("getrf", []), ("gesv", ["--rcond", "no"])))
        return 100 * (whole / factor - 1)

    def figure(self):
        points = [Point(n, f"{delay} ms", n=n, delay=delay, goals=[("value", 25)] if delay == 20 else [])
                  for delay in (1, 20) for n in self.env.scaled((1000, 2000, 3000), (1000, 2000), (100,))]
        return Figure("far", "A solve where a message takes 1 ms or 20 ms, at 1 Gbit/s, 4 ranks",
                      "% of the factorisation", points,
                      [Contestant("dagcc", self.simulated),
                       Contestant("on a network", self.real, absent=None if self.launch else
                                  "BENCH_FAR names no command that starts a program there")],
                      logy=False)
