"""What waits for messages behind a factorisation, where a message takes a second and all else next to nothing, does not
grow with the number of tiles; solves by groups of tiles, which do, are cut so that they take few.

    waits.py PROGRAM
"""

import os
import subprocess
import sys
import tempfile

MACHINE = "name = waits\nworkers = 1\nbetween = 1s 1000000GB/s\n"
NB, ORDERS = 32, (320, 1280)
# At most so many messages one after the other, the two of a barrier among them; of "gels" those beyond "geqrf". The
# second number: of solves with 40 tiles in a row, by more groups than with 10.
MOST = {
    "1 4": {"lange": (13, 13), "gerfs": (8, 9), "porfs": (10, 11), "gerfs_ferr": (36, 49), "gecon": (22, 30),
            "getrs": (8, 12), "trsm": (8, 10), "gemm_first": (8, 8), "gemm": (6, 6), "unmqr_C": (8, 8),
            "unmqr_N": (8, 8), "gels": (18, 20)},
    "2 2": {"lange": (13, 13), "gerfs": (12, 13), "porfs": (14, 15), "gerfs_ferr": (46, 59), "gecon": (26, 34),
            "getrs": (10, 14), "trsm": (10, 13), "gemm_first": (10, 10), "gemm": (8, 8)},
}


def waits(program, grid, order):
    command = [program, *grid.split(), str(order), str(NB)]
    with tempfile.NamedTemporaryFile("w", suffix=".machine") as machine:
        machine.write(MACHINE)
        machine.flush()
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=os.environ | {
            "DAG_EAGER_BYTES": "64k", "DAG_SIMULATE": "4", "DAG_MACHINE": machine.name})
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    found = {words[0]: int(words[1]) for words in map(str.split, done.stdout.splitlines())}
    return found | {"gels": found["gels"] - found["geqrf"]}


def main():
    faults = 0
    for grid, most in MOST.items():
        for at, order in enumerate(ORDERS):
            found = waits(sys.argv[1], grid, order)
            print(f"grid {grid}, {order // NB} tiles: " + ", ".join(f"{name} {found[name]}" for name in most))
            for name, bound in most.items():
                if not 0 < found[name] <= bound[at]:
                    print(f"{name} waits for {found[name]} messages, not {bound[at]} at most")
                    faults += 1
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
