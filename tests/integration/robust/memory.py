#!/usr/bin/env python3
"""Peak memory of Cholesky: memory.py MPIRUN BASELINE POTRF [N NB]

The peak of resident memory of dag_potrf on one rank, beyond that of a program that only initialises
MPI, stays below the tiles of the lower triangle * 1.05 + 10 MiB.
"""
import subprocess
import sys

MEASURE = """
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:]).returncode
print("peak", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024, file=sys.stderr)
sys.exit(status)
"""


def peak(mpirun, *command):
    r = subprocess.run([mpirun, "-np", "1", "--threads", "1", sys.executable, "-c", MEASURE,
                        *command], capture_output=True, text=True, check=False)
    if r.returncode != 0:
        sys.exit("%s ended with status %d:\n%s" % (command, r.returncode, r.stderr))
    return int([x for x in r.stderr.splitlines() if x.startswith("peak ")][-1].split()[1])


def triangle(n, nb):
    starts = range(0, n, nb)
    return 8 * sum(min(nb, n - i) * min(nb, n - j) for i in starts for j in starts if i >= j)


def main():
    mpirun, baseline, potrf = sys.argv[1:4]
    n, nb = (int(x) for x in sys.argv[4:6]) if len(sys.argv) > 5 else (4000, 192)
    empty = peak(mpirun, baseline)
    whole = peak(mpirun, potrf, "--n", str(n), "--nb", str(nb))
    tiles = triangle(n, nb)
    limit = tiles * 1.05 + 10 * 2**20
    mib = 1 / 2**20
    print("peak %.1f MiB - MPI %.1f MiB = %.1f MiB; tiles %.1f MiB, limit %.1f MiB" % (
        whole * mib, empty * mib, (whole - empty) * mib, tiles * mib, limit * mib))
    sys.exit(whole - empty >= limit)


if __name__ == "__main__":
    main()
