#!/usr/bin/env python3
"""The critical path of path.jdf, on one and two devices and on two ranks, in all that a trace becomes.

usage: path.py MPIRUN|none PROGRAM DAG_TRACE

The environment has the fake CUDA and the back end. Kernels and copies there take known times at least.
Which path is critical hangs on times: a run that took much longer than its path must take was disturbed
by others, says nothing where it fails, and is made again.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

CORE, KERNEL, COPY = 40000, 5000, 4096  # microseconds at least
BUSY = 1.2  # times as long as it must take
TRIES = 10
failures = []


def expect(right, why):
    if not right:
        failures.append(why)


def chain(devices, ranks):
    """The steps of the path: (what, where)."""
    steps = []
    for j in range(2):
        rank = j % ranks
        last = "device %d" % (devices - 1)
        steps.append(("Core(%d)" % j, "rank %d worker" % rank))
        steps.append(("copy", "rank %d host to device 0" % rank))
        steps.append(("Make(%d)" % j, "rank %d device 0 stream" % rank))
        steps.append(("copy", "rank %d device 0 to %s" % (rank, last)))
        steps.append(("Use(%d)" % j, "rank %d %s stream" % (rank, last)))
        steps.append(("copy", "rank %d %s to host" % (rank, last)))
    steps.append(("Core(2)", "rank 0 worker"))
    return steps


def check_text(text, steps):
    """`dag_trace path`: the steps, one behind the other. Where what a task writes is still in use by
    another one when its turn comes, it works on a clone: that many more copies within a device."""
    units = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}
    number = r"([\d.]+) (ns|us|ms|s) +"
    line = re.compile(r" *(\d+) (\S.*?) +" + 3 * number + r"(rank .*)")
    found = [line.match(row) for row in text.splitlines()[1:]]
    expect(all(found), "unknown lines in\n" + text)
    rows = [m.groups() for m in found if m]
    within = re.compile(r"(device \d+) to \1$")
    expected = any(within.search(where) for _, where in steps) # on one device always
    clones = [] if expected else [r for r in rows if within.search(r[8].rstrip())]
    rows = [r for r in rows if r not in clones]
    seen = [(re.sub(r" of .*", "", r[1]), re.sub(r"(worker|stream) \d+$", r"\1", r[8])) for r in rows]
    expect(seen == 2 * steps, "the path is\n%s\nnot %s" % (text, steps))
    took = [float(r[4]) * units[r[5]] for r in rows]
    least = least_of(steps)
    for pool in range(2):
        length = sum(took[pool * len(steps):][:len(steps)])
        # A copy within a device takes no time in the fake.
        expect(length > 0.9 * (least - 2 * COPY), "the path takes %g us\n%s" % (length, text))
    return [sum(r[0] == pool for r in clones) for pool in ("1", "2")]


def check_json(trace, steps, clones):
    """The events for Perfetto: arrows lead from slice to slice of the path, each behind the last."""
    events = trace["traceEvents"]
    slices = {}
    for e in events:
        if e["ph"] == "X" and "critical" in e["cat"]:
            slices.setdefault((e["pid"], e["tid"]), []).append((e["ts"], e["ts"] + e["dur"], e))
    count = sum(len(s) for s in slices.values())
    expect(count == 2 * len(steps) + clones, "%d slices on critical paths" % count)
    copies = sum(e["ph"] == "X" and e["cat"] == "copy,critical" for e in events)
    expect(copies == 2 * sum(s[0] == "copy" for s in steps) + clones, "%d critical copies" % copies)
    starts = {e["id"]: e for e in events if e["ph"] == "s"}
    ends = {e["id"]: e for e in events if e["ph"] == "f"}
    expect(len(starts) == 2 * (len(steps) - 1) + clones and set(starts) == set(ends),
           "%d arrows" % len(starts))
    for key, s in starts.items():
        f = ends[key]
        expect(any(a <= s["ts"] <= b for a, b, _ in slices.get((s["pid"], s["tid"]), [])) and
               any(abs(a - f["ts"]) < 0.01 for a, _, _ in slices.get((f["pid"], f["tid"]), [])),
               "an arrow hangs in the air: %s, %s" % (s, f))
        slack = 0.01 if s["pid"] == f["pid"] else 1000  # clocks of ranks
        expect(f["ts"] + slack >= s["ts"], "an arrow leads back: %s, %s" % (s, f))
    # What waits for content from a device is ready when that has come.
    for e in events:
        if e["ph"] == "X" and e.get("args", {}).get("task", "").startswith("Core(1"):
            before = [s for s in slices if s[0] == e["pid"]]
            came = [b for key in before for _, b, c in slices[key]
                    if c["cat"] == "copy,critical" and b <= e["ts"] + 0.01]
            ready = e["ts"] - e["args"]["ready_for_us"]
            if came:
                expect(ready >= max(came) - 0.01, "%s was ready before its content had come" % e)


def check_times(text):
    """The states of each worker add up."""
    rows = re.findall(r"^  rank \d+ worker \d+ +(.*)$", text, re.MULTILINE)
    expect(len(rows) > 0, "no workers in\n" + text)
    for row in rows:
        total = sum(float(x) for x in row.split()[:-2])
        expect(abs(total - 100) < 0.1, "the states of a worker are %g %% in\n%s" % (total, text))


def least_of(steps):
    """Microseconds."""
    return sum(CORE if s[0][0] == "C" else COPY if s[0] == "copy" else KERNEL for s in steps)


def run(options, devices, ranks):
    """How many times as long as both its pools must take."""
    mpirun, program, dag_trace = options
    with tempfile.TemporaryDirectory() as where:
        path = where + "/path.trace"
        env = dict(os.environ, DAG_TRACE=path, DAG_THREADS="2" if ranks == 1 else "1",
                   FAKE_CUDA_DEVICES=str(devices), FAKE_CUDA_KERNEL_DELAY=str(KERNEL))
        for link in "H2D", "D2H", "P2P":
            env["FAKE_CUDA_%s_BANDWIDTH" % link] = "8000000" # 32 KiB in 4096 us
        command = [program, str(CORE)]
        if ranks > 1:
            command = [mpirun, "-np", str(ranks)] + command
        done = subprocess.run(command, env=env, timeout=240, check=False)
        expect(done.returncode == 0, "exit status %d" % done.returncode)

        def ask(*words):
            return subprocess.run([dag_trace, *words], capture_output=True, text=True,
                                  check=True).stdout
        steps = chain(devices, ranks)
        clones = check_text(ask("path", path), steps)
        check_json(json.loads(ask("json", path, "-o", "-")), steps, sum(clones))
        page = ask("html", path, "-o", "-")
        tasks = sum(s[0] != "copy" for s in steps)
        expected = ['"steps":%d,"copies":%d,' % (tasks, len(steps) - tasks + n) for n in clones]
        for counts in expected:
            expect(page.count(counts) == expected.count(counts), "the page does not say " + counts)
        text = ask("--workers", path)
        check_times(text)
        seconds = float(re.match(r"\d+ ranks?, .*, ([\d.]+) s$", text.split("\n")[0]).group(1))
        return 1e6 * seconds / (2 * least_of(steps))


def undisturbed(options, devices, ranks):
    """Whether there was a run that counts."""
    for _ in range(TRIES):
        failures.clear()
        times = run(options, devices, ranks)
        if not failures:
            return True
        if times < BUSY:
            print("FAILED: " + "\nFAILED: ".join(failures), flush=True)
            sys.exit(1)
    return False


def main():
    options = sys.argv[1:]
    cases = [(1, 1), (2, 1)] + ([(1, 2), (2, 2)] if options[0] != "none" else [])
    if all([undisturbed(options, *case) for case in cases]):
        return 0
    print("skipped: others use the processors: the last of %d runs failed with: %s"
          % (TRIES, "; ".join(failures)))
    return 77


sys.exit(main())
