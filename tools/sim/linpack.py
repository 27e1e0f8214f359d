#!/usr/bin/env python3
"""Linpack on sixteen nodes with a device each and two adapters for Gigabit Ethernet: a paper's rates and dag_sim's.

    linpack.py PROGRAMS [--orders 30000,45000,60000,90000] [--quick] [--doc FILE]

PROGRAMS is the folder of dag_sim and dag_hpl. The table goes between the lines <!-- linpack --> and
<!-- /linpack --> of FILE. A run of order 45000 takes some 12 seconds of one core, and
time grows with the cube: eight minutes for the line of 90000. --quick: one small order, and what must
hold for any.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

from papers import write

# Four cores of 10.68 Gflop/s and a C1060 of 78 by their data sheets. They measured that both together multiply 2.78
# times as fast as cores alone and 1.52 times as fast as the device, which is where their peaks are; products reach
# some 95 % of these. Two adapters of 118 MB/s for the one process of a node are one of twice the rate here.
MACHINE = """name = sixteen
nodes = 16
workers = {workers}
memory = 6G
between = {network}
network = flat
send = 5us
receive = 5us
copy = 4GB/s
kernel = * d 32:4 64:6.5 96:8 192:9.5 576:10.1
kernel = getrf_column d 32:1.5 64:1.5
kernel = move * 32:2 256:3
devices = 1
device_streams = 1
device_memory = 4G
device_link = 15us 5GB/s
device_kernel = gemm d 64:20 192:60 576:72 1200:74
device_kernel = trsm d 64:4 192:20 576:45
device_kernel = move * 32:2 576:20
"""
# A C1060 runs one kernel at a time: beside the urgent queue one is enough for it, and another whose operands come.
STREAMS = "3"
NETWORK = "50us 0.236GB/s"
PEAK = 16 * (42.72 + 78)
THEIRS = {90000: (48, 54, 62)}
QUICK = 5760


def play(programs, work, order, workers, network, depth=1, eager="4k"):
    machine, out = os.path.join(work, "machine"), os.path.join(work, "result")
    with open(machine, "w", encoding="ascii") as file:
        file.write(MACHINE.format(workers=workers, network=network))
    command = [os.path.join(programs, "dag_sim"), "-np", "16", "--machine", machine, os.path.join(programs, "dag_hpl"),
               "--n", str(order), "--nb", "576", "--grid", "4x4", "--depth", str(depth), "--threshold", "-1", "--detail",
               "--progress", "0", "--json", out]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600, check=False,
                          env=os.environ | {"DAG_EAGER_BYTES": eager, "DAG_DEVICE_STREAMS": STREAMS})
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    with open(out, encoding="utf-8") as file:
        result = json.loads(file.read())
    seconds, way = result["time_s"], result["communication"]["all"]
    if result.get("simulated") is not True:
        sys.exit(f"{' '.join(command)}: the result does not say that it is simulated")
    if way["seconds"] > seconds or way["hidden"] > way["seconds"]:
        sys.exit(f"{' '.join(command)}: {way} in {seconds} s")
    print(f"{order}, {workers} workers, {network}, DEPTH {depth}, {eager}: {seconds:.1f} s, {way}", file=sys.stderr)
    return seconds, way


def percent(order, seconds):
    return f"{100 * 2 / 3 * order ** 3 / seconds / PEAK * 1e-9:.1f} %"


def row(order, alone, none, three, four, more):
    """A line of the table, from what play() gives."""
    if not alone[0] < four[0]:
        sys.exit(f"{order}: {four[0]} s with a network, {alone[0]} without")
    way, theirs = four[1], ", ".join(f"{p} %" for p in THEIRS.get(order, ()))
    return (f"| {order} | {percent(order, alone[0])} | {percent(order, none[0])} | {percent(order, three[0])} "
            f"| {percent(order, four[0])} | {none[0] / four[0]:.2f} | {percent(order, more[0])} "
            f"| {none[0] / more[0]:.2f} | {way['seconds']:.0f} of {four[0]:.0f} s, "
            f"{100 * way['hidden'] / way['seconds']:.0f} % | {theirs} |")


def table(programs, work, orders):
    out = ["| N | no network | DEPTH 0 | DEPTH 1, three cores compute | DEPTH 1 | gain | DEPTH 1, eager_bytes = 64k "
           "| gain | DEPTH 1: communication, hidden | theirs |", "|---" * 10 + "|"]
    for n in orders:
        def run(*case, order=n):
            return play(programs, work, order, *case)
        out.append(row(n, run(5, "0us 1000000GB/s"), run(5, NETWORK, 0), run(4, NETWORK), run(5, NETWORK),
                       run(5, NETWORK, 1, "64k")))
    return out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs")
    parser.add_argument("--orders", type=lambda text: [int(n) for n in text.split(",")], default=[30000, 45000, 60000, 90000])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--doc")
    options = parser.parse_args()
    orders = [QUICK] if options.quick else options.orders
    with tempfile.TemporaryDirectory() as work:
        text = "\n".join(table(options.programs, work, orders))
    print(text)
    if options.doc:
        write(options.doc, {"linpack": text})


if __name__ == "__main__":
    main()
