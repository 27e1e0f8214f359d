"""Solves where a message takes 20 ms wait for few of them: a system with one right-hand side costs a quarter of its
factorisation at most, behind it.

    far.py DIRECTORY-OF-PROGRAMS

The network is one of TCP: MPI sends up to 64 KiB at once there, and asks before it sends more.
"""

import json
import os
import subprocess
import sys
import tempfile

MACHINE = "name = far\nworkers = 1\nbetween = 20ms 0.125GB/s\n"
ORDERS = (1000, 2000, 3000)
MOST = 0.25


def seconds(programs, machine, program, order):
    command = [os.path.join(programs, "dag_sim"), "-np", "4", "--machine", machine,
               os.path.join(programs, program), "--n", str(order), "--nb", "192", "--grid", "1x4", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300,
                          env=os.environ | {"DAG_EAGER_BYTES": "64k"})
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)["time_s"]


def main():
    faults = 0
    with tempfile.NamedTemporaryFile("w", suffix=".machine") as machine:
        machine.write(MACHINE)
        machine.flush()
        for order in ORDERS:
            factor = seconds(sys.argv[1], machine.name, "dag_getrf", order)
            share = seconds(sys.argv[1], machine.name, "dag_gesv", order) / factor - 1
            print(f"n = {order}: the solve takes {share:.1%} of the {factor:.3f} s of the factorisation")
            faults += share > MOST
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
