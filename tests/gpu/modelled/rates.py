#!/usr/bin/env python3
"""Modelled machines: kernels take the times that a description gives, on a stretched clock.

usage: rates.py BIN MACHINES

Products and Cholesky factorisations on the fake CUDA, all their kernels on devices or all on cores. What the
kernels took is compared with a sum made here from the lines of the description. The time of the run, which
also depends on what else the computer does, must not be shorter. What is issued ahead is as much as on the node.
"""
import json
import os
import subprocess
import sys
import tempfile

BIN, MACHINES = sys.argv[1:]
STRETCH = "4"


def rates(machine, key, kernel):
    """Order and GFlop/s of a line in double precision."""
    for line in open(os.path.join(MACHINES, machine + ".machine"), encoding="utf-8"):
        words = line.split()
        if words[:4] == [key, "=", kernel, "d"]:
            return [tuple(map(float, w.split(":"))) for w in words[4:]]
    raise SystemExit(f"{machine}: no line {key} = {kernel} d")


def seconds(curve, flops):
    """Of a kernel in real precision, whose order is the cube root of half its operations."""
    order = (flops / 2) ** (1 / 3)
    if order <= curve[0][0]:
        return flops / (1e9 * curve[0][1] * order / curve[0][0])
    for (a, low), (b, high) in zip(curve, curve[1:]):
        if order <= b:
            return flops / (1e9 * (low + (order - a) / (b - a) * (high - low)))
    return flops / (1e9 * curve[-1][1])


def at_once(machine):
    """Kernels that a device runs beside each other."""
    for line in open(os.path.join(MACHINES, machine + ".machine"), encoding="utf-8"):
        if line.startswith("device_streams = "):
            return int(line.split()[2])
    return 4


def run(machine, driver, *args, stretch=STRETCH, threads=1, trace=None):
    with tempfile.TemporaryDirectory() as where:
        path = os.path.join(MACHINES, machine + ".machine")
        env = dict(os.environ, DAG_MACHINE=path, DAG_STRETCH=stretch, DAG_DEVICE_ALWAYS="on", DAG_DIRECT="off",
                   DAG_DEVICE_BATCH="1", # each product takes its own time
                   FAKE_CUDA_MACHINE=path, FAKE_CUDA_STRETCH=stretch, FAKE_CUDA_COMPUTE="0",
                   FAKE_CUDA_REPORT=where + "/report")
        traced = ["--trace", where + "/trace.json"] if trace is not None else []
        done = subprocess.run([os.path.join(BIN, driver), *args, "--threads", str(threads), "--json", *traced], env=env,
                              capture_output=True, text=True, timeout=200)
        if traced and not done.returncode:
            with open(traced[1], encoding="utf-8") as file:
                trace.extend(json.load(file)["traceEvents"])
            os.remove(traced[1])
        reports = [json.load(open(os.path.join(where, f), encoding="utf-8")) for f in os.listdir(where)]
    if done.returncode:
        raise SystemExit(f"{driver} {args}: status {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout), [d["seconds"] for r in reports for d in r["devices"]]


def near(what, is_, wanted):
    print(f"{what}: {is_:.6f} s, expected {wanted:.6f}")
    if abs(is_ - wanted) > 1e-3 * wanted:
        raise SystemExit(f"{what}: {is_} is not {wanted}")


def product(machine, n, nb):
    tasks, flops, curve = (n // nb) ** 3, 2.0 * nb ** 3, rates(machine, "device_kernel", "gemm")
    result, devices = run(machine, "dag_gemm", "--n", str(n), "--nb", str(nb), "--gpus", "1")
    near(f"{machine}: product of order {n} in tiles of {nb}", sum(devices), tasks * seconds(curve, flops))
    # Several at once share the device's highest rate, and none is faster than alone.
    least = max(tasks * flops / (1e9 * max(rate for _, rate in curve)), sum(devices) / at_once(machine))
    if not result["simulated"] or result["time_s"] < .999 * least:
        raise SystemExit(f"{machine}: the run says {result}")


def cores(machine, n, nb):
    """Without devices: one core after the other makes all products."""
    result, devices = run(machine, "dag_gemm", "--n", str(n), "--nb", str(nb), "--gpus", "0")
    wanted = (n // nb) ** 3 * seconds(rates(machine, "kernel", "gemm"), 2.0 * nb ** 3)
    near(f"{machine}: on a core", result["core_seconds"], wanted)
    if devices and sum(devices) > 0 or result["time_s"] < .999 * wanted:
        raise SystemExit(f"{machine}: {result['time_s']} s for kernels of {wanted}, devices {devices}")


def program(machine, driver, n):
    """A program for devices runs on the same clock."""
    result, devices = run(machine, driver, "--n", str(n), "--out-of-core", "program", "--layout", "slab")
    print(f"{machine}: {driver} of order {n} by a program: {result['time_s']:.6f} s")
    if not result["simulated"] or not 0 < max(devices) / at_once(machine) <= result["time_s"]:
        raise SystemExit(f"{machine}: {devices} s on devices; the run says {result}")


def ahead(machine, n, nb):
    """The tiles of the first block column are copied while its first one is factored: what may be issued ahead, 20 ms,
    is so of the node's clock. With so much of the computer's three tasks are, whose kernels take longer."""
    events = []
    run(machine, "dag_potrf", "--n", str(n), "--nb", str(nb), stretch="200", threads=3, trace=events)
    names = {e["tid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    of = lambda track: [e for e in events if e["ph"] == "X" and names[e["tid"]].startswith(track)]
    end = min(e["ts"] + e["dur"] for e in of("device 0 stream"))
    copies = sum(e["ts"] < end for e in of("host to device 0"))
    print(f"{machine}: Cholesky of order {n} in tiles of {nb}: {copies} copies begin before the first kernel ends")
    if copies < n // nb:
        raise SystemExit(f"{machine}: fewer than the {n // nb} tiles of a column")


product("workstation", 2048, 1024)
product("workstation", 1536, 384)
product("keeneland", 2176, 1088)
product("h100", 8192, 2048)
cores("workstation", 1024, 256)
cores("keeneland", 384, 96)
program("workstation", "dag_gemm", 1500)
program("workstation", "dag_potrf", 1500)
program("workstation", "dag_getrf", 1500)
ahead("h100", 5760, 1152)
