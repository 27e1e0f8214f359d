#!/usr/bin/env python3
"""Drivers under limits of address space, of a control group and of the stack: there is a right result, or
a line that says why there is none; none hangs, none crashes.

usage: limits.py MPIRUN DIRECTORY-OF-THE-DRIVERS [--full] [--ranks N] [--kind space|group|stack] [ROUTINE...]

The limits begin at the least at which a driver's --version runs. Control groups are tried where this user
may make one. Without --full: fewer limits.
"""
import argparse
import os
import resource
import signal
import subprocess
import sys
import tempfile

KIB = 1024
MOST = {"space": 1200 << 20, "group": 250 << 20}  # where every driver has a result
LIMITS = {"space": (7, 20), "group": (4, 10)}     # of a short run and of a full one
STACKS = 64, 96, 128, 192, 256, 512
PATIENCE = 150  # seconds, on a machine that does much else
SIZES = {"space": "500", "group": "1000", "stack": "500"}
ARGUMENTS = {"blas3": ["--routine", "trmm"]}
HIERARCHIES = (("/sys/fs/cgroup", "memory.max"), ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"))


class Group:
    """A control group of our own; falsy where there cannot be one."""

    def __init__(self):
        self.path = None
        for base, name in HIERARCHIES:
            path = os.path.join(base, "dag-limits-%d" % os.getpid())
            try:
                os.mkdir(path)
            except OSError:
                continue
            self.path, self.file = path, os.path.join(path, name)
            if os.path.exists(self.file) and os.path.exists(os.path.join(path, "cgroup.procs")):
                return
            self.remove()

    def __bool__(self):
        return self.path is not None

    def remove(self):
        if self.path:
            os.rmdir(self.path)
            self.path = None

    def set(self, limit):
        with open(self.file, "w", encoding="ascii") as file:
            file.write(str(limit))

    def enter(self):
        with open(os.path.join(self.path, "cgroup.procs"), "w", encoding="ascii") as file:
            file.write(str(os.getpid()))


def limited(kind, limit, group):
    """What a process does that shall live under a limit."""
    def enter():
        if kind == "space":
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        elif kind == "group":
            group.enter()
        else:
            soft, hard = limit
            resource.setrlimit(resource.RLIMIT_STACK, (soft, hard))
    if kind == "group":
        group.set(limit)
    return enter


def run(command, enter):
    """Exit status, -1 where it hangs, and what was said."""
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, preexec_fn=enter,
                                 start_new_session=True)
        try:
            status = child.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            status = None
        out.seek(0)
        text = out.read().decode(errors="replace")
    if status is None:
        return "hangs", text
    return ("signal %d" % -status if status < 0 else status), text


def starts(program, kind, limit, group):
    try:
        return run([program, "--version"], limited(kind, limit, group))[0] == 0
    except (OSError, subprocess.SubprocessError):
        return False  # not even this process can be made


def least(program, kind, group):
    """Little more than the least limit at which --version runs."""
    low, high = 1 << 20, MOST[kind]
    while high - low > high // 100:
        middle = (low + high) // 2 // KIB * KIB
        low, high = (low, middle) if starts(program, kind, middle, group) else (middle, high)
    return high + high // 4  # what it takes differs a little from run to run


def judge(status, text, name):
    """Whether it is a right result, a refusal, or None."""
    if status == 0:
        return "right" if "backward error" in text else None
    if not isinstance(status, int) or status >= 124:
        return None
    return "refused" if any(line.startswith(("dag_%s: " % name, "tools/mpirun: ")) and len(line) > 30
                            for line in text.splitlines()) else None


class Trial:
    def __init__(self, arguments, group):
        self.mpirun, self.where, self.full = arguments.mpirun, arguments.where, arguments.full
        self.group, self.failures, self.counts = group, 0, {"right": 0, "refused": 0}

    def once(self, name, ranks, kind, limit):
        program = os.path.join(self.where, "dag_" + name)
        command = [program, "--n", SIZES[kind], "--threads", "2", "--check", *ARGUMENTS.get(name, [])]
        enter = limited(kind, limit, self.group)
        if ranks > 1:
            if kind == "space":  # the launcher has none
                command = ["bash", "-c", 'ulimit -v %d; exec "$0" "$@"' % (limit // KIB), *command]
                enter = None
            command = [self.mpirun, "-np", str(ranks), *command]
        status, text = run(command, enter)
        verdict = judge(status, text, name)
        if verdict:
            self.counts[verdict] += 1
        else:
            self.failures += 1
            print("FAILED: %s, ranks %d, %s %s: %s\n%s" % (name, ranks, kind, limit, status, text[:3000]),
                  flush=True)

    def limits(self, name, kind):
        if kind == "stack":
            soft = resource.getrlimit(resource.RLIMIT_STACK)[1]
            both = [(s * KIB, h) for s in STACKS for h in (s * KIB, soft)]
            return both if self.full else both[:8]
        program, count = os.path.join(self.where, "dag_" + name), LIMITS[kind][self.full]
        begin = least(program, kind, self.group)
        return [int(begin * (MOST[kind] / begin) ** (i / (count - 1))) for i in range(count)]

    def routine(self, name, ranks, kind):
        before = dict(self.counts)
        limits = self.limits(name, kind)
        for limit in limits:
            if kind != "stack" or starts(os.path.join(self.where, "dag_" + name), kind, limit, self.group):
                self.once(name, ranks, kind, limit)
        print("%s, ranks %d, %s from %s: %s" % (name, ranks, kind, limits[0], ", ".join(
            "%d %s" % (self.counts[k] - before[k], k) for k in before)), flush=True)
        if self.counts["right"] == before["right"]:
            self.failures += 1
            print("FAILED: %s has no result under any limit" % name)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mpirun")
    parser.add_argument("where")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--ranks", type=int)
    parser.add_argument("--kind", choices=("space", "group", "stack"))
    parser.add_argument("routine", nargs="*")
    arguments = parser.parse_intermixed_args()
    os.environ.update(DAG_GPUS="0", DAG_TILE_TIMES="off")
    group = Group()
    trial = Trial(arguments, group)
    try:
        for kind in [arguments.kind] if arguments.kind else ("space", "group", "stack"):
            if kind == "group" and not group:
                print("no control groups: this user may not make one")
                continue
            for name in arguments.routine:
                for ranks in [arguments.ranks] if arguments.ranks else (1, 2):
                    trial.routine(name, ranks, kind)
    finally:
        group.remove()
    print("%(right)d results, %(refused)d refusals" % trial.counts + ", %d failures" % trial.failures)
    return trial.failures != 0


if __name__ == "__main__":
    sys.exit(main())
