"""Every driver runs simulated, unchanged, and says so; --predict finds a tile size and a grid.

    drivers.py DIRECTORY-OF-PROGRAMS
"""

import json
import os
import subprocess
import sys

PROGRAMS = sys.argv[1]
DRIVERS = ("potrf", "posv", "potri", "getrf", "gesv", "getri", "geqrf", "gelqf", "gels", "gemm", "trtrs",
           "blas3")
FAULTS = []


def run(*command):
    done = subprocess.run([os.path.join(PROGRAMS, command[0]), *command[1:]], capture_output=True,
                          text=True, timeout=300)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout, done.stderr


def result(*command):
    return json.loads(run(*command)[0])


def expect(holds, what, shown):
    if not holds:
        FAULTS.append(f"{what}: {shown}")


for name in DRIVERS:
    for ranks in ("1", "6"):
        r = result("dag_sim", "-np", ranks, "dag_" + name, "--n", "600", "--nb", "64", "--json")
        expect(r.get("simulated") is True and r["ranks"] == int(ranks) and r["time_s"] > 0 and
               r["residual"] is None and r["info"] == 0, f"dag_{name} on {ranks} ranks", r)
# Nobody asks for a grid: it is that of a real run, where LU with a search and QR avoid process rows.
for name, grid in (("potrf", "2x3"), ("getrf", "1x6"), ("geqrf", "1x6")):
    r = result("dag_sim", "-np", "6", "dag_" + name, "--n", "1200", "--nb", "96", "--json")
    expect(r["grid"] == grid and r.get("grid_why"), f"the grid of dag_{name}", r)
out, report = run("dag_sim", "-np", "4", "--threads", "3", "dag_potrf", "--n", "600", "--report")
expect(out.count("simulated") == 3 and "with 3 threads" in out, "a line of text", out)
expect(report.count("simulated") == 4, "a report", report)

r = result("dag_potrf", "--n", "3000", "--predict", "16", "--json")
expect(r.get("simulated") is True and r["ranks"] == 16 and r["rank_bytes"] > 0 and
       0 < r["non_computation_percent"] < 100, "--predict", r)
for nb in ("64", "512"):
    other = result("dag_potrf", "--n", "3000", "--nb", nb, "--grid", "16x1", "--predict", "16", "--json")
    expect(other["nb"] == int(nb) and other["grid"] == "16x1", "--predict with --nb and --grid", other)
    expect(other["time_s"] > r["time_s"], "the best choice of --predict", (r, other))
table = run("dag_potrf", "--n", "1000", "--predict", "4")[0].splitlines()
expect(len(table) > 6 and all(line.startswith("simulated") for line in table), "the table", table)
print("\n".join(FAULTS))
sys.exit(1 if FAULTS else 0)
