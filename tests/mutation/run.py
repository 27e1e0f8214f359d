#!/usr/bin/env python3
"""Bugs that were mended once come back, one at a time, and have to be noticed where they are.

usage: run.py [--cmake FILE] [--work DIR] [--jobs N] [CMAKE-OPTION...] [NAME...]

Each NAME.patch beside this script brings a fault back. Its head says what it breaks, in `Floor:`
the floor of the runtime on which an assertion or a checker must notice, and in `Run:` what shows
it: a program of the tests, `on N ranks` or `with VARIABLE=VALUE`. All is done in a copy of the
tree, built with optimisation, assertions and DAG_CHECKED. First every program has to pass as the
tree is; then, for each patch, what speaks first has to be an assertion or a checker on its floor.
"""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parent.parent
FLAGS = "-O3 -UNDEBUG -DDAG_CHECKED=1"
TRIES = 5  # races do not show each time
LIMIT = 240  # seconds of one run
HEAD = re.compile(r"^# (Floor|Run): (.*)$", re.M)
# "prog: /tree/runtime/task/deps.c:12: f: Assertion `x' failed." and what dagi_insist() says.
SPEAKS = re.compile(r"(?:^|\s)(\S*runtime/\S+?):(\d+): (?:\w+: Assertion `(.*)' failed"
                    r"|check failed: (?:(\w+): )?(.*))")


class Patch:
    def __init__(self, path):
        self.path, self.name = path, path.stem
        head = dict(HEAD.findall(path.read_text()))
        self.floor = head["Floor"]
        how = re.fullmatch(r"(\w+)(?: on (\d+) ranks)?(?: with (\w+)=(\S+))?", head["Run"])
        self.program, self.ranks, variable, value = how.groups()
        self.environment = {variable: value} if variable else {}
        self.key = (self.program, self.ranks, head["Run"])


def outcome(command, environment, limit, cwd):
    """The status of a program and what it said; None as status: it ran into the limit."""
    with tempfile.TemporaryFile("w+", errors="replace") as said:
        child = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT, env=environment,
                                 cwd=cwd, start_new_session=True)
        try:
            status = child.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            status = None
        end_session(child.pid)
        child.wait()
        said.seek(0)
        return status, said.read()


def end_session(number):
    """Ends all processes of a session: tests and launchers give children groups of their own."""
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            words = stat.read_text().rsplit(")", 1)[1].split()
            if int(words[3]) == number and words[0] != "Z":
                os.kill(int(stat.parent.name), signal.SIGKILL)
        except (OSError, IndexError):
            pass  # it has ended


def notice(output):
    """The floor, the place and the text of what spoke first; None: nothing did."""
    for found in SPEAKS.finditer(output):
        file, line, assertion, floor, text = found.groups()
        path = pathlib.PurePath(os.path.normpath(file[file.rindex("runtime/"):]))
        return floor or path.parts[1], f"{path}:{line}", assertion or text
    return None


class Lab:
    def __init__(self, work, cmake, options, jobs):
        self.copy, self.build = work / "tree", work / "build"
        self.cmake, self.options, self.jobs = cmake, options, str(jobs)
        names = shutil.ignore_patterns("__pycache__", "*.pyc")
        builds = shutil.ignore_patterns(".git", "build", "build-*")  # of the root alone

        def skip(at, found):
            root = builds(at, found) if pathlib.Path(at).samefile(TREE) else set()
            return names(at, found) | root | {n for n in found if pathlib.Path(at, n).resolve() == work}
        for left in (self.copy, self.build):  # objects of a patch may be younger than the copy
            shutil.rmtree(left, ignore_errors=True)
        shutil.copytree(TREE, self.copy, ignore=skip, symlinks=True)

    def call(self, *command, **more):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", **more)
        if done.returncode != 0:
            sys.exit(f"{' '.join(map(str, command))}\n{done.stdout[-4000:]}")
        return done.stdout

    def configure(self):
        self.call(self.cmake, "-S", self.copy, "-B", self.build, "-DCMAKE_BUILD_TYPE=None",
                  f"-DCMAKE_C_FLAGS={FLAGS}", *self.options)
        names = self.call(self.cmake, "--build", self.build, "--target", "help")
        return set(re.findall(r"[\w-]+", names))

    def make(self, *programs):
        self.call(self.cmake, "--build", self.build, "-j", self.jobs, "--target", *programs)

    def patch(self, patch, back=False):
        direction = ["-R"] if back else []
        self.call("patch", "-p1", "-s", "-d", self.copy, "-i", patch.path, *direction)

    def run(self, patch):
        """The status and what was said."""
        part = "unit" if patch.program.startswith("test_") else "integration"
        command = [self.build / "tests" / part / patch.program]
        if patch.ranks:
            command = [self.copy / "tools" / "mpirun", "-np", patch.ranks, "--timeout", str(LIMIT),
                       *command]
        environment = os.environ | patch.environment | {
            "CK_DEFAULT_TIMEOUT": str(LIMIT), "CK_VERBOSITY": "normal", "DAG_TILE_TIMES": "off"}
        return outcome(command, environment, LIMIT + 20, self.build)


def try_patch(lab, patch):
    """Whether it is noticed where it should be; says what happens."""
    begin = time.monotonic()
    lab.patch(patch)
    status, output, found = 0, "", None
    try:
        lab.make(patch.program)
        for _ in range(TRIES):
            status, output = lab.run(patch)
            found = notice(output)
            if found:
                break
    finally:
        lab.patch(patch, back=True)
    seconds = f"{time.monotonic() - begin:.0f} s"
    if found and found[0] == patch.floor:
        print(f"caught  {patch.name} ({patch.floor}): {found[1]}: {found[2]} [{seconds}]")
        return True
    if found:
        print(f"MISSED  {patch.name} ({patch.floor}): noticed on floor {found[0]}: "
              f"{found[1]}: {found[2]} [{seconds}]")
    else:
        print(f"MISSED  {patch.name} ({patch.floor}): no assertion speaks; {patch.program} ends "
              f"with {status} [{seconds}]\n{output[-1500:]}")
    return False


def words(given, usage):
    """Options, those of cmake, and names."""
    options = {"--cmake": "cmake", "--work": None, "--jobs": os.cpu_count()}
    cmake_options, names = [], []
    given = list(given)
    while given:
        word = given.pop(0)
        if word in options and given:
            options[word] = given.pop(0)
        elif word.startswith("-D"):
            cmake_options.append(word)
        elif word == "-G" and given:
            cmake_options += [word, given.pop(0)]
        elif word.startswith("-"):
            sys.exit(usage)
        else:
            names.append(word)
    return options, cmake_options, names


def arguments(given):
    """Options, and the patches that are asked for: all, if none is."""
    options, cmake_options, names = words(given, __doc__)
    patches = [Patch(path) for path in sorted(HERE.glob("*.patch"))
               if not names or path.stem in names]
    if not patches or len(patches) < len(set(names)):
        sys.exit(f"run.py: no such patch among {names}")
    return options, cmake_options, patches


def main():
    sys.stdout.reconfigure(line_buffering=True)
    options, cmake_options, patches = arguments(sys.argv[1:])
    if not shutil.which("patch"):
        print("skipped: there is no program 'patch'")
        return 77
    with tempfile.TemporaryDirectory() as scratch:
        work = pathlib.Path(options["--work"] or scratch).resolve()
        lab = Lab(work, options["--cmake"], cmake_options, options["--jobs"])
        targets = lab.configure()
        for patch in [p for p in patches if p.program not in targets]:
            print(f"left out {patch.name}: {patch.program} is not part of this build")
            patches.remove(patch)
        if not patches:
            return 77
        lab.make(*{p.program for p in patches})
        for patch in {p.key: p for p in patches}.values():
            status, output = lab.run(patch)
            if status != 0:
                sys.exit(f"{patch.program} fails as the tree is:\n{output[-4000:]}")
        print(f"{len(patches)} patches; the programs pass as the tree is")
        missed = [p.name for p in patches if not try_patch(lab, p)]
    print(f"{len(patches) - len(missed)} of {len(patches)} caught")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
