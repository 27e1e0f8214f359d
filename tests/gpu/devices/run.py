#!/usr/bin/env python3
"""The drivers with devices, on the fake CUDA, and on OpenCL.

usage: run.py FAMILY --mpirun TOOL --bin DIR [--layer FILE] [--full]

FAMILY is one of
  drivers  each driver as users start it; all combinations are in product.py
  faults   what fails, before a kernel runs or while it does, on one and two ranks
  bytes    each tile comes to the device once and goes once: Cholesky, products, solves, QR
  opencl   drivers on OpenCL devices, which are the processor where there are no others; skipped (77)
           where there are none
  opencl_faults
           what fails on such devices, behind the layer for tests (tests/gpu/opencl/layer)

The environment has the fake in LD_LIBRARY_PATH and the back end in DAG_DEVICE_PLUGIN. Tasks run on
devices wherever they can, though the fake is slower than the cores. Without --full a subset runs, which
has each fault in one of four places. Prints the command of what fails.
"""
import argparse
import glob
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile

ELEM = {"s": 4, "d": 8, "c": 8, "z": 16}
LIMIT = 240         # seconds for one run; a hang is a failure
# What the driver says where data were lost with a device, and nothing else.
LOST = re.compile(r"^dag_potrf: .*(lost with device \d|cannot be copied from device \d|began on device \d+ .* could not be completed"
                  r"|on a device was lost|device \d+ \(.*\) has failed)", re.M)
NO_OPENCL = "this machine has no OpenCL device" # so begins a message


class Runner:
    def __init__(self, options):
        self.options = options
        self.runs = self.failures = self.kernels = 0

    def run(self, ranks, driver, arguments, settings):
        """Exit status, objects of rank 0, messages, reports of the fake."""
        with tempfile.TemporaryDirectory() as where:
            env = dict(os.environ, FAKE_CUDA_REPORT=where + "/report", DAG_DEVICE_ALWAYS="on",
                       OPENCL_LAYER_REPORT=where + "/report-layer", **settings)
            command = [self.options.mpirun, "-np", str(ranks), "--threads", "2",
                       os.path.join(self.options.bin, driver)] + arguments + ["--json"]
            self.what = " ".join("%s=%s" % x for x in sorted(settings.items())) + " " + \
                " ".join(command)
            self.runs += 1
            try:
                done = subprocess.run(command, env=env, capture_output=True, text=True,
                                      timeout=LIMIT)
            except subprocess.TimeoutExpired:
                self.fail("no end after %d s" % LIMIT)
                return None, [], "", []
            results = [json.loads(x) for x in done.stdout.splitlines() if x.startswith("{")]
            reports = []
            for name in glob.glob(where + "/report*"):
                with open(name) as file:
                    reports.append(json.load(file))
        for report in reports:
            self.kernels += sum(report["kernels"].values())
            if report["misuse"]:
                self.fail("devices are misused:\n" + done.stderr)
        return done.returncode, results, done.stderr, reports

    def fail(self, why):
        self.failures += 1
        print("FAILED: %s\n  %s" % (why, self.what), flush=True)

    def expect_used(self, *run):
        """Right, with tasks on devices."""
        status, results, messages, _ = self.run(*run)
        if status is None:
            return
        if status != 0 or not results or results[-1]["info"] != 0:
            self.fail("exit status %s\n%s" % (status, messages))
        elif results[-1]["residual"] is None:
            self.fail("nothing was checked")
        elif not sum(x["tasks"] for x in results[-1]["devices"]):
            self.fail("no task ran on a device")
        else:
            self.kernels += sum(x["tasks"] for x in results[-1]["devices"])

    def expect_right(self, *run):
        status, results, messages, reports = self.run(*run)
        if status is not None:
            self.judge_right(status, results, messages, reports)

    def judge_right(self, status, results, messages, reports):
        """A checked result, and nothing left on devices."""
        if status != 0 or not results or results[-1]["info"] != 0:
            self.fail("exit status %s, residual %s\n%s" % (
                status, [x["residual"] for x in results], messages))
        elif results[-1]["residual"] is None:
            self.fail("nothing was checked")
        for report in reports:
            left = report.get("memory_left", 0) + sum(d.get("memory_left", 0) for d in report["devices"])
            if left:
                self.fail("%d bytes are left on devices" % left)

    def expect_lost(self, status, results, messages):
        """It ended on all ranks because data were lost, and claims no result."""
        if status != 1 or not LOST.search(messages):
            self.fail("exit status %s\n%s" % (status, messages))
        elif results:
            self.fail("a result after a loss: %s" % results)

    def right_or_lost(self, right, comes, ranks, settings):
        """A factorisation is right, or, unless it has to be, ends on all ranks with what was lost. `comes`: some call
        was let fail."""
        run = self.run(ranks, "dag_potrf", ["--n", "500", "--nb", "50", "--check"], settings)
        status, results, messages, reports = run
        if status is None:
            return
        if right or status == 0:
            self.judge_right(*run)
        else:
            self.expect_lost(status, results, messages)
        # Where a run has failed, mpirun may end a rank before it wrote its report; what was lost was said above.
        if comes and len(reports) == ranks and not sum(report["failed"] for report in reports):
            self.fail("no call was let fail")
        elif status == 0 and len(reports) != ranks:
            self.fail("%d reports of %d ranks" % (len(reports), ranks))


def task_bytes(prec, nb):
    """What a product of three tiles needs."""
    return 3 * nb * nb * ELEM[prec]


def drivers(runner, full):
    """Drivers as users start them; product.py has the combinations."""
    runs = [("dag_potrf", [], 1, 1), ("dag_posv", ["--uplo", "upper", "--nrhs", "70"], 2, 2),
            ("dag_gemm", ["--layout", "slab"], 2, 1), ("dag_blas3", ["--routine", "her2k"], 1, 4),
            ("dag_getrf", ["--pivoting", "tournament"], 2, 2), ("dag_gesv", ["--refine"], 1, 2),
            ("dag_geqrf", ["--m", "433"], 4, 1), ("dag_gels", ["--m", "100"], 2, 1)]
    for i, (driver, more, ranks, count) in enumerate(runs):
        for prec in "sdcz" if full else "sdcz"[i % 4]:
            for cap in (None, 1.5, 0.9) if full else (None, 1.5, 0.9)[i % 3:i % 3 + 1]:
                settings = {"FAKE_CUDA_DEVICES": str(count), "FAKE_CUDA_LATE": str(i + 1)}
                if cap:
                    settings["DAG_DEVICE_MEMORY"] = "cuda=%d" % (cap * task_bytes(prec, 64))
                runner.expect_right(ranks, driver, ["--n", "300", "--nb", "64", "--prec", prec,
                                                    "--check"] + more, settings)


def opencl(runner, full):
    """Drivers on one and two real devices, with all of their memory and with little."""
    settings = {"DAG_DEVICE_BACKEND": "opencl", "POCL_MAX_PTHREAD_COUNT": "1"}
    if not has_opencl(runner, settings):
        print("skipped: this machine has no OpenCL device")
        sys.exit(77)
    runs = [("dag_potrf", [], 1), ("dag_posv", ["--uplo", "upper", "--nrhs", "70"], 2),
            ("dag_gemm", ["--layout", "slab"], 1), ("dag_blas3", ["--routine", "her2k"], 1),
            ("dag_blas3", ["--routine", "symm"], 1), ("dag_blas3", ["--routine", "trmm"], 1),
            ("dag_getrf", ["--pivoting", "tournament"], 2), ("dag_gesv", [], 1), ("dag_gesv", [], 2),
            ("dag_geqrf", ["--m", "433"], 1), ("dag_gels", ["--m", "100"], 2), ("dag_potri", [], 1)]
    for i, (driver, more, ranks) in enumerate(runs):
        for prec in "sdcz" if full else "sdcz"[i % 4]:
            for count in (1, 2) if full else (1 + i % 2,):
                for cap in (None, 1.5) if full else (None, 1.5)[i // 2 % 2:][:1]:
                    where = dict(settings, POCL_DEVICES=" ".join(["pthread"] * count))
                    if cap:
                        where["DAG_DEVICE_MEMORY"] = "opencl=%d" % (cap * task_bytes(prec, 64))
                    runner.expect_used(ranks, driver, ["--n", "300", "--nb", "64", "--prec", prec,
                                                       "--check"] + more, where)


def opencl_faults(runner, full):
    """As faults(), by what calls of OpenCL return."""
    base = {"DAG_DEVICE_BACKEND": "opencl", "POCL_MAX_PTHREAD_COUNT": "1", "OPENCL_LAYERS": runner.options.layer}
    if not has_opencl(runner, base):
        print("skipped: this machine has no OpenCL device")
        sys.exit(77)
    before = ["FAIL=CreateBuffer=1", "FAIL=CreateBuffer=1+", "FAIL=CreateContext=1", "FAIL=BuildProgram=2",
              "FAIL=CreateCommandQueue=3", "FAIL=CreateKernel=1", "FAIL=EnqueueWriteBufferRect=2",
              "FAIL=EnqueueWriteBufferRect=7", "FAIL=EnqueueWriteBufferRect=7 ERROR=-5",
              "FAIL=EnqueueWriteBufferRect=2+", "FAIL=EnqueueNDRangeKernel=1", "FAIL=EnqueueNDRangeKernel=1+",
              "FAIL=CreateBuffer=3+", "LARGEST=100K", "LARGEST=20K", "SINGLE=1"] # 16 pieces, or too small ones; no doubles
    during = ["LOSE=1", "LOSE=6", "LOSE=25", "LOSE=140", "FAIL=EnqueueNDRangeKernel=9",
              "FAIL=EnqueueNDRangeKernel=71 ERROR=-5", "FAIL=EnqueueReadBufferRect=3+", "FAIL=SetKernelArg=200",
              "FAIL=EnqueueMarkerWithWaitList=20", "FAIL=EnqueueBarrierWithWaitList=5", "FAIL=CreateKernel=4+"]
    places = [(1, 1, {}), (1, 2, {"OPENCL_LAYER_FAIL_DEVICE": "1"}), (2, 1, {}),
              (2, 2, {"OPENCL_LAYER_FAIL_RANK": "1"})]
    product = list(itertools.product(before + during, places))
    if not full:
        product = [(fault, places[i % len(places)]) for i, fault in enumerate(before + during)]
    for fault, (ranks, count, where) in product:
        settings = dict(base, POCL_DEVICES=" ".join(["pthread"] * count), **where)
        settings.update(("OPENCL_LAYER_" + x).split("=", 1) for x in fault.split())
        runner.right_or_lost(fault in before, fault.startswith(("FAIL", "LOSE")), ranks, settings)


def has_opencl(runner, settings):
    """Is there a device? A driver that computes nothing says so; what else keeps it from a device is a failure."""
    _, results, messages, _ = runner.run(1, "dag_potrf", ["--n", "1", "--gpus", "1"], settings)
    if results and results[-1]["gpus"] > 0:
        return True
    if NO_OPENCL not in messages:
        sys.exit("OpenCL devices cannot be used:\n" + messages)
    return False


def faults(runner, full):
    """Before a kernel ran, or where another memory has what it was to change: the result is right.
    While one runs: right, or an error that says so."""
    before = ["FAIL_MALLOC=1", "FAIL_MALLOC=1+", "FAIL_COPY=1", "FAIL_COPY=7", "FAIL_COPY=1+",
              "FAIL_LAUNCH=1", "FAIL_LAUNCH=2 PARTS=3", "FAIL_LAUNCH=1+ FAIL_KERNEL=cu"]
    during = ["FAIL_ASYNC=1", "FAIL_ASYNC=6", "FAIL_ASYNC=25",
              # a tile that was updated before, which is in no other memory
              "FAIL_LAUNCH=9", "FAIL_LAUNCH=71 PARTS=3", "FAIL_LAUNCH=4+ FAIL_KERNEL=cu",
              "FAIL_COPY=3+", # what was computed cannot come back
              "FAIL_LAUNCH=1+ FAIL_KERNEL=dag_positive"] # behind the factorisation of a tile
    places = [(1, "1", {}), (1, "2", {"FAKE_CUDA_FAIL_DEVICE": "1"}), (2, "1", {}),
              (2, "2", {"FAKE_CUDA_FAIL_RANK": "1"})]
    product = list(itertools.product(before + during, places))
    if not full:
        product = [(fault, places[i % len(places)]) for i, fault in enumerate(before + during)]
    for fault, (ranks, count, where) in product:
        settings = {"FAKE_CUDA_DEVICES": count, "FAKE_CUDA_LATE": "3", **where}
        settings.update(("FAKE_CUDA_" + x).split("=") for x in fault.split())
        runner.right_or_lost(fault in before, True, ranks, settings)


def triangle(n, nb):
    """Items of the tiles of a triangle."""
    tiles = [min(nb, n - i) for i in range(0, n, nb)]
    return sum(tiles[i] * tiles[j] for i in range(len(tiles)) for j in range(i + 1))


def moves(n, nb):
    """Driver, arguments, items that have to come to the device and go, kernels there at least. What
    estimates of conditions take is left out."""
    tri, tiles, some = triangle(n, nb), n // nb, 3 * nb
    return [
        ("dag_potrf", [], tri, tri, tiles ** 3 // 8),
        ("dag_gemm", [], 3 * n * n, n * n, tiles ** 3),
        # C has fewer tiles than there are workers: what is fetched by several tasks is A
        ("dag_gemm", ["--m", str(some), "--n", str(some), "--k", str(n), "--threads", "16"],
         2 * some * n, 2 * some * some, 9 * tiles),
        ("dag_blas3", ["--routine", "trsm"], tri + n * n, n * n, tiles ** 3 // 2),
        ("dag_blas3", ["--routine", "trmm"], tri + n * n, n * n, tiles ** 3 // 2),
        # all tasks of a solve fetch the factor; that of posv is still there
        ("dag_posv", ["--nrhs", str(some), "--rcond", "no"], tri + n * some, tri + n * some, 3 * tiles ** 2),
        ("dag_blas3", ["--routine", "syrk"], tri + n * n, tri, tiles ** 3 // 2),
        ("dag_blas3", ["--routine", "syr2k"], tri + 2 * n * n, tri, tiles ** 3 // 2),
        ("dag_blas3", ["--routine", "symm"], tri + 2 * n * n, n * n, tiles ** 3),
        # a panel of LU goes to a core and back; the first needs not come, the last not return
        ("dag_gesv", ["--nrhs", str(some), "--rcond", "no"], 3 * n * n - 2 * n * nb + 2 * n * some,
         2 * n * n - 2 * n * nb + 2 * n * some, 3 * tiles ** 2),
        # two routines; tiles of the diagonal are inverted, and multiplied by themselves, on a core. One
        # worker: a tile that another one still reads is replaced, not changed in place
        ("dag_potri", ["--threads", "1", "--rcond", "no"], 2 * tri + 2 * n * nb, 2 * tri, tiles ** 3 // 2),
        # so does a panel of QR, with T beside it
        ("dag_geqrf", [], (n - nb) * (2 * n + nb), (n - nb) * n, tiles ** 2 // 2),
    ]


def bytes_moved(runner, full):
    """With kernels that take no time everything runs on the device (and computes nothing)."""
    for prec in "sdcz" if full else "d":
        for n, nb in ((1600, 100), (1000, 48)) if full else ((800, 50),):
            for driver, more, items_in, items_out, kernels in moves(n, nb):
                check_moves(runner, driver, ["--n", str(n), "--nb", str(nb), "--prec", prec] + more,
                            {"h2d": items_in * ELEM[prec], "d2h": items_out * ELEM[prec]}, kernels)


def check_moves(runner, driver, arguments, needed, kernels):
    settings = {"FAKE_CUDA_ZERO_TIME": "1", "DAG_DEVICE_BATCH": "1"} # a kernel for each task
    status, results, messages, reports = runner.run(1, driver, arguments, settings)
    if status != 0 or len(reports) != 1 or not results:
        runner.fail("exit status %s\n%s" % (status, messages))
        return
    device = reports[0]["devices"][0]
    for way in "h2d", "d2h":
        print("%s %s: %d kernels, %s %d bytes, %d are needed" % (
            driver, " ".join(arguments), device["kernels"], way, device[way]["bytes"], needed[way]))
        if device[way]["bytes"] > 1.02 * needed[way]:
            runner.fail("%s: %d bytes, %d are needed" % (way, device[way]["bytes"], needed[way]))
    if device["kernels"] < kernels:
        runner.fail("only %d kernels ran on the device" % device["kernels"])


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("family", choices=["drivers", "faults", "bytes", "opencl", "opencl_faults"])
    parser.add_argument("--mpirun", required=True)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--layer", default="")
    parser.add_argument("--full", action="store_true")
    options = parser.parse_args()
    runner = Runner(options)
    family = {"drivers": drivers, "faults": faults, "bytes": bytes_moved, "opencl": opencl,
              "opencl_faults": opencl_faults}
    family[options.family](runner, options.full)
    if runner.runs and not runner.kernels:
        runner.what = "all runs"
        runner.fail("no kernel ran on a device")
    print("%d runs, %d kernels, %d failures" % (runner.runs, runner.kernels, runner.failures))
    return runner.failures != 0


if __name__ == "__main__":
    sys.exit(main())
