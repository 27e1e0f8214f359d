"""Wires that transfers share: what they take follows from the bandwidth alone, and what is sent does not change.

    share.py DIRECTORY-OF-PROGRAMS
"""

import json
import os
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


for driver in "dag_potrf", "dag_geqrf", "dag_gemm", "dag_getrf":
    size = ("--n", "1920", "--nb", "96")
    fifo, fair = (run(driver, 16, share, *size) for share in ("fifo", "fair"))
    expect(all(fifo[key] == fair[key] for key in ("tasks", "messages", "bytes")), f"{driver}: counts depend on sharing")
    expect(fair == run(driver, 16, "fair", *size), f"{driver}: a second run gives other numbers")
    expect(abs(fair["time_s"] / fifo["time_s"] - 1) < 0.5, f"{driver}: {fair['time_s']} s, and {fifo['time_s']} in turn")
    expect(fair["time_s"] * 1e9 * 16 > fair["leaving"], f"{driver}: more has left than wires carry")
# Computing takes no time, so a product takes what the adapter that has most to carry does, however it is divided.
fair, fifo = (run("dag_gemm", 4, share, "--n", "1920", "--nb", "96", "--grid", "2x2") for share in ("fair", "fifo"))
least = fair["leaving"] / 4 / 1e9
expect(least < fair["time_s"] < 1.1 * least, f"4 ranks: {fair['time_s']} s for {least} s of a wire")
# A tapered tree whose trunk has half the bandwidth of two nodes: what crosses it takes twice as long.
tree = run("dag_gemm", 4, "fair", "--n", "1920", "--nb", "96", "--grid", "2x2", network="fat-tree 2 2")
expect(tree["time_s"] > 1.2 * fair["time_s"], "a tapered tree is as fast as a flat network")
for fault in faults:
    print(fault)
sys.exit(1 if faults else 0)
