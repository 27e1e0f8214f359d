#!/usr/bin/env python3
"""Compile and run the snippets of the documentation.

A fenced block that begins with ```jdf is a program; further words say what must happen:
  (none)      compiles without error
  preamble    globals that stand in front of every `classes` block of the file
  classes     preamble + block compiles
  run         compiles, and prints the ```output block that follows (line order is checked on one
              rank; on two ranks the lines may come in any order)
  parsec      compiles with --std=parsec
  error=NAME  is refused by the check NAME
  name=STEM   the file is called STEM.jdf; otherwise NAME in the text stands for the stem
"""
import argparse
import os
import re
import subprocess
import sys


def blocks(path):
    """(line, info words, text, expected output or None) of each jdf block."""
    found, lines, i = [], open(path).read().split("\n"), 0
    while i < len(lines):
        match = re.match(r"```(\w+)(.*)$", lines[i])
        if not match:
            i += 1
            continue
        start, kind, words = i + 1, match.group(1), match.group(2).split()
        i += 1
        text = []
        while lines[i] != "```":
            text.append(lines[i])
            i += 1
        i += 1
        body = "\n".join(text) + "\n"
        if kind == "jdf":
            found.append([start, words, body, None])
        elif kind == "output" and found:
            found[-1][3] = body
    return found


def call(command, cwd):
    return subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=480)


class Checker:
    def __init__(self, args):
        self.args, self.passed, self.failures = args, 0, []

    def fail(self, where, what, result=None):
        detail = "" if result is None else "\n" + result.stdout + result.stderr
        self.failures.append(f"{where}: {what}{detail}")

    def dagcc(self, *words):
        return call([self.args.dagcc, *words], self.args.work)

    def check_run(self, where, stem, expected):
        result = self.dagcc(f"{stem}.jdf", "-o", stem)
        if result.returncode != 0:
            return self.fail(where, "does not compile", result)
        if expected is None:
            return self.fail(where, "a run block needs an ```output block behind it")
        program = os.path.join(self.args.work, stem)
        for ranks in [1, 2] if self.args.mpi else [1]:
            result = call([self.args.mpirun, "-np", str(ranks), program], self.args.work)
            got, want = result.stdout, expected
            if ranks > 1:
                got, want = sorted(got.split("\n")), sorted(want.split("\n"))
            if result.returncode != 0 or got != want:
                return self.fail(where, f"wrong output on {ranks} ranks", result)
        self.passed += 1

    def check(self, path, line, words, text, expected, preamble):
        where = f"{os.path.basename(path)}:{line}"
        options = dict(w.split("=", 1) for w in words if "=" in w)
        stem = options.get("name", f"{os.path.basename(path).split('.')[0]}_{line}")
        if "classes" in words:
            text = preamble + text
        with open(os.path.join(self.args.work, f"{stem}.jdf"), "w") as out:
            out.write(text.replace("NAME_new", f"{stem}_new"))
        if "run" in words:
            return self.check_run(where, stem, expected)
        std = "--std=parsec" if "parsec" in words else "--std=dag"
        result = self.dagcc(std, "-c", f"{stem}.jdf", "-o", f"{stem}.o")
        if "error" in options:
            if result.returncode == 0 or f"={options['error']}]" not in result.stderr \
                    and f"[-W{options['error']}]" not in result.stderr:
                return self.fail(where, f"is not refused by {options['error']}", result)
        elif result.returncode != 0:
            return self.fail(where, "does not compile", result)
        self.passed += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--dagcc", required=True)
    parser.add_argument("--mpirun", required=True)
    parser.add_argument("--mpi", action="store_true", help="also run on two ranks")
    parser.add_argument("--work", required=True, help="directory for files made on the way")
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    args.dagcc, args.mpirun = os.path.abspath(args.dagcc), os.path.abspath(args.mpirun)
    os.makedirs(args.work, exist_ok=True)
    checker = Checker(args)
    for path in args.files:
        preamble = ""
        for line, words, text, expected in blocks(path):
            if "preamble" in words:
                preamble = text
            else:
                checker.check(path, line, words, text, expected, preamble)
    for failure in checker.failures:
        print(failure)
    print(f"{checker.passed} snippets passed, {len(checker.failures)} failed")
    return 1 if checker.failures or checker.passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
