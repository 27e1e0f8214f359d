#!/usr/bin/env python3
"""What one small program with devices does and says, on the fake CUDA.

usage: programs.py FAMILY --mpirun TOOL|none --program PROGRAM --plugin FILE --bin DIR

FAMILY is one of
  runs      stalls beside devices, long kernels, dag_test(), lost devices, devices that are not used
  losses    one device of two fails, many times
  settings  number of devices, plug-in, times that are kept in a file
  tools     dag_info and dag_doctor

The environment has the fake in LD_LIBRARY_PATH. The program is device.jdf.
"""
import argparse
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile

LINE = re.compile(r"rank (\d+): status (-?\d+), (\d+) wrong, (\d+) tasks on (\d+) devices, "
                  r"(\d+) failed, asked (\d+) times")
TASKS = 18      # Work, on all ranks
ERR_DEVICE = 23 # DAG_ERR_DEVICE of dag/dag.h
failures = 0


class Run:
    """One run of a program; what it printed, and the line of each rank."""

    def __init__(self, command, **settings):
        self.what = " ".join("%s=%s" % x for x in settings.items()) + " " + " ".join(command)
        env = dict(os.environ, DAG_STALL_TIME="0.02")
        env.setdefault("DAG_THREADS", "1")
        env.update(settings)
        try:
            done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=240)
            self.status, self.text = done.returncode, done.stdout + done.stderr
            self.out = done.stdout
        except subprocess.TimeoutExpired:
            self.status, self.text, self.out = None, "no end after 240 s", ""
        self.ranks = [[int(x) for x in found] for found in LINE.findall(self.text)]

    def expect(self, right, why):
        global failures
        if not right:
            failures += 1
            print("FAILED: %s\n  %s\n%s" % (why, self.what, self.text), flush=True)

    def ends(self, status, *words):
        self.expect(self.status == status, "exit status %s, not %s" % (self.status, status))
        for word in words:
            self.expect(word in self.text, "it does not say '%s'" % word)
        return self

    def silent(self, *words):
        for word in words:
            self.expect(word not in self.text, "it says '%s'" % word)
        return self

    def tasks(self):
        return sum(rank[3] for rank in self.ranks)

    def on_devices(self, least, most=TASKS):
        self.expect(least <= self.tasks() <= most, "%d tasks on devices" % self.tasks())
        return self


def program(options, mode, ranks=1, **settings):
    command = [options.program, mode]
    if ranks > 1:
        command = [options.mpirun, "-np", str(ranks)] + command
    settings.setdefault("DAG_DEVICE_ALWAYS", "on")
    run = Run(command, **settings)
    run.expect(len(run.ranks) in (0, ranks), "%d ranks tell of themselves" % len(run.ranks))
    return run


def runs(options):
    counts = (1, 2) if options.mpirun != "none" else (1,)
    for ranks in counts:
        # A graph that cannot go on, while kernels take longer than the time after which a rank
        # that waits looks for a stall: the report comes when they have all run, and names the edge.
        run = program(options, "missing", ranks, FAKE_CUDA_KERNEL_DELAY="60000")
        run.ends(1, "missing edge: Join(2)", "waits in flow B for flow X of Root(2)",
                 "which does not send it there").on_devices(TASKS)
        # The same without the mistake: no stall.
        run = program(options, "sound", ranks, FAKE_CUDA_KERNEL_DELAY="60000")
        run.ends(0).silent("waits in flow", "stall", "warning").on_devices(TASKS)
        # An application that polls.
        run = program(options, "test", ranks, FAKE_CUDA_KERNEL_DELAY="10000", FAKE_CUDA_DEVICES="2",
                      FAKE_CUDA_LATE="3")
        run.ends(0).on_devices(TASKS)
        run.expect(all(rank[6] > 3 for rank in run.ranks), "it waits in dag_test()")
        lost(options, ranks)
    program(options, "test", 1, DAG_GPUS="0").ends(0, "no device: the setting gpus is 0")
    unused(options)


def lost(options, ranks):
    """The only device fails, and there is no body for cores: one warning, and an error for all."""
    fault = {"FAKE_CUDA_FAIL_ASYNC": "2", "FAKE_CUDA_FAIL_RANK": "0"}
    warning = "warning: device 0 ("
    run = program(options, "only", ranks, **fault).ends(1, "device 0 (", "has failed: ")
    run.expect([rank[1] for rank in run.ranks] == [ERR_DEVICE] * ranks, "statuses of the ranks")
    run.expect(run.text.count(warning) == 1, "there is not one warning")


def losses(options):
    for i in range(8):
        one_of_two(options, 1 + i % 2 if options.mpirun != "none" else 1)


def one_of_two(options, ranks):
    """One device of two fails while the other one works: the result, or an error that all get."""
    fault = {"FAKE_CUDA_FAIL_ASYNC": "2", "FAKE_CUDA_FAIL_RANK": "0"}
    run = program(options, "sound", ranks, FAKE_CUDA_DEVICES="2", **fault)
    run.expect(len(run.ranks) == ranks and
               len({(rank[1], run.status) for rank in run.ranks} -
                   {(0, 0), (ERR_DEVICE, 1)}) == 0, "neither right nor the error of a lost device")
    run.expect(len({rank[1] for rank in run.ranks}) == 1, "the ranks have got different statuses")
    run.expect(run.text.count("has failed: ") >= 1, "nobody says that a device has failed")
    for device in "01":
        run.expect(run.text.count("warning: device %s (" % device) <= 1, "more than one warning")


def unused(options):
    """Devices that were asked for and ran nothing: a warning that says why."""
    words = "gpus = 1, but no task ran on a device"
    for mode, why in (("none", "no task of a class"), ("cores", "18 tasks that could have run")):
        program(options, mode, DAG_GPUS="1").ends(0, words, why)
        program(options, mode).ends(0).silent(words)
    program(options, "sound", DAG_GPUS="1").ends(0).silent(words)
    chain = os.path.join(options.bin, "tutorial_chain")
    if os.path.exists(chain):
        Run([chain], DAG_GPUS="1").ends(0, words, "no task class has a body for them")


def single_precision(options):
    """A variable that has devices round single precision keeps that on cores, and nothing else."""
    potrf = os.path.join(options.bin, "dag_potrf")
    if not os.path.exists(potrf): # not in every build
        return
    cases = (("1", "s", True, ""), ("1", "d", True, "cublasDgemm"), ("0", "s", False, "cublasSgemm"))
    for (value, prec, warned, kernel), more in itertools.product(cases, ([], ["--insert"])):
        with tempfile.TemporaryDirectory() as where:
            run = Run([potrf, "--n", "200", "--nb", "40", "--prec", prec, "--check"] + more,
                      NVIDIA_TF32_OVERRIDE=value, DAG_DEVICE_ALWAYS="on",
                      DAG_DEVICE_PLUGIN="cuda=" + options.plugin, FAKE_CUDA_REPORT=where + "/report").ends(0)
            run.expect(("NVIDIA_TF32_OVERRIDE=1" in run.text) == warned, "a warning, or none")
            with open(where + "/report") as file:
                kernels = json.load(file)["kernels"]
            run.expect(kernel in kernels if kernel else not kernels, "kernels %s" % kernels)


def settings(options):
    single_precision(options)
    run = program(options, "sound", DAG_GPUS="3", FAKE_CUDA_DEVICES="2")
    run.ends(2, "dag_init: ", "gpus = 3, but 2 devices can be used")
    run = program(options, "sound", DAG_GPUS="2", FAKE_CUDA_DEVICES="2").ends(0).on_devices(TASKS)
    run.expect([rank[4] for rank in run.ranks] == [2], "not two devices")
    run = program(options, "sound", DAG_GPUS="0").ends(0, "no device: the setting gpus is 0")
    program(options, "sound", FAKE_CUDA_DEVICES="0").ends(0, "0 devices", "no device: ")
    with tempfile.TemporaryDirectory() as where:
        damaged = where + "/damaged.so"
        with open(damaged, "w") as file:
            file.write("this is no library\n")
        for path in damaged, where + "/absent.so":
            run = program(options, "sound", DAG_DEVICE_PLUGIN="cuda=" + path)
            run.ends(0, "warning: device_plugin = cuda=" + path, "no device is used: ")
            run = program(options, "sound", DAG_DEVICE_PLUGIN="cuda=" + path, DAG_GPUS="1")
            run.ends(2, "gpus = 1, but 0 devices can be used: ", path)
        # The plug-in of the build tree is found from anywhere in it, not from elsewhere.
        run = program(options, "sound").ends(0).on_devices(TASKS)
        elsewhere = where + "/program"
        with open(options.program, "rb") as file, open(elsewhere, "wb") as copy:
            copy.write(file.read())
        os.chmod(elsewhere, 0o755)
        Run([elsewhere, "sound"]).ends(0, "0 devices", "there is no libdag_cuda.so")
        Run([elsewhere, "sound"], DAG_DEVICE_PLUGIN="cuda=" + options.plugin).ends(0, "1 devices")
        times(options, where)


def times(options, where):
    """What was learned is kept, found again, and never in the way."""
    path, first = where + "/times", ""
    for _ in range(50): # times that a busy machine makes doubtful are not learned
        program(options, "sound", DAG_PERF_MODEL=path).ends(0).silent("warning")
        with open(path) as file:
            first = file.read()
        if "\tWork\t" in first:
            break
    check = program(options, "sound", DAG_PERF_MODEL=path).ends(0).silent("warning")
    check.expect("\tWork\t" in first, "no times of Work in\n" + first)
    with open(path) as file:
        second = file.read()
    # 15 samples are kept at most; one run has 18 of each kernel, so what grows is nothing, and what
    # must not happen is that a record is lost.
    check.expect(second.count("\n") >= first.count("\n"), "records are lost: " + second)
    with open(path, "w") as file:
        file.write(first[:len(first) // 2])
    program(options, "sound", DAG_PERF_MODEL=path).ends(0, "warning", path)
    with open(path) as file:
        check.expect("\nend\t" in file.read(), "the damaged file was not replaced")
    run = program(options, "sound", DAG_PERF_MODEL=where + "/absent/times")
    run.ends(0, "warning", where + "/absent/times").on_devices(TASKS)


def without_own_kernels(options):
    """Our own kernels are missing: it is said, and what needs them runs on cores."""
    missing = "LU with pivoting exchanges rows on cores: "
    info = os.path.join(options.bin, "dag_info")
    gesv = os.path.join(options.bin, "dag_gesv")
    given = {"DAG_DEVICE_PLUGIN": "cuda=" + options.plugin, "DAG_GPUS": "1", "DAG_DEVICE_ALWAYS": "on"}
    Run([info], **given).ends(0, "device 0").silent(missing)
    with tempfile.TemporaryDirectory() as where:
        fake = os.environ["LD_LIBRARY_PATH"].split(":")[0]
        for name in os.listdir(fake):
            if name != "libdag_cuda_kernels.so":
                os.symlink(os.path.join(fake, name), os.path.join(where, name))
        given["LD_LIBRARY_PATH"] = where
        Run([info], **given).ends(0, "device 0", missing)
        run = Run([os.path.join(options.bin, "dag_doctor"), "--look"], **given)
        run.expect("wrong   gpu-kernels" in run.text and missing in run.text,
                   "dag_doctor does not say what is missing")
        if os.path.exists(gesv): # not in every build
            report = where + "/report"
            run = Run([gesv, "--n", "200", "--nb", "48", "--check"], FAKE_CUDA_REPORT=report, **given)
            run.ends(0)
            with open(report) as file:
                kernels = json.load(file)["kernels"]
            run.expect("cublasDgemm" in kernels and "dag_swap" not in kernels,
                       "kernels on the device: %s" % kernels)


def shared_memory(options):
    """Ranks that use the same devices divide their memory, wherever they are bound; others do not."""
    info = os.path.join(options.bin, "dag_info")
    one = Run([info, "--json"])
    whole = json.loads(one.out)["devices"][0]["memory"]
    for share, command in ((2, 'exec "$0" --json'),
                           (1, 'CUDA_VISIBLE_DEVICES=$OMPI_COMM_WORLD_RANK$PMI_RANK exec "$0" --json')):
        for more in [], ["--threads", "1"]:
            run = Run([options.mpirun, "-np", "2"] + more + ["bash", "-c", command, info]).ends(0)
            devices = json.loads(run.out)["devices"] if run.status == 0 else []
            run.expect(len(devices) == 1 and abs(devices[0]["memory"] * share - whole) < 1 << 20,
                       "devices %s, alone %d" % (devices, whole))


def tools(options):
    if options.mpirun != "none":
        shared_memory(options)
    info = os.path.join(options.bin, "dag_info")
    given = {"DAG_GPUS": "2", "DAG_DEVICE_MEMORY": "cuda=8M", "DAG_DEVICE_PLUGIN": "cuda=" + options.plugin,
             "DAG_DEVICE_ALWAYS": "on", "DAG_PERF_MODEL": "/dev/null/none"}
    run = Run([info], FAKE_CUDA_DEVICES="2", **given)
    run.ends(0, "device 0", "device 1", "8.0 MiB")
    for name, value in (("gpus", "2"), ("device_memory", "cuda=8M"), ("device_always", "on"),
                        ("device_plugin", "cuda=" + options.plugin), ("perf_model", "/dev/null/none")):
        run.expect(re.search(r"^ +%s = %s \(environment\)" % (name, re.escape(value)), run.text,
                             re.MULTILINE), "no line for the setting " + name)
    run = Run([info, "--json"], FAKE_CUDA_DEVICES="2", DAG_DEVICE_MEMORY="cuda=8M").ends(0)
    devices = json.loads(run.out)["devices"] if run.status == 0 else []
    run.expect([d["memory"] for d in devices] == [8 << 20] * 2 and all(d["name"] for d in devices),
               "devices in the JSON")
    Run([info], FAKE_CUDA_DEVICES="2", DAG_CUDA_MEMORY="8M").ends(
        0, "8.0 MiB", "the setting cuda_memory is an old name: it is device_memory = cuda=BYTES now")
    Run([info], DAG_GPUS="0").ends(0, "devices    none: the setting gpus is 0")
    without_own_kernels(options)
    with tempfile.TemporaryDirectory() as root:
        os.mkdir(root + "/dev")
        with open(root + "/dev/nvidia0", "w") as file:
            file.write("")
        doctor = os.path.join(options.bin, "dag_doctor")
        run = Run([doctor, "--look", "--root", root])
        if "libcuda.so.1 cannot be loaded" in run.text: # a library of the driver, which is no fake
            run.ends(1, "wrong   gpu-library", "install the package that contains libcuda.so.1")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("family", choices=["runs", "losses", "settings", "tools"])
    for name in "mpirun", "program", "plugin", "bin":
        parser.add_argument("--" + name, required=True)
    options = parser.parse_args()
    family = {"runs": runs, "losses": losses, "settings": settings, "tools": tools}
    family[options.family](options)
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
