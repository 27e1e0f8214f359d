#!/usr/bin/env python3
"""Messages from memory of devices, on the fake CUDA, with the GPU-aware double of an MPI.

usage: sends.py FAMILY --mpirun TOOL --bin DIR --double LIBRARY [--property PROGRAM]

FAMILY is one of
  start      what the test at start finds, and what the setting gpu_mpi makes of it
  right      results of drivers, on two and four ranks; nothing that a device has goes by way of the host
  losses     what fails, before a kernel runs or while it does
  graphs     random task graphs, each value that another rank gets from a device sent from there
  sanitized  a few of these and of the runs before, short; in builds with a sanitizer

The environment has the fake in LD_LIBRARY_PATH and the back end in DAG_DEVICE_PLUGIN. Prints the command of
what fails.
"""
import argparse
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

LIMIT = 480        # seconds for one run, 8 times that under a sanitizer; a hang is a failure
LONG = 1 << 20     # bytes of the long message of the test at start, where devices have room for that
failures = []


def test_bytes(devices=1, room=LONG):
    """What the test at start sends from a rank's devices."""
    return devices * 2 * (256 + min(LONG, room))


class Run:
    """A program on some ranks: its status, output, and what the fake and the double count."""

    def __init__(self, options, ranks, command, double="good", own="", threads=2, **settings):
        env = dict(os.environ, **settings)
        env.setdefault("DAG_DEVICE_ALWAYS", "on")
        self.room = int(settings.get("DAG_DEVICE_MEMORY", "=%d" % LONG).split("=")[1]) // 256 * 256
        preload = ["env"]
        if double:
            preload += ["LD_PRELOAD=" + options.double, "FAKE_GPU_MPI=" + double]
            # The double comes before the sanitizer's library, which it does not mind.
            env["ASAN_OPTIONS"] = env.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
        if own: # of one rank alone
            preload = ["bash", "-c", own + '\nexec "$@"', "own"] + preload
        with tempfile.TemporaryDirectory() as where:
            env["FAKE_CUDA_REPORT"] = where + "/report"
            line = [options.mpirun, "-np", str(ranks), "--threads", str(threads)] + preload + command
            self.what = " ".join("%s=%s" % x for x in sorted(settings.items())) + " " + " ".join(line)
            sanitized = "TSAN_OPTIONS" in env or "LSAN_OPTIONS" in env
            try:
                done = subprocess.run(line, env=env, capture_output=True, text=True,
                                      timeout=LIMIT * (8 if sanitized else 1))
                self.status, self.out, self.text = done.returncode, done.stdout, done.stderr
            except subprocess.TimeoutExpired as late:
                self.status, self.out = None, ""
                self.text = "no end after %d s\n%s" % (LIMIT, (late.stderr or b"").decode())
            reports = []
            for name in glob.glob(where + "/report*"):
                with open(name) as file:
                    reports.append(json.load(file))
        self.read = {int(rank): (int(messages), int(count)) for rank, messages, count in re.findall(
            r"GPU-aware double: rank (\d+): (\d+) messages, (\d+) bytes from devices\n", self.text)}
        results = [json.loads(x) for x in self.out.splitlines() if x.startswith("{")]
        self.result = results[-1] if results else {}
        self.mpi = self.result.get("gpu_mpi", {})
        for report in reports:
            self.expect(not report["misuse"], "CUDA is misused")
        self.left = sum(device["memory_left"] for report in reports for device in report["devices"])
        self.kernels = sum(sum(report["kernels"].values()) for report in reports)

    def expect(self, true, why):
        if not true:
            failures.append(why)
            print("FAILED: %s\n  %s\n%s%s" % (why, self.what, self.out, self.text), flush=True)
        return self

    def ends(self, status, *texts):
        self.expect(self.status == status, "exit status %s, not %d" % (self.status, status))
        for text in texts:
            self.expect(text in self.text + self.out, "no '%s'" % text)
        return self

    def right(self):
        self.ends(0)
        self.expect(self.result.get("residual") is not None, "nothing was checked")
        self.expect(self.result.get("info") == 0, "info is not 0")
        self.expect(self.left == 0, "%d bytes are left on devices" % self.left)
        return self.expect(self.kernels > 0, "no kernel ran on a device")

    def direct(self, staged=0):
        """All that is on devices is sent from there; with staged=None, something is."""
        self.expect(self.mpi.get("direct") == 1, "MPI does not send from devices")
        if staged is not None:
            self.expect(self.mpi.get("bytes_staged") == staged,
                        "%s bytes went by way of the host" % self.mpi.get("bytes_staged"))
        # Told by the runtime, and seen by MPI: the same.
        seen = self.read.get(0, (0, 0))[1] - test_bytes(self.result.get("gpus", 0), self.room)
        return self.expect(seen == self.mpi.get("bytes_direct"),
                           "MPI has read %d bytes of devices" % seen)

    def staged(self, reason):
        """Nothing is sent from devices, for this reason."""
        self.expect(self.mpi.get("direct") == 0 and reason in self.mpi.get("reason", ""),
                    "not staged, or not because '%s'" % reason)
        return self.expect(self.mpi.get("bytes_direct") == 0 and self.mpi.get("bytes_staged", 0) > 0,
                           "bytes that were sent")

    def warnings(self, count):
        found = len(re.findall("MPI says that it can read memory of devices, and it cannot", self.text))
        return self.expect(found == count, "%d warnings, not %d" % (found, count))


def driver(options, ranks, name, arguments, **settings):
    return Run(options, ranks, [os.path.join(options.bin, name)] + arguments + ["--json", "--check"],
               **settings)


POTRF = ["--n", "256", "--nb", "64"]


def start(options):
    def potrf(**settings):
        return driver(options, 2, "dag_potrf", POTRF, **settings)

    for wish in "auto", "on", "force":
        run = potrf(DAG_GPU_MPI=wish).right().direct().warnings(0)
        run.expect(run.mpi.get("bytes_direct", 0) > 0, "nothing was sent from a device")
    potrf(FAKE_CUDA_DEVICES="2").right().direct().warnings(0)
    # An MPI that knows of no devices, and says so or is not asked.
    potrf(double="").right().staged("MPI").warnings(0)
    potrf(double="none").right().staged("MPIX_Query_cuda_support").warnings(0)
    run = potrf(double="none", DAG_GPU_MPI="on")
    run.expect(run.status not in (0, None) and "Signal" not in run.text, "exit status %s" % run.status)
    run.expect("gpu_mpi = on, but MPI cannot send from memory of devices: MPI says that it cannot" in
               run.text, "no reason")
    run = potrf(DAG_GPU_MPI="off").right().staged("the setting gpu_mpi is off")
    run.expect(all(x == (0, 0) for x in run.read.values()), "MPI was given addresses of devices")
    # One that says more than it can.
    for double in "wrong", "wrong-long":
        run = potrf(double=double).right().staged("got wrong ones").warnings(1)
        run.expect(all(x[1] == test_bytes() for x in run.read.values()), "more than the test was read")
        run = potrf(double=double, DAG_GPU_MPI="on").warnings(0)
        run.expect(run.status not in (0, None) and
                   "gpu_mpi = on, but MPI cannot send from memory of devices: of " in run.text,
                   "it starts all the same")
    # One rank has no device, or does not want it; nobody has one.
    alone = '[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0 ] || export %s'
    run = potrf(own=alone % "DAG_GPUS=0").right().direct()
    run.expect(run.mpi.get("bytes_direct", 0) > 0, "nothing was sent from a device")
    potrf(own=alone % "DAG_GPU_MPI=off").right().staged("the setting gpu_mpi is off")
    # One rank insists on what cannot be: no rank starts.
    run = potrf(double="none", own=alone % "DAG_GPU_MPI=on")
    run.expect(run.status not in (0, None), "exit status %s" % run.status)
    run.expect("gpu_mpi = on, but" in run.text or "rank 1 could not start" in run.text, "no reason")
    run = potrf(DAG_GPUS="0", DAG_GPU_MPI="on")
    run.expect(run.status not in (0, None) and "no rank has a device" in run.text, "it starts")
    driver(options, 1, "dag_potrf", POTRF, DAG_GPU_MPI="on").right() # nobody to send to
    run = Run(options, 2, [os.path.join(options.bin, "dag_info")])
    run.ends(0, "results go to other ranks from memory of devices", "gpu_mpi = auto")
    run = Run(options, 2, [os.path.join(options.bin, "dag_info"), "--json"], double="none").ends(0)
    run.expect(run.mpi.get("direct") == 0 and "MPIX" in run.mpi.get("reason", ""), "JSON of dag_info")


def right(options):
    solve = ["--routine", "trsm"]
    cases = [(2, "dag_potrf", ["--grid", "1x2"], "1", {}),
             (2, "dag_potrf", ["--uplo", "upper", "--layout", "slab"], "2", {"DAG_BCAST": "chain"}),
             (4, "dag_potrf", ["--grid", "2x2"], "1", {"DAG_BCAST": "scatter"}),
             (4, "dag_potrf", ["--grid", "4x1", "--prec", "z"], "2", {"DAG_BCAST": "ring"}),
             (2, "dag_blas3", solve + ["--grid", "2x1"], "2", {}),
             (2, "dag_blas3", solve + ["--grid", "2x1", "--prec", "c"], "1", {"DAG_CHAOS": "5"}),
             (4, "dag_gemm", [], "2", {})]
    sent = 0
    for seed, (ranks, name, more, devices, settings) in enumerate(cases):
        run = driver(options, ranks, name, ["--n", "320", "--nb", "64"] + more,
                     FAKE_CUDA_DEVICES=devices, FAKE_CUDA_LATE=str(seed + 1), FAKE_CUDA_POISON="1",
                     **settings).right().direct()
        sent += run.mpi.get("bytes_direct", 0)
        run.expect(name == "dag_gemm" or run.mpi.get("bytes_direct", 0) > 0, "nothing was sent")
    # Memory for one task and a half: what does not find room to stay goes by way of the host.
    for ranks, grid, threads in (2, "2x1", 1), (4, "2x2", 2):
        driver(options, ranks, "dag_potrf", ["--n", "320", "--nb", "64", "--grid", grid], threads=threads,
               DAG_DEVICE_MEMORY="cuda=%d" % (64 * 64 * 8 * 9 // 2), FAKE_CUDA_LATE="3").right().direct(None)
    # Tiles at the edge, some of which travel inside of messages.
    driver(options, 2, "dag_potrf", ["--n", "333", "--nb", "64"]).right().direct(None)
    # Taskpools that overlap: those of younger ones go by way of the host.
    driver(options, 2, "dag_posv", ["--n", "320", "--nb", "64", "--nrhs", "70"],
           FAKE_CUDA_LATE="9").right().direct(None)
    print("%d bytes were sent from devices" % sent)


def losses(options):
    for fault in "FAIL_COPY=9", "FAIL_LAUNCH=2":
        key, value = fault.split("=")
        driver(options, 2, "dag_potrf", POTRF, **{"FAKE_CUDA_" + key: value,
                                                  "FAKE_CUDA_LATE": "4"}).right()
    # A kernel that is refused where a tile was updated before may have begun: no other memory has it.
    for what, fault in ("LAUNCH", 9), ("ASYNC", 2), ("ASYNC", 5), ("ASYNC", 9), ("ASYNC", 14):
        for place in ({}, {"FAKE_CUDA_FAIL_RANK": "1", "FAKE_CUDA_DEVICES": "2"}):
            run = driver(options, 2, "dag_potrf", POTRF, **{"FAKE_CUDA_FAIL_" + what: str(fault)},
                         FAKE_CUDA_LATE=str(fault), **place)
            run.expect(run.status in (0, 1), "exit status %s" % run.status)
            run.expect(run.status != 0 or run.result.get("residual") is not None, "no result")
            run.expect(run.status == 0 or "device" in run.text, "no reason")


def property_runs(options, seeds):
    sent = 0
    for ranks, runs, more, settings in seeds:
        run = Run(options, ranks, [options.property, "--runs", str(runs), "--limit", "400", "--not-inside"] +
                  more, FAKE_CUDA_DEVICES="2", FAKE_CUDA_POISON="1",
                  FAKE_CUDA_MEMORY="4M", **settings).ends(0)
        messages = sum(x[0] for x in run.read.values())
        run.expect(len(run.read) == ranks, "not all ranks have come to their end")
        sent += messages
        run.expect(messages > 8 * ranks, "nothing but the test was sent from devices")
    print("%d messages from devices" % sent)


def graphs(options):
    property_runs(options, [
        (2, 3, [], {"FAKE_CUDA_LATE": "6"}),
        (3, 2, [], {"FAKE_CUDA_NO_PEER": "1", "DAG_CHAOS": "11"}),
        (2, 3, [], {"DAG_DEVICE_MEMORY": "cuda=16384", "FAKE_CUDA_LATE": "7"}),
        (2, 2, [], {"FAKE_CUDA_FAIL_LAUNCH": "20", "FAKE_CUDA_FAIL_COPY": "40"}),
        (2, 3, ["--may-lose"], {"FAKE_CUDA_FAIL_ASYNC": "20"})])


def sanitized(options):
    driver(options, 2, "dag_potrf", ["--n", "192", "--nb", "64"], FAKE_CUDA_LATE="2",
           FAKE_CUDA_DEVICES="2").right().direct()
    property_runs(options, [(2, 1, [], {"FAKE_CUDA_LATE": "8"})])


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    families = {"start": start, "right": right, "losses": losses, "graphs": graphs,
                "sanitized": sanitized}
    parser.add_argument("family", choices=list(families))
    for name in "mpirun", "bin", "double", "property":
        parser.add_argument("--" + name, required=name != "property")
    options = parser.parse_args()
    families[options.family](options)
    return len(failures) > 0


if __name__ == "__main__":
    sys.exit(main())
