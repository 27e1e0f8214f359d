#!/usr/bin/env python3
"""What two papers have measured, beside what dag_sim says of machines like theirs.

    papers.py PROGRAMS [--nodes 64] [--doc FILE]

PROGRAMS is the folder of dag_sim and the drivers. --nodes: leave larger runs out. The tables go between the
lines <!-- song -->, <!-- /song -->, <!-- dague --> and <!-- /dague --> of FILE. Machines are as the papers and data sheets say; what
devices did is done by workers as fast as they were (devices are not modelled).
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

# Song and Dongarra, Table I: nodes, n, total s, computation s, communication s, non-computation %.
CHOLESKY = [(1, 34560, 19.6, 18.3, None, 6.6), (2, 46080, 22.6, 20.1, 1.9, 11.1),
            (4, 69120, 37.2, 34.8, 5.7, 6.5), (8, 92160, 43.7, 39.8, 8.4, 8.9),
            (16, 138240, 74.4, 68.7, 15.6, 7.7), (32, 184320, 90.7, 80.8, 26.6, 10.9),
            (64, 276480, 152.6, 138.6, 48, 9.2)]
QR = [(1, 32256, 102.7, 102.4, None, 0.3), (2, 43008, 120.2, 119.9, 3.7, 0.2),
      (4, 64512, 218.2, 217.2, 76.3, 0.5), (8, 86016, 260.5, 259.3, 101.2, 0.5),
      (16, 129024, 432.1, 420.2, 166.2, 2.8), (32, 172032, 516.4, 503.2, 218.6, 2.6),
      (64, 258048, 871.4, 820.3, 361, 5.9)]
# Two processors of six cores and three devices: three workers, as fast as all of them together. QDR InfiniBand.
KEENELAND = """name = keeneland
workers = {workers}
between = 1.3us 3.4GB/s
network = fat-tree 18 1
kernel = * d 96:{low} 384:{middle} 960:{high}
"""
# 8 cores of 19.55 Gflop/s at products in single precision; the network as the paper's own ping-pong found it.
DANCER = """name = dancer
workers = 8
between = 2us 1.44GB/s
network = flat
kernel = gemm s 48:14 96:18 192:19.55
kernel = herk s 48:12 96:17 192:19
kernel = trsm s 48:12 96:17 192:18.7
kernel = potrf s 50:5 100:11 200:16
"""


def play(programs, work, text, driver, ranks, n, nb, *more):
    machine = os.path.join(work, "machine")
    with open(machine, "w", encoding="ascii") as file:
        file.write(text)
    command = [os.path.join(programs, "dag_sim"), "-np", str(ranks), "--machine", machine,
               os.path.join(programs, driver), "--n", str(n), "--nb", str(nb), "--json", *more]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    print(done.stdout.strip()[:240], file=sys.stderr)
    return json.loads(done.stdout)


def keeneland(rate, workers=3):
    return KEENELAND.format(workers=workers, low=0.5 * rate, middle=0.85 * rate, high=rate)


def fit(programs, work, driver, n, seconds):
    """The rate of a worker with which one node takes as long as theirs."""
    rate = 250.0
    for _ in range(3):
        rate *= play(programs, work, keeneland(rate), driver, 1, n, 960)["time_s"] / seconds
    return rate


def song(programs, work, most):
    out = ["| factorisation | nodes | n | theirs, s | simulated, s | their non-computation | simulated |",
           "|---|---|---|---|---|---|---|"]
    for name, driver, rows in (("Cholesky", "dag_potrf", CHOLESKY), ("QR", "dag_geqrf", QR)):
        rate = fit(programs, work, driver, rows[0][1], rows[0][2])
        for nodes, n, total, _, _, percent in rows:
            if nodes > most:
                continue
            r = play(programs, work, keeneland(rate), driver, nodes, n, 960)
            out.append(f"| {name} | {nodes} | {n} | {total} | {r['time_s']:.1f} | {percent} % | "
                       f"{r['non_computation_percent']:.1f} % |")
    return out


def dague(programs, work):
    out = ["| nodes | n | nb | simulated, Gflop/s | of the practical peak |", "|---|---|---|---|---|"]
    for nodes, n, nb in ((1, 17280, 192), (2, 24384, 192), (4, 34560, 128), (4, 34560, 192), (4, 34560, 384),
                         (4, 46080, 192)):
        r = play(programs, work, DANCER, "dag_potrf", nodes, n, nb, "--prec", "s")
        out.append(f"| {nodes} | {n} | {nb} | {r['gflops']:.0f} | {100 * r['gflops'] / (nodes * 156.4):.1f} % |")
    return out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs")
    parser.add_argument("--nodes", type=int, default=64)
    parser.add_argument("--doc")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        tables = [song(options.programs, work, options.nodes), dague(options.programs, work)]
    parts = ["\n".join(table) for table in tables]
    print("\n\n".join(parts))
    if options.doc:
        with open(options.doc, encoding="utf-8") as file:
            text = file.read()
        for name, part in zip(("song", "dague"), parts):
            before, rest = text.split(f"<!-- {name} -->", 1)
            text = f"{before}<!-- {name} -->\n{part}\n<!-- /{name} -->" + rest.split(f"<!-- /{name} -->", 1)[1]
        with open(options.doc, "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()
