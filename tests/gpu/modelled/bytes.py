#!/usr/bin/env python3
"""What crosses the links of devices under static placement: in simulated runs, and in real ones on the fake CUDA.

usage: bytes.py BIN MACHINES

Where each task runs is given, so both copy the same, in whichever order: all bytes that come to devices, and all that
go from them, besides less than 2 KiB a device that kernels report. On the fake kernels compute nothing, and take no time.
"""
import json
import os
import subprocess
import sys
import tempfile

BIN, MACHINES = sys.argv[1:]
faults = 0


def run(command, **settings):
    done = subprocess.run(command, env=os.environ | {"DAG_SPLIT_PLACEMENT": "static"} | settings, capture_output=True,
                          text=True, timeout=200, check=False)
    if done.returncode:
        raise SystemExit(f"{command}: status {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


def copied(driver, devices, *args):
    """To devices and from them. What goes from one device to another does both."""
    with tempfile.TemporaryDirectory() as where:
        run([os.path.join(BIN, driver), *args, "--threads", "2", "--json"], FAKE_CUDA_DEVICES=str(devices), DAG_DIRECT="off",
            FAKE_CUDA_ZERO_TIME="1", FAKE_CUDA_MEMORY="1G", FAKE_CUDA_REPORT=os.path.join(where, "report"))
        all_devices = [d for f in os.listdir(where) for d in json.load(open(os.path.join(where, f), encoding="utf-8"))["devices"]]
    return sum(d["h2d"]["bytes"] + d["d2h"]["bytes"] + 2 * d["p2p"]["bytes"] for d in all_devices)


for machine, devices in ("keeneland", 3), ("workstation", 1):
    for driver, n, B, split in (("dag_potrf", 1000, 160, "1,32"), ("dag_potrf", 1000, 160, "0,1"), ("dag_gemm", 700, 200, "2,48"),
                                ("dag_geqrf", 640, 128, "1,32")):
        args = ("--n", str(n), "--nb", str(B), "--split", split)
        real = copied(driver, devices, *args)
        simulated = run([os.path.join(BIN, "dag_sim"), "-np", "1", "--machine", os.path.join(MACHINES, machine + ".machine"),
                         os.path.join(BIN, driver), *args, "--json"])["device_bytes"]
        print(f"{driver} {' '.join(args)}, {devices} devices: {real} bytes, simulated {simulated}")
        faults += not 0 <= real - simulated < 2048 * devices or simulated == 0
sys.exit(faults != 0)
