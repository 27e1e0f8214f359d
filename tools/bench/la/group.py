"""Dense linear algebra: ours beside ScaLAPACK, StarPU and the BLAS library's own LAPACK, with dgemm
on the same threads as practical peak, and the bound that our kernels set. HPL is that of hpcc."""
import json
import re
import shutil
from pathlib import Path

from harness.figures import Contestant, Figure, Point
from la import inserted
from la.far import Far

# Names, arguments and titles of the rows of our routines.
TABLE = re.findall(r'^ROUTINE\((\w+), \w+, \w+, "(.*?)",\s+"(.*?)\."',
                   (Path(__file__).parents[3] / "dsl-examples/routines.def").read_text(), re.M)
TARGETS = [*(f"dag_{name}" for name, *_ in TABLE), "bench_bound", "dag_sim"]

BLAS = ["-lopenblas"]
LAPACK = ["-llapacke", *BLAS]
PEAK = "dgemm 4000"
BOUND = "bound of our kernels"
TILES = (96, 128, 160, 192, 256, 320)


def first(env, out):
    return env.objects(out)[0]["gflops"]


def median(values):
    values = sorted(values)
    return values[len(values) // 2]


def best_setting(settings, measure):
    """The setting of highest rate: all are tried once, the best three again."""
    first_try = sorted(settings, key=measure, reverse=True)
    return max(first_try[:3], key=measure)


class Tuned:
    """A contestant with a parameter: its best one at each point is found first and kept in a file
    beside the results, so that a later run of some points need not look again. `choose` finds it
    where trying the settings one by one takes too long."""

    def __init__(self, name, env, settings, measure, choose=None):
        self.settings, self.measure = settings, measure
        self.choose = choose or (lambda p: best_setting(settings(p), lambda s: measure(p, s)))
        self.file = env.out / f"la-{name}-{env.mode}.json"
        self.chosen = json.loads(self.file.read_text()) if self.file.exists() else {}

    def __call__(self, p):
        key = p.label()
        if key not in self.chosen:
            self.chosen[key] = self.choose(p)
            self.file.write_text(json.dumps(self.chosen) + "\n")
        return self.measure(p, self.chosen[key])


def repeats(n):
    """Runs within one process: the first warms up."""
    return 41 if n <= 300 else 11 if n <= 1000 else 5 if n <= 2000 else 2


def grids(ranks):
    return [(r, ranks // r) for r in (1, 2) if ranks % r == 0]


class Routine:
    """One routine and those who have it; what follows "_" in its name is a way of doing it. Our tile size is what
    the driver chooses by itself where `tiles` is empty, else the best of them."""

    def __init__(self, env, name, arguments=(), tiles=()):
        self.env = env
        self.name = name
        self.program = "dag_blas3" if "--routine" in arguments else f"dag_{name.split('_')[0]}"
        self.arguments = arguments
        env.core = blas_core(env)
        self.tile = {}
        self.bounds = {}
        self.peaks = {}
        self.tuned = Tuned(f"{name}-ours", env, lambda p: [[nb] for nb in tiles if nb <= p.n],
                           self.with_tile) if tiles and env.mode != "tiny" else None

    def driver(self, p, nb, runs):
        """Its command line, but for the grid."""
        return [self.env.program(self.program), "--n", p.n, "--nb", nb, *self.arguments, "--runs",
                runs, "--json"]

    def with_tile(self, p, setting):
        by_columns = self.program in ("dag_getrf", "dag_geqrf", "dag_gels") and p.ranks < 4
        grid = ["--grid", f"1x{p.ranks}"] if by_columns else []
        # Inserted runs would be recorded; an older build refuses a setting that it does not know.
        quiet = {"DAG_OVERLAP": "off"} if "--insert" in self.arguments else None
        out = self.env.mpirun(p.ranks, [*self.driver(p, setting[0], repeats(p.n)), *grid], p.threads, env=quiet)
        runs = self.env.objects(out)
        self.tile[p.label()] = runs[0]["nb"]
        return median([r["gflops"] for r in runs[1:]])

    def ours(self, p):
        return self.tuned(p) if self.tuned else self.with_tile(p, [0])

    def bound(self, p):
        """What a greedy schedule of our graph reaches with the times that our kernels need in it,
        the shortest of several runs on one worker (bound.c). Computed once per point."""
        key = p.label()
        if key not in self.tile:
            return 0.0  # the round that warms up may begin with this one
        if key not in self.bounds:
            workers = min(p.ranks * p.threads, self.env.cpus)
            self.bounds[key] = self.schedule(p, self.tile[key], workers)
        return self.bounds[key]

    def schedule(self, p, nb, workers):
        runs = 5 if p.n <= 1000 else 3 if p.n <= 4000 else 2
        trace = self.env.out / f"la-{self.name}.trace"
        try:
            out = self.env.mpirun(1, [*self.driver(p, nb, runs), "--gpus", 0, "--trace", trace], 1,
                                  env={"DAG_TRACE_INPUTS": "on"})
            timed = self.env.objects(out)[-1]
            bound, = self.env.objects(self.env.command(
                [self.env.program("bench_bound"), trace, workers, runs]))
        finally:
            trace.unlink(missing_ok=True)
        return timed["gflops"] * timed["time_s"] / bound["seconds"]

    def peak(self, path):
        """dgemm on as many threads; afresh in each round where a goal refers to it."""
        def measure(p):
            threads = p.threads if p.ranks == 1 else min(p.ranks, self.env.cpus)
            wanted = any(goal[-1] == PEAK for goal in p.goals)
            if wanted or threads not in self.peaks:
                self.peaks[threads] = first(self.env, self.env.command(
                    [path, "gemm", self.env.scaled(4000, 4000, 100), 1],
                    {**self.env.core, "OPENBLAS_NUM_THREADS": str(threads)}))
            return self.peaks[threads]
        return measure

    def library(self, path):
        def measure(p):
            if p.ranks > 1:
                return None
            return first(self.env, self.env.command(
                [path, self.name, p.n, repeats(p.n)],
                {**self.env.core, "OPENBLAS_NUM_THREADS": str(p.threads)}))
        return measure

    def scalapack(self, path):
        def settings(p):
            return [(nb, r, q) for nb in (64, 96, 128, 192) for r, q in grids(p.ranks)
                    if nb <= p.n] if self.env.mode != "tiny" else [(32, 1, p.ranks)]

        def measure(p, s):
            command = [path, self.name, p.n, *s, repeats(p.n)]
            return first(self.env, self.env.mpirun(p.ranks, command, 1,
                                                   env={**self.env.core,
                                                        "OPENBLAS_NUM_THREADS": "1"}))
        tuned = Tuned(f"{self.name}-scalapack", self.env, settings, measure)
        return lambda p: tuned(p) if p.threads == 1 else None

    def starpu(self, path, ranks_path):
        """Its program for one process and for ranks. Its threads wait actively: more ranks than cores take minutes."""
        def settings(p):
            if self.env.mode == "tiny":
                return [(64, "lws", *grids(p.ranks)[0])]
            tiles = TILES[:4] if p.n <= 1000 else TILES[2:]
            return [(nb, s, *grid) for nb in tiles for s in ("lws", "prio") for grid in grids(p.ranks)
                    if nb <= p.n]

        def measure(p, s):
            env = {**self.env.core, "OPENBLAS_NUM_THREADS": "1", "STARPU_SCHED": s[1],
                   "STARPU_NCPU": str(p.threads), "STARPU_SILENT": "1"}
            what = [self.program[len("dag_"):], p.n, s[0], repeats(p.n)]
            if p.ranks == 1:
                return first(self.env, self.env.command([path, *what], env))
            return first(self.env, self.env.mpirun(p.ranks, [ranks_path, *what, *s[2:]], 1, env=env))
        tuned = Tuned(f"{self.name}-starpu", self.env, settings, measure)
        return lambda p: tuned(p) if p.ranks <= self.env.cpus else None


class Linpack:
    """HPL by way of hpcc, which runs all its other tests as well: so one call tries all settings."""
    INPUT = """HPL

HPL.out
6            device out
1            # of orders
{n}
{count}      # of blocks
{nbs}
0            row-major processes
{grids}      # of grids
{ps}
{qs}
16.0         threshold
1            # of panel factorisations
2            right-looking
1            # of recursive stopping criteria
4
1            # of panels in recursion
2
1            # of recursive panel factorisations
1            Crout
1            # of broadcasts
1            modified ring
1            # of look-ahead depths
1
2            mixed exchanges
64           and their threshold
0            L1 transposed
0            U transposed
1            equilibration
8            alignment

0            # of additional orders for PTRANS

0            # of additional blocks for PTRANS

"""
    # of a line of results: order, block, grid, time, rate
    RESULT = re.compile(r"^W\w+ +(\d+) +(\d+) +(\d+) +(\d+) +\S+ +(\S+)$", re.M)

    def __init__(self, env, program):
        self.env, self.program = env, program
        tuned = Tuned("getrf-hpl", env, None, self.measure, self.choose)
        self.measure_best = lambda p: tuned(p) if p.ranks == 2 and p.threads == 1 else None

    def results(self, p, nbs, grids):
        """[(rate, (nb, rows of the grid))]"""
        place = self.env.out / "hpl"
        place.mkdir(parents=True, exist_ok=True)
        (place / "hpccoutf.txt").unlink(missing_ok=True)
        (place / "hpccinf.txt").write_text(self.INPUT.format(
            n=p.n, count=len(nbs), nbs=" ".join(map(str, nbs)), grids=len(grids),
            ps=" ".join(map(str, grids)), qs=" ".join(str(p.ranks // r) for r in grids)))
        self.env.mpirun(p.ranks, ["env", "-C", place, self.program], 1, timeout=900,
                        env={**self.env.core, "OPENBLAS_NUM_THREADS": "1"})
        text = (place / "hpccoutf.txt").read_text()
        found = [(float(rate), (int(nb), int(rows)))
                 for n, nb, rows, _, rate in self.RESULT.findall(text) if int(n) == p.n]
        if len(found) != len(nbs) * len(grids) or "Success=1" not in text:
            raise RuntimeError(f"hpcc: {len(found)} results; see {place}/hpccoutf.txt")
        return found

    def choose(self, p):
        if self.env.mode == "tiny":
            return (32, 1)
        grids = [r for r in (1, 2) if p.ranks % r == 0]
        return max(self.results(p, [nb for nb in (96, 128, 160, 192, 256) if nb <= p.n], grids))[1]

    def measure(self, p, setting):
        return self.results(p, [setting[0]], [setting[1]])[0][0]


def blas_core(env):
    """The same kernels of OpenBLAS for all: those that our drivers choose for themselves."""
    flags = open("/proc/cpuinfo", encoding="utf-8").read()
    return {"OPENBLAS_CORETYPE": "SKYLAKEX"} if " avx512dq " in flags else {}


def goals(n, ranks, threads):
    wanted = {(1000, 1, 2): 0.80, (2000, 1, 2): 0.93, (4000, 1, 2): 0.96, (4000, 1, 1): 0.95,
              (2000, 2, 1): 0.80, (4000, 2, 1): 0.90, (4000, 4, 1): 0.80}.get((n, ranks, threads))
    result = [("ratio", wanted, PEAK)] if wanted else []
    if ranks == 1 and 200 <= n <= 1000:
        result.append(("ratio", 1.0, "OpenBLAS"))
    if ranks > 1:
        result.append(("ratio", 1.25, "ScaLAPACK"))
    return result


# name, title, our arguments, our tiles, goals by order, ranks and threads: ratio to dgemm
OTHERS = (
    ("gemm", "Matrix product, double precision", (), (192, 256, 320, 384),
     {(4000, 1, 2): 0.97, (4000, 2, 1): 0.93}),
    ("syrk", "Symmetric update, double precision", ("--routine", "syrk"), (), {(4000, 1, 2): 0.93}),
    ("trsm", "Triangular solve, double precision", ("--routine", "trsm"), (), {(4000, 1, 2): 0.93}),
    ("getrf", "LU factorisation with partial pivoting, double precision", ("--layout", "slab"),
     (64, 96, 128, 160, 192), {(4000, 1, 2): 0.92, (4000, 2, 1): 0.85}),
    ("geqrf", "QR factorisation, double precision", ("--layout", "slab"), (96, 128, 160, 192),
     {(4000, 1, 2): 0.80, (4000, 2, 1): 0.78}),
)

# The rest of the library, without goals and peers: what the table says, and more.
MORE = (
    *((name, f"{title}, double precision", tuple(arguments.split()), (), {})
      for name, arguments, title in TABLE if arguments != "-"),
    ("symm", "Symmetric product, double precision", ("--routine", "symm"), (), {}),
    ("syr2k", "Symmetric update of rank 2k, double precision", ("--routine", "syr2k"), (), {}),
    ("trmm", "Triangular product, double precision", ("--routine", "trmm"), (), {}),
    ("getrf_tournament", "LU factorisation with pivots by tournament, double precision",
     ("--layout", "slab", "--pivoting", "tournament"), (128, 160, 192), {}),
    ("getrf_nopiv", "LU factorisation without pivots, double precision", ("--pivoting", "none"), (), {}),
    ("gels", "Least squares with a square matrix, double precision", ("--layout", "slab"),
     (128, 160, 192), {}),
)


# Those that openblas.c and scalapack.c know.
PEERS = ("gemm", "getrf", "geqrf")


def figure(env, name, title, arguments, tiles, wanted, others):
    (library, why_library), (scalapack, why_scalapack), (starpu, why_starpu) = others
    routine = Routine(env, name, arguments, tiles)
    sizes = env.scaled((500, 1000, 2000, 4000, 8000), (500, 1000, 2000, 4000), (100,))
    if not wanted:
        sizes = env.scaled((1000, 2000, 4000), (1000, 2000), (100,))
    points = []
    for ranks, threads, series in [(1, t, f"{t} thr") for t in env.threads] + \
            [(2, 1, "2 ranks"), (4, 1, "4 ranks")]:
        for n in sizes:
            ratio = wanted.get((n, ranks, threads))
            goal = [("ratio", ratio, PEAK)] if ratio else []
            goal += [("ratio", 1.0, "ScaLAPACK")] if ranks > 1 and name in PEERS else []
            if name == "getrf" and ranks == 2 and n in (4000, 8000):
                goal.append(("ratio", 1.0, "HPL"))
            points.append(Point(n, series, n=n, ranks=ranks, threads=threads, goals=goal))
    contestants = [Contestant("dagcc", routine.ours)]
    if wanted:
        contestants.append(Contestant(BOUND, routine.bound))
    contestants += [Contestant(PEAK, routine.peak(library), absent=why_library,
                              package="libopenblas-dev")]
    if name in PEERS and name != "gemm":
        contestants.append(Contestant("OpenBLAS", routine.library(library), absent=why_library,
                                      package="libopenblas-dev"))
    if name in PEERS:
        contestants.append(Contestant("ScaLAPACK", routine.scalapack(scalapack),
                                      absent=why_scalapack, package="libscalapack-openmpi-dev"))
    if name in ("getrf", "getrf_nopiv"):
        contestants.append(Contestant("StarPU, no pivots", routine.starpu(*starpu),
                                      absent=why_starpu, package="libstarpu-dev"))
    if name == "getrf":
        hpcc = shutil.which("hpcc")
        contestants.append(Contestant("HPL", Linpack(env, hpcc).measure_best, package="hpcc",
                                      absent=None if hpcc else "there is no hpcc"))
    return Figure(name, title, "GFlop/s", points, contestants, better="higher", plot="lines",
                  xlabel="order", logx=True, logy=False)


def tall_qr(env, others):
    """QR of a matrix of many rows and few columns; ScaLAPACK on as many ranks as we have workers."""
    scalapack, why = others[1]
    m, n = env.scaled((100000, 200), (100000, 200), (300, 20))
    tiny = env.mode == "tiny"
    tiles = [8] if tiny else [40, 100, 200, 240]

    def ours(p, nb):
        out = env.mpirun(p.ranks, [env.program("dag_geqrf"), "--m", m, "--n", n, "--nb", nb, "--grid",
                                   f"{p.ranks}x1", "--layout", "slab", "--runs", 6, "--json"],
                         p.threads)
        return median([r["gflops"] for r in env.objects(out)[1:]])

    def theirs(p, s):
        ranks = p.ranks * p.threads
        command = [scalapack, "geqrf", n, s[0], s[1], ranks // s[1], 6, m]
        return first(env, env.mpirun(ranks, command, 1,
                                     env={**env.core, "OPENBLAS_NUM_THREADS": "1"}))

    def grids(p):
        return [(nb, rows) for nb in (16, 32, 64, 100)
                for rows in {1, p.ranks * p.threads}] if not tiny else [(8, 1)]

    points = [Point(f"{m} x {n}", series, ranks=ranks, threads=threads,
                    goals=[("ratio", 2.0, "ScaLAPACK")])
              for ranks, threads, series in ((1, env.threads[-1], f"{env.threads[-1]} thr"),
                                             (2, 1, "2 ranks"))]
    return Figure("tall_qr", "QR factorisation of a tall matrix, double precision", "GFlop/s", points,
                  [Contestant("dagcc", Tuned("tall_qr-ours", env, lambda p: tiles, ours)),
                   Contestant("ScaLAPACK", Tuned("tall_qr-scalapack", env, grids, theirs),
                              absent=why, package="libscalapack-openmpi-dev")],
                  better="higher", logy=False)


class Gesv:
    """Solution of a general system of equations with our driver; the rate is that of a solution in
    double precision, however it was found. Keeps the backward errors."""

    def __init__(self, env):
        self.env = env
        self.errors = {}
        self.tuned = {False: self.tuning("double", ()), True: self.tuning("mixed", ("--mixed",))}

    def tuning(self, name, arguments):
        tiles = (128, 160, 192, 240) if self.env.mode != "tiny" else (32,)
        return Tuned(f"gesv-{name}", self.env, lambda p: tiles,
                     lambda p, nb: self.measure(p, nb, arguments))

    def measure(self, p, nb, arguments):
        out = self.env.mpirun(p.ranks, [self.env.program("dag_gesv"), "--n", p.n, "--nb", nb, "--grid",
                                        f"1x{p.ranks}", "--layout", "slab", *arguments, "--runs",
                                        2 if p.n > 4000 else 3, "--json"], p.threads)
        runs = self.env.objects(out)[1:]
        self.errors[p.label(), bool(arguments)] = max(r["normwise"] for r in runs)
        if any(r.get("iter", 0) < 0 for r in runs):
            raise RuntimeError("the system was solved in double precision after all")
        return median([r["gflops"] for r in runs])

    def double(self, p):
        return self.tuned[False](p)

    def mixed(self, p):
        """Fails where the error is not that of the solution in double precision."""
        rate = self.tuned[True](p)
        double = self.errors.get((p.label(), False))
        if double and self.errors[p.label(), True] > 2 * double:
            raise RuntimeError(f"backward error {self.errors[p.label(), True]:.3g}, in double "
                               f"precision {double:.3g}")
        return rate


def systems(env, hpl):
    """Systems of equations: ours in mixed precision beside double, and ours in double beside HPL."""
    gesv = Gesv(env)
    n = env.scaled(4000, 4000, 100)
    threads = env.threads[-1]
    yield Figure("gesv_mixed", "Solution of a system in mixed precision", "GFlop/s",
                 [Point(n, f"{threads} thr", n=n, ranks=1, threads=threads,
                        goals=[("ratio", 1.5, "double")])],
                 [Contestant("dagcc", gesv.mixed), Contestant("double", gesv.double)],
                 better="higher", logy=False)
    hpcc = shutil.which("hpcc")
    yield Figure("gesv", "Solution of a system, double precision", "GFlop/s",
                 [Point(order, "2 ranks", n=order, ranks=2, threads=1, goals=[("ratio", 1.0, "HPL")])
                  for order in env.scaled((4000, 8000), (4000,), (100,))],
                 [Contestant("dagcc", gesv.double),
                  Contestant("HPL", hpl.measure_best, package="hpcc",
                             absent=None if hpcc else "there is no hpcc")],
                 better="higher", logy=False)


class Start:
    """The first 10 ms of work of a process, or the first call where that is longer, beside the later
    ones of the same process. Both contestants take their turns; a run serves both."""

    def __init__(self, env):
        self.env, self.left = env, {}

    def run(self, p):
        runs = 4 if self.env.mode == "tiny" else 300 if p.n <= 500 else 60
        out = self.env.command([self.env.program(f"dag_{p.routine}"), "--n", p.n, "--threads", p.threads,
                                "--gpus", 0, "--runs", runs, "--json"], self.env.core)
        calls = [(r["time_s"], r["gflops"]) for r in self.env.objects(out)]
        spent = work = 0
        for seconds, rate in calls:
            if spent < 0.01:
                spent, work = spent + seconds, work + seconds * rate
        return {"first": work / spent, "later": median([rate for _, rate in calls[len(calls) // 2:]])}

    def part(self, name):
        def measure(p):
            left = self.left.setdefault(p.label(), {})
            if name not in left:
                left.update(self.run(p))
            return left.pop(name)
        return measure

    def figure(self):
        points = [Point(f"{routine} {n}", "2 thr", routine=routine, n=n, threads=2, ranks=1,
                        goals=[("ratio", 0.9, "later")])
                  for routine in ("potrf", "gemm") for n in self.env.scaled((500, 1000), (500, 1000), (100,))]
        return Figure("first", "The first 10 ms of a process, double precision", "GFlop/s", points,
                      [Contestant("dagcc", self.part("first")), Contestant("later", self.part("later"))],
                      better="higher", logy=False)


def starpus(env):
    """(StarPU's programs for one process and for ranks, why there are none); one package has what both need."""
    programs = []
    for name, package, cc, flags in (("la_starpu", "starpu-1.3", "cc", []),
                                     ("la_starpu_ranks", "starpumpi-1.3", "mpicc", ["-DRANKS"])):
        found = env.pkg_config(package)
        if found is None:
            return [None, None], f"there is no {package}"
        path, why = env.compile(name, ["la/starpu.c"], flags=[*flags, *found[0]],
                                libs=[*found[1], *LAPACK], cc=cc)
        if why:
            return [None, None], why
        programs.append(path)
    return programs, None


def figures(env):
    potrf = Routine(env, "potrf")
    library, why_library = env.compile("la_openblas", ["la/openblas.c"], libs=LAPACK)
    scalapack, why_scalapack = env.compile("la_scalapack", ["la/scalapack.c"], cc="mpicc",
                                           libs=["-lscalapack-openmpi", *BLAS])
    starpu, why_starpu = starpus(env)
    sizes = env.scaled((200, 300, 500, 700, 1000, 2000, 4000, 8000),
                       (200, 500, 1000, 2000, 4000), (100,))
    several = env.scaled((1000, 2000, 4000, 8000), (1000, 2000, 4000), (100,))
    points = [Point(n, f"{t} thr", n=n, ranks=1, threads=t, goals=goals(n, 1, t))
              for t in env.threads for n in sizes]
    points += [Point(n, f"{r} ranks", n=n, ranks=r, threads=1, goals=goals(n, r, 1))
               for r in (2, 4) for n in several]
    cholesky = Figure(
        "potrf", "Cholesky factorisation, double precision", "GFlop/s", points,
        [Contestant("dagcc", potrf.ours),
         Contestant(BOUND, potrf.bound),
         Contestant(PEAK, potrf.peak(library), absent=why_library,
                    package="libopenblas-dev"),
         Contestant("OpenBLAS", potrf.library(library), absent=why_library,
                    package="libopenblas-dev"),
         Contestant("StarPU", potrf.starpu(*starpu), absent=why_starpu, package="libstarpu-dev"),
         Contestant("ScaLAPACK", potrf.scalapack(scalapack), absent=why_scalapack,
                    package="libscalapack-openmpi-dev")],
        better="higher", plot="lines", xlabel="order", logx=True, logy=False)
    others = ((library, why_library), (scalapack, why_scalapack), (starpu, why_starpu))
    env.core = blas_core(env)
    return [cholesky, Start(env).figure(), Far(env).figure(), inserted.figure(env, Routine, TILES),
            *[figure(env, *what, others) for what in OTHERS + MORE],
            tall_qr(env, others), *systems(env, Linpack(env, shutil.which("hpcc")))]
