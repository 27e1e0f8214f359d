"""serial.py MPIRUN PROGRAM: serial runs have one order, that of docs/troubleshooting.md; on several
ranks each runs its own tasks in it."""
import os
import subprocess
import sys

mpirun, program = sys.argv[1:]


def run(ranks, **environment):
    env = dict(os.environ, DAG_SERIAL="on", **environment)
    command = [program] if ranks == 1 else [mpirun, "-np", str(ranks), program]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=400)
    if done.returncode != 0:
        sys.exit(f"{ranks} ranks: status {done.returncode}: {done.stderr}")
    lines = [line for line in done.stdout.splitlines() if line[:1].isdigit()]
    return {int(line.split(":")[0]): line.split(":")[1].split() for line in lines}


def expected(n):
    """The documented rule, played here."""
    cells = [(t, i) for t in range(n) for i in range(n)]
    missing = {("Cell", t, i): (t > 0) + (t > 0 and i > 0) for t, i in cells}
    missing.update({("Last", i, 0): 1 for i in range(n)})
    ready = [task for task, inputs in missing.items() if inputs == 0]
    order = []

    def key(task):
        name, a, b = task
        return (-(10 if name == "Last" else b % 3), name == "Last", a, b)

    def arrive(task):
        missing[task] -= 1
        if missing[task] == 0:
            ready.append(task)

    while ready:
        task = min(ready, key=key)
        ready.remove(task)
        order.append("%s(%d,%d)" % task)
        name, t, i = task
        if name == "Last":
            continue
        if t == n - 1:
            arrive(("Last", i, 0))
            continue
        arrive(("Cell", t + 1, i))
        if i < n - 1:
            arrive(("Cell", t + 1, i + 1))
    return order


want = expected(5) + expected(3)
for attempt in range(2):
    got = run(1)[0]
    if got != want:
        sys.exit(f"one rank ran\n{got}\nnot\n{want}")
if mpirun != "none":
    for ranks in (2, 3):
        first = run(ranks)
        for rank, tasks in first.items():
            at = iter(want)
            # pool by pool a subsequence of the one order
            if not all(any(task == other for other in at) for task in tasks):
                sys.exit(f"rank {rank} of {ranks} ran {tasks}, which is not in the order {want}")
        if sorted(sum(first.values(), [])) != sorted(want):
            sys.exit(f"{ranks} ranks ran other tasks than one")
        for seed in ("1", "2"):
            if run(ranks, DAG_CHAOS=seed, DAG_THREADS="2") != first:
                sys.exit(f"{ranks} ranks, seed {seed}: another order")
