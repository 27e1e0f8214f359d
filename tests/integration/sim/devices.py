"""Devices of simulated ranks: tasks go where they are expected to end first, and what they need goes there.

    devices.py DIRECTORY-OF-PROGRAMS

Each line below is a run and another one that differs in one thing, and what must be so between the two. Numbers
of a simulated run do not depend on the machine that plays it.
"""

import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
MACHINE = os.path.join(HERE, "devices.machine")
faults = []


def run(driver, *arguments, ranks=4, machine=None, out=None, **settings):
    """The object of the run; with a file `out` for the objects of dag_hpl, nothing."""
    with tempfile.TemporaryDirectory() as work:
        with open(MACHINE, encoding="ascii") as file:
            text = file.read() + (machine or "")
        path = os.path.join(work, "machine")
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        command = [os.path.join(sys.argv[1], "dag_sim"), "-np", str(ranks), "--machine", path,
                   os.path.join(sys.argv[1], driver), *arguments, "--json", *([out] if out else [])]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False,
                              env=os.environ | {f"DAG_{k.upper()}": str(v) for k, v in settings.items()})
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return None if out else json.loads(done.stdout)


def expect(true, what):
    if not true:
        faults.append(what)


def cholesky():
    size = ("--n", "7200", "--nb", "240")
    plain = run("dag_potrf", *size)
    cores = run("dag_potrf", *size, gpus=0)
    expect(plain == run("dag_potrf", *size), "a second run gives other numbers")
    expect("device_count" not in cores and plain["device_count"] == 8, "devices that are there, or are not")
    expect(plain["gpus"] == 2 and cores["gpus"] == 0, "dag_devices() does not tell a rank's")
    expect(plain["time_s"] < cores["time_s"] / 2, "devices gain too little")
    for key in "tasks", "messages", "bytes":
        expect(plain[key] == cores[key], f"{key} depend on devices")
    # 30 tiles: 30 potrf without a line for devices, and the rest may run there.
    expect(0 < plain["device_tasks"] <= plain["tasks"] - 30, "tasks that devices have no line for ran there")
    always = run("dag_potrf", *size, device_always="on")
    expect(always["device_tasks"] == always["tasks"] - 30, "device_always leaves tasks to cores")
    alone = run("dag_potrf", *size, machine="workers = 1\n")
    expect(alone["tasks"] == plain["tasks"], "a rank with one worker does not run all")
    expect(run("dag_potrf", *size, gpus=1)["device_count"] == 4, "one device for each rank is not taken")


def product():
    size = ("--n", "4800", "--nb", "240")
    plain = run("dag_gemm", *size)
    # each tile of the local parts of A, B and C at least once to a device, and C back
    least = 4 * 4800 * 4800 * 8
    expect(plain["device_tasks"] > 0.9 * plain["tasks"] / 2, "a product runs on cores")
    expect(plain["device_bytes"] > 0.9 * least, "operands are on devices without having come")
    scarce = run("dag_gemm", *size, machine="device_memory = 20M\n")
    expect(scarce["device_bytes"] > 1.5 * plain["device_bytes"], "what is given up need not come again")
    expect(scarce["tasks"] == plain["tasks"], "with scarce memory not all tasks run")
    none = run("dag_gemm", *size, machine="device_memory = 1M\n")
    expect(none["device_tasks"] == 0, "tasks that do not fit run on devices")
    slow = run("dag_gemm", *size, machine="device_link = 8us 0.02GB/s\n")
    expect(slow["device_tasks"] < plain["device_tasks"] / 2, "tasks go to devices that are out of reach")
    one = run("dag_gemm", *size, machine="device_streams = 1\n")
    expect(one["time_s"] > plain["time_s"], "kernels beside each other gain nothing")
    turn = run("dag_gemm", *size, device_policy="turn")
    expect(turn["device_bytes"] > plain["device_bytes"], "the setting device_policy has no effect")


def others():
    for grid in "1x4", "2x2":
        lu = run("dag_getrf", "--n", "4800", "--nb", "240", "--grid", grid)
        expect(lu["device_tasks"] > 100, f"LU with pivots on {grid} does not use devices")
    for driver, *more in (("dag_geqrf",), ("dag_getrf", "--pivoting", "none"), ("dag_getrf",), ("dag_posv",),
                          ("dag_gesv", "--layout", "tile")):
        size = (*more, "--n", "2400", "--nb", "240")
        expect(run(driver, *size)["tasks"] == run(driver, *size, gpus=0)["tasks"], f"{driver}: not all tasks run")


def shares():
    """core_share: a worker of 10 Gflop/s beside a device of 20."""
    machine = """workers = 1\ndevices = 2\ndevice_streams = 1\ndevice_memory = 8G\ndevice_link = 8us 12GB/s
kernel = gemm * 16:5 64:10 480:10\nkernel = trsm * 16:5 64:10 480:10\nkernel = getrf * 16:5 64:10 480:10
device_kernel = gemm * 96:20 480:20\ndevice_kernel = trsm * 96:20 480:20\n"""
    autos = {}
    for driver, order in ("dag_gemm", 2048), ("dag_getrf", 3072), ("dag_getrf", 4096):
        size = (driver, "--n", str(order), "--nb", "256")
        sweep = {r: run(*size, ranks=1, machine=machine, core_share=r) for r in (0, .2, .25, .3, .333, .35, .4, .5, 1)}
        cost, auto = (run(*size, ranks=1, machine=machine, core_share=how) for how in ("cost", "auto"))
        most = {name: max(of["core_share"], key=lambda c: c["tasks"]) for name, of in [*sweep.items(), ("auto", auto)]}
        for r in sweep:
            expect(abs(most[r]["used"] - r) < 6 / most[r]["tasks"], f"{driver}: {r} became {most[r]}")
        best = min(sweep, key=lambda r: sweep[r]["time_s"])
        autos[driver] = max(most["auto"]["used"], autos.get(driver, 0))
        print(f"{driver} {order}: best {best}, of the rates {most['auto']['rates']}, auto {most['auto']['used']}, "
              f"{sweep[best]['time_s'] / auto['time_s']:.3f} of the best, cost {sweep[best]['time_s'] / cost['time_s']:.3f}")
        # Panels are left to cores, so these have less time for updates.
        expect(abs(best - 1 / 3) < .03 or driver == "dag_getrf" and .2 <= best < 1 / 3, f"{driver}: the best share is {best}")
        expect(abs(most["auto"]["rates"] - 1 / 3) < .02, f"{driver}: rates come to {most['auto']}")
        expect(sweep[best]["time_s"] >= .97 * auto["time_s"], f"{driver}: auto is far from the best share")
        expect("core_share" not in cost, f"{driver}: classes are shared without being asked for it")
    expect(autos["dag_getrf"] < autos["dag_gemm"], f"cores get more of LU than of a product: {autos}")
    whole("--n", "4096", "--nb", "256", machine=machine)


def whole(*arguments, machine):
    """--sweep-share: all fixed shares and `auto` in one run, as runs of their own have them."""
    swept = run("dag_gemm", *arguments, "--sweep-share", ranks=1, machine=machine)
    check_sweep("dag_gemm", swept, swept["sweep_share"])
    alone = run("dag_gemm", *arguments, ranks=1, machine=machine, core_share=.3)
    expect(abs(swept["sweep_share"][6]["time_s"] / alone["time_s"] - 1) < .01, f"in a sweep .3 takes {swept['sweep_share'][6]}")
    with tempfile.TemporaryDirectory() as work:
        out = os.path.join(work, "out")
        run("dag_hpl", *arguments, "--threshold", "-1", "--progress", "0", "--sweep-share", ranks=1, machine=machine, out=out)
        with open(out, encoding="utf-8") as file:
            tests = [json.loads(line) for line in file]
    expect([t.get("share") for t in tests] == [i / 20 for i in range(21)] + [None], "tests of a sweep of dag_hpl")
    check_sweep("dag_hpl", tests[-1], tests[:-1])


def check_sweep(driver, auto, fixed):
    """The run with `auto`, and the others."""
    for i, one in enumerate(auto["sweep_share"]):
        expect(one["share"] == i / 20 and abs(one["time_s"] / fixed[i]["time_s"] - 1) < 1e-4, f"{driver}: {i} is {one}")
    best = min(auto["sweep_share"], key=lambda one: one["time_s"])
    expect(len(auto["sweep_share"]) == 21 and .25 <= best["share"] <= .35, f"{driver}: the best of the sweep is {best}")
    expect(abs(auto["auto_of_best"] - best["time_s"] / auto["time_s"]) < 1e-4, f"{driver}: {auto['auto_of_best']} of the best")
    expect(auto["auto_of_best"] >= .97, f"{driver}: auto reaches {auto['auto_of_best']} of the best of the sweep")
    expect(auto["core_share"] and all(c["best"] == best["share"] for c in auto["core_share"]), f"{driver}: {auto['core_share']}")


def ahead():
    """Of long tasks few are issued ahead: a panel that is factored ahead waits for its own block column, not for all."""
    machine = """ranks = 1\nworkers = 3\ndevices = 1\ndevice_links = 1\ndevice_streams = 1\ndevice_memory = 8G
kernel = gemm * 32:1\nkernel = getrf_column * 16:0.05\ndevice_kernel = gemm * 32:2\ndevice_kernel = trsm * 32:2\n"""
    seconds = []
    with tempfile.TemporaryDirectory() as work:
        out = os.path.join(work, "out")
        for depth in "0", "1":
            run("dag_hpl", "--n", "3072", "--nb", "128", "--grid", "2x2", "--depth", depth, "--threshold", "-1",
                "--progress", "0", machine=machine, out=out, core_share=0, device_streams=2)
            with open(out, encoding="utf-8") as file:
                seconds.append(json.loads(file.read())["time_s"])
    expect(seconds[0] > 1.2 * seconds[1], f"a panel ahead gains {seconds[0] / seconds[1]:.3f} where tasks are long")


def nothing():
    """Without devices there is nothing to share."""
    done = subprocess.run([os.path.join(sys.argv[1], "dag_hpl"), "--n", "20", "--gpus", "0", "--sweep-share"],
                          capture_output=True, text=True, timeout=300, check=False)
    expect(done.returncode == 1 and "core_share = 0: there is no device to share with" in done.stderr,
           f"a sweep without devices: {done.returncode} {done.stderr}")


cholesky()
product()
others()
shares()
ahead()
nothing()
for fault in faults:
    print(fault)
sys.exit(1 if faults else 0)
