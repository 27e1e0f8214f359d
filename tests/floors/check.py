"""The folders of the runtime and of the compiler take from each other what their tables allow.

    check.py runtime|compiler SOURCE [BUILD [NM]]         compare includes, and a build's objects, with the table
    check.py runtime|compiler SOURCE BUILD [NM] --table   print how many symbols each folder takes from each
    check.py --self-test                                  the comparison fails where it should

A row of a table names a folder and what it may use: folders above it in the table, so that nothing
points upwards. Every #include and every symbol that an object takes from another folder has to be
allowed by the row of its folder. There are no exceptions. HOUSES says where the tables are and what
else holds.
"""

import collections
import os
import re
import subprocess
import sys
import tempfile

SOURCES = (".c", ".h", ".inc", ".in", ".l", ".y")


class House:
    """A directory of folders, the page with its table, and the rules that it has beside."""

    def __init__(self, root, page, heading, libraries, beside):
        self.root, self.page, self.heading = root, page, heading
        self.libraries = re.compile(libraries)
        self.beside = beside  # its own rules


class Table:
    """The rows: names, lowest first; what each may use; pairs that take nothing from each other."""

    def __init__(self, source, house):
        self.page, self.uses, self.apart = house.page, {}, []
        with open(os.path.join(source, house.page), encoding="utf-8") as file:
            section = re.search(rf"^## {house.heading}\n(.*?)(?=^###? |\Z)", file.read(), re.M | re.S)
        for line in (section.group(1) if section else "").splitlines():
            row = re.fullmatch(r"\| `([\w/]+)` \|.*\|([\w ./`]*)\|", line.strip())
            if row:
                self.uses[row.group(1)] = row.group(2).replace("`", "").split()
            pair = re.match(r"`(\w+)` and `(\w+)` take nothing from each other", line)
            if pair:
                self.apart.append(pair.groups())
        self.names = list(self.uses)

    def faults(self):
        """What is wrong with the table itself."""
        if not self.names:
            yield f"{self.page}: no table of folders was found"
        for k, name in enumerate(self.names):
            for used in self.uses[name]:
                if used not in self.names[:k] and not used.startswith("dag/"):
                    yield f"{self.page}: `{name}` may use {used}, which is not a folder above it"
        for a, b in self.apart:
            if b in self.uses.get(a, []) or a in self.uses.get(b, []):
                yield f"{self.page}: `{a}` and `{b}` are said to take nothing from each other"

    def folder_of(self, path):
        """The row in whose folder, or below it, a path lies; for one in no row its directory."""
        at = os.path.dirname(path)
        while at and at not in self.uses:
            at = os.path.dirname(at)
        return at or os.path.dirname(path)

    def refusal(self, source, target):
        """Why `source` may not take from `target`; None = it may."""
        if source == target or target in self.uses.get(source, []):
            return None
        where = "upwards"
        if target not in self.names:
            where = "to no row at all"
        elif source in self.names and self.names.index(target) < self.names.index(source):
            where = "past the table"
        allowed = " ".join(self.uses.get(source, [])) or "nothing"
        return f"{source} -> {target}, {where}: {source} may use {allowed}"


class Tree:
    """The sources below a root: their paths from there, and what they include."""

    def __init__(self, root):
        self.root = root
        self.directories = [os.path.relpath(d, root) for d, _, _ in os.walk(root)]
        self.paths = sorted(os.path.relpath(os.path.join(d, name), root)
                            for d, _, names in os.walk(root) for name in names
                            if name.endswith(SOURCES))

    def text(self, path):
        with open(os.path.join(self.root, path), encoding="utf-8") as file:
            return file.read()

    def has(self, path):
        return os.path.exists(os.path.join(self.root, path))

    def origin(self, path):
        """The source that the build makes path from, or path itself; None = there is none."""
        stem = re.sub(r"\.(tab|yy)\.[ch]$", "", path)
        return next((p for p in (path, path + ".in", stem + ".y", stem + ".l") if self.has(p)), None)

    def includes(self, path):
        """(line, text) of each #include of a path; <...> of the contract too."""
        for number, line in enumerate(self.text(path).splitlines(), 1):
            match = re.match(r'\s*#\s*include\s*("[^"]+"|<dag/[^>]+>)', line)
            if match:
                yield number, match.group(1)

    def targets(self, path, include):
        """What an #include "..." may mean: a file beside, or one on a path below any directory."""
        beside = os.path.normpath(os.path.join(os.path.dirname(path), include))
        if self.has(beside):
            return [beside]
        below = (os.path.normpath(os.path.join(directory, include)) for directory in self.directories)
        return [p for p in below if self.origin(p)]


def circle(edges):
    """A circle in {node: set of nodes} as a list, or None."""
    done, path = set(), []

    def visit(node):
        if node in path:
            return path[path.index(node):] + [node]
        if node in done:
            return None
        path.append(node)
        for following in sorted(edges.get(node, ())):
            found = visit(following)
            if found:
                return found
        path.pop()
        done.add(node)
        return None

    return next((c for c in map(visit, sorted(edges)) if c), None)


def include_faults(table, tree, used):
    """Faults of includes; enters into `used` (folder, folder) what one takes from another."""
    edges = collections.defaultdict(set)
    for path in tree.paths:
        source = table.folder_of(path)
        if source not in table.uses:
            yield f"{path}: a source in a folder without a row in {table.page}"
            continue
        for number, include in tree.includes(path):
            name = include[1:-1]
            if include[0] == "<":
                used.add((source, name))
                continue
            for target in tree.targets(path, name):
                folder = table.folder_of(target) if not target.startswith("..") else "outside"
                used.add((source, folder))
                if folder == source:
                    edges[path].add(target)
                refusal = table.refusal(source, folder)
                if refusal:
                    yield f"{path}:{number}: #include {include}: {refusal}"
    found = circle(edges)
    if found:
        yield f"a circle of includes: {' -> '.join(found)}"


class Symbols:
    """What the objects define and take: BUILD/ROOT/CMakeFiles/LIBRARY.dir/FOLDER/FILE.c.o"""

    def __init__(self, house, table, tree, build, nm):
        self.owner = {}  # symbol -> (folder, path of the source)
        self.taken = []  # (symbol, folder, path)
        self.faults = []
        self.seen = set()
        self.table, self.build = table, build
        places = {}
        libraries = os.path.join(build or os.devnull, house.root, "CMakeFiles")
        for directory, _, names in sorted(os.walk(libraries)):
            library, _, folder = os.path.relpath(directory, libraries).partition(".dir" + os.sep)
            for name in sorted(names) if house.libraries.fullmatch(library) else ():
                path = os.path.join(folder, os.path.splitext(name)[0])
                if name.endswith((".o", ".obj")) and tree.origin(path):
                    places[os.path.join(directory, name)] = (library, path)
        if places:
            self.read(places, nm)

    def read(self, places, nm):
        text = subprocess.run([nm, "-A", "-g", "-P", *places], check=True, capture_output=True,
                              text=True).stdout
        for library, path in places.values():
            folder = self.table.folder_of(path)
            built_for = re.fullmatch(r"dag_(?:floor|pure)_(\w+)", library)
            if built_for and built_for.group(1) != folder:
                self.faults.append(f"{path}: a part of the library of {built_for.group(1)}")
            self.seen.add(folder)
        for line in text.splitlines():
            place, _, entry = line.partition(": ")
            path = places[place][1]
            self.enter(self.table.folder_of(path), path, *entry.split()[:2])

    def enter(self, folder, path, symbol, kind):
        if kind in "Uwv":
            self.taken.append((symbol, folder, path))
        elif symbol != "main" and self.owner.setdefault(symbol, (folder, path))[0] != folder:
            self.faults.append(f"{path}: {symbol} is defined in {self.owner[symbol][1]} too")

    def crossings(self):
        """(symbol, from, to, source that takes it), sorted."""
        return sorted((s, f, self.owner[s][0], p) for s, f, p in self.taken
                      if s in self.owner and self.owner[s][0] != f)

    def calls(self):
        """{source: the sources of its folder of which it takes symbols}"""
        edges = collections.defaultdict(set)
        for symbol, folder, path in self.taken:
            owner = self.owner.get(symbol)
            if owner and owner[0] == folder and owner[1] != path:
                edges[path].add(owner[1])
        return edges


def symbol_faults(table, symbols, used):
    yield from symbols.faults
    for symbol, source, target, path in symbols.crossings():
        used.add((source, target))
        refusal = table.refusal(source, target)
        if refusal:
            yield f"{path}: symbol {symbol} of {symbols.owner[symbol][1]}: {refusal}"


def row_faults(house, table, tree):
    for name in table.names:
        if not os.path.isdir(os.path.join(tree.root, name)):
            yield f"{table.page}: `{name}` is a row without a folder"
            continue
        page = os.path.join(name, "README.md")
        title = tree.text(page).split("\n")[0] if tree.has(page) else ""
        if not re.match(rf"# {house.root}/{name}(?![\w/])", title):
            yield f"{house.root}/{name}: it does not open with a README.md of that name"


# ---- rules of one house alone ---------------------------------------------------------------------


def port_faults(table, tree, page):
    """The table of ports names all, where each is declared, and who fills it from a floor above."""
    rows = re.findall(r"^\| `(\w+)[.`].*\| `([\w/]+\.h)` \| ([^|]+) \| \S", page, re.M)
    for name, header, fillers in rows:
        if not tree.has(header) or not re.search(rf"\b{name}\b", tree.text(header)):
            yield f"{table.page}: {header} does not declare {name}"
            continue
        for filler in re.findall(r"\w+", fillers.replace(" or ", " ")):
            if filler not in table.names[table.names.index(table.folder_of(header)) + 1:]:
                yield f"{table.page}: {name} is filled by {filler}, which is no floor above {header}"
    named = {name for name, _, _ in rows}
    for path in (p for p in tree.paths if p.endswith(".h")):
        for name in re.findall(r"^(?:\} |typedef .*\(\*)(dagi_\w+_port)\b", tree.text(path), re.M):
            if name not in named:
                yield f"{table.page}: {name} of {path} is no row of the ports"


def runtime_rules(source, table, tree, symbols, _):
    """Two floors are apart, layout alone makes views of matrices, the build has all floors, the page all ports."""
    with open(os.path.join(source, table.page), encoding="utf-8") as file:
        yield from port_faults(table, tree, file.read())
    for name in table.names if symbols.build else ():
        if name not in symbols.seen:
            yield f"{name}: the build has no object of this floor"
    if not table.apart:
        yield f"{table.page}: no two floors are said to take nothing from each other"
    makers = re.compile(r"super\.whole = ")
    for house in (tree, Tree(os.path.join(source, "dsl-examples"))):
        for path in house.paths:
            if (house is not tree or table.folder_of(path) != "layout") and makers.search(house.text(path)):
                yield f"{os.path.basename(house.root)}/{path}: a view is made outside of runtime/layout"
    listed = re.search(r"set\(DAG_FLOORS ([\w ]+)\)", tree.text("CMakeLists.txt"))
    if not listed or listed.group(1).split() != table.names:
        yield f"runtime/CMakeLists.txt: DAG_FLOORS is not the column of floors in {table.page}"


def compiler_rules(_, table, tree, symbols, used):
    """"file.h" lies beside, "folder/file.h" in another folder; calls in a folder make no circle; a row
    allows nothing that its folder does not include."""
    for name in table.names:
        for other in table.uses[name]:
            if (name, other) not in used:
                yield f"{table.page}: `{name}` may use {other}, which it does not use"
    if symbols.build and not symbols.seen:
        yield "the build has no object of the compiler"
    for path in tree.paths:
        moved = path.endswith((".l", ".y"))  # what is made of it lies elsewhere
        for number, include in tree.includes(path):
            folder, name = os.path.split(include[1:-1])
            fault = None
            if include[0] == '"' and not folder:
                beside = tree.has(os.path.join(os.path.dirname(path), name))
                fault = None if beside and not moved else "it names no folder"
            elif include[0] == '"':
                own = folder == os.path.dirname(path) and not moved and tree.has(include[1:-1])
                fault = "it names its own folder" if own else None
                fault = fault if tree.origin(include[1:-1]) else "there is no such file"
            if fault:
                yield f"{path}:{number}: #include {include}: {fault}"
            elif include[0] == "<" and include[1:-1] not in table.uses.get(table.folder_of(path), []):
                yield f"{path}:{number}: #include {include}, which the table does not allow"
    found = circle(symbols.calls())
    if found:
        yield f"a circle of calls: {' -> '.join(found)}"


HOUSES = {
    "runtime": House("runtime", "docs/architecture.md", "The floors of the runtime",
                     r"dag_(?:(?:floor|pure)_\w+|trace_file)", runtime_rules),
    "compiler": House("compiler", "compiler/README.md", "Floors", r"dagcc\w*", compiler_rules),
}


def check(house, source, build, nm):
    table, tree, used = Table(source, house), Tree(os.path.join(source, house.root)), set()
    symbols = Symbols(house, table, tree, build, nm)
    return [*table.faults(), *include_faults(table, tree, used), *symbol_faults(table, symbols, used),
            *row_faults(house, table, tree), *house.beside(source, table, tree, symbols, used)]


def print_table(house, source, build, nm):
    table, tree = Table(source, house), Tree(os.path.join(source, house.root))
    taken = {(s, f, t) for s, f, t, _ in Symbols(house, table, tree, build, nm).crossings()}
    print("Symbols that a row takes from a column:\n")
    print("| | " + " | ".join(table.names) + " |\n" + "|---" * (len(table.names) + 1) + "|")
    for row in table.names:
        cells = [sum(1 for _, f, t in taken if (f, t) == (row, column)) for column in table.names]
        print(f"| {row} | " + " | ".join(str(n) for n in cells) + " |")


# ---- the comparison itself ------------------------------------------------------------------------

# Two small trees. Each object of their builds is text, which the made-up nm below prints.
RUNTIME = {
    "docs/architecture.md": """## The floors of the runtime

| floor | what lives there | may use |
|---|---|---|
| `base` | the ground | |
| `data` | values | base |
| `trace` | events | base |
| `task` | tasks | data trace |

`data` and `trace` take nothing from each other.

### Next
""",
    "runtime/CMakeLists.txt": "set(DAG_FLOORS base data trace task)\n",
    **{f"runtime/{f}/README.md": f"# runtime/{f}: a floor\n" for f in ("base", "data", "trace", "task")},
    "runtime/base/base.h": "",
    "runtime/base/base.c": '#include "base.h"\n',
    "runtime/data/data.h": '#include "../base/base.h"\n#define DAG_DATA_H\n',
    "runtime/data/data.c": "",
    "runtime/trace/trace.h": '#include "../base/base.h"\n',
    "runtime/trace/trace.c": "",
    "runtime/trace/file/read.c": '#include "../trace.h"\n#include <stdio.h>\n#include "page.inc"\n',
    "runtime/task/task.c": '#include "../data/data.h"\n  #  include "../trace/trace.h"\n',
    "dsl-examples/top.c": "",
    "build/runtime/CMakeFiles/dag_floor_base.dir/base/base.c.o": "dagi_now T 0 1\nmalloc U\n",
    "build/runtime/CMakeFiles/dag_floor_base.dir/base/gone.c.o": "dagi_run U\n",
    "build/runtime/CMakeFiles/dag_floor_data.dir/data/data.c.o": "dagi_value T 0 1\ndagi_now U\n",
    "build/runtime/CMakeFiles/dag_floor_trace.dir/trace/trace.c.o": "dagi_trace B 0 8\ndagi_now U\n",
    "build/runtime/CMakeFiles/dag_trace_file.dir/trace/file/read.c.o": "dagt_read T 0 1\n",
    "build/runtime/CMakeFiles/dag_floor_task.dir/task/task.c.o":
        "dagi_run T 0 1\ndagi_value U\ndagi_trace U\ndagt_read U\n",
}
COMPILER = {
    "compiler/README.md": """## Floors

| folder | what lives there | may include |
|---|---|---|
| `diag` | texts | |
| `front/jdf` | the parser | `diag` |
| `plan` | decisions | `diag` `front/jdf` `dag/jdf.h` |
""",
    **{f"compiler/{f}/README.md": f"# compiler/{f}: a folder\n" for f in ("diag", "front/jdf", "plan")},
    "compiler/diag/diag.h": "",
    "compiler/diag/diag.c": '#include "diag.h"\n',
    "compiler/front/jdf/parse.y": '#include "diag/diag.h"\n#include "front/jdf/parse.h"\n',
    "compiler/front/jdf/parse.h": "",
    "compiler/plan/plan.c": '#include "diag/diag.h"\n#include "front/jdf/parse.tab.h"\n#include <dag/jdf.h>\n',
    "compiler/plan/more.c": "",
    "build/compiler/CMakeFiles/dagcc_front.dir/diag/diag.c.o": "diag_report T 0 1\n",
    "build/compiler/CMakeFiles/dagcc_front.dir/front/jdf/parse.tab.c.o": "parse T 0 1\ndiag_report U\n",
    "build/compiler/CMakeFiles/dagcc.dir/plan/plan.c.o": "main T 0 1\nplan_make T 0 1\nparse U\nplan_more U\n",
    "build/compiler/CMakeFiles/dagcc.dir/plan/more.c.o": "plan_more T 0 1\n",
}
FLOOR, FRONT, PLAN = (f"build/{path}" for path in (
    "runtime/CMakeFiles/dag_floor_", "compiler/CMakeFiles/dagcc_front.dir/", "compiler/CMakeFiles/dagcc.dir/"))

# Path; what is appended to it, or a pair: what replaces what, or None: it is removed; the complaint.
FAULTS = {"runtime": [
    ("runtime/base/base.h", '#include "../data/data.h"\n',
     'base/base.h:1: #include "../data/data.h": base -> data, upwards: base may use nothing'),
    ("runtime/base/base.h", '#include "data/data.h"\n', "base -> data, upwards"),
    ("runtime/base/base.h", '#include "data.h"\n', "base -> data, upwards"),
    ("runtime/base/base.h", '#include "../../docs/architecture.md"\n', "base -> outside, to no row"),
    ("runtime/trace/file/read.c", '#include "../../data/data.h"\n', "trace -> data, past the table"),
    ("runtime/base/base.h", '#include "base.h"\n', "a circle of includes: base/base.h -> base/base.h"),
    (FLOOR + "base.dir/base/base.c.o", "dagi_run U\n",
     "base/base.c: symbol dagi_run of task/task.c: base -> task, upwards: base may use nothing"),
    (FLOOR + "data.dir/data/data.c.o", "dagi_trace w\n",
     "data/data.c: symbol dagi_trace of trace/trace.c: data -> trace, upwards: data may use base"),
    (FLOOR + "trace.dir/trace/trace.c.o", "dagi_value U\n", "trace -> data, past the table"),
    (FLOOR + "task.dir/task/task.c.o", "dagi_now T 8 1\n", "dagi_now is defined in"),
    (FLOOR + "task.dir/task/task.c.o", None, "task: the build has no object"),
    (FLOOR + "task.dir/data/data.c.o", "", "a part of the library of task"),
    ("dsl-examples/top.c", "top->super.whole = dag_collection_whole(&A->super);\n",
     "dsl-examples/top.c: a view is made outside of runtime/layout"),
    ("runtime/attic/old.c", "", "attic/old.c: a source in a folder without a row"),
    ("runtime/task/README.md", None, "runtime/task: it does not open with a README.md"),
    ("docs/architecture.md", ("### Next", "| `roof` | | base |\n"), "`roof` is a row without a folder"),
    ("docs/architecture.md", ("events | base |", "events | base task |"), "`trace` may use task, which"),
    ("docs/architecture.md", ("events | base |", "events | base data |"), "are said to take nothing"),
    ("docs/architecture.md", ("take nothing", "take little"), "no two floors are said"),
    ("docs/architecture.md", ("## The floors", "## Floors"), "no table of folders"),
    ("runtime/CMakeLists.txt", ("data trace", "trace data"), "DAG_FLOORS is not the column"),
    ("runtime/base/base.h", "} dagi_odd_port;\n", "dagi_odd_port of base/base.h is no row of the ports"),
    ("runtime/data/data.h", "typedef void (*dagi_odd_port)(int);\n", "dagi_odd_port of data/data.h is no row"),
    ("docs/architecture.md", "| `dagi_x` | `data/data.h` | task | why |\n", "data/data.h does not declare dagi_x"),
    ("docs/architecture.md", "| `DAG_DATA_H.fn` | `data/data.h` | task or base | why |\n", "is filled by base, which"),
], "compiler": [
    ("compiler/diag/diag.c", '#include "plan/plan.h"\n', "there is no such file"),
    ("compiler/diag/diag.c", '#include "diag/diag.h"\n', "it names its own folder"),
    ("compiler/plan/more.c", '#include "diag.h"\n', "it names no folder"),
    ("compiler/diag/diag.c", "#include <dag/jdf.h>\n", "which the table does not allow"),
    ("compiler/plan/plan.c", ("#include <dag/jdf.h>", ""), "`plan` may use dag/jdf.h, which it does not use"),
    ("compiler/front/none.c", "", "front/none.c: a source in a folder without a row"),
    ("compiler/front/jdf/parse.y", None, "there is no such file"),
    ("compiler/README.md", ("the parser | `diag` |", "the parser | |"), "front/jdf -> diag, past the table"),
    (FRONT + "front/jdf/parse.tab.c.o", "plan_make U\n", "front/jdf -> plan, upwards"),
    (PLAN + "plan/more.c.o", "plan_make U\n", "a circle of calls: plan/more.c -> plan/plan.c"),
]}


def made_up(name, tree, folder):
    for path, text in tree.items():
        path = os.path.join(folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    nm = os.path.join(folder, "nm")
    with open(nm, "w", encoding="utf-8") as file:
        file.write('#!/bin/sh\nshift 3\nfor object; do sed "s|^|$object: |" "$object"; done\n')
    os.chmod(nm, 0o755)
    return check(HOUSES[name], folder, os.path.join(folder, "build"), nm)


def changed(tree, path, change):
    tree = dict(tree)
    if change is None:
        del tree[path]
    elif isinstance(change, tuple):
        assert change[0] in tree[path], change
        tree[path] = tree[path].replace(*change)
    elif path:
        tree[path] = tree.get(path, "") + change
    return tree


def self_test():
    wrong = count = 0
    for name, tree in (("runtime", RUNTIME), ("compiler", COMPILER)):
        for path, change, complaint in [("", "", None), *FAULTS[name]]:
            with tempfile.TemporaryDirectory() as folder:
                found = made_up(name, changed(tree, path, change), folder)
            count += 1
            if not (any(complaint in f for f in found) if complaint else not found):
                wrong += 1
                print(f"{path or name}, {change!r}: expected {complaint!r}, got {found}")
    print(f"self-test: {count} trees, {wrong} wrong")
    return 1 if wrong else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    names = [a for a in arguments if a != "--table"]
    if len(names) not in (2, 3, 4) or names[0] not in HOUSES:
        print(__doc__, file=sys.stderr)
        return 2
    house, source, build, nm = (*names, *(None, "nm")[len(names) - 2:])[:4]
    if "--table" in arguments and build:
        print_table(HOUSES[house], source, build, nm)
        return 0
    found = check(HOUSES[house], source, build, nm)
    for fault in found:
        print(fault)
    print(f"{house}: {len(found)} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
