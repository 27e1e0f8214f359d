#!/usr/bin/env python3
"""tools/new makes the rooms of a new thing, and exactly their tests fail.

usage: new.py WORK BUILD CMAKE CTEST CC CXX [--full]

In a copy of the tree in WORK, names that are bad or taken are refused and change nothing; then one
thing of each kind is made, in rooms that docs/walks.md names alone, and the tree configured. The tests
that the configuration has more than that in BUILD are those of the new things. What they need is built,
without optimisation: of the routine the objects alone, as its programs need the whole library. Each test
fails and says in which file what is to be written; tests of what the tables are read by pass. With --full
everything is built, and all tests that read the tables and are not `full` themselves are run: only the new
ones fail, and of those that walk a table the new part.
"""
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
THINGS = [("routine", "frobnicate"), ("kernel", "ge_frob"), ("check", "odd-thing"), ("setting", "patience"),
          ("device", "abacus")]
REFUSED = [("routine",), ("sonnet", "x"), ("routine", "x", "poetry"), ("kernel", "x", "lu"), ("routine", "X"),
           ("routine", "getrf"), ("routine", "trsm"), ("kernel", "gemm"), ("kernel", "int"),
           ("check", "empty-range"), ("check", "a_b"), ("check", "unused"), ("setting", "threads"),
           ("setting", "trace"), ("device", "cuda"), ("device", "../x"), ("device", "")]
# The walks of docs/walks.md that these things are.
WALKS = {"routine": "A routine of the library", "check": "A check of the compiler", "device": "A kind of devices"}
RANKS = "np1 np2 np4 np6 threads full_np1 full_np2 full_np4 full_np6".split()
# Tests of the new things alone, with what they have to say.
ROUTINE = {"frobnicate_matrix_" + r: ["dsl-examples/aux/frobnicate.jdf: write the tasks",
                                      "dsl-examples/aux/frobnicate.c: check the arguments",
                                      "tests/integration/la/frobnicate_matrix.c: write expected()"]
           for r in RANKS}
OTHERS = {"test_kernels_ge_frob": ["kernels/cpu/ge_frob.inc.c: write the kernel"],
          "test_setting_patience": ["runtime/base/settings.c: say what patience means",
                                    "tests/unit/test_setting_patience.c: show what patience changes"],
          "test_abacus": ["include/dag/device_kinds.h: name libdag_abacus.so",
                          "runtime/device/abacus/plugin.c: write .count of",
                          "runtime/device/abacus/plugin.c: write .kernels of"]}
OBJECTS = ["dsl-examples/CMakeFiles/dag_la.dir/aux/frobnicate.c.o",
           "dsl-examples/CMakeFiles/dag_la.dir/jdf/dag_la/frobnicate.c.o",
           "dsl-examples/CMakeFiles/dag_frobnicate.dir/drivers/dag_frobnicate.c.o",
           "tests/integration/CMakeFiles/frobnicate_matrix.dir/la/frobnicate_matrix.c.o"]
PROGRAMS = ["dagcc", "test_kernels_ge_frob", "test_setting_patience", "test_settings", "test_abacus",
            "dag_abacus"]
# With the whole tree: what reads the tables. Of those that fail, what fails is of the new things.
READERS = ("^compiler|^test_|^la_drivers|^configure-least|^docs|^floors|^frobnicate_matrix_(np|threads)|"
           "consumer|^device|^gpu|^bench_kernels")
WALK = {"compiler-golden": "odd-thing", "la_drivers_results": "frobnicate", "la_drivers_optiontable": "frobnicate",
        "gpu_product": "frobnicate"}


def stop(text):
    print(text)
    sys.exit(1)


def call(*command, status=0, where=None):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=where,
                          errors="replace")
    if status is not None and done.returncode != status:
        stop(f"{' '.join(command)}: status {done.returncode}, not {status}\n{done.stdout[-6000:]}")
    return done.stdout


def copy_tree(target):
    shutil.rmtree(target, ignore_errors=True)
    top = shutil.ignore_patterns(".git", "build", "build-*")

    def skip(at, names):
        found = {n for n in names if n == "__pycache__" or os.path.realpath(os.path.join(at, n)) == WORK}
        return found | (top(at, names) if os.path.samefile(at, TREE) else set())
    shutil.copytree(TREE, target, ignore=skip, symlinks=True)


def files_of(tree):
    found = {}
    for at, _, names in os.walk(tree):
        for name in names:
            path = os.path.join(at, name)
            found[path] = os.path.islink(path) or open(path, "rb").read()
    return found


def tests_of(build):
    return set(re.findall(r"^ *Test +#\d+: (\S+)", call(CTEST, "--test-dir", build, "-N"), re.MULTILINE))


def failing(build, pattern, *options):
    """The tests that fail, with what they print."""
    text = call(CTEST, "--test-dir", build, "-R", pattern, *options, "-j2", "--output-on-failure", status=None)
    ran = re.findall(r"^ *\d+/\d+ Test +#\d+: (\S+) \.+ *(\S.*?) +[\d.]+ sec$", text, re.MULTILINE)
    if not ran:
        stop(f"no test ran for {pattern}:\n{text[-2000:]}")
    return {name for name, how in ran if not how.startswith(("Passed", "***Skipped"))}, text


def compare(what, have, want):
    if have != want:
        stop(f"{what}: too many {sorted(have - want)}, missing {sorted(want - have)}")


def stray(kind, said):
    """Of the files that tools/new says it made or changed, those that no room of the walk names."""
    with open(os.path.join(TREE, "docs/walks.md"), encoding="utf-8") as page:
        section = re.search(rf"^## {WALKS[kind]}[^\n]*\n(.*?)(?=^## )", page.read(), re.M | re.S).group(1)
    rooms = re.findall(r"`([^`]*/[^`]*)`", "".join(re.findall(r"^\| `.*$", section, re.M)))
    rooms = [re.escape(room).replace("NAME", r"\w+").replace("FAMILY", r"\w+") for room in rooms]
    return [path for path in re.findall(r"^(?:file|row) +(\S+)$", said, re.M)
            if not any(re.match(room, path) for room in rooms)]


def refuse_all(tree):
    before = files_of(tree)
    for words in REFUSED:
        said = call(os.path.join(tree, "tools/new"), *words, status=2)
        if not said.strip():
            stop(f"tools/new {' '.join(words)}: no reason")
    for kind, name in THINGS:
        said = call(os.path.join(tree, "tools/new"), kind, name)
        if kind in WALKS and (not said or stray(kind, said)):
            stop(f"docs/walks.md: no room of '{WALKS[kind]}' has {stray(kind, said)}")
    after = files_of(tree)
    for kind, name in THINGS:  # they are taken now
        call(os.path.join(tree, "tools/new"), kind, name, status=2)
    if files_of(tree) != after or not set(before) < set(after):
        stop("tools/new changed something that it refused, or made nothing")


def golden(tree, build):
    """Of the inputs of checks, those of the new one alone fail."""
    said = call("python3", "-B", os.path.join(tree, "tests/compiler/golden.py"),
                os.path.join(build, "bin/dagcc"), "odd-thing.bad.jdf", "odd-thing.ok.jdf",
                "property-value.bad.jdf", "unknown-device.bad.jdf", status=1)
    fails = re.findall(r"^FAIL (\S+?):? (.*)$", said, re.MULTILINE)
    if not any("check odd-thing does not report" in why for _, why in fails) or \
            any("odd-thing" not in " ".join(f) for f in fails):
        stop(f"golden.py on the new check:\n{said}")


def main():
    tree, build = os.path.join(WORK, "tree"), os.path.join(WORK, "build")
    copy_tree(tree)
    refuse_all(tree)
    shutil.rmtree(build, ignore_errors=True)
    call(CMAKE, "-S", tree, "-B", build, "-G", "Ninja", "-DDAG_WERROR=ON", f"-DCMAKE_C_COMPILER={CC}",
         f"-DCMAKE_CXX_COMPILER={CXX}", "-DCMAKE_BUILD_TYPE=None")
    wanted = ROUTINE | OTHERS
    compare("the tests that are new", tests_of(build) - tests_of(BUILD), set(wanted))
    call(CMAKE, "--build", build, "-j2", "--target", *(["all"] if FULL else PROGRAMS + OBJECTS))
    alone = wanted if FULL else OTHERS
    failed, text = failing(build, "^(%s|test_settings)$" % "|".join(alone))
    compare("what fails", failed, set(alone))
    for said in sum(alone.values(), []):
        if said not in text:
            stop(f"nobody says '{said}':\n{text[-6000:]}")
    golden(tree, build)
    places = os.path.join(TREE, "tests/docs/places.py")
    new = set(call("python3", "-B", places, tree, status=None).splitlines()) - \
        set(call("python3", "-B", places, TREE, status=None).splitlines())
    if new:
        stop("the pages do not say what is there:\n" + "\n".join(sorted(new)))
    for house in "runtime", "compiler":
        call("python3", "-B", os.path.join(tree, "tests/floors/check.py"), house, tree)
    if FULL:
        failed, text = failing(build, READERS, "-LE", "^full$") # those run in the tree itself, for hours
        new = {n for n in wanted if re.search(READERS, n)}
        compare("what fails of all that reads the tables", failed - set(WALK), new)
        for name, part in WALK.items():
            if name in failed and part not in text:
                stop(f"{name} fails for another reason:\n{text[-6000:]}")
    print("exactly what is new fails:", ", ".join(sorted(failed)))


if __name__ == "__main__":
    if len(sys.argv) < 7:
        sys.exit(__doc__)
    WORK, BUILD, CMAKE, CTEST, CC, CXX = sys.argv[1:7]
    FULL = sys.argv[7:] == ["--full"]
    WORK = os.path.realpath(WORK)
    main()
