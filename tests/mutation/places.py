#!/usr/bin/env python3
"""The mistakes that run.py and mutants.py make can still be made: each patch applies without looking
elsewhere, each line is where mutants.txt says, and there are the programs that are to notice.

usage: places.py
"""
import shutil
import subprocess
import sys

import mutants
import run


def program_is_there(name):
    """Of tests/unit, or FOLDER_FILE of tests/integration."""
    folder, _, stem = name.partition("_")
    tests = run.TREE / "tests"
    return next((tests / "unit").rglob(name + ".c"), None) or any(
        (tests / "integration" / place).is_file() for place in (
            f"{folder}/{stem}.jdf", f"{folder}/{stem}.c", f"{stem}.jdf"))


def main():
    wrong = []
    for path in sorted(run.HERE.glob("*.patch")):
        command = ["patch", "-p1", "-s", "-F0", "--dry-run", "-d", run.TREE, "-i", path]
        if shutil.which("patch") and subprocess.run(command, stdout=subprocess.DEVNULL).returncode != 0:
            wrong.append("%s does not apply: make it again, as README.md says" % path.name)
        if not program_is_there(run.Patch(path).program):
            wrong.append("%s: there is no program %s" % (path.name, run.Patch(path).program))
    for mutant in mutants.read():
        path = run.TREE / "runtime" / mutant.file
        if not path.is_file() or "\n".join(mutant.old) not in path.read_text():
            wrong.append("mutants.txt: %s: %s has no '%s'" % (mutant.name, mutant.file, mutant.old[0]))
        wrong += ["mutants.txt: %s: there is no program %s" % (mutant.name, program)
                  for program in mutant.programs() if not program_is_there(program)]
    print("\n".join(wrong) or "all mistakes can be made")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
