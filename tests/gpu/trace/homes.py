#!/usr/bin/env python3
"""Static placement of tiles of two sizes in traces: each task ran where what it writes belongs.

usage: homes.py MPIRUN|none BIN SPLIT

SPLIT is the folder of the graphs. The environment has the fake CUDA and the back end. What belongs where is computed
here, from the place that the graph gives each class; nothing depends on times.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

MPIRUN, BIN, SPLIT = sys.argv[1:]
CLASS = re.compile(r"^(\w+)\(([\w, ]+)\)\n(.*?)^END$(.*?)(?=^/\*|^\w+\([\w, ]+\)\n|\Z)", re.M | re.S)
failures = []


def classes(graph):
    """Of each class with a body for devices: names of its parameters, and the place of what it writes, (i, j, c)."""
    with open(os.path.join(SPLIT, graph + ".jdf"), encoding="utf-8") as file:
        text = file.read()
    found = {}
    for name, parameters, one, more in CLASS.findall(text):
        place = re.search(r"^: [ASC]\((\w+), (\w+), (\w+)\)$", one, re.M)
        if place and "type = DEVICE" in one + more:
            found[name] = (parameters.split(", "), place.groups())
    return found


def homes(trace, graph, narrow, grid, devices):
    """How many tasks ran on cores and on each device; all of them where they belong."""
    known, by_rows = classes(graph), graph.endswith("_U")
    threads = {(e["pid"], e["tid"]): e["args"]["name"] for e in trace["traceEvents"] if e.get("name") == "thread_name"}
    count = {}
    for e in trace["traceEvents"]:
        if e["ph"] != "X" or not e["cat"].startswith("task"):
            continue
        name, values = re.fullmatch(r"(\w+)\(([-\d, ]*)\)", e["args"]["task"]).groups()
        ran = re.match(r"worker|device \d+", threads[e["pid"], e["tid"]])[0]
        home = "worker"
        if name in known:
            at = dict(zip(known[name][0], map(int, values.split(","))))
            i, j, c = (at[x] for x in known[name][1])
            count[ran] = count.get(ran, 0) + 1
            if c >= narrow:
                home = f"device {(i // grid[0] if by_rows else j // grid[1]) % devices}"
        if ran != home:
            failures.append(f"{graph}, {devices} devices: {e['args']['task']} ran on {ran}, its home is {home}")
    return count


def check(graph, driver, *arguments, devices, narrow, grid=(1, 1), form="column"):
    ranks = grid[0] * grid[1]
    with tempfile.TemporaryDirectory() as where:
        path = where + "/trace"
        command = [os.path.join(BIN, driver), "--n", "330", "--nb", "70", "--split", f"{narrow},16", "--trace", path,
                   "--grid", f"{grid[0]}x{grid[1]}", *arguments]
        if ranks > 1:
            command = [MPIRUN, "-np", str(ranks), "--threads", "1", *command]
        done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False,
                              env=os.environ | {"DAG_SPLIT_PLACEMENT": "static", "DAG_SPLIT_UPDATE": form, "DAG_DIRECT": "off",
                                                "DAG_THREADS": "1", "FAKE_CUDA_DEVICES": str(devices)})
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
        text = subprocess.run([os.path.join(BIN, "dag_trace"), "json", path, "-o", "-"], capture_output=True, text=True,
                              check=True).stdout
    count = homes(json.loads(text), graph, narrow, grid, devices)
    print(f"{graph} {' '.join(arguments)}, {ranks} ranks, {devices} devices, {narrow} narrow: {count}")
    if len(count) != devices + (narrow > 0):
        failures.append(f"{graph}: {count} is not all of {devices} devices and the cores")


for q in (1, 2) if MPIRUN != "none" else (1,):
    check("split_potrf_L", "dag_potrf", devices=2, narrow=2, grid=(1, q))
    check("split_wide_U", "dag_potrf", "--uplo", "upper", devices=2, narrow=1, grid=(q, 1), form="tile")
    check("split_geqrf", "dag_geqrf", "--layout", "slab", devices=2, narrow=1, grid=(q, 1)) # on two ranks by a tree
check("split_wide_L", "dag_potrf", devices=4, narrow=3, form="tile")
check("split_potrf_U", "dag_potrf", "--uplo", "upper", devices=1, narrow=2)
check("split_gemm", "dag_gemm", devices=2, narrow=1)
check("split_potrf_L", "dag_potrf", devices=3, narrow=0)
for failure in failures[:20]:
    print("FAILED: " + failure)
sys.exit(failures != [])
