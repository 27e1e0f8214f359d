#!/usr/bin/env python3
"""What a task on a device costs the thread that issues it, on the fake CUDA: kernels take no time.

usage: cost.py PROGRAM [--n N] [--time]

PROGRAM is dag_potrf. On one thread it issues everything, and the fake does what is asked for at
once. Instructions are counted by callgrind, per task, as the difference of two sizes, apart for the
runtime (with the task's own code), the plug-in, and the fake, each with the calls of the C library
that it makes. With --time the task's time is measured, too: the median of several runs, of which the parts
are told apart by samples of perf, each counted where the last call into another library came from.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

NB = 2
RUNS = 9
# Instructions of the runtime and the plug-in for one task, at most.
MOST = 7600
FAKE = re.compile(r"lib(cudart|cublas|cusolver)\.so")
PLUGIN = re.compile(r"libdag_cuda\.so")


def tasks(n):
    t = n // NB
    return t * (t + 1) * (t + 2) // 6


def command(program, n, runs=1):
    return [program, "--n", str(n), "--nb", str(NB), "--threads", "1", "--runs", str(runs), "--json"]


def environment():
    clean = {k: v for k, v in os.environ.items() if not k.startswith("DAG_") or k == "DAG_DEVICE_PLUGIN"}
    return dict(clean, FAKE_CUDA_ZERO_TIME="1", DAG_DEVICE_ALWAYS="on", DAG_GPUS="1")


def side(name):
    return "fake" if FAKE.search(name) else "plugin" if PLUGIN.search(name) else "runtime"


class Profile:
    """A file of callgrind: inclusive instructions of calls from one side to another, and all."""

    def __init__(self, path):
        self.calls, self.total = {}, 0
        names, here, there = {}, "", None
        with open(path) as file:
            for line in file:
                if line.startswith("ob="):
                    here = self.object(names, line[3:])
                elif line.startswith("cob="):
                    there = self.object(names, line[4:])
                elif line.startswith("calls="):
                    cost = int(next(file).split()[1])
                    key = side(here), side(there or here)
                    self.calls[key] = self.calls.get(key, 0) + cost
                    there = None
                elif line.startswith("summary:"):
                    self.total = int(line.split()[1])

    @staticmethod
    def object(names, text):
        found = re.match(r"\((\d+)\)(?: (.*))?", text.strip())
        if found.group(2):
            names[found.group(1)] = found.group(2)
        return names[found.group(1)]

    def sides(self):
        to_fake = sum(cost for (a, b), cost in self.calls.items() if b == "fake" != a)
        in_plugin = self.calls.get(("runtime", "plugin"), 0) - self.calls.get(("plugin", "fake"), 0)
        return {"fake": to_fake, "plugin": in_plugin, "runtime": self.total - to_fake - in_plugin}


def count(program, n):
    with tempfile.TemporaryDirectory() as where:
        profile = where + "/profile"
        done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=" + profile] +
                              command(program, n), env=environment(), capture_output=True, text=True)
        if done.returncode:
            sys.exit("%s under valgrind: exit status %d\n%s" % (program, done.returncode, done.stderr))
        ran = json.loads(done.stdout.splitlines()[-1])["devices"][0]["tasks"]
        if ran != tasks(n):
            sys.exit("%d of %d tasks ran on the device" % (ran, tasks(n)))
        return Profile(profile).sides()


def shares(program, n):
    """Of the samples of perf in a factorisation, which part is of which side, and how many there are.

    A sample is of the side that made the last call into another library: those of the C library are
    of who called it.
    """
    with tempfile.TemporaryDirectory() as where:
        data = where + "/data"
        subprocess.run(["perf", "record", "-q", "-F", "1500", "-e", "cpu-clock", "--call-graph",
                        "dwarf,8192", "-o", data] + command(program, n, 3), env=environment(),
                       check=True, stdout=subprocess.DEVNULL)
        text = subprocess.run(["perf", "script", "-i", data, "-F", "ip,sym,dso"], text=True,
                              check=True, capture_output=True).stdout
    count = {"fake": 0, "plugin": 0, "runtime": 0}
    for stack in text.split("\n\n"):
        frames = [re.fullmatch(r"\s*[0-9a-f]+ (.*) \((.*)\)", x) for x in stack.splitlines()]
        libraries = " ".join(x.group(2) for x in frames if x)
        if any(x and x.group(1).startswith("dag_potrf") for x in frames):
            count["fake" if FAKE.search(libraries) else "plugin" if PLUGIN.search(libraries) else
                  "runtime"] += 1
    return {k: x / max(1, sum(count.values())) for k, x in count.items()}, sum(count.values())


def measure(program, n):
    done = subprocess.run(command(program, n, RUNS + 1), env=environment(), text=True,
                          capture_output=True, check=True)
    times = [json.loads(x)["time_s"] / tasks(n) * 1e6 for x in done.stdout.splitlines()][1:]
    middle = sorted(times)[len(times) // 2]
    print("%d tasks: %.2f us each, median of %d runs from %.2f to %.2f, the fake included" % (
        tasks(n), middle, len(times), min(times), max(times)))
    if not shutil.which("perf"):
        print("no perf: the fake's share is not known")
        return
    part, samples = shares(program, n)
    print("%.2f us in the runtime, %.2f in the plug-in, %.2f in the fake, by %d samples" % (
        *(middle * part[k] for k in ("runtime", "plugin", "fake")), samples))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("program")
    parser.add_argument("--n", type=int, default=60)
    parser.add_argument("--time", action="store_true")
    options = parser.parse_args()
    if not shutil.which("valgrind"):
        print("no valgrind")
        return 77
    small, large = options.n // 2, options.n
    few, many = count(options.program, small), count(options.program, large)
    per_task = {k: (many[k] - few[k]) / (tasks(large) - tasks(small)) for k in many}
    print("instructions per task: %.0f in the runtime, %.0f in the plug-in, %.0f in the fake" % (
        per_task["runtime"], per_task["plugin"], per_task["fake"]))
    for n in (options.n, 128, 240) if options.time else ():
        measure(options.program, n)
    ours = per_task["runtime"] + per_task["plugin"]
    if ours > MOST:
        print("FAILED: %.0f instructions per task, at most %d" % (ours, MOST))
    return ours > MOST


if __name__ == "__main__":
    sys.exit(main())
