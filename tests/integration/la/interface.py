#!/usr/bin/env python3
"""What leaves two nodes of four ranks, counted at their interfaces: at most 1.05 times the values that the other node
needs, each once, under broadcasts that name no shape.

    interface.py BENCH-FOLDER SIM-FOLDER DIRECTORY-OF-PROGRAMS

Nodes are network namespaces of this machine; 77 where there can be none. Runs of a process share what its start sends.
"""
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path[:0] = sys.argv[1:3]

from harness.two_nodes import TwoNodes  # noqa: E402
from leaving import ALGORITHMS, MOST, N, NB, least  # noqa: E402

RUNS, MBIT, MTU = 5, 10000, 9000


def leaving(network, words, p, q):
    """Bytes that a run sends, from one node to the other."""
    program, *options = words
    command = [*network.launcher(4), os.path.join(sys.argv[3], program), *options, "--n", N, "--nb", NB, "--grid", f"{p}x{q}",
               "--runs", RUNS, "--threads", 1]
    before = sum(network.sent())
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300, check=False,
                          env=dict(os.environ, DAG_THREADS="1", OPENBLAS_NUM_THREADS="1"))
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return (sum(network.sent()) - before) / RUNS


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    failures = 0
    with tempfile.TemporaryDirectory() as place:
        network = TwoNodes(MBIT, Path(place), MTU)
        try:
            for name, (values, *words) in ALGORITHMS.items():
                words += ["--method", "stationary-c"] if name == "product" else []
                for p, q in (1, 8), (2, 4):
                    need = least(values, p, q)
                    found = leaving(network, words, p, q)
                    print(f"{name} on {p}x{q}: {found:.0f} bytes at the interfaces, {need} have to leave: {found / need:.3f}")
                    failures += not need <= found <= MOST * need
        finally:
            network.end()
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
