#!/usr/bin/env python3
"""What --report says of broadcasts: shape, number, receivers and bytes follow from the graph and the distribution,
what is predicted from the model of the network; what is measured is longer than nothing.

    broadcasts.py MPIRUN BIN      BIN has dag_gemm and dag_potrf
"""

import re
import subprocess
import sys

RATE, LATENCY = 1e9, 1e-5
LINE = re.compile(r"^dag:   broadcasts of (\w+) (\w+): (\d+) by (.+), to ([\d.e+]+) ranks, ([\d.e+]+) kB each; "
                  r"predicted ([\d.e+-]+) s, measured ([\d.e+-]+) s, at most ([\d.e+-]+) s")
faults = []


def owner(i, j, grid):
    return i % grid[0] * grid[1] + j % grid[1]


def product(tiles, grid):
    """gemm_C: tiles of A go along rows of C, those of B along columns."""
    m, n, k = tiles
    return {"LEFT": [grid[1] - 1] * (m * k * (grid[1] > 1)), "RIGHT": [grid[0] - 1] * (n * k * (grid[0] > 1))}


def cholesky(tiles, grid):
    """potrf_L: factors of diagonal tiles go down their column, tiles below to their row and their column."""
    told = {"POTRF": [], "TRSM": []}
    for k in range(tiles):
        told["POTRF"].append({owner(m, k, grid) for m in range(k + 1, tiles)} - {owner(k, k, grid)})
        for m in range(k + 1, tiles):
            readers = {owner(m, n, grid) for n in range(k + 1, m + 1)} | {owner(i, m, grid) for i in range(m + 1, tiles)}
            told["TRSM"].append(readers - {owner(m, k, grid)})
    return {name: [len(ranks) for ranks in lists if ranks] for name, lists in told.items()}


def expect(holds, text):
    if not holds:
        faults.append(text)


def near(value, wanted):
    return abs(value - wanted) <= 1e-2 * abs(wanted)


def predicted(shape, ranks, size):
    """All messages of one size take as long, one after the other at their sender."""
    rounds = ranks if shape == "flat" else ranks.bit_length()
    return rounds * (LATENCY + size / RATE)


def bytes_of(cls, nb):
    return 8 * nb * (nb + 1) // 2 if cls == "POTRF" else 8 * nb * nb


def check(mpirun, program, options, name, grid, nb, shape, wanted):
    command = [mpirun, "-np", str(grid[0] * grid[1]), "--threads", "1", "env", "DAG_REPORT=1",
               f"DAG_LINK_RATE={RATE:.0f}", f"DAG_LINK_LATENCY={LATENCY}", f"DAG_BCAST={shape}", program, *options,
               "--nb", str(nb), "--grid", f"{grid[0]}x{grid[1]}"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    what = " ".join(command[5:])
    expect(run.returncode == 0, f"{what}: exit status {run.returncode}\n{run.stderr}")
    lines = [line for line in run.stderr.splitlines() if line.startswith(f"dag:   broadcasts of {name} ")]
    said = {line[1:4:2]: line for line in map(match, lines) if line}
    sent = {}
    for cls, numbers in wanted.items():
        for ranks in numbers:
            sent.setdefault((cls, shape if ranks > 1 else "binomial"), []).append(ranks)
    expect(len(lines) == len(said) and said.keys() == sent.keys(), f"{what}: says\n" + "\n".join(lines))
    for key in said.keys() & sent.keys():
        compare(f"{what}: {key}", said[key], sent[key], bytes_of(key[0], nb))


def match(line):
    found = LINE.fullmatch(line)
    return found and found.groups()


def compare(what, line, sent, size):
    _, _, count, shape, to, kilobytes, guess, took, most = line
    mean = sum(sent) / len(sent)
    expect(int(count) == len(sent), f"{what}: {count} broadcasts, not {len(sent)}")
    expect(near(float(to), mean), f"{what}: to {to} ranks, not {mean}")
    expect(near(1e3 * float(kilobytes), size), f"{what}: {kilobytes} kB, not {size} bytes")
    expect(0 < float(took) <= 1.01 * float(most), f"{what}: took {took} s, {most} s at most")
    mean = sum(predicted(shape, ranks, size) for ranks in sent) / len(sent)
    expect(near(float(guess), mean), f"{what}: {guess} s predicted, not {mean}")


def main():
    mpirun, folder = sys.argv[1:]
    m, n, k, square = 5, 4, 6, 7
    for grid, nb, shape in (((1, 2), 64, "flat"), ((1, 2), 16, "flat"), ((2, 2), 64, "binomial"), ((1, 4), 64, "flat")):
        sizes = ["--m", str(m * nb), "--n", str(n * nb), "--k", str(k * nb), "--method", "stationary-c"]
        check(mpirun, f"{folder}/dag_gemm", sizes, "gemm_C", grid, nb, shape, product((m, n, k), grid))
    for grid in ((2, 1), (2, 2)):
        check(mpirun, f"{folder}/dag_potrf", ["--n", str(square * 64)], "potrf_L", grid, 64, "flat",
              cholesky(square, grid))
    for fault in faults:
        print(fault, file=sys.stderr)
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
