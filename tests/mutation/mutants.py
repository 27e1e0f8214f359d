#!/usr/bin/env python3
"""Each mistake of mutants.txt is made, one at a time, and some program of the tests has to notice.

usage: mutants.py [--cmake FILE] [--work DIR] [--jobs N] [CMAKE-OPTION...] [NAME...]

At least 95 of 100 must be noticed; those that are not are named. All is done in a copy of the tree, built
as run.py builds it.
"""
import os
import pathlib
import re
import sys
import tempfile
import time

import run

FILE = pathlib.Path(__file__).with_name("mutants.txt")
ENOUGH = 0.95
LEAST, TIMES, MOST = 30, 4, 600  # seconds, and times what it takes as the tree is: one that hangs has noticed


class Mutant:
    def __init__(self, paragraph):
        head, file, *change, ask = paragraph.strip().splitlines()
        self.name, self.text = head.split(": ", 1)
        self.file = file.removeprefix("file: ")
        self.old = [line[2:] for line in change if line.startswith("- ")]
        self.new = [line[2:] for line in change if line.startswith("+ ")]
        if not (self.old and self.new and ask.startswith("ask: ")):
            sys.exit("mutants.py: %s is not complete" % self.name)
        self.ask = [word.strip() for word in ask.removeprefix("ask: ").split(",")]

    def programs(self):
        return {words.split()[0] for words in self.ask}

    def apply(self, tree):
        """The text as it was."""
        path = tree / "runtime" / self.file
        text = path.read_text()
        old, new = ("\n".join(part) for part in (self.old, self.new))
        if text.count(old) == 0:
            sys.exit("mutants.py: %s: there is no '%s' in %s" % (self.name, old, self.file))
        path.write_text(text.replace(old, new, 1))
        return text


def read():
    text = "\n".join(line for line in FILE.read_text().splitlines() if not line.startswith("#"))
    return [Mutant(paragraph) for paragraph in re.split(r"\n\s*\n", text) if paragraph.strip()]


def notices(lab, words, limit):
    """What a program says if it fails; None: it does not."""
    program, *rest = words.split()
    ranks = None
    if len(rest) >= 2 and rest[-2] == "on":
        ranks, rest = rest[-1], rest[:-2]
    part = "unit" if program.startswith("test_") else "integration"
    command = [lab.build / "tests" / part / program, *rest]
    if ranks:
        command = [lab.copy / "tools" / "mpirun", "-np", ranks, "--timeout", str(limit), *command]
    environment = os.environ | {"CK_DEFAULT_TIMEOUT": str(limit), "CK_VERBOSITY": "normal",
                                "DAG_TILE_TIMES": "off"}
    status, output = run.outcome(command, environment, limit + 10, lab.build)
    if status is None:
        return "hangs"
    if status == 0:
        return None
    lines = [line for line in output.splitlines() if re.search(
        r"Assertion|check failed|:[FE]:|FAILED|: rank|wrong|error", line)]
    return "status %d: %s" % (status, (lines or ["nothing said"])[0].strip()[:140])


def try_mutant(lab, mutant, limits):
    begin = time.monotonic()
    path = lab.copy / "runtime" / mutant.file
    before = mutant.apply(lab.copy)
    by = said = None
    try:
        lab.make(*mutant.programs())
        for words in mutant.ask:
            said = notices(lab, words, limits[words])
            if said:
                by = words
                break
    finally:
        path.write_text(before)
    print("%s  %s: %s [%.0f s]" % ("caught" if by else "MISSED", mutant.name, "%s: %s" % (by, said)
                                   if by else mutant.text, time.monotonic() - begin))
    return bool(by)


def main():
    sys.stdout.reconfigure(line_buffering=True)
    options, cmake_options, names = run.words(sys.argv[1:], __doc__)
    mutants = [m for m in read() if not names or m.name in names]
    if not mutants or len(mutants) < len(set(names)):
        sys.exit("mutants.py: no such mistake among %s" % names)
    with tempfile.TemporaryDirectory() as scratch:
        work = pathlib.Path(options["--work"] or scratch).resolve()
        work.mkdir(parents=True, exist_ok=True)
        lab = run.Lab(work, options["--cmake"], cmake_options, options["--jobs"])
        targets = lab.configure()
        for mutant in mutants:
            mutant.ask = [words for words in mutant.ask if words.split()[0] in targets]
        for mutant in [m for m in mutants if not m.ask]:
            print("left out %s: its programs are not part of this build" % mutant.name)
            mutants.remove(mutant)
        if not mutants:
            return 77
        lab.make(*set.union(*(m.programs() for m in mutants)))
        limits = {}
        for words in sorted({words for m in mutants for words in m.ask}):
            begin = time.monotonic()
            said = notices(lab, words, MOST)
            if said:
                sys.exit("%s fails as the tree is: %s" % (words, said))
            limits[words] = int(LEAST + TIMES * (time.monotonic() - begin))
        print("%d mistakes; the programs pass as the tree is" % len(mutants))
        missed = [m.name for m in mutants if not try_mutant(lab, m, limits)]
    print("%d of %d caught%s" % (len(mutants) - len(missed), len(mutants),
                                 "; not " + ", ".join(missed) if missed else ""))
    return 1 if len(mutants) - len(missed) < ENOUGH * len(mutants) else 0


if __name__ == "__main__":
    sys.exit(main())
