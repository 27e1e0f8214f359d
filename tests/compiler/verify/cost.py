#!/usr/bin/env python3
"""What the proofs of the shipped files say and cost.

    cost.py DAGCC FILE.jdf...

No file gives a warning or takes more than 200 MiB, and in none a rank walks the tasks of others (-Wenumerate). Nothing of
them is left opaque, but for what is proven for small process grids only. Each is the same graph as its canonical form
(--same). Prints processor time and peak memory of each, the longest first; the goals are 2 s for the longest and 0.2 s
for half of them, which a busy machine may miss.
"""
import os
import re
import statistics
import subprocess
import sys
import tempfile

MEBIBYTES = 200


def check(dagcc, path):
    """Seconds, MiB, and what is wrong with the messages."""
    with tempfile.TemporaryFile() as messages:
        process = subprocess.Popen([dagcc, "-fsyntax-only", "-Werror", "-Wenumerate", path], stdout=messages,
                                   stderr=messages)
        _, status, used = os.wait4(process.pid, 0)      # the cost of this one only
        process.returncode = os.waitstatus_to_exitcode(status)
        messages.seek(0)
        text = messages.read().decode("utf-8", "replace")
    wrong = ""
    if process.returncode != 0:
        wrong = text
    for line in re.findall(r".*\[-Wopaque\]", text):
        if "proven for process grids up to 4 x 4 only" not in line:
            wrong += line + "\n"
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, wrong


def compare(dagcc, path):
    """What --same says of the file and its canonical form; nothing, if they are the same."""
    with tempfile.TemporaryDirectory() as directory:
        copy = os.path.join(directory, os.path.basename(path))
        for command in (["--emit=jdf", path, "-o", copy], ["--same", path, copy]):
            r = subprocess.run([dagcc, *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               check=False)
            if r.returncode != 0:
                return r.stdout.decode("utf-8", "replace") + f"exit {r.returncode}\n"
    return ""


def main():
    dagcc, files = os.path.abspath(sys.argv[1]), sys.argv[2:]
    costs, failures = [], 0
    for path in files:
        seconds, mebibytes, wrong = check(dagcc, path)
        costs.append((seconds, mebibytes, os.path.basename(path)))
        if wrong:
            failures += 1
            print(f"FAIL {path}: not silent\n{wrong}")
        wrong = compare(dagcc, path)
        if wrong:
            failures += 1
            print(f"FAIL {path}: not the same as its canonical form\n{wrong}")
    for seconds, mebibytes, name in sorted(costs, reverse=True):
        print(f"{name:24} {seconds:6.2f} s {mebibytes:6.0f} MiB")
        if mebibytes > MEBIBYTES:
            failures += 1
            print(f"FAIL {name}: more than {MEBIBYTES} MiB")
    print(f"median {statistics.median(c[0] for c in costs):.3f} s")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
