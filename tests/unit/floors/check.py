"""The floors of the runtime are what docs/architecture.md says they are.

    check.py SOURCE BUILD [NM]           compare the tree and the objects of a build with the table
    check.py SOURCE BUILD [NM] --table   print how many symbols each floor takes from each
    check.py --self-test                 the comparison fails where it should

Every #include "..." below runtime/, and every symbol that an object of a floor takes from another
one, has to be allowed by the row of its floor. There are no exceptions.
"""

import os
import re
import subprocess
import sys
import tempfile


class Floors:
    """The table: names, lowest first; what each may use; pairs that take nothing from each other."""

    def __init__(self, text):
        self.uses = {}
        self.apart = []
        section = re.search(r"^## The floors of the runtime\n(.*?)(?=^###? |\Z)", text, re.M | re.S)
        for line in (section.group(1) if section else "").splitlines():
            row = re.fullmatch(r"\| `(\w+)` \|.*\|([\w ]*)\|", line.strip())
            if row:
                self.uses[row.group(1)] = row.group(2).split()
            pair = re.match(r"`(\w+)` and `(\w+)` take nothing from each other", line)
            if pair:
                self.apart.append(pair.groups())
        self.names = list(self.uses)

    def faults(self):
        """What is wrong with the table itself."""
        if not self.names:
            yield "docs/architecture.md: no table of floors was found"
        elif not self.apart:
            yield "docs/architecture.md: no two floors are said to take nothing from each other"
        for k, name in enumerate(self.names):
            for used in self.uses[name]:
                if used not in self.names[:k]:
                    yield f"docs/architecture.md: `{name}` may use {used}, which is not a floor below it"
        for a, b in self.apart:
            if b in self.uses.get(a, []) or a in self.uses.get(b, []):
                yield f"docs/architecture.md: `{a}` and `{b}` are said to take nothing from each other"

    def refusal(self, source, target):
        """Why `source` may not take from `target`; None = it may."""
        if source == target or target in self.uses.get(source, []):
            return None
        where = "upwards"
        if target not in self.names:
            where = "to no floor at all"
        elif source in self.names and self.names.index(target) < self.names.index(source):
            where = "past the table"
        allowed = " ".join(self.uses.get(source, [])) or "nothing"
        return f"{source} -> {target}, {where}: {source} may use {allowed}"


def floor_of(path, root):
    """The first folder of a path below root, or "" for what is not below a folder of it."""
    parts = os.path.relpath(path, root).split(os.sep)
    return parts[0] if len(parts) > 1 and parts[0] != ".." else ""


def sources(root):
    for folder, folders, files in os.walk(root):
        folders.sort()
        for name in sorted(files):
            if name.endswith((".c", ".h", ".inc")):
                yield os.path.join(folder, name)


def targets_of(include, path, root):
    """Files of the runtime that an #include may mean: beside the file, or on a path below runtime/."""
    beside = os.path.normpath(os.path.join(os.path.dirname(path), include))
    if os.path.exists(beside):
        return [beside]
    below = (os.path.join(folder, include) for folder, _, _ in os.walk(root))
    return [path for path in below if os.path.exists(path)]


def include_faults(floors, root):
    for path in sources(root):
        source = floor_of(path, root)
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                match = re.match(r'\s*#\s*include\s*"([^"]+)"', line)
                for target in targets_of(match.group(1), path, root) if match else []:
                    refusal = floors.refusal(source, floor_of(target, root) or "outside of the floors")
                    if refusal:
                        name = os.path.relpath(path, os.path.dirname(root))
                        yield f'{name}:{number}: #include "{match.group(1)}": {refusal}'


def view_faults(root):
    """Layout alone makes views of matrices."""
    makers = re.compile(r"(?:->|\.)whole = \w+->whole")
    for path in [*sources(root), *sources(os.path.join(os.path.dirname(root), "dsl-examples"))]:
        with open(path, encoding="utf-8") as file:
            if floor_of(path, root) != "layout" and makers.search(file.read()):
                yield f"{os.path.relpath(path, os.path.dirname(root))}: a view is made outside of runtime/layout"


def folder_faults(floors, root):
    folders = {name for name in os.listdir(root) if os.path.isdir(os.path.join(root, name))}
    for name in sorted(folders - set(floors.names)):
        yield f"runtime/{name}: a folder without a row in docs/architecture.md"
    for name in floors.names:
        if name not in folders:
            yield f"docs/architecture.md: `{name}` is a row without a folder"
            continue
        try:
            with open(os.path.join(root, name, "README.md"), encoding="utf-8") as file:
                title = file.readline()
        except OSError:
            title = ""
        if not re.match(rf"# runtime/{name}\b", title):
            yield f"runtime/{name}: it does not open with a README.md of that name"
    with open(os.path.join(root, "CMakeLists.txt"), encoding="utf-8") as file:
        listed = re.search(r"set\(DAG_FLOORS ([\w ]+)\)", file.read())
    if not listed or listed.group(1).split() != floors.names:
        yield "runtime/CMakeLists.txt: DAG_FLOORS is not the column of floors in docs/architecture.md"


class Symbols:
    """What the objects of floors define and take. build/runtime/CMakeFiles/LIBRARY.dir/FLOOR/..."""

    def __init__(self, build, nm):
        self.owner = {}  # symbol -> (floor, object)
        self.taken = []  # (symbol, floor, object)
        self.faults = []
        self.seen = set()
        libraries = os.path.join(build, "runtime", "CMakeFiles")
        objects = []
        for folder, _, files in sorted(os.walk(libraries)):
            library = os.path.relpath(folder, libraries).split(os.sep)[0]
            if re.match(r"dag_((floor|pure)_\w+|trace_file)\.dir$", library):
                objects += [os.path.join(folder, f) for f in sorted(files) if f.endswith((".o", ".obj"))]
        if objects:
            self.read(objects, libraries, nm)

    def read(self, objects, libraries, nm):
        text = subprocess.run([nm, "-A", "-g", "-P", *objects], check=True, capture_output=True,
                              text=True).stdout
        places = {}
        for path in objects:
            library, name = os.path.relpath(path, libraries).split(os.sep, 1)
            floor = name.split(os.sep)[0]
            built_for = re.fullmatch(r"dag_(?:floor|pure)_(\w+)\.dir", library)
            if built_for and built_for.group(1) != floor:
                self.faults.append(f"{name}: a part of the library of {built_for.group(1)}")
            self.seen.add(floor)
            places[path] = (floor, name)
        for line in text.splitlines():
            path, _, entry = line.partition(": ")
            self.enter(*places[path], *entry.split()[:2])

    def enter(self, floor, name, symbol, kind):
        if kind in "Uwv":
            self.taken.append((symbol, floor, name))
        elif self.owner.setdefault(symbol, (floor, name))[0] != floor:
            self.faults.append(f"{name}: {symbol} is defined in {self.owner[symbol][1]} too")

    def crossings(self):
        """(symbol, from, to, object that takes it), sorted."""
        return sorted((s, f, self.owner[s][0], o) for s, f, o in self.taken
                      if s in self.owner and self.owner[s][0] != f)


def symbol_faults(floors, symbols):
    yield from symbols.faults
    for name in floors.names:
        if name not in symbols.seen:
            yield f"{name}: the build has no object of this floor"
    for symbol, source, target, where in symbols.crossings():
        refusal = floors.refusal(source, target)
        if refusal:
            yield f"{where}: symbol {symbol} of {symbols.owner[symbol][1]}: {refusal}"


def read_floors(source):
    with open(os.path.join(source, "docs", "architecture.md"), encoding="utf-8") as file:
        return Floors(file.read())


def check(source, build, nm):
    floors, root = read_floors(source), os.path.join(os.path.abspath(source), "runtime")
    return [*floors.faults(), *folder_faults(floors, root), *include_faults(floors, root),
            *view_faults(root),
            *symbol_faults(floors, Symbols(build, nm))]


def print_table(source, build, nm):
    floors = read_floors(source).names
    taken = {(s, f, t) for s, f, t, _ in Symbols(build, nm).crossings()}
    print("Symbols that a row takes from a column:\n")
    print("| | " + " | ".join(floors) + " |\n" + "|---" * (len(floors) + 1) + "|")
    for row in floors:
        cells = [sum(1 for _, f, t in taken if (f, t) == (row, column)) for column in floors]
        print(f"| {row} | " + " | ".join(str(n) for n in cells) + " |")


# ---- the comparison itself ----------------------------------------------------------------------

TABLE = """## The floors of the runtime

| floor | what lives there | may use |
|---|---|---|
| `base` | the ground | |
| `data` | values | base |
| `trace` | events | base |
| `task` | tasks | base data trace |

`data` and `trace` take nothing from each other.

### Next
"""

# Each object of the made-up build is text, which the made-up nm below prints.
TREE = {
    "docs/architecture.md": TABLE,
    "runtime/CMakeLists.txt": "set(DAG_FLOORS base data trace task)\n",
    **{f"runtime/{f}/README.md": f"# runtime/{f}: a floor\n" for f in ("base", "data", "trace", "task")},
    "runtime/base/base.h": "",
    "runtime/data/data.h": '#include "../base/base.h"\n',
    "runtime/trace/trace.h": '#include "../base/base.h"\n',
    "runtime/trace/file/read.c": '#include "../trace.h"\n#include <stdio.h>\n#include "page.inc"\n',
    "runtime/task/task.c": '#include "../data/data.h"\n  #  include "../trace/trace.h"\n',
    "build/runtime/CMakeFiles/dag_floor_base.dir/base/base.c.o": "dagi_now T 0 1\nmalloc U\n",
    "build/runtime/CMakeFiles/dag_floor_data.dir/data/data.c.o": "dagi_value T 0 1\ndagi_now U\n",
    "build/runtime/CMakeFiles/dag_floor_trace.dir/trace/trace.c.o": "dagi_trace B 0 8\ndagi_now U\n",
    "build/runtime/CMakeFiles/dag_trace_file.dir/trace/file/read.c.o": "dagt_read T 0 1\n",
    "build/runtime/CMakeFiles/dag_floor_task.dir/task/task.c.o":
        "dagi_run T 0 1\ndagi_value U\ndagi_trace U\ndagt_read U\n",
}
OBJECTS = "build/runtime/CMakeFiles/"

# Path; what is appended to it, or a pair: what replaces what, or None: it is removed; the complaint.
FAULTS = [
    ("runtime/base/base.h", '#include "../data/data.h"\n',
     'runtime/base/base.h:1: #include "../data/data.h": base -> data, upwards: base may use nothing'),
    ("runtime/base/base.h", '#include "data/data.h"\n', "base -> data, upwards"),
    ("runtime/base/base.h", '#include "data.h"\n', "base -> data, upwards"),
    ("runtime/base/base.h", '#include "../../docs/architecture.md"\n', "base -> outside of the floors"),
    ("runtime/trace/file/read.c", '#include "../../data/data.h"\n', "trace -> data, past the table"),
    (OBJECTS + "dag_floor_base.dir/base/base.c.o", "dagi_run U\n",
     "base/base.c.o: symbol dagi_run of task/task.c.o: base -> task, upwards: base may use nothing"),
    (OBJECTS + "dag_floor_data.dir/data/data.c.o", "dagi_trace w\n",
     "data/data.c.o: symbol dagi_trace of trace/trace.c.o: data -> trace, upwards: data may use base"),
    (OBJECTS + "dag_floor_trace.dir/trace/trace.c.o", "dagi_value U\n", "trace -> data, past the table"),
    (OBJECTS + "dag_floor_task.dir/task/task.c.o", "dagi_now T 8 1\n", "dagi_now is defined in"),
    (OBJECTS + "dag_floor_task.dir/task/task.c.o", None, "task: the build has no object"),
    (OBJECTS + "dag_floor_task.dir/data/more.c.o", "", "a part of the library of task"),
    ("dsl-examples/top.c", "top->whole = A->whole != NULL ? A->whole : A;\n",
     "dsl-examples/top.c: a view is made outside of runtime/layout"),
    ("runtime/attic/old.c", "", "runtime/attic: a folder without a row"),
    ("runtime/task/README.md", None, "runtime/task: it does not open with a README.md"),
    ("docs/architecture.md", ("### Next", "| `roof` | | base |\n"), "`roof` is a row without a folder"),
    ("docs/architecture.md", ("events | base |", "events | base task |"), "`trace` may use task, which"),
    ("docs/architecture.md", ("events | base |", "events | base data |"), "are said to take nothing"),
    ("docs/architecture.md", ("take nothing", "take little"), "no two floors are said"),
    ("docs/architecture.md", ("## The floors", "## Floors"), "no table of floors"),
    ("runtime/CMakeLists.txt", ("data trace", "trace data"), "DAG_FLOORS is not the column"),
]


def made_up(tree, folder):
    for path, text in tree.items():
        path = os.path.join(folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    nm = os.path.join(folder, "nm")
    with open(nm, "w", encoding="utf-8") as file:
        file.write('#!/bin/sh\nshift 3\nfor object; do sed "s|^|$object: |" "$object"; done\n')
    os.chmod(nm, 0o755)
    return check(folder, os.path.join(folder, "build"), nm)


def self_test():
    wrong = 0
    for path, change, complaint in [("", "", None), *FAULTS]:
        tree = dict(TREE)
        if change is None:
            del tree[path]
        elif isinstance(change, tuple):
            tree[path] = tree[path].replace(*change)
        elif path:
            tree[path] = tree.get(path, "") + change
        with tempfile.TemporaryDirectory() as folder:
            found = made_up(tree, folder)
        if not (any(complaint in f for f in found) if complaint else not found):
            wrong += 1
            print(f"{path or 'the right tree'}, {change!r}: expected {complaint!r}, got {found}")
    print(f"self-test: {len(FAULTS) + 1} trees, {wrong} wrong")
    return 1 if wrong else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    table = "--table" in arguments
    names = [a for a in arguments if a != "--table"]
    if len(names) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    source, build, nm = (*names, "nm")[:3]
    if table:
        print_table(source, build, nm)
        return 0
    found = check(source, build, nm)
    for fault in found:
        print(fault)
    print(f"floors: {len(found)} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
