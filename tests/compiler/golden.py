#!/usr/bin/env python3
"""Golden tests of dagcc.

    golden.py DAGCC [--update] [--jdf DIR...] [NAME...]

Below this directory, NAME.bad.jdf must be answered with exactly the text of NAME.bad.err (messages
with their carets, `@KINDS@` for the kinds of devices, last line `exit N`); after an error no output
file may exist. NAME.ok.jdf must be accepted without a word. A first line `// options: ...` is handed to dagcc.

checks/NAME.bad.jdf and checks/NAME.ok.jdf belong to the check NAME: the first must be answered by
[-WNAME], and every check that dagcc lists must have both. A complete file on the page that
--explain prints is answered by this check and no other, under the options of the first; the checks
of task graphs have one.

Inputs of other front ends, as NAME.bad.seq.c and NAME.ok.seq.c, are tested likewise, and the graph of a
NAME.derive.seq.c is exactly the text of NAME.derive.jdf.

NAME.part.jdf lacks sides of edges; --complete makes NAME.full.jdf of it, which is accepted.
NAME.migrate.jdf is a file of the other dialect, of which --emit=jdf makes NAME.migrated.jdf.

--jdf names directories whose .jdf files must survive a round trip: the canonical form of a file has
the same syntax tree as the file, and is its own canonical form.

--update writes the expected texts anew; read the difference before you commit it.
"""
import argparse
import concurrent.futures
import difflib
import os
import re
import shlex
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
os.environ["DAGCC_PROOF_CACHE"] = "off"
PROOFS = os.path.join(HERE, "verify", "checks")
# The kinds of devices, as messages list them; expected texts have @KINDS@ instead.
with open(os.path.join(HERE, "..", "..", "include", "dag", "device_kinds.h"), encoding="utf-8") as table:
    KINDS = ", ".join(re.findall(r"^ +X\((\w+), \d", table.read(), re.M))
# Checks of task graphs that the front end names, too.
SHOWN = {"duplicate-edge", "missing-side", "null-forward", "unused-flow"}


def split_options(options):
    """Those that say what to make (there may be only one such), and the others."""
    making, others, words = [], [], iter(options)
    for word in words:
        if word in ("--enumerate", "--count", "-o", "--rename"):
            making += [word, next(words)]
        elif (word in ("--complete", "--same", "--same=control") or word.startswith("--emit=") or
              word.endswith(".jdf")):      # the first of two files
            making.append(word)
        else:
            others.append(word)
    return making, others


GRAPH = ".jdf"
# NAME.bad.EXTENSION and so on; what is expected of it is no input.
INPUT = re.compile(r"(.*\.(bad|ok|derive))\.(?!err$)[a-z.]+$")


def stem(path):
    """Without the extension, whatever front end reads it."""
    return INPUT.match(path).group(1)


class Tester:
    def __init__(self, dagcc, update):
        self.dagcc = os.path.abspath(dagcc)
        self.update = update
        self.failures = 0

    def fail(self, name, why):
        self.failures += 1
        print(f"FAIL {name}: {why}")

    def run(self, directory, *args):
        environment = dict(os.environ, LC_ALL="C", TERM="dumb")
        r = subprocess.run([self.dagcc, *args], cwd=directory, env=environment, timeout=480,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        r.stdout = r.stdout.decode("utf-8", "surrogateescape")
        r.stderr = r.stderr.decode("utf-8", "surrogateescape")
        return r

    def options(self, path):
        with open(path, encoding="utf-8", errors="surrogateescape") as f:
            first = f.readline()
        match = re.match(r"// options: (.*)", first)
        return shlex.split(match.group(1)) if match else []

    def expect(self, name, path, have):
        """Compares with, or rewrites, the expected text."""
        have = have.replace(f" {KINDS}, ", " @KINDS@, ")
        if self.update:
            with open(path, "w", encoding="utf-8", errors="surrogateescape") as f:
                f.write(have)
            return
        want = ""
        if os.path.exists(path):
            with open(path, encoding="utf-8", errors="surrogateescape") as f:
                want = f.read()
        if want != have:
            diff = difflib.unified_diff(want.splitlines(True), have.splitlines(True),
                                        "expected", "printed")
            self.fail(name, "messages differ\n" + "".join(diff))

    def bad(self, path):
        directory, base = os.path.split(path)
        name = os.path.relpath(path, HERE)
        options = self.options(path)
        making, others = split_options(options)
        r = self.run(directory, *(making or ["-fsyntax-only"]), *others, base)
        self.expect(name, stem(path) + ".err", f"{r.stderr}exit {r.returncode}\n")
        if r.stdout:
            self.fail(name, f"something on standard output: {r.stdout}")
        if os.path.basename(directory) == "checks":
            check = stem(base)[:-len(".bad")]
            if f"[-W{check}]" not in r.stderr:
                self.fail(name, f"check {check} does not report")
        if r.returncode != 0 and not any(w.startswith(("--enumerate", "--same")) for w in making):
            self.no_output(name, directory, base, others)

    def no_output(self, name, directory, base, options):
        with tempfile.TemporaryDirectory() as out:
            target = os.path.join(out, "x.c")
            r = self.run(directory, "--emit=c", *options, "-MD", "-o", target, base)
            if r.returncode == 0:
                self.fail(name, "an error under -fsyntax-only, but C is emitted")
            if os.listdir(out):
                self.fail(name, f"files written after an error: {os.listdir(out)}")

    def ok(self, path):
        directory, base = os.path.split(path)
        making, others = split_options(self.options(path))
        r = self.run(directory, *(making or ["-fsyntax-only"]), *others, base)
        if r.returncode != 0 or r.stderr or r.stdout:
            self.fail(os.path.relpath(path, HERE),
                      f"exit {r.returncode}\n{r.stdout}{r.stderr}")

    def derive(self, path):
        directory, base = os.path.split(path)
        r = self.run(directory, "--emit=jdf", "-o", "-", *self.options(path), base)
        self.expect(os.path.relpath(path, HERE), stem(path) + GRAPH, r.stdout)
        if r.returncode != 0 or r.stderr:
            self.fail(os.path.relpath(path, HERE), f"exit {r.returncode}\n{r.stderr}")

    def migrate(self, path):
        directory, base = os.path.split(path)
        name, moved = os.path.relpath(path, HERE), path[:-len(".migrate.jdf")] + ".migrated.jdf"
        r = self.run(directory, "--std=parsec", "--emit=jdf", "-o", "-", base)
        if r.returncode != 0:
            self.fail(name, f"exit {r.returncode}\n{r.stderr}")
        self.expect(name, moved, r.stdout)
        r = self.run(directory, "--emit=ast", moved)
        if r.returncode != 0:
            self.fail(name, f"what it becomes does not parse\n{r.stderr}")

    def part(self, path):
        directory, base = os.path.split(path)
        name, full = os.path.relpath(path, HERE), path[:-len(".part.jdf")] + ".full.jdf"
        missing = [f"-Wno-{check}" for check in ("missing-side", "missing-output", "unused-flow")]
        r = self.run(directory, "--complete", *missing, base)
        if r.returncode != 0 or r.stderr:
            self.fail(name, f"--complete: exit {r.returncode}\n{r.stderr}")
        self.expect(name, full, r.stdout)
        r = self.run(directory, "-fsyntax-only", full)
        if r.returncode != 0 or r.stderr:
            self.fail(name, f"what --complete makes of it is answered by\n{r.stderr}")

    def tree(self, path, options):
        r = self.run(os.path.dirname(path), "--emit=ast", *options, path)
        text = re.sub(r" <\d+:\d+-\d+:\d+>$", "", r.stdout, flags=re.M)
        return r.returncode, text, r.stderr

    def round_trip(self, path):
        name = os.path.relpath(path)
        options = split_options(self.options(path))[1] + ["-Wno-arrow-comparison", "-Wno-string-expression"]
        status, tree, errors = self.tree(path, options)
        if status != 0:
            return self.fail(name, f"does not parse\n{errors}")
        once = self.run(os.path.dirname(path), "--format", *options, path)
        with tempfile.TemporaryDirectory() as out:
            copy = os.path.join(out, "copy.jdf")
            with open(copy, "w", encoding="utf-8", errors="surrogateescape", newline="") as f:
                f.write(once.stdout)
            status, tree_again, errors = self.tree(copy, options)
            if status != 0:
                return self.fail(name, f"canonical form does not parse\n{errors}")
            if tree != tree_again:
                diff = difflib.unified_diff(tree.splitlines(True), tree_again.splitlines(True))
                return self.fail(name, "canonical form has another tree\n" + "".join(diff))
            twice = self.run(out, "--format", *options, copy)
            if twice.stdout != once.stdout:
                diff = difflib.unified_diff(once.stdout.splitlines(True),
                                            twice.stdout.splitlines(True))
                return self.fail(name, "formatting twice differs\n" + "".join(diff))
            self.run(out, "--format", "-i", *options, copy)
            with open(copy, encoding="utf-8", errors="surrogateescape", newline="") as f:
                if f.read() != once.stdout:
                    self.fail(name, "--format -i and --format differ")
        return None

    def explain(self, name, bad, required):
        """The page shows what the check finds, and the example there is found."""
        page = self.run(HERE, "--explain", name)
        if page.returncode != 0:
            return self.fail(name, "--explain does not know it")
        blocks = re.findall(r"(?:^    .*\n|^\n(?=    ))+", page.stdout, flags=re.M)
        files = [b for b in blocks if re.search(r"^    BODY$", b, flags=re.M)]
        if required and not files:
            return self.fail(name, "no example on the page of --explain")
        making, others = split_options(self.options(bad))
        for text in files:
            with tempfile.TemporaryDirectory() as out:
                with open(os.path.join(out, "example.jdf"), "w", encoding="utf-8") as f:
                    f.write(re.sub(r"^    ", "", text.lstrip("\n"), flags=re.M))
                r = self.run(out, *(making or ["-fsyntax-only"]), *others, "example.jdf")
            allowed = {name} | ({"missing-side"} if "--complete" in making else set())
            found = set(re.findall(r"\[-W([\w-]+)\]", r.stderr))
            if name not in found or not found <= allowed:
                self.fail(name, f"the example of --explain is answered by\n{r.stderr}")
        return None

    def complete(self):
        """Every named check has a failing and a passing input."""
        have, bad = {}, {}
        for directory, _, files in os.walk(HERE):
            for f in files:
                match = INPUT.match(f)
                if match and os.path.basename(directory) == "checks":
                    name, end = os.path.splitext(match.group(1))
                    have.setdefault(name, set()).add(end[1:])
                    if end == ".bad":
                        bad[name] = os.path.join(directory, f)
        listed = self.run(HERE, "--list-checks").stdout.splitlines()[1:]
        names = [line.split()[0] for line in listed]
        for name in names:
            missing = {"bad", "ok"} - have.get(name, set())
            if missing:
                self.fail(name, f"no test checks/{name}.{'/'.join(sorted(missing))}.jdf")
                continue
            self.explain(name, bad[name], name in SHOWN or
                         name != "values" and PROOFS in bad[name])
        for name in sorted(set(have) - set(names)):
            self.fail(name, "tests for a check that does not exist")


def files_below(directory, suffix):
    found = []
    for where, _, files in os.walk(directory):
        found += [os.path.join(where, f) for f in files if f.endswith(suffix)]
    return sorted(found)


def inputs(kind):
    """Below this directory, for any front end."""
    return [p for p in files_below(HERE, "") if INPUT.match(p) and stem(p).endswith(kind)]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dagcc")
    parser.add_argument("names", nargs="*", help="only tests whose path contains one of these")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--jdf", action="append", default=[])
    args = parser.parse_intermixed_args()
    t = Tester(args.dagcc, args.update)

    def wanted(path):
        return not args.names or any(n in path for n in args.names)

    round_trips = files_below(HERE, ".ok.jdf") + files_below(HERE, ".format.jdf")
    for directory in args.jdf:
        round_trips += files_below(directory, ".jdf")
    tests = [(t.bad, p) for p in inputs(".bad")] + [(t.ok, p) for p in inputs(".ok")]
    tests += [(t.derive, p) for p in inputs(".derive") if not p.endswith(GRAPH)]
    tests += [(t.migrate, p) for p in files_below(HERE, ".migrate.jdf")]
    tests += [(t.part, p) for p in files_below(HERE, ".part.jdf")]
    tests += [(t.round_trip, os.path.abspath(p)) for p in round_trips]
    tests = [(test, path) for test, path in tests if wanted(path)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for job in [pool.submit(test, path) for test, path in tests]:
            job.result()
    if not args.names:
        t.complete()
    print(f"{len(tests)} tests, {t.failures} failures")
    return t.failures != 0


if __name__ == "__main__":
    sys.exit(main())
