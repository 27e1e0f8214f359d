#!/usr/bin/env python3
"""Linpack on sixteen nodes with a device each and two adapters for Gigabit Ethernet: a paper's rates and dag_sim's.

    linpack.py PROGRAMS [--orders 30000,60000,90000] [--quick] [--doc FILE]

PROGRAMS is the folder of dag_sim and dag_hpl. Tables go between the lines <!-- linpack --> and <!-- /linpack -->,
<!-- linpack-depth --> and <!-- /linpack-depth --> of FILE; the second is of the first order. An order of 90000 takes
some five minutes of one core. --quick: one small order, and what must hold for any.
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
NETWORK = "50us 0.236GB/s"
PEAK = 16 * (42.72 + 78)
THEIRS = {90000: (48, 54, 62)}


QUICK = 5760


def play(programs, work, order, workers, network, depth=1):
    machine, out = os.path.join(work, "machine"), os.path.join(work, "result")
    with open(machine, "w", encoding="ascii") as file:
        file.write(MACHINE.format(workers=workers, network=network))
    command = [os.path.join(programs, "dag_sim"), "-np", "16", "--machine", machine, os.path.join(programs, "dag_hpl"),
               "--n", str(order), "--nb", "576", "--grid", "4x4", "--depth", str(depth), "--threshold", "-1", "--detail",
               "--progress", "0", "--json", out]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    with open(out, encoding="utf-8") as file:
        result = json.loads(file.read())
    if result.get("simulated") is not True:
        sys.exit(f"{' '.join(command)}: the result does not say that it is simulated")
    print(f"{order} {workers} {network} depth {depth}: {result['time_s']:.1f} s, {result['communication']}", file=sys.stderr)
    return result["time_s"], result["communication"]["all"]


def percent(order, seconds):
    return f"{100 * 2 / 3 * order ** 3 / seconds / PEAK * 1e-9:.1f} %"


def table(programs, work, orders):
    out = ["| N | nothing overlaps | three cores and the device compute | four cores, and one that communicates "
           "| communication, hidden | gain | theirs |", "|---" * 7 + "|"]
    for n in orders:
        alone, _ = play(programs, work, n, 5, "0us 1000000GB/s")
        three, _ = play(programs, work, n, 4, NETWORK)
        four, way = play(programs, work, n, 5, NETWORK)
        none = alone + way["seconds"]
        if not alone < four:
            sys.exit(f"{n}: {four} s with a network, {alone} without")
        theirs = ", ".join(f"{p} %" for p in THEIRS.get(n, ()))
        out.append(f"| {n} | {percent(n, none)} | {percent(n, three)} | {percent(n, four)} "
                   f"| {way['seconds']:.0f} of {four:.0f} s, {100 * way['hidden'] / way['seconds']:.0f} % "
                   f"| {none / four:.2f} | {theirs} |")
    return out


def depths(programs, work, order):
    out = ["| N | DEPTH | of the peak | seconds | communication, s | hidden |", "|---" * 6 + "|"]
    for depth in range(4):
        seconds, way = play(programs, work, order, 5, NETWORK, depth)
        if way["seconds"] > seconds or way["hidden"] > way["seconds"]:
            sys.exit(f"DEPTH {depth}: {way} in {seconds} s")
        out.append(f"| {order} | {depth} | {percent(order, seconds)} | {seconds:.1f} | {way['seconds']:.1f} "
                   f"| {100 * way['hidden'] / way['seconds']:.0f} % |")
    return out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs")
    parser.add_argument("--orders", type=lambda text: [int(n) for n in text.split(",")], default=[30000, 60000, 90000])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--doc")
    options = parser.parse_args()
    orders = [QUICK] if options.quick else options.orders
    with tempfile.TemporaryDirectory() as work:
        parts = {"linpack": "\n".join(table(options.programs, work, orders)),
                 "linpack-depth": "\n".join(depths(options.programs, work, orders[0]))}
    print("\n\n".join(parts.values()))
    if options.doc:
        write(options.doc, parts)


if __name__ == "__main__":
    main()
