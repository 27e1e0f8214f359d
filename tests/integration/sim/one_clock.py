"""Under SimGrid traces and reports are in simulated time, as the driver's result is.

    one_clock.py RESULT TRACE REPORT    a line of JSON, a file for Perfetto, the report's text
"""

import json
import re
import sys

LEAST = 0.95 # of the driver's time, which begins and ends with barriers


def near(what, seconds, time):
    if not LEAST * time <= seconds <= time * 1.0001:
        sys.exit(f"{what} says {seconds:.6g} s, the driver {time:.6g} s")


def main():
    result = json.loads(sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    with open(sys.argv[3], encoding="utf-8") as file:
        report = file.read()
    bodies = [event for event in events if event["ph"] == "X" and event.get("cat") == "task"]
    if not bodies or len({event["pid"] for event in bodies}) != result["ranks"]:
        sys.exit("the trace does not have tasks of all ranks")
    time = result["time_s"]
    bodies = [event for event in bodies if event["args"]["pool"] == 2] # the first one makes the matrix
    begin, end = min(event["ts"] for event in bodies), max(event["ts"] + event["dur"] for event in bodies)
    near("the trace", 1e-6 * (end - begin), time)
    pool = re.search(r"\(potrf_\w+\): \d+ tasks, ([0-9.e-]+) s", report)
    if not pool:
        sys.exit(f"the report has no line of the factorisation:\n{report}")
    near("the report", float(pool[1]), time)
    waits = [float(line.split()[8]) for line in report.splitlines() if re.match(r"dag: +all ", line)]
    if not waits or waits[0] < 5:
        sys.exit(f"workers that block until data come do not wait for data:\n{report}")
    print(f"trace {1e-6 * (end - begin):.6g} s, report {pool[1]} s, driver {time:.6g} s")


if __name__ == "__main__":
    main()
