#!/usr/bin/env python3
"""What drivers count of memory against what they take, that they refuse what cannot be had, and that they copy no tile
where one thread can do without.

usage: peaks.py DIRECTORY-OF-THE-DRIVERS

What is counted stands in the refusal of a matrix that alone nearly fills the machine; what is taken is the
difference of the peaks for two sizes, in words per element. Neither hangs on how much memory is free.
"""
import os
import re
import resource
import subprocess
import sys
import tempfile
import threading

CASES = ("potrf", "potrf --check", "posv --refine", "potri --check", "getrf", "getrf --layout tile", "gesv", "gesv --refine", "getri --check", "getri --layout tile",
         "geqrf", "geqrf --layout tile", "geqrf --check", "gelqf --check", "gels", "gemm",
         "gemm --check")
IN_PLACE = ("potrf", "posv --nrhs 300", "potri", "getrf --pivoting none", "geqrf", "gelqf", "gels --nrhs 300",
            "gels --m 900 --nrhs 300", "gemm", "trtrs --nrhs 300")
SIZES = 500, 1300
REFUSAL = re.compile(r"(\d+) x (\d+) needs (\d+) bytes at its peak (.*), which has (\d+); "
                     r"(\d+) x (\d+) would fit")
failures = 0


def expect(right, what):
    global failures
    if not right:
        failures += 1
        print("FAILED: " + what, flush=True)


def run(command, limit=None):
    """Exit status, output, and the most bytes that were resident."""
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, preexec_fn=limit)
        guard = threading.Timer(120, os.kill, (process.pid, 9))  # what is not refused would fill the machine
        guard.start()
        _, status, usage = os.wait4(process.pid, 0)
        guard.cancel()
        process.returncode = status
        out.seek(0)
        return os.waitstatus_to_exitcode(status), out.read().decode(), usage.ru_maxrss * 1024


def nearly_all(case):
    """The order of a matrix whose storage is the machine's memory but for a fiftieth."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE")
    return int((0.98 * memory / 8 / (0.5 if case[:2] == "po" else 1)) ** 0.5)


def main():
    where = sys.argv[1]
    os.environ.update(DAG_THREADS="1", DAG_GPUS="0", OPENBLAS_NUM_THREADS="1")
    for case in CASES:
        command = [os.path.join(where, "dag_" + case.split()[0])] + case.split()[1:] + ["--nb", "100"]
        huge = nearly_all(case)
        status, text, _ = run(command + ["--n", str(huge)])
        found = REFUSAL.search(text)
        expect(status == 1 and found, "%s: exit status %d for n = %d\n%s" % (case, status, huge, text))
        if not found:
            continue
        counted = int(found[3]) / 8 / huge ** 2
        ends = [run(command + ["--n", str(n)]) for n in SIZES]
        taken = (ends[1][2] - ends[0][2]) / 8 / (SIZES[1] ** 2 - SIZES[0] ** 2)
        print("%-22s %.2f counted, %.2f taken" % (case, counted, taken))
        expect(ends[0][0] == ends[1][0] == 0, case + ": " + ends[1][1])
        expect(taken < 1.15 * counted + 0.15, "%s takes more than is counted" % case)
        expect(counted < 1.4 * taken + 0.6, "%s takes much less than is counted" % case)
        share = (int(found[5]) / int(found[3])) ** 0.5 * huge
        expect(abs(int(found[6]) - share) < 2, "%s: %s would not fit" % (case, found[6]))
    for case in IN_PLACE:
        command = [os.path.join(where, "dag_" + case.split()[0])] + case.split()[1:]
        status, text, _ = run(command + ["--n", "700", "--nb", "100", "--report"])
        expect(status == 0 and ", 0 values copied" in text, "%s copies\n%s" % (case, text))
    # One matrix would fit the address space, two do not.
    n, space = 12000, 2 << 30
    status, text, most = run([os.path.join(where, "dag_gesv"), "--layout", "tile", "--n", str(n)], lambda: resource.setrlimit(
        resource.RLIMIT_AS, (space, space)))
    expect(status == 1 and "limit of the process (ulimit -v)" in text and REFUSAL.search(text),
           "n = %d in %d bytes: exit status %d\n%s" % (n, space, status, text))
    expect(most < 8 * n * n / 2, "the matrix was begun before it was refused")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
