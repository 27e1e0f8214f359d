"""Each runtime offers all that generated code may call, and what they share has no state.

    check.py NM LIBRARY... -- NAME=LIBRARY[,LIBRARY...]... -- HEADER...
    check.py --self-test

The functions that the HEADERs declare are those that every runtime NAME has to define, in its libraries
together. The LIBRARYs in front define nothing that can be written, and need nothing of the project but
each other.
"""

import os
import re
import subprocess
import sys
import tempfile

# Sections that hold what a program may change.
WRITABLE = re.compile(r"\.(data|bss|tdata|tbss|sdata|sbss)\b(?!\.rel\.ro)|\*COM\*")


def functions(header):
    """Names of the functions that a header declares and does not define."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", header, flags=re.S)
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", " ", text, flags=re.M)
    text = re.sub(r'extern\s*"C"\s*{', " ", text)
    while "{" in text: # bodies and structs, innermost first
        text, found = re.subn(r"{[^{}]*}", " @ ", text)
        if not found:
            break
    names = []
    for declaration in re.split(r";|@", text):
        match = re.search(r"\b(dag_\w+)\s*\(", declaration)
        if match and not re.search(r"\b(static|typedef)\b", declaration):
            names.append(match.group(1))
    return names


def symbols(nm, library):
    """(name, class, section) of each symbol of a library."""
    shared = [] if library.endswith((".a", ".o")) else ["-D"]
    text = subprocess.run([nm, *shared, "-f", "sysv", library], check=True, capture_output=True,
                          text=True).stdout
    for line in text.splitlines():
        fields = [field.strip() for field in line.split("|")]
        if len(fields) == 7:
            yield fields[0].split("@")[0], fields[2], fields[6]


def contract_faults(nm, runtimes, headers):
    needed = {}
    for path in headers:
        with open(path, encoding="utf-8") as file:
            found = functions(file.read())
        if not found:
            yield f"{path}: no function was found"
        needed.update((name, os.path.basename(path)) for name in found)
    for runtime in runtimes:
        name, _, libraries = runtime.partition("=")
        offered = {s for library in libraries.split(",") for s, kind, _ in symbols(nm, library)
                   if kind in ("T", "W", "i")}
        for function in sorted(set(needed) - offered):
            yield f"{name}: it lacks {function}() of {needed[function]}"


def state_faults(nm, libraries):
    defined, taken = set(), set()
    for library in libraries:
        for name, kind, section in symbols(nm, library):
            if WRITABLE.match(section):
                yield f"{library}: {name} in {section} can be written"
            (taken if kind == "U" else defined).add(name)
    if not defined:
        yield "libraries without state: none was given, or nothing is in them"
    for name in sorted(taken - defined):
        if name.startswith("dag"):
            yield f"{name} is taken from outside of {' '.join(libraries)}"


def check(arguments):
    nm, rest = arguments[0], arguments[1:]
    first = rest.index("--")
    second = rest.index("--", first + 1)
    return [*state_faults(nm, rest[:first]),
            *contract_faults(nm, rest[first + 1:second], rest[second + 1:])]


# ---- the comparison itself ----------------------------------------------------------------------

HEADER = """#ifndef H
#define MACRO(x) dag_macro(x); \\
    dag_more(x);
extern "C" {
/* int dag_comment(void); */
typedef int (*dag_callback)(int);
struct dag_table { int (*member)(void); };
static inline int dag_inline(int x) { if (x) { return dag_called(x); } return 0; }
int dag_one(int x);
void *dag_two(struct dag_table *t, int (*dag_argument)(int))
    __attribute__((format(printf, 1, 2)));
}
#endif
"""
LINE = "{}|0000|   {}  |  FUNC|0010|     |{}\n"
RUNTIME = LINE.format("dag_one", "T", ".text") + LINE.format("dag_two", "T", ".text")
PURE = (LINE.format("dag_one", "T", ".text") + LINE.format("memcpy", "U", "*UND*")
        + LINE.format("names", "d", ".data.rel.ro.local"))

# Header, runtime, library without state; the complaint, None = there is none.
CASES = [
    (HEADER, RUNTIME, PURE, None),
    (HEADER + "int dag_three(void);\n", RUNTIME, PURE, "serial: it lacks dag_three() of made_up.h"),
    (HEADER, LINE.format("dag_one", "T", ".text") + LINE.format("dag_two", "U", "*UND*"), PURE,
     "serial: it lacks dag_two()"),
    (HEADER, LINE.format("dag_one", "T", ".text") + LINE.format("dag_two", "t", ".text"), PURE,
     "serial: it lacks dag_two()"),
    ("typedef int dag_x;\n", RUNTIME, PURE, "no function was found"),
    (HEADER, RUNTIME, PURE + LINE.format("count", "b", ".bss"), "count in .bss can be written"),
    (HEADER, RUNTIME, PURE + LINE.format("mine", "D", ".data"), "mine in .data can be written"),
    (HEADER, RUNTIME, PURE + LINE.format("all", "C", "*COM*"), "all in *COM* can be written"),
    (HEADER, RUNTIME, PURE + LINE.format("dagi_now", "U", "*UND*"), "dagi_now is taken from outside"),
    (HEADER, RUNTIME, "", "nothing is in them"),
]


def made_up(header, runtime, pure):
    with tempfile.TemporaryDirectory() as folder:
        files = {"made_up.h": header, "serial.a": runtime, "pure.a": pure,
                 "nm": '#!/bin/sh\nfor last; do :; done\ncat "$last"\n'}
        paths = {name: os.path.join(folder, name) for name in files}
        for name, text in files.items():
            with open(paths[name], "w", encoding="utf-8") as file:
                file.write(text)
        os.chmod(paths["nm"], 0o755)
        return check([paths["nm"], paths["pure.a"], "--", "serial=" + paths["serial.a"], "--",
                      paths["made_up.h"]])


def self_test():
    wrong = 0
    for *made, complaint in CASES:
        found = made_up(*made)
        if not (any(complaint in f for f in found) if complaint else not found):
            wrong += 1
            print(f"expected {complaint!r}, got {found}")
    print(f"self-test: {len(CASES)} cases, {wrong} wrong")
    return 1 if wrong else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if arguments.count("--") != 2:
        print(__doc__, file=sys.stderr)
        return 2
    found = check(arguments)
    for fault in found:
        print(fault)
    print(f"contract: {len(found)} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
