#!/usr/bin/env python3
"""Every entry of the table of copies (runtime/data/copies.c) is changed, one at a time, into each other value
that it could have, and has to be noticed.

usage: table.py --cc CC --flags FLAGS [--libs LIBS] [--model CHECK.SH]

A change is equivalent if the table of tests/model says the same for every legal record of three spaces, every
event and every space: records of more spaces have no pair of states that those of three lack, and the
table is asked with a copy's own state, or that and one other's. Every other change must fail
tests/unit/test_copies.c. With --model spin is asked, too, about a sample, and what it finds is counted.
"""
import argparse
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parent.parent
EVENTS = "FILL WRITE SAVE EVICT DROP".split()
STATES = "ISEOM"
ACTIONS = "DONE MOVE SAVE_FIRST".split()
RULE = 2 + len(STATES)  # bytes: next, action, others
SAMPLE = 9  # one of so many is shown to the model
# What stands behind the copy of copies.c: the change that the environment asks for.
TAIL = """
#include <stdio.h>
_Static_assert(sizeof(rule) == 2 + STATES && sizeof(rules) == EVENTS * STATES * sizeof(rule), "bytes");
__attribute__((constructor)) static void change(void)
{
    const char *wanted = getenv("DAGCC_TABLE_CHANGE");
    unsigned at, value;
    if (wanted == NULL)
        return;
    if (sscanf(wanted, "rules %u %u", &at, &value) == 2)
        ((uint8_t *)rules)[at] = (uint8_t)value;
    else if (sscanf(wanted, "alone %u %u", &at, &value) == 2)
        ((uint8_t *)alone)[at] = (uint8_t)value;
    else
        abort();
}
"""


def changes(table):
    """(what DAGCC_TABLE_CHANGE says, a name) of each change; `table` has the bytes as they are."""
    for event, name in enumerate(EVENTS):
        for own in range(5):
            for byte in range(RULE):
                at = (event * 5 + own) * RULE + byte
                what = ("next", "action", *("others[%s]" % s for s in STATES))[byte]
                values = ACTIONS if byte == 1 else STATES
                for value in range(len(values)):
                    if value != table["rules"][at]:
                        yield ("rules %d %d" % (at, value),
                               "%s of %s: %s = %s" % (name, STATES[own], what, values[value]))
    for where in range(2):
        for own in range(5):
            for value in range(5):
                if value != table["alone"][where * 5 + own]:
                    yield ("alone %d %d" % (where * 5 + own, value), "alone on %s, %s: %s" % (
                        ("the host", "a device")[where], STATES[own], STATES[value]))


class Lab:
    def __init__(self, work, cc, flags, libs):
        self.work = pathlib.Path(work)
        source = (TREE / "runtime/data/copies.c").read_text()
        for name in "rule rules", "uint8_t alone":
            if source.count("static const %s[" % name) != 1:
                sys.exit("table.py: there is no 'static const %s[' in copies.c" % name)
            source = source.replace("static const %s[" % name, "static %s[" % name)
        dump = source + TAIL + "int main(void)\n{\n" + "".join(
            "for (size_t i = 0; i < sizeof(%s); i++)\nprintf(\"%s %%d\\n\", ((uint8_t *)%s)[i]);\n" %
            (name, name, name) for name in ("rules", "alone")) + "return 0;\n}\n"
        flags = [cc, *shlex.split(flags), "-O1", "-I%s" % (TREE / "include"), "-I%s" % (TREE / "runtime/data"), "-w"]
        (self.work / "copies.c").write_text(source + TAIL)
        (self.work / "dump.c").write_text(dump)
        self.call(*flags, "-o", self.work / "dump", self.work / "dump.c")
        self.call(*flags, "-o", self.work / "unit", TREE / "tests/unit/test_copies.c",
                  self.work / "copies.c", "-pthread", *shlex.split(libs))
        # copies_table.c names its header by where it stands.
        self.call(*flags, "-o", self.work / "table", TREE / "tests/model/copies_table.c",
                  self.work / "copies.c")

    def call(self, *command):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            sys.exit("%s\n%s" % (" ".join(map(str, command)), done.stdout[-4000:]))
        return done.stdout

    def bytes(self):
        found = {"rules": [], "alone": []}
        for line in self.call(self.work / "dump").splitlines():
            name, value = line.split()
            found[name].append(int(value))
        return found

    def legal_part(self, change):
        """What the table says of legal records; None: it ends with an assertion."""
        done = subprocess.run([self.work / "table"], env=self.environment(change), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if done.returncode != 0:
            return None
        arrays = {name: [int(x) for x in body.replace("\n", "").split(",")] for name, body in re.findall(
            r"byte (\w+)\[\d+\] = \{([^}]*)\}", done.stdout)}
        step = len(arrays["next_of"]) // len(arrays["legal"])
        return [arrays[name][i] for i in range(len(arrays["next_of"]))
                for name in ("next_of", "action_of") if arrays["legal"][i // step]]

    @staticmethod
    def environment(change):
        environment = os.environ | {"CK_FORK": "no", "CK_VERBOSITY": "silent"}
        return environment | {"DAGCC_TABLE_CHANGE": change} if change else environment

    def passes(self, change):
        try:
            return subprocess.run([self.work / "unit"], env=self.environment(change), timeout=120,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
        except subprocess.TimeoutExpired:
            return False

    def model_finds(self, check, cc, change):
        return subprocess.run(["bash", check, self.work / "table", cc, TREE / "tests/model/copies.pml",
                               "wrong", "", "-DTASKS=4", "-DBLOCKS=1"], env=self.environment(change),
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--flags", default="")
    parser.add_argument("--libs", default="-lcheck -lsubunit -lrt -lm")
    parser.add_argument("--model")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        lab = Lab(work, arguments.cc, arguments.flags, arguments.libs)
        right = lab.legal_part(None)
        if right is None or not lab.passes(None):
            sys.exit("table.py: the unit test fails as the tree is")
        every = list(changes(lab.bytes()))
        equivalent = [c for c in every if lab.legal_part(c[0]) == right]
        others = [c for c in every if c not in equivalent]
        missed = [c for c in others if lab.passes(c[0])]
        wrong = [c for c in equivalent if not lab.passes(c[0])]
        print("%d changes, %d of them equivalent; the unit test finds %d of the other %d" % (
            len(every), len(equivalent), len(others) - len(missed), len(others)))
        for _, name in missed:
            print("MISSED  " + name)
        for _, name in wrong:
            print("FOUND, though it is equivalent: " + name)
        if arguments.model:
            sample = others[::SAMPLE]
            lost = [c for c in sample if not lab.model_finds(arguments.model, arguments.cc, c[0])]
            print("the model finds %d of %d" % (len(sample) - len(lost), len(sample)))
            for _, name in lost:
                print("not by the model: " + name)
    return 1 if missed or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
