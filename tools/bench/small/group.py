"""Small matrices, in loops, through the C API: ours beside the BLAS library's own routines; and what it takes to plan
a product."""
from harness.figures import Contestant, Figure, Point

TARGETS = ["bench_small", "bench_batch", "bench_plan"]
ROUTINES = {
    "potrf": "Cholesky factorisation", "posv": "Positive definite system", "getrf": "LU factorisation",
    "gesv": "System of equations", "geqrf": "QR factorisation", "gels": "Least squares",
    "gemm": "Product", "trsm": "Triangular solve", "potri": "Inverse of a positive definite matrix",
    "potrs": "Solution with a Cholesky factor",
}
# What a program sees that makes one call, ten, or many.
CALLS = {"first": "first call", "tenth": "tenth call", "gflops": "many calls"}


def core(env):
    """The same kernels of OpenBLAS for both."""
    flags = open("/proc/cpuinfo", encoding="utf-8").read()
    return {"OPENBLAS_CORETYPE": "SKYLAKEX"} if " avx512dq " in flags else {}


def threads_of(env):
    return env.threads if env.mode != "tiny" else env.threads[:1]


def measure(env, who):
    def sample(p):
        calls = 12 if env.mode == "tiny" else 200 if p.n <= 200 else 110 if p.n <= 500 else 20
        threads = str(p.threads) if who == "openblas" else "1"
        out = env.command([env.program("bench_small"), who, p.routine, p.prec, p.n, p.threads, calls],
                          {**core(env), "OPENBLAS_NUM_THREADS": threads})
        return env.objects(out)[0][p.call]
    return sample


def figure(env, routine, call):
    precs = "sdcz" if env.mode != "tiny" else "d"
    sizes = env.scaled((20, 50, 100, 200, 500, 1000, 2000), (20, 50, 100, 200, 500), (20,))
    points = [Point(n, f"{prec} {t} thr", n=n, prec=prec, threads=t, routine=routine, call=call,
                    goals=[("ratio", 0.95, "OpenBLAS")])
              for prec in precs for t in threads_of(env) for n in sizes]
    name = routine if call == "gflops" else f"{routine}_{call}"
    return Figure(f"small_{name}", f"{ROUTINES[routine]}, {CALLS[call]}", "GFlop/s", points,
                  [Contestant("dagcc", measure(env, "ours")),
                   Contestant("OpenBLAS", measure(env, "openblas"), package="libopenblas-dev")],
                  better="higher", plot="lines", xlabel="order", logx=True)


def batches(env, routine, loop, why):
    """Many small matrices in one call, beside a loop over the BLAS library's routine."""
    def with_program(program):
        return lambda p: env.objects(env.command(
            [program or env.program("bench_batch"), routine, p.prec, p.n, p.count, p.threads, 3],
            {**core(env), "OPENBLAS_NUM_THREADS": "1"}))[0]["gflops"]

    count = env.scaled(10000, 1000, 20)
    points = [Point(n, f"{prec} {t} thr", n=n, prec=prec, threads=t, count=count,
                    goals=[] if routine == "gemm" else [("ratio", 2.0, "loop")])
              for prec in "dz" for t in threads_of(env) for n in env.scaled((8, 32, 128), (8, 32, 128), (8,))]
    return Figure(f"batch_{routine}", f"Batches of {count}: {ROUTINES.get(routine)}", "GFlop/s", points,
                  [Contestant("dagcc", with_program(None)),
                   Contestant("loop", with_program(loop), absent=why, package="libopenblas-dev")],
                  better="higher", plot="lines", xlabel="order", logx=True)


def one_vector(env):
    """A solve with a Cholesky factor for one right-hand side reads the triangle twice: beside what memory gives."""
    memory, why = env.compile("copy", ["small/copy.c"], flags=["-fopenmp"])
    rate = measure(env, "ours")
    bytes_per_operation = {"s": 2, "d": 4, "c": 1, "z": 2}

    def ours(p):
        return rate(p) * bytes_per_operation[p.prec]

    def of_memory(what):
        size = env.scaled(512, 128, 8)
        return Contestant(what, lambda p: env.objects(env.command([memory, p.threads, size, 9]))[0][what], absent=why)

    points = [Point(n, f"{prec} {t} thr", n=n, prec=prec, threads=t, routine="potrs", call="gflops",
                    goals=[("ratio", 0.8, "copy")] if t > 1 else [])
              for prec in "sdcz" for t in threads_of(env) for n in env.scaled((4000,), (2000,), (20,))]
    return Figure("one_vector", "Solution for one right-hand side", "GB/s", points,
                  [Contestant("dagcc", ours), of_memory("copy"), of_memory("read")], better="higher")


def planner(env):
    """Plans of a product on simulated ranks: of a shape that is new, and one that is kept."""
    shapes = env.scaled(200, 200, 8) # all of 32 x 32 tiles

    def ours(p):
        out = env.command([env.program("bench_plan"), 8192, 256, shapes], {"DAG_SIMULATE": str(p.ranks), "DAG_THREADS": "1"})
        return env.objects(out)[0][p.what]

    points = [Point(f"{ranks} ranks", name, ranks=ranks, what=what, goals=[("value", 20)])
              for name, what in (("first call", "first_us"), ("new shape", "made_us"), ("kept", "kept_us"))
              for ranks in env.scaled((8, 16, 64, 256, 1024), (8, 64, 1024), (8,))]
    return Figure("plans", "Plans of a product", "us", points, [Contestant("dagcc", ours)])


def figures(env):
    loop, why = env.compile("loop_batch", ["small/batch.c"], flags=["-DLOOP", "-fopenmp"],
                            libs=["-llapacke", "-lopenblas"])
    calls = CALLS if env.mode != "tiny" else ["gflops"]
    return ([planner(env)] if env.has("bench_plan") else []) + \
        [figure(env, routine, call) for routine in ROUTINES for call in calls] + \
        [one_vector(env)] + \
        [batches(env, routine, loop, why)
         for routine in ("potrf", "getrf", "geqrf", "gemm", "trsm", "gesv", "posv")]
