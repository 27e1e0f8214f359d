#!/usr/bin/env python3
"""Compiled programs of OpenCL devices are kept, and what is kept never makes a result wrong.

usage: kept.py --potrf PROGRAM --layer FILE

Runs dag_potrf behind the layer for tests (tests/gpu/opencl/layer), which counts how often a text is compiled.
Exit status 77: there are no OpenCL devices.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../devices"))
from run import NO_OPENCL

PROGRAMS = 4 # one for each precision
HEAD = b"dagcc device 1 "


def checksum(*parts):
    """As store.c has it: by words, and bytes behind them, of one part after the other."""
    value = 0xcbf29ce484222325
    for part in parts:
        words = len(part) // 8 * 8
        pieces = [part[i:i + 8] for i in range(0, words, 8)] + [part[i:i + 1] for i in range(words, len(part))]
        for piece in pieces:
            value = (value ^ int.from_bytes(piece, sys.byteorder)) * 0x100000001b3 & (1 << 64) - 1
    return value


class Runs:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.cache = os.path.join(folder, "kept", "below")

    def settings(self, report, more):
        return dict(os.environ, DAG_DEVICE_BACKEND="opencl", DAG_DEVICE_ALWAYS="on", DAG_GPUS="1",
                    DAG_THREADS="1", DAG_DEVICE_CACHE=self.cache, POCL_MAX_PTHREAD_COUNT="1", POCL_DEVICES="pthread",
                    OPENCL_LAYERS=self.options.layer, OPENCL_LAYER_REPORT=report, **more)

    def start(self, name="report", arguments=("--n", "60", "--nb", "32"), **more):
        report = os.path.join(self.folder, name)
        command = [self.options.potrf, *arguments, "--check", "--json"]
        more = {key: str(value) for key, value in more.items()}
        environment = self.settings(report, {})
        environment.update(more)
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True), report

    def end(self, run):
        """How many texts were compiled, and messages."""
        process, report = run
        try:
            out, err = process.communicate(timeout=200)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        if NO_OPENCL in err and process.returncode:
            print("skipped: " + NO_OPENCL)
            sys.exit(77)
        assert process.returncode == 0, "exit status %d\n%s%s" % (process.returncode, out, err)
        result = json.loads(out)
        assert result["info"] == 0 and result["residual"] < 16, out
        with open(report) as f:
            calls = json.load(f)["calls"]
        return calls.get("CreateProgramWithSource", 0), err

    def compiled(self, **more):
        return self.end(self.start(**more))[0]

    def expect(self, count, why, **more):
        found = self.compiled(**more)
        assert found == count, "%s: %d texts were compiled instead of %d" % (why, found, count)

    def files(self):
        return sorted(os.path.join(self.cache, name) for name in os.listdir(self.cache))


def damage(runs):
    """Each file in another way; all but the last are seen by the checksum or the key."""
    files = runs.files()
    assert len(files) == PROGRAMS, files
    contents = []
    for path in files:
        with open(path, "rb") as f:
            contents.append(f.read())
    assert all(b"\ncl_khr_" in content for content in contents), "the key lacks the extensions, which are long"
    middle = len(contents[1]) // 2
    changed = [contents[0][:-7], # shorter
               contents[1][:middle] + bytes([contents[1][middle] ^ 1]) + contents[1][middle + 1:], # one bit
               contents[3], # what belongs to another key
               replaced(contents[3], b"no program of this driver\0" * 40)]
    for path, content in zip(files, changed):
        with open(path, "wb") as f:
            f.write(content)
    return files, contents


def replaced(content, instead):
    """A file that is good in itself, with something else kept for its key."""
    head, rest = content.split(b"\n", 1)
    key = rest[:int(head[len(HEAD):].split()[0])]
    return HEAD + b"%d %d %x\n" % (len(key), len(instead), checksum(key, instead)) + key + instead


def test(runs):
    runs.expect(PROGRAMS, "nothing is kept yet")
    runs.expect(0, "all is kept")
    files, _ = damage(runs)
    runs.expect(PROGRAMS, "all files are damaged")
    runs.expect(0, "damaged files were replaced")
    with open(files[0], "r+b") as f:
        f.write(b"dagcc device 9 ") # another version
    runs.expect(1, "one file is of another version")
    for path in files[1:3]: # an empty file; none
        os.truncate(path, 0)
    os.unlink(files[3])
    runs.expect(PROGRAMS - 1, "one file is absent, two are empty")
    runs.expect(PROGRAMS, "the driver refuses all binaries", OPENCL_LAYER_FAIL="CreateProgramWithBinary=1+")
    runs.expect(0, "what was refused was kept anew")
    runs.expect(0, "two devices of one name", POCL_DEVICES="pthread pthread", DAG_GPUS=2)
    runs.expect(PROGRAMS, "the setting is off", DAG_DEVICE_CACHE="off")


def test_folders(runs):
    file = os.path.join(runs.folder, "file")
    with open(file, "w"):
        pass
    count, messages = runs.end(runs.start(DAG_DEVICE_CACHE=file + "/below"))
    assert count == PROGRAMS and messages.count("device_cache = ") == 1, messages
    user = {"DAG_DEVICE_CACHE": "", "POCL_CACHE_DIR": os.path.join(runs.folder, "pocl")} # which PoCL has there too
    count, messages = runs.end(runs.start(XDG_CACHE_HOME=file, **user))
    assert count == PROGRAMS and "device_cache" not in messages, messages
    user["XDG_CACHE_HOME"] = os.path.join(runs.folder, "home")
    runs.expect(PROGRAMS, "the user's folder is empty", **user)
    assert len(os.listdir(user["XDG_CACHE_HOME"] + "/dagcc/devices")) == PROGRAMS
    runs.expect(0, "the user's folder has all", **user)


def test_together(runs):
    runs.cache = os.path.join(runs.folder, "together")
    started = [runs.start("report%d" % i) for i in range(3)]
    for run in started:
        runs.end(run)
    assert len(runs.files()) == PROGRAMS, runs.files() # and no temporary ones
    runs.expect(0, "three processes have kept all")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--potrf", required=True)
    parser.add_argument("--layer", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(options, folder)
        for part in test, test_folders, test_together:
            part(runs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
