"""QR by virtual tiles of v tiles: messages down the columns are those of the graph, and some v between is best.

    virtual.py SIM_VIRTUAL [N NB S B P Q]

With sizes: the table of docs/performance/split.md, on the machine that DAG_MACHINE describes.
"""

import json
import os
import subprocess
import sys

program, sizes = sys.argv[1], sys.argv[2:]
n, nb, s, b, p, q = sizes or ("1152", "48", "0", "1", "4", "1")
found = {}
for v in 1, 2, 3, 4, 6, 8, 12:
    done = subprocess.run([program, n, nb, str(v), s, b, p, q], capture_output=True, text=True, check=False,
                          env=os.environ | {"DAG_SIMULATE": str(int(p) * int(q))})
    if done.returncode != 0:
        sys.exit(f"v = {v}: {done.stdout}{done.stderr}")
    r = found[v] = json.loads(done.stdout)
    print(f"| {v} | {-(-int(n) // int(nb) // v) - 1} | {r['messages']} | {r['bytes'] / 1e9:.4g} | {r['time_s']:.4g} | "
          f"{r['device_idle_percent']:.0f} % |", flush=True)
best = min(found, key=lambda v: found[v]["time_s"])
if best in (1, 12):
    sys.exit(f"v = {best} is best: the minimum is not inside")
