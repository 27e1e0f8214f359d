"""Bytes over the links of devices in simulated Cholesky factorisations by tiles of two sizes, beside what static
placement implies.

    split_bytes.py DIRECTORY-OF-PROGRAMS MACHINES

The rule: a task runs where what it writes belongs. So an item crosses the link of its device once to get there and
once to get home, and that of each other device which reads it, once: results set out for home when the task that made them
is issued, so others take them from there. No copy goes from device to device, which would cross two links.
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
    """Bytes with values from the host."""
    widths = pieces(n, B, s, b)
    total = 0
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
                total += own + others * size
    return total


def crossed(machine, n, B, s, b, placement):
    done = subprocess.run(
        [os.path.join(BIN, "dag_sim"), "-np", "1", "--machine", os.path.join(MACHINES, machine + ".machine"),
         os.path.join(BIN, "dag_potrf"), "--n", str(n), "--nb", str(B), "--split", f"{s},{max(b, 1)}", "--json"],
        capture_output=True, text=True, timeout=300, check=True, env=os.environ | {"DAG_SPLIT_PLACEMENT": placement})
    return json.loads(done.stdout)["device_bytes"]


wrong = 0
for machine, devices in ("keeneland", 3), ("workstation", 1):
    for cut in (3840, 384, 1, 96), (3840, 384, 0, 0), (5000, 960, 2, 192), (11520, 960, 1, 128):
        rule = implied(*cut, devices)
        bytes_, by_cost = (crossed(machine, *cut, placement) for placement in ("static", "cost"))
        good = rule <= bytes_ <= 1.05 * rule
        wrong += not good
        print(f"{machine} {cut}: static {bytes_ / 1e6:.0f} MB, the rule {rule / 1e6:.0f}, by cost "
              f"{by_cost / 1e6:.0f}{'' if good else ' WRONG'}")
sys.exit(wrong != 0)
