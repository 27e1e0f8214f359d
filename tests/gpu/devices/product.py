#!/usr/bin/env python3
"""Every routine with devices, on the fake CUDA or on OpenCL: precisions, sizes, grids, devices, capped memory.

usage: product.py --mpirun TOOL --cases PROGRAM [--layer FILE] [--full] [--jobs J] [--only WORD] [--limit S]

A case is one run of a driver with a context of its own. PROGRAM (cases.c) runs many in one job; jobs
differ in ranks, devices and delays. Each case is run with the memory of the devices as it is, then with
1.5 times what the largest of its tasks needs, and then with a little less than that task needs, which
then goes to a core. Expected: the result is right, nothing is left on a device, devices are not misused,
what fits runs on devices, and there is an end within a minute. With --layer the devices are those of OpenCL,
one and two, behind that layer (tests/gpu/opencl/layer); exit status 77: there are none. Without --full each
call runs once, and on OpenCL one call of each routine, with as many pairs of choices as that allows. With it
every routine meets all precisions, sizes, grids and numbers of devices; on OpenCL, where a run costs more, its
calls (triangles, layouts, factors) take turns, tiles are fewer, and one case in four gets less memory than its
largest task needs. --only takes the routines with that word in their command, --limit is the time of a run.
Prints how to run what fails alone.
"""
import argparse
import itertools
import json
import os
import queue
import random
import re
import selectors
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time

from run import NO_OPENCL

LIMIT = 240   # seconds for one run; a hang is a failure
CHUNK = 80   # cases of one job, times three for the caps
GRIDS = ["1x1", "2x1", "1x2", "2x2", "2x3", "3x2"]
DEVICES = [1, 2, 4]
# n and nb: nothing, one element, a tile that is larger, ragged edges, one element more than full tiles
SIZES = [(0, 32), (1, 32), (50, 96), (190, 32), (257, 64)]
# The same on OpenCL, with tiles enough to come round in each row and column of the grids.
FEW_TILES = [(0, 32), (1, 32), (25, 48), (110, 32), (97, 32)]
# {m}, {l}: more and fewer than n
CALLS = [
    "dag_potrf --uplo lower", "dag_potrf --uplo upper", "dag_potrf --layout slab",
    "dag_posv --nrhs 70", "dag_posv --nrhs 33 --uplo upper --layout slab", "dag_posv --refine",
    "dag_posv --mixed --nrhs 2",
    "dag_getrf", "dag_getrf --pivoting tournament --layout slab", "dag_getrf --pivoting none",
    "dag_gesv --nrhs 33", "dag_gesv --pivoting tournament", "dag_gesv --layout slab --refine",
    "dag_gesv --mixed --nrhs 2",
    "dag_geqrf --m {m}", "dag_geqrf --m {l} --layout slab",
    "dag_gels --m {m} --nrhs 33", "dag_gels --m {l}",
    "dag_gelqf --m {m} --layout slab", "dag_gelqf --m {l}",
    "dag_getri", "dag_potri", "dag_potri --uplo upper --layout slab",
    "dag_others --routine trtri", "dag_others --routine trtri --uplo upper --diag unit",
    "dag_others --routine getrs_t --nrhs 5",
    "dag_blas3 --routine gemm", "dag_blas3 --routine gemm --m {m} --k {l} --transa c --transb t",
    "dag_blas3 --routine gemm --m {l} --k {m} --layout slab",
]
for _name in "symm", "hemm":
    CALLS += ["dag_blas3 --routine " + _name,
              "dag_blas3 --side right --uplo upper --m {l} --routine " + _name]
for _name in "syrk", "syr2k":
    CALLS += ["dag_blas3 --routine " + _name,
              "dag_blas3 --uplo upper --transa t --k {l} --routine " + _name]
for _name in "herk", "her2k":
    CALLS += ["dag_blas3 --routine " + _name,
              "dag_blas3 --uplo upper --transa c --k {m} --routine " + _name]
for _name in "trmm", "trsm":
    CALLS += ["dag_blas3 --m {m} --routine " + _name,
              "dag_blas3 --side right --uplo upper --transa c --m {l} --routine " + _name,
              "dag_blas3 --transa t --diag unit --layout slab --routine " + _name]
# The other drivers of the table of routines as they are.
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                       "../../../dsl-examples/routines.def")) as _table:
    CALLS += ["dag_" + _name for _name in re.findall(r"^ROUTINE\((\w+),", _table.read(), re.M)
              if not any(call.split()[0] == "dag_" + _name for call in CALLS)]


def ranks_of(grid):
    p, q = grid.split("x")
    return int(p) * int(q)


def kind(call):
    """The routine of a call, without what its calls differ in."""
    return re.sub(r" --(?!routine|pivoting).*?(?= --routine| --pivoting|$)", "", call)


def cases(calls, counts, sizes=SIZES):
    """All of them: call, precision, size, grid, devices."""
    few = 0
    for case in itertools.product(calls, "sdcz", sizes, GRIDS, counts):
        call, prec, (n, nb), grid, devices = case
        few += n <= nb
        if n <= nb and devices != counts[(few - 1) // 3 % len(counts)]: # one tile is on one device: in turns
            continue
        if "--mixed" not in call or prec in "dz":
            yield case


def in_turns(calls, counts):
    """Each routine with everything, its calls in turns: each of them meets nearly each two choices."""
    for routine in dict.fromkeys(map(kind, calls)):
        those = [call for call in calls if kind(call) == routine]
        for case in cases([those[0]], counts, FEW_TILES):
            _, prec, size, grid, devices = case
            fit = [call for call in those if "--mixed" not in call or prec in "dz"]
            turn = "sdcz".index(prec) + FEW_TILES.index(size) + GRIDS.index(grid) + devices
            yield (fit[turn % len(fit)],) + case[1:]


def subset(calls, counts):
    """Each call once, with the most new pairs of values, in as few jobs as ranks need."""
    seen, chosen = set(), []
    devices = {ranks: min(d, counts[-1]) for ranks, d in {1: 4, 2: 2, 4: 1, 6: 2}.items()}
    everything = [c for c in cases(calls, counts) if c[4] == devices[ranks_of(c[3])]]
    random.Random(7).shuffle(everything)

    def pairs(case):
        return {(i, j, case[i], case[j]) for i, j in itertools.combinations(range(4), 2)}
    for call in calls:
        best = max((c for c in everything if c[0] == call), key=lambda c: len(pairs(c) - seen))
        seen |= pairs(best)
        chosen.append(best)
    return chosen


def opencl(layer, devices, number):
    return {"DAG_DEVICE_BACKEND": "opencl", "DAG_DEVICE_ALWAYS": "on", "POCL_MAX_PTHREAD_COUNT": "1",
            "POCL_DEVICES": " ".join(["pthread"] * devices), "OPENCL_LAYERS": layer,
            "OPENCL_LAYER_LATE": str(number)}


def has_opencl(options):
    """Is there a device? A run of nothing says so; what else keeps it from a device is a failure."""
    job = Job(options, 1, 1, 1)
    _, verdict, messages = job.ask("dag_potrf --n 1 --gpus 1 --json")
    job.finish()
    if isinstance(verdict, dict) and verdict["status"] == 0:
        return True
    if NO_OPENCL not in messages:
        sys.exit("OpenCL devices cannot be used: %s\n%s" % (verdict, messages))
    print("skipped: " + NO_OPENCL)
    return False


class Job:
    """A job of the program that runs cases; `number` decides the delays of its devices."""

    def __init__(self, options, ranks, devices, number):
        self.options, self.ranks = options, ranks
        self.settings = {"FAKE_CUDA_DEVICES": str(devices), "FAKE_CUDA_LATE": str(number),
                         "FAKE_CUDA_POISON": "1", "FAKE_CUDA_MEMORY": "4M",
                         "DAG_DEVICE_ALWAYS": "on"}
        if options.layer:
            self.settings = opencl(options.layer, devices, number)
        self.command = [options.mpirun, "-np", str(ranks), options.cases]
        self.process = None

    def start(self):
        self.messages = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(self.command, env=dict(os.environ, **self.settings),
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.messages, start_new_session=True)
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.process.stdout, selectors.EVENT_READ)
        self.rest = b""

    def read_line(self, end):
        """Without the newline; None: the time is over; False: the program has ended."""
        while b"\n" not in self.rest:
            if not self.selector.select(max(0, end - time.monotonic())):
                return None
            more = os.read(self.process.stdout.fileno(), 1 << 16)
            if not more:
                return False
            self.rest += more
        line, self.rest = self.rest.split(b"\n", 1)
        return line.decode()

    def ask(self, line):
        """What the driver printed as JSON, the verdict or why there is none, and messages."""
        if not self.process:
            self.start()
        try:
            self.process.stdin.write(line.encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        results, end = [], time.monotonic() + self.options.limit
        while True:
            answer = self.read_line(end)
            if answer is None or answer is False:
                why = "no end after %d s" % self.options.limit if answer is None else "the program has died"
                self.kill()
                return results, why, self.said()
            if answer.startswith("{\"status\""):
                return results, json.loads(answer), self.said()
            if answer.startswith("{"):
                results.append(json.loads(answer))

    def said(self):
        self.messages.seek(0)
        text = self.messages.read()
        self.messages.seek(0)
        self.messages.truncate()
        return text

    def kill(self):
        process, self.process = self.process, None
        for what in signal.SIGTERM, signal.SIGKILL: # asked first, the launcher ends its ranks itself
            try:
                os.killpg(process.pid, what)
                process.wait(timeout=10)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                pass

    def finish(self):
        """None, or what was wrong at the end."""
        if not self.process:
            return None
        try:
            self.process.stdin.close()
            status = self.process.wait(timeout=self.options.limit)
        except subprocess.TimeoutExpired:
            self.kill()
            return "no end of the job after %d s" % self.options.limit
        return "exit status %d of the job\n%s" % (status, self.said()) if status else None


class Tester:
    def __init__(self, options):
        self.options = options
        self.cap = "DAG_DEVICE_MEMORY=" + ("opencl" if options.layer else "cuda")
        self.lock = threading.Lock()
        self.count = self.runs = self.tasks = self.failures = 0
        self.slowest = (0, "")

    def fail(self, job, line, why):
        with self.lock:
            self.failures += 1
            print("FAILED: %s\n  echo %s | %s %s" % (
                why, shlex.quote(line), " ".join("%s=%s" % x for x in sorted(job.settings.items())),
                " ".join(job.command)), flush=True)

    def run(self, job, line):
        """The verdict of a run that went well in itself, or None."""
        start = time.monotonic()
        results, verdict, messages = job.ask(line)
        with self.lock:
            self.runs += 1
            self.slowest = max(self.slowest, (time.monotonic() - start, line))
        if isinstance(verdict, str):
            self.fail(job, line, verdict + "\n" + messages)
            return None
        with self.lock:
            self.tasks += verdict["tasks"]
        good = not verdict["status"] and len(results) == 1 and results[0]["info"] == 0
        if not good:
            self.fail(job, line, "exit status %d\n%s" % (verdict["status"], messages))
        elif results[0]["residual"] is None:
            self.fail(job, line, "nothing was checked")
        if verdict["misuse"]:
            self.fail(job, line, "devices are misused:\n" + messages)
        if verdict["left"]:
            self.fail(job, line, "%d bytes are left on devices" % verdict["left"])
        if good and not verdict["misuse"] and not verdict["left"]:
            return verdict
        job.kill() # what a case leaves behind must not make the next ones fail
        return None

    def case(self, job, number, case):
        call, prec, (n, nb), grid, _ = case
        line = "%s --n %d --nb %d --prec %s --grid %s --threads %d --check --json" % (
            call.format(m=n + n // 2 + 3, l=(n + 1) // 3), n, nb, prec, grid, 1 + number % 2)
        with self.lock:
            self.count += 1
        free = self.run(job, line)
        if free is None or n == 0:
            return
        if not free["tasks"]: # what a routine does with a single tile is a core's with some
            if n > nb:
                self.fail(job, line, "nothing ran on a device")
            return
        needed = free["largest"]
        # steps depend on rounding: of refinement, and of the estimate behind the bound of an inverse's error
        counted = not any(x in call for x in ("--refine", "--mixed", "potri", "getri"))
        roomy = self.cap + "=%d " % (needed * 3 // 2) + line
        verdict = self.run(job, roomy)
        if verdict and (verdict["tasks"] != free["tasks"] if counted else not verdict["tasks"]):
            self.fail(job, roomy, "%d tasks ran on devices, %d without the cap" % (
                verdict["tasks"], free["tasks"]))
        if self.options.layer and self.options.full and number // 2 % 4 != 1:
            return
        below = needed - 1 if number % 16 < 8 else needed * 9 // 10
        tight = self.cap + "=%d " % below + line
        verdict = self.run(job, tight)
        if verdict and counted and verdict["tasks"] >= free["tasks"]:
            self.fail(job, tight, "%d tasks ran on devices, as without the cap" % verdict["tasks"])

    def chunk(self, number, ranks, devices, chunk):
        job = Job(self.options, ranks, devices, number)
        for i, case in enumerate(chunk):
            self.case(job, number + i, case)
        wrong = job.finish()
        if wrong:
            self.fail(job, "", wrong)


def chunks(chosen, size):
    """Lists of cases for one job each: ranks, devices, cases."""
    jobs = {}
    for case in chosen:
        jobs.setdefault((ranks_of(case[3]), case[4]), []).append(case)
    parts = [(ranks, devices, all_of_them[i:i + size])
             for (ranks, devices), all_of_them in sorted(jobs.items())
             for i in range(0, len(all_of_them), size)]
    random.Random(5).shuffle(parts)
    return parts


def work(tester, todo):
    while True:
        try:
            number, chunk = todo.get_nowait()
        except queue.Empty:
            return
        start = time.monotonic()
        tester.chunk(number, *chunk)
        if tester.options.full:
            print("%d ranks, %d devices: %d cases in %.0f s; so far %d cases, %d runs" % (
                chunk[0], chunk[1], len(chunk[2]), time.monotonic() - start, tester.count,
                tester.runs), flush=True)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--mpirun", required=True)
    parser.add_argument("--cases", required=True)
    parser.add_argument("--layer", default="")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--jobs", type=int, default=2, help="at the same time")
    parser.add_argument("--only", default="")
    parser.add_argument("--limit", type=int, default=LIMIT)
    options = parser.parse_args()
    calls = [call for call in CALLS if options.only in call]
    counts = DEVICES[:2] if options.layer else DEVICES
    if options.layer and not has_opencl(options):
        return 77
    if options.layer and not options.full: # one of each routine: what is compiled is slower than the fake
        kinds = list(map(kind, calls))
        calls = [call for i, call in enumerate(calls) if kinds[i] not in kinds[:i]]
    everything = in_turns if options.layer else cases
    chosen = list(everything(calls, counts)) if options.full else subset(calls, counts)
    random.Random(11).shuffle(chosen)
    tester, todo = Tester(options), queue.Queue()
    for item in enumerate(chunks(chosen, CHUNK), 1):
        todo.put(item)
    workers = [threading.Thread(target=work, args=(tester, todo)) for _ in range(options.jobs)]
    start = time.monotonic()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print("%d cases, %d runs, %d tasks on devices, %d failures; %.0f s, the slowest run %.1f s: %s" % (
        tester.count, tester.runs, tester.tasks, tester.failures, time.monotonic() - start,
        *tester.slowest))
    return tester.failures != 0 or not tester.tasks


if __name__ == "__main__":
    sys.exit(main())
