"""What a task costs: graphs of empty tasks."""
from harness.figures import Contestant, Figure, Point

TARGETS = ["bench_tasks"]
PATTERNS = ["independent", "ctl", "chain", "wavefront", "stencil"]


def figures(env):
    tasks = env.scaled(1000000, 200000, 2000)

    def ours(p):
        out = env.command([env.program("bench_tasks"), "--only", p.x, "--threads", p.threads, "--runs", 1,
                           "--tasks", tasks, "--json"])
        return env.objects(out)[0]["median_ns"]

    points = [Point(x, f"{t} thr", threads=t) for x in PATTERNS for t in env.threads]
    return [Figure("overhead", "Empty tasks", "ns per task", points,
                   [Contestant("dagcc", ours)])]
