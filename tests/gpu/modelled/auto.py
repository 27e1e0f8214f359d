#!/usr/bin/env python3
"""Tiles that a list schedule cuts, in runs that compute, on the fake CUDA.

usage: auto.py BIN MACHINES

The description says what kernels take; results are judged as always. Without it nothing is chosen.
"""
import json
import os
import subprocess
import sys

BIN, MACHINES = sys.argv[1:]
taken = set()


def run(driver, *args, **settings):
    env = dict(os.environ, FAKE_CUDA_DEVICES="2", DAG_DIRECT="off", **{k.upper(): v for k, v in settings.items()})
    return subprocess.run([os.path.join(BIN, "dag_" + driver), *map(str, args), "--split", "auto", "--check", "--json"],
                          env=env, capture_output=True, text=True, timeout=200)


def good(driver, *args, machine, **settings):
    done = run(driver, *args, dag_machine=os.path.join(MACHINES, machine + ".machine"), **settings)
    if done.returncode:
        raise SystemExit(f"{driver} {args} {machine}: status {done.returncode}\n{done.stderr}")
    result = json.loads(done.stdout)
    print(driver, *args, machine, result["nb"], result["split_taken"], result["split_form"], result["split_place"],
          result["split_predicted_s"])
    for key, setting in ("split_form", "dag_split_update"), ("split_place", "dag_split_placement"):
        if result[key] != settings.get(setting, result[key]):
            raise SystemExit(f"{setting} was {settings[setting]}, and {result[key]} is taken")
    s, b = map(int, result["split_taken"].split(","))
    if s * b > result["nb"] or not result["split_predicted_s"] > 0:
        raise SystemExit(f"tiles are cut by {s},{b} of {result['nb']}")
    taken.add(s > 0)


for static in "cost", "static":
    good("potrf", "--n", 700, "--nb", 300, machine="workstation", dag_split_placement=static)
    good("gemm", "--n", 500, "--nb", 300, machine="workstation", dag_split_placement=static)
good("potrf", "--n", 600, "--uplo", "upper", "--prec", "z", machine="keeneland", dag_split_placement="static")
good("posv", "--n", 450, "--nrhs", 5, "--prec", "s", machine="h100")
good("geqrf", "--n", 400, "--m", 700, "--prec", "c", machine="h100", dag_split_update="tile")
good("gels", "--n", 300, "--m", 200, machine="workstation", dag_split_placement="static")
good("potrf", "--n", 700, "--nb", 300, "--insert", machine="keeneland", dag_split_update="tile", dag_split_placement="static")
good("gemm", "--n", 300, "--m", 700, "--k", 90, "--transb", "t", "--prec", "c", machine="workstation")
if taken != {False, True}:
    raise SystemExit("one size and two should both have been chosen")

for driver in "potrf", "posv", "gemm", "geqrf", "gels":
    done = run(driver, "--n", 200)
    if done.returncode == 0 or "describe the node" not in done.stderr:
        raise SystemExit(f"{driver}: chosen though nothing is known: {done.stdout}{done.stderr}")
    done = run(driver, "--n", 200, dag_machine="/nowhere")
    if done.returncode == 0 or "/nowhere" not in done.stderr:
        raise SystemExit(f"{driver}: chosen by no file: {done.stdout}{done.stderr}")
