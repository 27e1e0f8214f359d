"""Wires that transfers share: times are those of SimGrid, which shares them too, and what is sent does not change.

    share.py DIRECTORY-OF-PROGRAMS SIM_COUNTS
"""

import json
import os
import re
import subprocess
import sys
import tempfile

MACHINE = """name = shared
network = {network}
share = {share}
between = 0us 1GB/s
send = 0us
receive = 0us
task = 0us
kernel = * * 32:1000000
"""
AS_SIMGRID = """name = flat
network = flat
share = fair
between = 5us 1GB/s
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
faults = []


def run(driver, ranks, share, *arguments, network="flat"):
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "machine")
        with open(path, "w", encoding="ascii") as file:
            file.write(MACHINE.format(share=share, network=network))
        command = [os.path.join(sys.argv[1], "dag_sim"), "-np", str(ranks), "--machine", path,
                   os.path.join(sys.argv[1], driver), *arguments, "--json"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def expect(true, what):
    if not true:
        faults.append(what)


def drivers():
    for driver in "dag_potrf", "dag_geqrf", "dag_gemm", "dag_getrf":
        size = ("--n", "1920", "--nb", "96")
        fifo, fair = (run(driver, 16, share, *size) for share in ("fifo", "fair"))
        expect(all(fifo[key] == fair[key] for key in ("tasks", "messages", "bytes")),
               f"{driver}: counts depend on sharing")
        expect(fair == run(driver, 16, "fair", *size), f"{driver}: a second run gives other numbers")
        expect(fair["time_s"] * 1e9 * 16 > fair["leaving"], f"{driver}: more has left than wires carry")
    # What crosses the trunk of a tree of two nodes a switch has a quarter of their bandwidth.
    size = ("--n", "1920", "--nb", "96", "--grid", "2x2")
    flat, tree = (run("dag_gemm", 4, "fair", *size, network=network) for network in ("flat", "fat-tree 2 4"))
    expect(tree["time_s"] > 1.2 * flat["time_s"], "a tapered tree is as fast as a flat network")


# Rows of the table in docs/performance/simulated.md: SimGrid's times on a flat network with 5us 1GB/s, where transfers
# that follow each other are up to a third off. LU is the graph that SimGrid ran: all exchanges at once, no pieces.
SIMGRID = (("cholesky", 16, 0.039666), ("lu", 4, 0.269913), ("nopiv", 16, 0.044505), ("nopiv", 64, 0.045212))
PACE = {"lu": ("0", "0", "0", "24", "1")}


def simgrid(counts):
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "machine")
        with open(path, "w", encoding="ascii") as file:
            file.write(AS_SIMGRID)
        for graph, ranks, seconds in SIMGRID:
            done = subprocess.run([counts, graph, "3072", "128", *PACE.get(graph, ())], capture_output=True, text=True, timeout=300, check=False,
                                  env=os.environ | {"DAG_SIMULATE": str(ranks), "DAG_MACHINE": path,
                                                    "DAG_BCAST": "binomial"})
            found = re.search(r"tasks, ([0-9.]+) s", done.stdout)
            if done.returncode != 0 or not found:
                sys.exit(f"{graph} on {ranks} ranks: {done.stdout}{done.stderr}")
            expect(abs(float(found[1]) / seconds - 1) < 0.02,
                   f"{graph} on {ranks} ranks: {found[1]} s, SimGrid says {seconds}")


drivers()
simgrid(sys.argv[2])
for fault in faults:
    print(fault)
sys.exit(1 if faults else 0)
