#!/usr/bin/env python3
"""dag_sim beside SimGrid: the same graphs, kernels and network, played by the one and by the other.

    against_simgrid.py BUILD SIMGRID-BUILD [--ranks 4,16,64] [--tiles 24] [--doc FILE]

SIMGRID-BUILD is a build of the preset `simgrid`. Messages, bytes of data and tasks have to be equal, and
times near: within 5 % of each other where wires are fast, 10 % where they are not. Ends with 1 where counts
differ. Prints a table, and writes it to FILE between the lines <!-- simgrid --> and <!-- /simgrid -->.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROUTINES = [("Cholesky", "cholesky"), ("QR", "qr"), ("product", "product"), ("LU", "lu"),
            ("LU without pivots", "nopiv")]
NETWORKS = [("12.5 GB/s", "1.5us 12.5GB/s"), ("1 GB/s", "5us 1GB/s")]
NB = 128
# What SimGrid cannot play takes no time: what a task and a copy cost beside kernels.
MACHINE = """name = flat
network = flat
between = {between}
within = 0.6us 8GB/s
send = 0us
receive = 0us
task = 0us
copy = 1000000GB/s
kernel = * * 16:5 32:12 64:25 96:34 128:38 192:42 384:45
kernel = potrf * 16:2 32:8 64:18 128:30
kernel = getrf * 32:6 96:14 192:22 384:28
kernel = getrf_column * 16:2 128:4
kernel = geqrt_stack * 32:6 96:16 192:24
kernel = tpqrt * 32:4 96:9 192:14
kernel = move * 32:4 128:8
"""
LINE = re.compile(r"[a-z ]+: (\d+) messages, (\d+) bytes, (\d+) tasks, ([0-9.]+) s")


def result(command, **environment):
    done = subprocess.run(command, capture_output=True, text=True, timeout=3000, check=False,
                          env=dict(os.environ, DAG_BCAST="binomial", **environment))
    match = LINE.search(done.stdout)
    if done.returncode != 0 or not match:
        sys.exit(f"{' '.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return tuple(int(n) for n in match.groups()[:3]), float(match[4])


def rows(options, machine):
    for network, between in NETWORKS:
        with open(machine, "w", encoding="ascii") as file:
            file.write(MACHINE.format(between=between))
        for ranks in options.ranks:
            for name, routine in ROUTINES:
                what = [routine, str(options.tiles * NB), str(NB)]
                played, time = result([os.path.join(options.build, "tests/integration/sim_counts"), *what],
                                      DAG_SIMULATE=str(ranks), DAG_MACHINE=machine)
                counts, other = result([os.path.join(HERE, "..", "simulate"), "-np", str(ranks), "--machine",
                                        machine, os.path.join(options.simgrid, "bin/sim_counts"), *what])
                yield network, ranks, name, played, counts, time, other
                print(f"{network} {ranks} {name}: {played} {counts} {time} {other}", file=sys.stderr)


def table(found):
    out = ["| network | ranks | graph | messages | bytes | dag_sim, s | SimGrid, s | difference |",
           "|---|---|---|---|---|---|---|---|"]
    for network, ranks, name, played, counts, time, other in found:
        same = "" if played == counts else f" (SimGrid {counts[0]})", "" if played == counts else f" ({counts[1]})"
        out.append(f"| {network} | {ranks} | {name} | {played[0]}{same[0]} | {played[1]}{same[1]} | {time:.6f} | "
                   f"{other:.6f} | {100 * (time / other - 1):+.1f} % |")
    return "\n".join(out)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("simgrid")
    parser.add_argument("--ranks", type=lambda text: [int(n) for n in text.split(",")], default=[4, 16, 64])
    parser.add_argument("--tiles", type=int, default=24)
    parser.add_argument("--doc")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        found = list(rows(options, os.path.join(work, "machine")))
    text = table(found)
    print(text)
    if options.doc:
        with open(options.doc, encoding="utf-8") as file:
            before, rest = file.read().split("<!-- simgrid -->", 1)
        after = rest.split("<!-- /simgrid -->", 1)[1]
        with open(options.doc, "w", encoding="utf-8") as file:
            file.write(f"{before}<!-- simgrid -->\nAll times are simulated; n = {options.tiles * NB} in tiles of "
                       f"{NB}.\n\n{text}\n<!-- /simgrid -->{after}")
    return any(played != counts for _, _, _, played, counts, _, _ in found)


if __name__ == "__main__":
    sys.exit(main())
