#!/usr/bin/env python3
"""Graphs derived from nests beside those of the library, simulated: the same numbers on every run.

    rates.py FOLDER [--table]

FOLDER has the programs bench_nests_*. Cholesky and LU from a nest run at .98 of the library's rates at least, on
two threads and on two ranks, and the inverse as one nest at 1.02 times those of three graphs in turn for
a small matrix on two threads: these three make no copies of tiles, else it would be 1.1. --table prints more orders and tiles, and checks nothing.
"""
import json
import os
import subprocess
import sys


def rate(folder, name, n, nb, ranks, threads):
    """GFlop/s of the built-in machine."""
    env = {**os.environ, "DAG_SIMULATE": str(ranks)}
    out = subprocess.run([f"{folder}/bench_nests_{name}", str(n), str(nb), str(threads), "1"], env=env, text=True,
                         stdout=subprocess.PIPE, check=True).stdout
    return json.loads(out[out.index("{"):])["gflops"]


def main():
    folder, table = sys.argv[1], sys.argv[2:] == ["--table"]
    points = [(routine, n, 128, ranks, 2 // ranks, 0.98) for routine in ("potrf_L", "getrf_nopiv")
              for n in ((1000, 2000, 3000, 4000) if table else (1000,)) for ranks in (1, 2)]
    points += [("inverse", n, nb, 1, 2, 1.02) for n in ((500, 750, 1000, 1500, 2000) if table else (500, 750))
               for nb in ((64, 128, 192, 256) if table else (128,))]
    wrong = 0
    for routine, n, nb, ranks, threads, goal in points:
        nest, hand = (rate(folder, f"{routine}_{form}", n, nb, ranks, threads) for form in ("derived", "by_hand"))
        print(f"{routine} n = {n}, tiles of {nb}, {ranks} x {threads}: {nest:.1f} beside {hand:.1f}, {nest / hand:.3f}")
        wrong += nest < goal * hand and not table
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
