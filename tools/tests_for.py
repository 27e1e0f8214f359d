#!/usr/bin/env python3
"""Which tests cover files, and what has to be built for them: what `tools/test --for` runs.

usage: tests_for.py BUILD FILE...
       tests_for.py BUILD --labels REGEXP [--without REGEXP]

The second form prints what has to be built for the tests with such labels. The first prints lines `test NAME` and `target PATH`; for a file that nothing covers `none FILE`, for a header of
which a build that never ran knows nothing `unknown FILE`. BUILD is configured, by Ninja.

There is no list to keep: Ninja knows what is made of a file, CTest what each test runs. A test covers a
file if its command or its environment names
  - something that is made of it, a program or a library (what a changed dagcc translates is not: that
    would be everything), or the directory of one that the test's scripts name;
  - the file, a directory with the file, or a script beside or above it;
  - a script whose text names it;
or if it is registered there.
"""
import collections
import functools
import json
import os
import re
import shlex
import subprocess
import sys

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# What a test that gets the whole tree looks at.
WHOLE_TREE = re.compile(r"(\.md|\.cmake|\.in|/CMakeLists\.txt|/CMakePresets\.json)$")


def inside(path, directory):
    return path.startswith(directory.rstrip("/") + "/")


class Graph:
    """What is made of what, with all paths absolute."""

    def __init__(self, build):
        self.build = build
        self.users = collections.defaultdict(set)   # of a file: what is made of it
        self.made = {}                              # the rule of each output
        with open(os.path.join(build, "build.ninja")) as file:
            text = file.read().replace("$\n", "")
        for outputs, rule, inputs in re.findall(r"^build (.*?): (\S+)(.*)$", text, re.MULTILINE):
            inputs = self.paths(inputs.split(" || ")[0])  # the others only come first
            for output in self.paths(outputs):
                self.made[output] = rule
                for path in inputs:
                    self.users[path].add(output)
        # Headers, as the compiler found them.
        output = None
        for line in self.ninja("-t", "deps").splitlines():
            if line.startswith("    "):
                self.users[self.path(line.strip())].add(output)
            elif ": #deps" in line:
                output = self.path(line.split(": #deps")[0])

    def ninja(self, *words):
        return subprocess.run(["ninja", "-C", self.build, *words], capture_output=True, text=True,
                              check=True).stdout

    def path(self, word):
        return os.path.normpath(os.path.join(self.build, word.replace("$ ", " ").replace("$:", ":")))

    def paths(self, words):
        return [self.path(w) for w in re.split(r"(?<!\$) +", words.strip())
                if w and w != "|" and not w.startswith("${")]

    def made_of(self, file):
        """All that is, but for names of targets, and for what a program makes."""
        found, left = set(), [file]
        while left:
            for user in self.users.get(left.pop(), ()):
                if user not in found:
                    found.add(user)
                    if "EXECUTABLE_LINKER" not in self.made.get(user, ""):
                        left.append(user)
        return {f for f in found if self.made.get(f) != "phony"}


def words_of(test, build):
    """Paths in the command and the environment of a test."""
    properties = {p["name"]: p["value"] for p in test["properties"]}
    command = test.get("command")
    if not command:     # CTest says nothing of a program that is not built
        with open(os.path.join(properties["WORKING_DIRECTORY"], "CTestTestfile.cmake")) as file:
            found = re.search(r"^add_test\(\[=\[%s\]=\] (.*)\)$" % re.escape(test["name"]), file.read(),
                              re.MULTILINE)
        command = shlex.split(found.group(1)) if found else []
    words = set()
    for word in command + list(properties.get("ENVIRONMENT", ())):
        words.update(re.split(r"[=:,]", word))
    return {os.path.normpath(w) for w in words if inside(w, SOURCE) or inside(w, build) or w == SOURCE}


@functools.lru_cache(None)
def text_of(script):
    if not os.path.isfile(script) or os.path.getsize(script) > 1 << 20:
        return ""
    with open(script, errors="replace") as file:
        return file.read()


def registered_in(test, graph):
    """The files that the registration of a test went through."""
    node, files = test.get("backtrace"), set()
    while node is not None:
        files.add(os.path.normpath(os.path.join(SOURCE, graph["files"][graph["nodes"][node]["file"]])))
        node = graph["nodes"][node].get("parent")
    return files


@functools.lru_cache(None)
def scripts_beside(path):
    """Texts of the scripts of a directory, or of that of a script."""
    where = path if os.path.isdir(path) else os.path.dirname(path)
    there = sorted(os.listdir(where)) if os.path.isdir(where) else []  # data beside the tree may be missing
    return [text_of(os.path.join(where, f)) for f in there if f.endswith((".py", ".sh"))]


def mentioned(made, words, build):
    """A program or library that a script of the test names."""
    stem = re.sub(r"^lib|\.(a|so)[.\d]*$", "", os.path.basename(made))
    wanted = re.compile(r"(?<![\w-])(lib)?" + re.escape(stem) + r"(?![\w-])")
    return any(wanted.search(text) for word in words if not inside(word, build) and word != build
               for text in scripts_beside(word) if os.path.splitext(word)[1] in (".sh", ".py") or
               os.path.isdir(word))


def covers(words, file, made, build):
    for word in words:
        if word == file or word in made:
            return True
        if inside(word, build) or word == build:
            # A directory of programs; objects and the tests' own programs are named one by one.
            if os.path.isdir(word) and any(
                    inside(m, word) and "/CMakeFiles/" not in m and
                    inside(m, build + "/tests") == inside(word, build + "/tests") and
                    (inside(word, build + "/tests") or mentioned(m, words - {SOURCE}, build))
                    for m in made):
                return True
        elif word == SOURCE:
            if WHOLE_TREE.search(file):
                return True
        elif os.path.isdir(word):
            if inside(file, word):
                return True
        elif os.path.splitext(word)[1] in (".sh", ".py"):
            name = os.path.basename(file)
            if inside(file, os.path.dirname(word)) or \
                    re.search(r"(?<![\w.-])" + re.escape(name) + r"(?![\w.-])", text_of(word)):
                return True
    return False


def needed(words, graph):
    """What has to be built for a test."""
    targets = set()
    for word in words:
        if word in graph.made:
            targets.add(word)
        elif word == graph.build:
            targets.add("all")
        elif inside(word, graph.build):
            targets.update(m for m in graph.made if os.path.dirname(m) == word)
    return targets


def listing_of(build):
    return json.loads(subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"],
                                     stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                     check=True).stdout)


def print_targets(targets, build):
    for target in sorted(targets):
        print("target", target if target == "all" else os.path.relpath(target, build))


def targets_of_labels(build, wanted, unwanted):
    """What tests with these labels need; of plug-ins, which programs open by themselves, all."""
    graph = Graph(build)
    targets = {m for m in graph.made if os.path.dirname(m) == os.path.join(build, "lib") and m.endswith(".so")}
    for test in listing_of(build)["tests"]:
        labels = next((p["value"] for p in test["properties"] if p["name"] == "LABELS"), [])
        if any(re.search(wanted, l) for l in labels) and not any(re.search(unwanted, l) for l in labels):
            targets |= needed(words_of(test, build), graph)
    print_targets(targets, build)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    build = os.path.realpath(sys.argv[1])
    if sys.argv[2] == "--labels":
        if len(sys.argv) not in (4, 6) or sys.argv[4:5] not in ([], ["--without"]):
            sys.exit(__doc__)
        targets_of_labels(build, sys.argv[3], sys.argv[5] if len(sys.argv) == 6 else "$^")
        return
    files = [os.path.realpath(f) for f in sys.argv[2:]]
    graph = Graph(build)
    listing = listing_of(build)
    tests = [(t, words_of(t, build), registered_in(t, listing["backtraceGraph"]))
             for t in listing["tests"]]
    chosen, targets = {}, set()
    for file in files:
        made = graph.made_of(file)
        found = [(t, words) for t, words, places in tests
                 if file in places or covers(words, file, made, build)]
        if not found:
            print("none" if made or not file.endswith(".h") else "unknown", os.path.relpath(file, SOURCE))
        for t, words in found:
            chosen[t["name"]] = t
            targets |= needed(words, graph)
    for t, *_ in tests:
        if t["name"] in chosen:
            print("test", t["name"])
    print_targets(targets, build)


if __name__ == "__main__":
    main()
