#!/usr/bin/env python3
"""Tasks whose kernels share launches, on the fake CUDA: launches counted, results, faults.

usage: batch.py PROGRAM MACHINE

PROGRAM is batch.jdf: 4 steps of 20 columns, of which the last one is narrow (`even`: none is). In the first step
each column comes to the device, and goes alone. MACHINE is a description of one. The environment has the fake in LD_LIBRARY_PATH and the back end in DAG_DEVICE_PLUGIN.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

LINE = re.compile(r"status (\d+), (\d+) wrong, (\d+) tasks, (\d+) batched, (\d+) retries")
TASKS, COLUMNS, STEPS = 80, 20, 4
ERR_DEVICE = 23 # DAG_ERR_DEVICE of dag/dag.h
failures = 0


def expect(right, why, what):
    global failures
    if not right:
        failures += 1
        print("FAILED: %s\n  %s" % (why, what), flush=True)


class Run:
    """One run: what it says, and how many kernels the fake counted."""

    def __init__(self, mode="plain", **settings):
        with tempfile.TemporaryDirectory() as where:
            env = dict(os.environ, DAG_DEVICE_ALWAYS="on", FAKE_CUDA_REPORT=where + "/report")
            env.setdefault("DAG_THREADS", "1")
            env.update(settings)
            done = subprocess.run([sys.argv[1], mode], env=env, capture_output=True, text=True, timeout=100)
            with open(where + "/report") as file:
                report = json.load(file)
        self.what = " ".join("%s=%s" % x for x in settings.items()) + " " + mode + "\n" + done.stdout + done.stderr
        self.seconds = sum(d["seconds"] for d in report["devices"])
        self.kernels, self.failed = report["kernels"], report["failed"]
        found = LINE.search(done.stdout)
        self.status, self.wrong, self.tasks, self.batched, self.retries = \
            [int(x) for x in found.groups()] if found else [-1] * 5
        expect(found and done.returncode == (1 if self.status or self.wrong else 0),
               "exit status %d" % done.returncode, self.what)
        expect(report["misuse"] == 0, "devices are misused", self.what)
        left = sum(d["memory_left"] for d in report["devices"] if d["error"] == "cudaSuccess")
        expect(left == 0, "memory is left", self.what)

    def right(self, tasks=TASKS):
        expect(self.status == 0 and self.wrong == 0 and self.tasks == tasks, "it is wrong", self.what)
        return self

    def launches(self, **wanted):
        for name, count in wanted.items():
            expect(self.kernels.get("cublasD" + name, 0) == count, "%d of %s, not %d" % (
                self.kernels.get("cublasD" + name, 0), name, count), self.what)
        return self


def counted():
    """On one thread all columns of a step are there before the first is issued: 16 and 4 of them together, of
    which the narrow one has a launch of its own."""
    alone = COLUMNS + STEPS - 1
    for late in {}, {"FAKE_CUDA_LATE": "5"}:
        run = Run(**late).right()
        run.launches(trsm=alone, gemm=alone, trsmBatched=2 * (STEPS - 1), gemmBatched=2 * (STEPS - 1))
        expect(run.batched == TASKS - COLUMNS, "%d tasks share launches" % run.batched, run.what)
    run = Run(DAG_DEVICE_BATCH="7").right()
    run.launches(trsm=alone, gemm=alone, trsmBatched=3 * (STEPS - 1), gemmBatched=3 * (STEPS - 1))
    for run in Run(DAG_DEVICE_BATCH="1").right(), Run("never").right():
        run.launches(trsm=TASKS, gemm=TASKS, trsmBatched=0, gemmBatched=0)
        expect(run.batched == 0, "%d tasks share launches" % run.batched, run.what)
    # A kernel of its own comes behind the solve of its task and before its product.
    own = Run("own").right()
    expect(own.batched == TASKS - COLUMNS and own.kernels["cublasDgemmBatched"] > 0, "nothing is batched", own.what)


def modelled():
    """Small products of one launch run beside each other: what a launch takes alone is paid once. 26 instead of 80
    launches of each kind, and addresses are stored for 12."""
    one, many = [Run("even", FAKE_CUDA_MACHINE=sys.argv[2], DAG_DEVICE_BATCH=count).right() for count in ("1", "16")]
    many.launches(trsm=COLUMNS, gemm=COLUMNS, trsmBatched=6, gemmBatched=6)
    expect(26 / 80 * one.seconds <= many.seconds < 40 / 80 * one.seconds,
           "%g s of kernels, %g s where each task has its own" % (many.seconds, one.seconds), many.what)


def elsewhere():
    """Two devices, little memory, several threads."""
    tile = 16 * 16 * 8
    for more in ({"FAKE_CUDA_DEVICES": "2"}, {"DAG_DEVICE_MEMORY": "cuda=%d" % (6 * tile)},
                 {"DAG_DEVICE_MEMORY": "cuda=%d" % (12 * tile), "FAKE_CUDA_DEVICES": "2"},
                 {"DAG_DEVICE_MEMORY": "cuda=%d" % (40 * tile)}):
        for threads in "1", "3":
            run = Run(DAG_THREADS=threads, FAKE_CUDA_LATE="7", **more).right()
            expect(run.batched > 0 or threads == "3" or "DAG_DEVICE_MEMORY" in more, "nothing is batched", run.what)


def traced():
    """Each task of a launch has a kernel in the trace, once."""
    with tempfile.TemporaryDirectory() as where:
        run = Run(DAG_TRACE=where + "/trace.json").right()
        with open(where + "/trace.json") as file:
            events = [e for e in json.load(file)["traceEvents"] if e.get("ph") == "X" and e["name"].startswith("Update")]
    expect(run.batched == TASKS - COLUMNS, "nothing is batched", run.what)
    names = [e["args"]["task"] for e in events]
    expect(len(set(names)) == len(names) == TASKS, "%d kernels of %d tasks" % (len(names), len(set(names))), run.what)


def faults():
    """Refused before it began, together: each goes alone. Begun, or lost: right where another memory has what was
    there, or an error that says so."""
    run = Run("refuses").right()
    expect(run.retries > 1 and run.batched == 2 * COLUMNS + 4, "not each of them goes alone", run.what)
    run = Run("takes").right()
    expect(run.retries > 1 and run.batched == 2 * COLUMNS + 4, "not each of them goes alone", run.what)
    run = Run("even", FAKE_CUDA_FAIL_LAUNCH="1", FAKE_CUDA_FAIL_KERNEL="dag_store").right()
    expect(run.failed == 1 and run.retries == 16, "the 16 of a launch are not tried again", run.what)
    for name, fault in (("trsmBatched", {"FAIL_LAUNCH": "1"}), ("gemmBatched", {"FAIL_LAUNCH": "2"}),
                        ("gemmBatched", {"FAIL_LAUNCH": "2", "PARTS": "3"}), ("gemmBatched", {"FAIL_ASYNC": "1"}),
                        ("trsmBatched", {"FAIL_ASYNC": "4"}), ("gemmBatched", {"FAIL_LAUNCH": "1+"})):
        for devices in "1", "2":
            run = Run(FAKE_CUDA_FAIL_KERNEL="cublasD" + name, FAKE_CUDA_DEVICES=devices,
                      **{"FAKE_CUDA_" + key: value for key, value in fault.items()})
            expect(run.failed > 0 or devices == "2", "no call was let fail", run.what)
            expect(run.status == ERR_DEVICE or run.wrong == 0, "a wrong result", run.what)
            expect(run.status in (0, ERR_DEVICE), "another status", run.what)


counted()
modelled()
traced()
elsewhere()
faults()
print("%d failures" % failures)
sys.exit(failures != 0)
