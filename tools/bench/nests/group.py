"""Factorisations derived from sequential nests: beside the graphs that were written by hand, and beside the
same loops as tasks of OpenMP; an inverse as one nest beside the three graphs that the library has for it."""
import os

from harness.figures import Contestant, Figure, Point

# routine: title, nest as tasks of OpenMP, operations / n^3
ROUTINES = {"potrf_L": ("Cholesky factorisation", "potrf_omp", "1.0 / 3"),
            "getrf_nopiv": ("LU factorisation without pivoting", "getrf_omp", "2.0 / 3")}
TARGETS = [f"bench_nests_{routine}_{form}" for routine in (*ROUTINES, "inverse")
           for form in ("derived", "by_hand")] + ["dag", "dag_kernels"]
ONE = {"OPENBLAS_NUM_THREADS": "1", "OMP_PROC_BIND": "false"}


def openmp(env, routine, compiler):
    """(path, why) of the nest as a program for threads."""
    _, nest, work = ROUTINES[routine]
    libs = [f"-L{env.build / 'lib'}", "-ldag_kernels", "-ldag", "-llapacke", "-lopenblas"]
    for package in ("ompi-c", "hwloc"):
        libs += (env.pkg_config(package) or ([], []))[1]
    return env.compile(f"{nest}_{compiler}", ["nests/nests.c"], cc=compiler, flags=[
        "-fopenmp", f"-I{env.root / 'include'}", f"-I{env.build / 'include'}", f"-DRUN={nest}",
        f'-DNEST="{env.root / "dsl-examples" / "sequential" / (nest + ".seq.c")}"', f"-DWORK=({work})"],
        libs=[*libs, "-pthread", "-lm"])


def measure(env, program):
    def sample(p):
        command = [program(), p.n, p.nb, p.threads, p.runs]
        out = env.mpirun(p.ranks, command, p.threads, env=ONE) if p.ranks > 1 else \
            env.command(command, env={**os.environ, **ONE})
        return env.objects(out)[0]["gflops"]
    return sample


def points(env, orders, goal, ranks, threads, tiles=(128,)):
    runs = env.scaled(3, 3, 1)
    return [Point(n, f"tiles of {nb}" if len(tiles) > 1 else "", n=n, nb=nb, ranks=ranks, threads=threads, runs=runs,
                  goals=[("ratio", *goal)])
            for nb in env.scaled(tiles, tiles, (32,)) for n in env.scaled(orders, orders[:2], (200,))]


def figure(env, routine, ranks):
    title, _, _ = ROUTINES[routine]
    threads = 1 if ranks > 1 else max(env.threads)
    contestants = [
        Contestant("dagcc", measure(env, lambda: env.program(f"bench_nests_{routine}_derived"))),
        Contestant("by hand", measure(env, lambda: env.program(f"bench_nests_{routine}_by_hand")))]
    for compiler, package in (("gcc", "gcc"), ("clang", "clang libomp-dev")) if ranks == 1 else ():
        path, why = openmp(env, routine, compiler)
        contestants.append(Contestant(f"OpenMP, {compiler}", measure(env, lambda path=path: path),
                                      absent=why, package=package))
    where = f"{ranks} ranks" if ranks > 1 else f"{threads} threads"
    return Figure(f"nests_{routine}" + ("_ranks" if ranks > 1 else ""), f"{title} from a nest, {where}",
                  "GFlop/s", points(env, (1000, 2000, 3000, 4000), (0.98, "by hand"), ranks, threads), contestants,
                  better="higher", plot="lines", xlabel="order", logx=True)


def inverse(env):
    threads = max(env.threads)
    contestants = [
        Contestant("one nest", measure(env, lambda: env.program("bench_nests_inverse_derived"))),
        Contestant("three graphs", measure(env, lambda: env.program("bench_nests_inverse_by_hand")))]
    return Figure("nests_inverse", f"Inverse of a positive definite matrix, {threads} threads", "GFlop/s",
                  points(env, (500, 1000, 1500, 2000), (1.1, "three graphs"), 1, threads, (128, 256)), contestants,
                  better="higher", plot="lines", xlabel="order", logx=True)


def figures(env):
    return [*(figure(env, routine, ranks) for routine in ROUTINES for ranks in (1, 2)), inverse(env)]
