"""What a task costs: graphs of empty tasks, and how long tasks must be for the cores to be used."""
from math import exp, log

from harness.figures import Contestant, Figure, Point

TARGETS = ["bench_tasks", "insert_tasks", "insert_generation"]

# Goals of ours in ns per task on one thread.
PATTERNS = {"independent": 80, "ctl": 120, "chain": 150, "wavefront": 220, "stencil": 300,
            "tree": None, "alltoall": None, "random": None}
# The same of tasks that a sequential program inserts; "datum": independent ones write a number each.
INSERTED = {"independent": 90, "datum": 200, "chain": 130, "wavefront": 220, "stencil": 320}
COMMON = ["tasks/driver.c"]


class Program:
    """One of the programs over driver.c. `share`: tasks of a run relative to ours, so that slow
    ones take no longer. OpenMP of clang leaves out tasks altogether in a team of one."""

    def __init__(self, env, name, path, share, threads=None):
        self.env = env
        self.name = name
        self.path = path
        self.share = share
        self.threads = threads or env.threads

    def run(self, pattern, threads, tasks, work="0"):
        out = self.env.command([self.path() if callable(self.path) else self.path,
                                "--only", pattern, "--threads", threads, "--runs", 1, "--tasks",
                                max(256, int(tasks * self.share)), "--work", work, "--json"],
                               env={"STARPU_SILENT": "1", "OMP_PROC_BIND": "true"})
        return self.env.objects(out)


class Checked:
    """Compares the sum of a run with that of the bare loop over the same graph."""

    def __init__(self, loop):
        self.loop = loop
        self.known = {}

    def __call__(self, result):
        key = (result["pattern"], result["tasks"])
        if key not in self.known:
            reference = self.loop.env.command(
                [self.loop.path, "--only", key[0], "--threads", 1, "--runs", 1, "--tasks", key[1],
                 "--json"])
            self.known[key] = self.loop.env.objects(reference)[0]
        good = self.known[key]
        if (result["tasks"], result["check"]) != (good["tasks"], good["check"]):
            raise RuntimeError(f"computed {result['check']} in {result['tasks']} tasks, should be "
                               f"{good['check']} in {good['tasks']}")
        return result


def programs(env):
    """[(name, Program or None, why absent, package)], ours first, the bare loop last."""
    found = [("dagcc", Program(env, "dagcc", lambda: env.program("bench_tasks"), 1.0), None, None)]
    flags = env.pkg_config("starpu-1.3")
    if flags:
        path, why = env.compile("starpu_tasks", ["tasks/starpu_tasks.c", *COMMON], flags[0],
                                flags[1])
    else:
        path, why = None, "pkg-config does not know starpu-1.3"
    found.append(("StarPU", Program(env, "StarPU", path, 0.02), why, "libstarpu-dev"))
    for name, cc, package in (("OpenMP gcc", "gcc", "gcc"),
                              ("OpenMP clang", "clang", "clang and libomp-dev")):
        path, why = env.compile(f"openmp_tasks_{cc}", ["tasks/openmp_tasks.c", *COMMON],
                                ["-fopenmp"], cc=cc)
        found.append((name, Program(env, name, path, 0.05), why, package))
    path, why = env.compile("loop_tasks", ["tasks/loop_tasks.c", *COMMON])
    if why:
        raise RuntimeError(why)
    found.append(("bare loop", Program(env, "bare loop", path, 1.0, [1]), None, None))
    return found


def overhead(env, found, checked):
    tasks = env.scaled(1000000, 400000, 4000)

    def sample(program):
        def measure(p):
            if p.threads not in program.threads:
                return None
            count = tasks / 10 if p.x == "alltoall" else tasks
            return checked(program.run(p.x, p.threads, count)[0])["median_ns"]
        return measure

    points = []
    for t in env.threads:
        for x, goal in PATTERNS.items():
            goals = [("value", goal)] if goal and t == 1 else []
            goals += [("ratio", 10, "StarPU"), ("ratio", 3, "OpenMP gcc"),
                      ("ratio", 3, "OpenMP clang")]
            points.append(Point(x, f"{t} thr", goals, threads=t))
    return Figure("overhead", "Empty tasks", "ns of wall time per task", points,
                  [Contestant(n, sample(p), why, package) for n, p, why, package in found])


def inserted(env, found):
    """Tasks that are inserted one by one; StarPU and OpenMP insert theirs in any case."""
    path = env.program("insert_tasks")
    tasks = env.scaled(300000, 100000, 2000)

    def ours(p):
        data = ["--data"] if p.x == "datum" else []
        out = env.command([path, *data, "--only", "independent" if p.x == "datum" else p.x, "--threads",
                           p.threads, "--runs", 1, "--tasks", 100000 if data else tasks, "--json"])
        return env.objects(out)[0]["median_ns"]

    def theirs(program):
        def measure(p):
            if p.threads not in program.threads or p.x == "datum":
                return None
            return program.run(p.x, p.threads, tasks)[0]["median_ns"]
        return measure

    points = []
    for t in env.threads:
        for x, goal in INSERTED.items():
            goals = [("value", goal)] if t == 1 else []
            if x != "datum":
                goals += [("ratio", 10, "StarPU")] + [("ratio", 1, f"OpenMP {cc}") for cc in ("gcc", "clang")
                                                      if t > 1]
            points.append(Point(x, f"{t} thr", goals, threads=t))
    return Figure("inserted", "Empty tasks that a sequential program inserts", "ns of wall time per task", points,
                  [Contestant("dagcc", ours)] +
                  [Contestant(n, theirs(p), why, package) for n, p, why, package in found[1:-1]])


def generation(env):
    """One rank of 8 x 8, played, goes through a Cholesky factorisation; and one that owns no tile of it."""
    path = env.program("insert_generation")
    tiles = env.scaled(288, 288, 16)

    def measure(p):
        out, = env.objects(env.command([path, "--tiles", tiles, "--rank", p.rank, "--runs", 1, "--json"]))
        return out["median_s"] * p.scale(out)

    points = [Point("4,022,880 tasks, s", "1 thr", [("value", 0.15)], rank=0, scale=lambda out: 1),
              Point("of another rank, ns", "1 thr", [("value", 15)], rank=64,
                    scale=lambda out: 1e9 / out["tasks"])]
    return Figure("generation", "Going through a program as one of many ranks", "s, ns per task", points,
                  [Contestant("dagcc", measure)])


def speedup(env, found):
    """Wall time of one thread over that of two, ours, in one sample."""
    ours = found[0][1]
    tasks = env.scaled(1000000, 400000, 4000)

    def measure(p):
        one, two = (ours.run(p.x, t, tasks)[0]["median_ns"] for t in (1, env.threads[-1]))
        return one / two

    parallel = ["independent", "ctl16", "chain16", "wavefront", "stencil", "tree", "alltoall",
                "random"]
    points = [Point(x, goals=[("value", 1)]) for x in parallel]
    return Figure("speedup", "Empty tasks: wall time on 1 thread over that on 2", "ratio", points,
                  [Contestant("dagcc", measure)], better="higher", logy=False)


# Durations in ns at which efficiency is measured.
WORK = [100, 200, 400, 800, 1600, 3200, 6400, 12800, 25600, 51200]


def efficiency(result):
    return result["work_ns"] / (result["threads"] * result["median_ns"])


def metg(results):
    """Smallest duration with half the efficiency, in us: where the curve, straight between points
    on a logarithmic axis, crosses 50 %. At the first point or never: that duration."""
    before = None
    for r in results:
        e = efficiency(r)
        if e >= 0.5:
            if not before:
                return r["work_ns"] / 1000
            w0, e0 = before
            part = (0.5 - e0) / (e - e0)
            return exp(log(w0) + part * (log(r["work_ns"]) - log(w0))) / 1000
        before = (r["work_ns"], e)
    return results[-1]["work_ns"] / 1000


def curves(env, found):
    tasks = env.scaled(100000, 100000, 2000)
    some = [f for f in found if f[0] != "bare loop"]

    def sample(program, value, work):
        def measure(p):
            if p.threads not in program.threads:
                return None
            share = program.share
            program.share = max(share, 0.2)
            try:
                return value(program.run(p.pattern, p.threads, tasks, work(p)))
            finally:
                program.share = share
        return measure

    steps = env.scaled(WORK, WORK, WORK[::4])
    every = ",".join(str(w) for w in steps)
    patterns = ["stencil", "independent"]
    points = [Point(x, f"{t} thr", [("value", 1)] if t > 1 else [], pattern=x, threads=t)
              for x in patterns for t in env.threads]
    yield Figure("metg", "Task duration at which efficiency reaches 50 %", "us", points,
                 [Contestant(n, sample(p, metg, lambda p: every), why, package)
                  for n, p, why, package in some])
    for x in patterns:
        points = [Point(w / 1000, f"{t} thr", pattern=x, threads=t, work=w)
                  for t in env.threads for w in steps]
        yield Figure(f"efficiency-{x}", f"Efficiency against task duration, {x}", "%", points,
                     [Contestant(n, sample(p, lambda r: 100 * efficiency(r[0]),
                                           lambda p: str(p.work)), why, package)
                      for n, p, why, package in some],
                     better="higher", plot="lines", xlabel="duration of a task, us", logx=True,
                     logy=False)


def figures(env):
    found = programs(env)
    yield overhead(env, found, Checked(found[-1][1]))
    if env.has("insert_tasks") and env.has("insert_generation"):
        yield inserted(env, found)
        yield generation(env)
    if len(env.threads) > 1:
        yield speedup(env, found)
    yield from curves(env, found)
