"""What messages cost, beside MPI alone on the same ranks."""
import time

from harness.figures import Contestant, Figure, Point

TARGETS = ["bench_comm", "dag_potrf"]
KIB, MIB = 1024, 1 << 20


class Programs:
    def __init__(self, env):
        self.env = env
        self.plain, self.why = env.compile("plain_mpi", ["comm/plain_mpi.c"], cc="mpicc")

    def run(self, plain, ranks, mode, size=8, count=1000, runs=3, threads=1, extra=None):
        program = self.plain if plain else self.env.program("bench_comm")
        out = self.env.mpirun(ranks, [program, mode, size, count, runs], threads, env=extra)
        return self.env.objects(out)[0]["value"] if mode != "empty" else None

    def both(self, measure):
        """Contestants: measure(plain, point)."""
        return [Contestant("dagcc", lambda p: measure(False, p)),
                Contestant("plain MPI", lambda p: measure(True, p), self.why, "libopenmpi-dev")]


def hops(env, programs):
    full = {8: 20000, KIB: 10000, 8 * KIB: 5000, 64 * KIB: 2000, MIB: 200, 8 * MIB: 30}
    counts = {b: env.scaled(n, n // 4 + 10, 10) for b, n in full.items()}

    def seconds(plain, p):
        return programs.run(plain, 2, "hop", p.bytes, counts[p.bytes], env.scaled(3, 3, 1))

    names = {8: "8 B", KIB: "1 KiB", 8 * KIB: "8 KiB", 64 * KIB: "64 KiB", MIB: "1 MiB",
             8 * MIB: "8 MiB"}
    small = [Point(names[b], bytes=b, goals=[("value", 2)] if b == 8 else []) for b in full]
    large = [Point(names[b], bytes=b, goals=[("ratio", 0.85, "plain MPI")])
             for b in (64 * KIB, MIB, 8 * MIB)]
    yield Figure("hop", "A task chain over 2 ranks: time of a hop", "us", small,
                 programs.both(lambda plain, p: 1e6 * seconds(plain, p)))
    yield Figure("bandwidth", "A task chain over 2 ranks: bandwidth", "GB/s", large,
                 programs.both(lambda plain, p: 1e-9 * p.bytes / seconds(plain, p)),
                 better="higher", logy=False)


def broadcasts(env, programs):
    sizes = {8: ("8 B", 1000), 64 * KIB: ("64 KiB", 200), 256 * KIB: ("256 KiB", 100),
             MIB: ("1 MiB", 50), 8 * MIB: ("8 MiB", 15)}
    ranks = [2, 4]

    def measure(shape):
        def one(p):
            count = env.scaled(p.count, p.count // 4, 3)
            return 1e6 * programs.run(shape is None, p.ranks, "bcast", p.bytes, count,
                                      env.scaled(3, 3, 1), 1, {"DAG_BCAST": shape or "auto"})
        return one

    goal = [("ratio", 0.91, "plain MPI")]
    points = [Point(name, f"{r} ranks", bytes=b, count=n, ranks=r,
                    goals=goal if r == 4 and b > 8 else [])
              for b, (name, n) in sizes.items() for r in ranks]
    shapes = ["auto", "binomial", "chain", "ring", "scatter"]
    contestants = [Contestant("dagcc" if s == "auto" else s, measure(s)) for s in shapes]
    contestants.append(Contestant("plain MPI", measure(None), programs.why, "libopenmpi-dev"))
    return Figure("broadcast", "A tile from one task to one on each rank, and an answer from each",
                  "us per round", points, contestants)


def reductions(env, programs):
    sizes = {8: ("8 B", 1000), 64 * KIB: ("64 KiB", 200), MIB: ("1 MiB", 50), 8 * MIB: ("8 MiB", 15)}

    def microseconds(plain, p):
        return 1e6 * programs.run(plain, 4, "reduce", p.bytes, env.scaled(p.count, p.count // 4, 3),
                                  env.scaled(3, 3, 1))

    points = [Point(name, bytes=b, count=n, goals=[("ratio", 0.83, "plain MPI")] if b == MIB else [])
              for b, (name, n) in sizes.items()]
    return Figure("reduction", "Doubles of 4 ranks added into those of one, in turn", "us per round",
                  points, programs.both(microseconds))


def rates(env, programs):
    count = env.scaled(200000, 50000, 500)

    def measure(plain, p):
        return 1e-6 / programs.run(plain, 2, "rate", p.bytes, count, env.scaled(3, 3, 1))

    points = [Point("8 B", bytes=8), Point("1 KiB", bytes=KIB)]
    return Figure("rate", "Independent messages from one rank to another", "million per s", points,
                  programs.both(measure), better="higher", logy=False)


def waiting(env, programs):
    ms = env.scaled(300, 100, 10)

    def measure(plain, p):
        return 100 * programs.run(plain, p.ranks, "wait", 8, ms, 1)

    points = [Point(f"{r} ranks", ranks=r) for r in (2, 4)]
    return Figure("waiting", "Processor time of a rank that waits for the work of another", "%",
                  points, programs.both(measure), logy=False)


def startup(env, programs):
    """Milliseconds from start to exit beyond those of MPI_Init and MPI_Finalize."""
    def wall(plain, ranks):
        start = time.monotonic()
        if ranks == 1:
            program = programs.plain if plain else env.program("bench_comm")
            env.command([program, "empty"])
        else:
            programs.run(plain, ranks, "empty")
        return 1000 * (time.monotonic() - start)

    def extra(p):
        return wall(False, p.ranks) - wall(True, p.ranks)

    points = [Point(f"{r} rank{'s' if r > 1 else ''}", ranks=r, goals=[("value", 30)])
              for r in (1, 2)]
    return Figure("startup", "An empty program, beyond MPI_Init and MPI_Finalize", "ms", points,
                  [Contestant("dagcc", extra, programs.why, "libopenmpi-dev")], logy=False)


def oversubscribed(env, programs):
    """How fast 4 ranks of 2 threads are relative to 2 ranks of 1, on the same cores."""
    n = env.scaled(2000, 1000, 100)

    def potrf(ranks, threads):
        grid = {2: "1x2", 4: "2x2"}[ranks]
        out = env.mpirun(ranks, [env.program("dag_potrf"), "--n", n, "--nb", env.scaled(160, 128, 32),
                                 "--grid", grid, "--json"], threads)
        return env.objects(out)[0]["time_s"]

    def hop(size, count):
        return lambda ranks, threads: programs.run(False, ranks, "hop", size,
                                                   env.scaled(count, count, 20), 3, threads)

    cases = {f"Cholesky, n = {n}": potrf, "hop, 8 B": hop(8, 4000), "hop, 1 MiB": hop(MIB, 200)}
    points = [Point(name, goals=[("value", 0.7)], seconds=f) for name, f in cases.items()]
    return Figure("oversubscribed", "4 ranks x 2 threads relative to 2 ranks x 1 thread, 2 cores",
                  "speed", points, [Contestant("dagcc", lambda p: p.seconds(2, 1) / p.seconds(4, 2))],
                  better="higher", logy=False)


def figures(env):
    programs = Programs(env)
    yield from hops(env, programs)
    yield broadcasts(env, programs)
    yield reductions(env, programs)
    yield rates(env, programs)
    yield waiting(env, programs)
    yield startup(env, programs)
    yield oversubscribed(env, programs)
