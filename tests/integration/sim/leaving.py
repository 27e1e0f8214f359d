#!/usr/bin/env python3
"""What leaves a node under broadcasts that name no shape: each value that another node needs, once.

    leaving.py DIRECTORY-OF-PROGRAMS

Simulated: two nodes of four ranks, on all their grids. What has to leave is counted here, tile by tile.
"""

import json
import os
import subprocess
import sys
import tempfile

N, NB, MOST = 1600, 100, 1.05
TILES = N // NB
TILE, HALF = NB * NB * 8, NB * (NB + 1) // 2 * 8
MACHINE = "nodes = 2\nranks = 4\nwithin = 0.5us 10GB/s copy\nbetween = 1.5us 12.5GB/s\nkernel = * * 16:5 384:45\n"


def product(node):
    for k in range(TILES):
        for m in range(TILES):
            yield node(m, k), {node(m, n) for n in range(TILES)}, TILE
            yield node(k, m), {node(i, m) for i in range(TILES)}, TILE


def cholesky(node):
    for k in range(TILES):
        yield node(k, k), {node(m, k) for m in range(k, TILES)}, HALF
        for m in range(k + 1, TILES):
            yield node(m, k), ({node(m, n) for n in range(k + 1, m + 1)} |
                               {node(i, m) for i in range(m, TILES)}), TILE


def lu(node):
    for k in range(TILES):
        rest = range(k + 1, TILES)
        yield node(k, k), {node(m, k) for m in rest} | {node(k, m) for m in rest}, TILE
        for m in rest:
            yield node(m, k), {node(m, n) for n in rest}, TILE
            yield node(k, m), {node(i, m) for i in rest}, TILE


ALGORITHMS = {
    "product": (product, "dag_gemm"),
    "cholesky": (cholesky, "dag_potrf"),
    "lu": (lu, "dag_getrf", "--pivoting", "none"),
}


def least(values, p, q):
    """A rank's number is that of its row times q, and its column; the first four ranks are a node."""
    return sum(len(users - {home}) * size for home, users, size in values(lambda m, n: (m % p * q + n % q) // 4))


def leaving(programs, machine, words, p, q, environment):
    command = [os.path.join(programs, "dag_sim"), "-np", "8", "--machine", machine, os.path.join(programs, words[0]),
               *words[1:], "--n", str(N), "--nb", str(NB), "--grid", f"{p}x{q}", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env={**os.environ, **environment})
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)["leaving"]


def main():
    failures = 0
    with tempfile.TemporaryDirectory() as work:
        machine = os.path.join(work, "machine")
        with open(machine, "w", encoding="ascii") as file:
            file.write(MACHINE)
        for name, (values, *words) in ALGORITHMS.items():
            for p, q in ((1, 8), (2, 4), (4, 2), (8, 1)):
                need = least(values, p, q)
                for environment in ({}, {"DAG_NETWORK": machine}):
                    found = leaving(sys.argv[1], machine, words, p, q, environment)
                    print(f"{name} on {p}x{q}: {found} bytes leave a node, {need} have to{', by times' * bool(environment)}")
                    failures += not need <= found <= MOST * need
        # named shapes leave more, or this counts nothing
        need = least(product, 1, 8)
        failures += leaving(sys.argv[1], machine, ["dag_gemm"], 1, 8, {"DAG_BCAST": "flat"}) < 2 * need
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
