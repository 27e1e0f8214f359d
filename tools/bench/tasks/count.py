#!/usr/bin/env python3
"""Instructions per task, which no other load on the machine changes: what a run of more tasks takes beyond
one of fewer, under callgrind.

usage: count.py PROGRAM PATTERN ...    with bench_tasks or insert_tasks of a build; datum: independent tasks of
                                       insert_tasks that write a number each"""
import re
import subprocess
import sys

FEW, MANY, RUNS = 20000, 60000, 2  # a run to warm up, and one


def instructions(program, pattern, tasks):
    data = ["--data"] if pattern == "datum" else []
    p = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, *data,
                        "--threads", "1", "--runs", "1", "--tasks", str(tasks), "--only",
                        "independent" if data else pattern],
                       capture_output=True, text=True, check=False)
    found = re.search(r"Collected : ([0-9]+)", p.stderr)
    if p.returncode != 0 or not found:
        sys.exit(f"count.py: {program} {pattern}: {p.stderr.strip()}")
    return int(found[1])


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    for pattern in sys.argv[2:]:
        more = instructions(sys.argv[1], pattern, MANY) - instructions(sys.argv[1], pattern, FEW)
        print(f"{pattern:12} {more / (RUNS * (MANY - FEW)):8.0f} instructions per task")


if __name__ == "__main__":
    main()
