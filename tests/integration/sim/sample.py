"""A run that is extrapolated from two short ones takes about what it takes when it is played whole, and says what it is.

    sample.py DIRECTORY-OF-PROGRAMS

Prints the table of docs/performance/simulated.md. Simulated runs give the same numbers on every machine.
"""

import json
import os
import subprocess
import sys

PROGRAMS = sys.argv[1]
NB = 128
# Program, its options, grid, samples and whole in tiles, percent that they may differ by.
CASES = [
    ("Cholesky", "dag_potrf", [], "2x2", (24, 48), 96, 1),
    ("Cholesky", "dag_potrf", [], "4x4", (24, 48), 96, 1),
    ("LU without pivots", "dag_getrf", ["--pivoting", "none"], "4x4", (24, 48), 96, 1),
    ("LU", "dag_getrf", [], "2x2", (24, 48), 96, 2),
    ("LU", "dag_getrf", [], "4x4", (24, 48), 96, 12),
    ("LU", "dag_getrf", [], "4x4", (48, 72), 96, 5),
    ("QR", "dag_geqrf", [], "2x2", (24, 48), 80, 2),
    ("QR", "dag_geqrf", [], "4x4", (24, 48), 80, 2),
    ("product", "dag_gemm", ["--method", "stationary-c"], "4x4", (16, 32), 256, 1),
    ("product", "dag_gemm", ["--method", "summa"], "4x4", (16, 32), 256, 1),
]
FAULTS = []


def output(*command):
    done = subprocess.run([os.path.join(PROGRAMS, command[0]), *command[1:]], capture_output=True, text=True,
                          timeout=300, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def play(program, more, grid, sizes):
    p, q = grid.split("x")
    return json.loads(output("dag_sim", "-np", str(int(p) * int(q)), "--threads", "2", program, "--nb", str(NB),
                             "--grid", grid, "--json", *more, *sizes))


def expect(holds, what, shown):
    if not holds:
        FAULTS.append(f"{what}: {shown}")


def lengths(counts):
    return ",".join(str(NB * count) for count in counts)


def compare(name, program, more, grid, samples, whole, most):
    sizes = ["--n", str(NB * whole)]
    if program == "dag_gemm":
        sizes = ["--n", "2048", "--k", str(NB * whole)]
    played = play(program, more, grid, sizes)
    taken = play(program, more, grid, [*sizes, "--sample", lengths(samples)])
    error = 100 * (taken["time_s"] / played["time_s"] - 1)
    print(f"| {name} | {grid} | {samples[0]}, {samples[1]} | {whole} | {played['time_s']:.4g} | {taken['time_s']:.4g} "
          f"| {error:+.1f} % |")
    expect("extrapolated" not in played, f"{name} that is played whole", played)
    expect(taken.get("simulated") is True and taken.get("extrapolated") is True and len(taken["samples"]) == 2,
           f"{name} that is not", taken)
    expect(abs(error) <= most, f"{name} on {grid}: more than {most} % off", error)
    for key in ("m", "n", "nb", "grid", "options"):
        expect(taken[key] == played[key], f"{name}: {key}", (taken[key], played[key]))
    expect("tasks" not in taken and taken["samples"][1]["tasks"] < played["tasks"], f"{name}: tasks", taken)
    expect(abs(taken["gflops"] / played["gflops"] - 1) < (most + 1) / 100, f"{name} on {grid}: rate", (taken, played))
    expect(taken["samples"][1]["rank_bytes"] < taken["matrix_bytes"] < played["rank_bytes"] or program == "dag_gemm",
           f"{name} on {grid}: memory", (taken, played))


print("| | grid | samples | whole | played whole, s | extrapolated, s | error |\n" + "|---" * 7 + "|")
for case in CASES:
    compare(*case)

# Samples as long as the whole are the whole.
same = play("dag_potrf", [], "2x2", ["--n", "4096", "--sample", "2048,4096"])
expect(abs(same["time_s"] / same["samples"][1]["time_s"] - 1) < 1e-5, "the whole as a sample of itself", same)
# Nobody gives a tile: samples have that of the whole.
chosen = json.loads(output("dag_sim", "-np", "4", "dag_potrf", "--n", "40000", "--sample", "4000,8000", "--json"))
played = json.loads(output("dag_sim", "-np", "4", "dag_potrf", "--n", "40000", "--sample", "4000,8000", "--json",
                           "--nb", str(chosen["nb"])))
expect(chosen["time_s"] == played["time_s"], "the chosen tile", (chosen, played))
text = output("dag_sim", "-np", "4", "dag_potrf", "--n", "4096", "--nb", "128", "--sample", "1024,2048")
expect("extrapolated from n = 1024" in text, "a line of text", text)
table = output("dag_potrf", "--n", "40000", "--predict", "4", "--sample", "2000,4000").splitlines()
expect(all("extrapolated" in line for line in table if line.startswith(("simulated:", "simulated,"))) and
       any(line.startswith("simulated,") for line in table), "the table of --predict", table)
print("\n".join(FAULTS))
sys.exit(1 if FAULTS else 0)
