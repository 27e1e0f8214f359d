#!/usr/bin/env python3
"""A program for devices in all that a trace becomes: LU out of core on two devices.

usage: program.py DAG_GETRF DAG_TRACE

The environment has the fake CUDA and the back end. Nothing here depends on times: which commands there are,
where they stand, what they copied.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

failures = []


def expect(right, why):
    if not right:
        failures.append(why)


def check_json(trace, moved):
    """LD and ST stand on streams, and as copies of the same time and all bytes on links; kernels are no
    copies."""
    threads = {e["tid"]: e["args"]["name"] for e in trace["traceEvents"] if e.get("name") == "thread_name"}
    slices = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    for name, way, bytes_moved in ("LD", "host to device %d", moved[0]), ("ST", "device %d to host", moved[1]):
        total = 0
        for device in range(2):
            tasks = [e for e in slices if e["name"] == name and
                     threads[e["tid"]].startswith("device %d stream" % device)]
            copies = [e for e in slices if e["name"] == "copy" and threads[e["tid"]] == way % device]
            expect(len(tasks) > 4, "%d %s on device %d" % (len(tasks), name, device))
            expect(sorted((e["ts"], e["dur"]) for e in tasks) == sorted((e["ts"], e["dur"]) for e in copies),
                   "%s on device %d are not its copies" % (name, device))
            expect(all("copies" in e["cat"].split(",") for e in tasks), "%s is computation" % name)
            expect(len({e["tid"] for e in tasks}) == 1, "%s in several queues" % name)
            total += sum(e["args"]["bytes"] for e in copies)
        expect(total == bytes_moved, "%s: %d bytes, not %d" % (name, total, bytes_moved))
    for name, place in ("pad", "device"), ("gemm", "device"), ("trsm", "device"), ("panel_host", "worker"), \
            ("swap_host", "worker"):
        tasks = [e for e in slices if e["name"] == name]
        expect(tasks and all(threads[e["tid"]].startswith(place) for e in tasks), name + " is missing or misplaced")
        expect(all(e["cat"].split(",")[0] == "task" and "copies" not in e["cat"] for e in tasks), name + " copies")


def check_text(text, moved):
    """`dag_trace`: the classes, and bytes of links."""
    for name in "LD", "ST", "gemm", "panel_host":
        expect(re.search(r"^  %s +[1-9]" % name, text, re.M), "no class %s in\n%s" % (name, text))
    links = re.findall(r"^ +(\d+ host|\d+ device \d) -> +(\d+ host|\d+ device \d) +\d+ +(\d+)", text, re.M)
    for k, end in enumerate(("0 host", "0 device")):
        found = sum(int(b) for a, z, b in links if a.startswith(end) and not z.startswith(end))
        expect(found == moved[k], "links: %d bytes from %s, not %d, in\n%s" % (found, end, moved[k], text))
    expect("of it while bodies ran" in text, "no share of hidden copies in\n" + text)


def main():
    getrf, dag_trace = sys.argv[1:]
    with tempfile.TemporaryDirectory() as where:
        path = where + "/lu.trace"
        done = subprocess.run([getrf, "--n", "300", "--nb", "50", "--layout", "slab", "--out-of-core", "program",
                               "--json", "--trace", path], capture_output=True, text=True, timeout=100, check=False)
        expect(done.returncode == 0, done.stderr)
        devices = json.loads(done.stdout.splitlines()[-1])["devices"]
        moved = [sum(d[key] for d in devices) for key in ("bytes_in", "bytes_out")]

        def ask(*words):
            return subprocess.run([dag_trace, *words], capture_output=True, text=True, check=True).stdout
        check_json(json.loads(ask("json", path, "-o", "-")), moved)
        check_text(ask(path), moved)
        page = ask("html", path, "-o", "-")
        for word in '"name":"LD"', '"name":"ST"', '"label":"rank 0 host to device 1","copies":1', \
                '"label":"rank 0 device 1 to host","copies":1':
            expect(word in page, "the page does not say " + word)
    for text in failures:
        print("FAILED: " + text)
    return failures != []


os.environ["DAG_WARNINGS"] = "off"
sys.exit(main())
