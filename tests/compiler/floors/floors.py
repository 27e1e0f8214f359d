#!/usr/bin/env python3
"""floors.py COMPILER [OBJECTS NM]: the compiler's sources take from each other what the table in
COMPILER/README.md says.

The first column of the table names the folders, lowest first; the last one what each may include.
- A row names folders above it only, and what its folder uses: no include points upwards.
- Every folder with sources has a row, and a README.md.
- "file.h" lies beside; "folder/file.h" lies in another folder (or is made by the build).
- Within a folder, and between folders, includes make no circle.
- With the object files below OBJECTS: what a file calls, too, lies in its own folder or in one that
  its row names, and calls within a folder make no circle: files meet in the folder's header only.
"""
import os
import re
import subprocess
import sys

SOURCES = (".c", ".h", ".in", ".l", ".y")


def read_table(path):
    """[(folder, what it may include)] in the order of the table."""
    table = []
    for line in open(path):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("| `") and len(cells) == 3:
            table.append((cells[0].strip("`"), set(re.findall(r"`([^`]+)`", cells[2]))))
    return table


def sources_of(root):
    """(folder, file) of every source below root."""
    for directory, _, names in os.walk(root):
        for name in sorted(names):
            if name.endswith(SOURCES):
                yield os.path.relpath(directory, root), name


def made_from(root, folder, name):
    """Is it a header that the build makes from a file of the folder?"""
    origin = name.replace(".tab.h", ".y") if name.endswith(".tab.h") else name + ".in"
    return os.path.exists(os.path.join(root, folder, origin))


def includes_of(root, folder, name):
    """Faults of the includes of one file, and what they name: (fault, folder, file) each."""
    moved = name.endswith((".l", ".y"))         # what is made of it lies elsewhere
    text = open(os.path.join(root, folder, name)).read()
    for system, path in re.findall(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)', text, flags=re.M):
        to, file = os.path.split(path)
        if system == "<":
            if to == "dag":
                yield None, path, None
        elif not to:
            beside = os.path.exists(os.path.join(root, folder, file))
            yield None if beside and not moved else "names no folder: %s" % path, folder, file
        elif os.path.exists(os.path.join(root, path)):
            own = to == folder and not moved
            yield "names its own folder: %s" % path if own else None, to, file
        else:
            made = made_from(root, to, file)
            yield None if made else "there is no %s" % path, to, file


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


def table_faults(root, table):
    for i, (folder, may) in enumerate(table):
        if not os.path.exists(os.path.join(root, folder, "README.md")):
            yield "%s has no README.md" % folder
        for other in sorted(may - {below for below, _ in table[:i]}):
            if not other.startswith("dag/"):
                yield "the row of %s names %s, which is not below it" % (folder, other)


def include_faults(root, table):
    may = dict(table)
    used = {folder: set() for folder in may}
    files, folders = {}, {}
    for folder, name in sources_of(root):
        if folder not in may:
            yield "%s/%s lies in no folder of the table" % (folder, name)
            continue
        for fault, to, file in includes_of(root, folder, name):
            here = "%s/%s" % (folder, name)
            if fault:
                yield "%s: %s" % (here, fault)
            elif to == folder:
                files.setdefault(here, set()).add("%s/%s" % (to, file))
            else:
                used[folder].add(to)
                folders.setdefault(folder, set()).add(to)
                if to not in may[folder]:
                    yield "%s includes %s, which the table does not allow" % (here, to)
    for folder in may:
        for other in sorted(may[folder] - used[folder]):
            yield "the row of %s names %s, which it does not use" % (folder, other)
    for edges in (files, folders):
        found = circle(edges)
        if found:
            yield "a circle of includes: %s" % " -> ".join(found)


def objects_of(root, build):
    """(folder/file.c, object file) of every source that there still is, or that is made of one."""
    for directory, _, names in os.walk(build):
        folder = directory.partition(".dir" + os.sep)[2]
        for name in sorted(names):
            source = os.path.join(folder, name[:-2])
            origins = (source, source.replace(".tab.c", ".y"), source.replace(".yy.c", ".l"))
            if name.endswith(".o") and any(os.path.exists(os.path.join(root, o)) for o in origins):
                yield source, os.path.join(directory, name)


def symbols_of(nm, paths):
    """{object file: (what it defines, what it needs)}"""
    symbols = {path: (set(), set()) for path in paths}
    for line in subprocess.run([nm, "-A", "-P"] + paths, check=True, capture_output=True,
                               text=True).stdout.splitlines():
        path, _, rest = line.rpartition(": ")
        name, kind = rest.split()[:2]
        if kind in "UTDBR":
            symbols[path][kind == "U"].add(name)
    return symbols


def symbol_faults(root, table, build, nm):
    may = dict(table)
    home, needs, calls = {}, {}, {}
    objects = list(objects_of(root, build))
    symbols = symbols_of(nm, [path for _, path in objects])
    for source, path in objects:
        defined, needs[source] = symbols[path]
        home.update((name, source) for name in defined if name != "main")
    if len(needs) < len(may):
        yield "%s holds objects of %d sources only" % (build, len(needs))
    for source in sorted(needs):
        folder = os.path.dirname(source)
        for name in sorted(needs[source] & set(home)):
            to = os.path.dirname(home[name])
            if to == folder:
                calls.setdefault(source, set()).add(home[name])
            elif to not in may.get(folder, ()):
                yield "%s needs %s of %s, which the table does not allow" % (source, name, to)
    found = circle(calls)
    if found:
        yield "a circle of calls: %s" % " -> ".join(found)


def main():
    root = sys.argv[1]
    table = read_table(os.path.join(root, "README.md"))
    faults = list(table_faults(root, table)) + list(include_faults(root, table))
    if len(sys.argv) > 2:
        faults += symbol_faults(root, table, *sys.argv[2:4])
    if len(table) < 2:
        faults.append("README.md has no table of folders")
    print("\n".join(faults) or "%d folders, as the table says" % len(table))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
