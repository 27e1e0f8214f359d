"""Simulated times, messages and bytes of the library's algorithms are what they were.

    kept.py DIRECTORY-OF-PROGRAMS            fail if one grew by 3 %, or sends otherwise
    kept.py DIRECTORY-OF-PROGRAMS --update   write kept.txt anew
    kept.py DIRECTORY-OF-PROGRAMS --faster   lower the times that have become less, and leave the others: small
                                             losses that add up would else be kept one by one

A simulated run gives the same numbers on every machine, so whatever moves them is a change of an algorithm,
of a priority, of what is sent, or of the simulator. Grids are square: what is kept is of the algorithms, not of
the rule that chooses grids (that is dag_la_grid(), which drivers.py looks at).
"""

import json
import math
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
KEPT = os.path.join(HERE, "kept.txt")
RANKS = (4, 16, 64)
RUNS = {
    "cholesky": ("dag_potrf", "--n", "6000", "--nb", "120"),
    "lu": ("dag_getrf", "--n", "2400", "--nb", "96", "--layout", "slab"),
    "lu-tournament": ("dag_getrf", "--n", "4800", "--nb", "120", "--pivoting", "tournament"),
    "lu-without-pivots": ("dag_getrf", "--n", "4800", "--nb", "120", "--pivoting", "none"),
    "qr": ("dag_geqrf", "--n", "4800", "--nb", "120"),
    "product": ("dag_gemm", "--n", "3600", "--nb", "120"),
    "cholesky-devices": ("dag_potrf", "--n", "9600", "--nb", "240"),
    "product-devices": ("dag_gemm", "--n", "4800", "--nb", "240"),
    "qr-devices": ("dag_geqrf", "--n", "4800", "--nb", "240"),
}
MORE = 1.03


def run(programs, name, ranks):
    machine = "devices.machine" if name.endswith("-devices") else "kept.machine"
    command = [os.path.join(programs, "dag_sim"), "-np", str(ranks), "--machine",
               os.path.join(HERE, machine), os.path.join(programs, RUNS[name][0]),
               *RUNS[name][1:], "--grid", f"{math.isqrt(ranks)}x{math.isqrt(ranks)}", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    result = json.loads(done.stdout)
    if result.get("simulated") is not True:
        sys.exit(f"{name}: the result does not say that it is simulated: {done.stdout}")
    return f"{result['time_s']:.6g}", result["messages"], result["bytes"]


def read():
    kept = {}
    with open(KEPT, encoding="ascii") as file:
        for line in file:
            words = line.split()
            if words and not line.startswith("#"):
                kept[words[0], int(words[1])] = words[2], int(words[3]), int(words[4])
    return kept


def update(programs, kept):
    """Rows of `kept` stay where they are not slower than now and what they send is the same."""
    rows = {}
    for name in RUNS:
        for ranks in RANKS:
            now, old = run(programs, name, ranks), kept.get((name, ranks))
            rows[name, ranks] = old if old and old[1:] == now[1:] and float(old[0]) <= float(now[0]) else now
    with open(KEPT, "w", encoding="ascii") as file:
        file.write("# algorithm, ranks, simulated seconds, messages, bytes: made by kept.py --update, --faster\n")
        for (name, ranks), row in rows.items():
            file.write("%-18s %3d %12s %9d %13d\n" % (name, ranks, *row))


def main():
    programs = sys.argv[1]
    if sys.argv[2:] == ["--update"]:
        return update(programs, {})
    if sys.argv[2:] == ["--faster"]:
        return update(programs, read())
    kept, faults = read(), []
    if set(kept) != {(name, ranks) for name in RUNS for ranks in RANKS}:
        faults.append("kept.txt has other rows than kept.py runs")
    for (name, ranks), (seconds, messages, size) in kept.items():
        now = run(programs, name, ranks)
        where = f"{name} on {ranks} ranks"
        if float(now[0]) > MORE * float(seconds):
            faults.append(f"{where}: {now[0]} s simulated, {seconds} are kept")
        elif float(now[0]) * MORE < float(seconds):
            print(f"{where}: {now[0]} s simulated is less than the {seconds} kept; --faster keeps that")
        if now[1:] != (messages, size):
            faults.append(f"{where}: {now[1]} messages with {now[2]} bytes, {messages} with {size} are kept")
        if now != run(programs, name, ranks):
            faults.append(f"{where}: a second run gives other numbers")
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
