"""Bytes over the links of devices in simulated Cholesky factorisations by tiles of two sizes, beside what static
placement implies.

    split_bytes.py DIRECTORY-OF-PROGRAMS MACHINES

The rule: a task runs where what it writes belongs. So an item crosses the link of its device once to get there and
once to get home, and that of each other device which reads it, once. A copy from device to device crosses two
links; a value that is on the host crosses one. So bytes are between those of a run that takes each value from the host
and 1.05 of one that takes each from the device that made it; with one device both are the same.
"""

import json
import os
import subprocess
import sys

BIN, MACHINES = sys.argv[1:3]


def pieces(n, B, s, b):
    """Widths of the pieces of each tile column."""
    found = []
    for k in range(-(-n // B)):
        left, row = min(B, n - k * B), []
        while left > 0:
            row.append(min(b, left) if len(row) < s else left)
            left -= row[-1]
        found.append(row)
    return found


def implied(n, B, s, b, devices):
    """Bytes with values from the host, and from other devices."""
    widths = pieces(n, B, s, b)
    least = most = 0
    for k, row in enumerate(widths):
        for c, width in enumerate(row):
            home = -1 if c < s else k % devices
            for m in range(k, len(widths)):
                size = 8 * min(B, n - m * B) * width
                readers = {-1 if d < s else k % devices for d in range(c + 1, len(row))}
                for t in range(k + 1, m + 1):
                    readers |= {-1 if d < s else t % devices for d in range(len(widths[t]))}
                others = len(readers - {home, -1})
                own = 2 * size if home >= 0 else 0
                least += own + others * size
                most += own + others * size * (2 if home >= 0 else 1)
    return least, most


def crossed(machine, n, B, s, b, placement):
    done = subprocess.run(
        [os.path.join(BIN, "dag_sim"), "-np", "1", "--machine", os.path.join(MACHINES, machine + ".machine"),
         os.path.join(BIN, "dag_potrf"), "--n", str(n), "--nb", str(B), "--split", f"{s},{max(b, 1)}", "--json"],
        capture_output=True, text=True, timeout=300, check=True, env=os.environ | {"DAG_SPLIT_PLACEMENT": placement})
    return json.loads(done.stdout)["device_bytes"]


wrong = 0
for machine, devices in ("keeneland", 3), ("workstation", 1):
    for cut in (3840, 384, 1, 96), (3840, 384, 0, 0), (5000, 960, 2, 192), (11520, 960, 1, 128):
        least, most = implied(*cut, devices)
        bytes_, by_cost = (crossed(machine, *cut, placement) for placement in ("static", "cost"))
        good = least <= bytes_ <= 1.05 * most and (devices > 1 or least == most)
        wrong += not good
        print(f"{machine} {cut}: static {bytes_ / 1e6:.0f} MB, the rule {least / 1e6:.0f} to {most / 1e6:.0f}, by cost "
              f"{by_cost / 1e6:.0f}{'' if good else ' WRONG'}")
sys.exit(wrong != 0)
