"""No file, function or struct of the product is larger than CONTRIBUTING.md allows.

    sizes.py SOURCE
    sizes.py --self-test    the measure fails where it should

The section "Sizes" of CONTRIBUTING.md says how large they may be, and names those that may be larger,
each with its reason. A name that nothing exceeds any more is a fault too.
"""

import os
import re
import sys

TOPS = ("compiler", "dsl-examples", "include", "kernels", "runtime", "tools")
TEMPLATES = os.path.join("tools", "templates")
SOURCES = (".c", ".cu", ".h", ".l", ".y")
KINDS = ("file", "function", "struct")


class Limits:
    """How many lines or members each kind may have: {kind: n}; names that may be larger."""

    def __init__(self, text):
        section = re.search(r"^### Sizes\n(.*?)(?=^##)", text, re.M | re.S)
        self.text = section.group(1) if section else ""
        rows = re.findall(r"^\| (file|function|struct) \| (\d+) ", self.text, re.M)
        self.most = {kind: int(most) for kind, most in rows}
        named = re.findall(r"^\| `([^`]+)` \| (\S.*) \|$", self.text, re.M)
        self.excepted = dict(named)

    def faults(self):
        if sorted(self.most) != sorted(KINDS):
            yield 'CONTRIBUTING.md: no table of limits in a section "### Sizes"'


def sources(root):
    for top in TOPS:
        for directory, _, names in os.walk(os.path.join(root, top)):
            if not os.path.relpath(directory, root).startswith(TEMPLATES):
                yield from (os.path.join(directory, n) for n in sorted(names) if n.endswith(SOURCES))


def without_comments(text):
    """The text with blanks for comments and the content of strings, line by line as before."""
    def blank(match):
        word = match.group(0)
        return '""' if word[0] == '"' else "''" if word[0] == "'" else re.sub(r"[^\n]", " ", word)
    return re.sub(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*', blank, text, flags=re.S)


def functions(lines):
    """(name, lines) of each function: from its first line to the brace that closes it."""
    begin = None
    for number, line in enumerate(lines):
        if line.startswith("{") and number > 0:
            begin = number - 1
            while begin > 0 and re.match(r"[ \t]+\S", lines[begin]):
                begin -= 1
        elif line.startswith("}") and begin is not None:
            name = re.search(r"(\w+)\(", " ".join(lines[begin:number]))
            yield name.group(1) if name else lines[begin], number - begin + 1
            begin = None


def members(body):
    """How many members a struct has: those of structs within it that have no name count as its own."""
    body = re.sub(r"^[ \t]*#.*(?:\\\n.*)*", "", body, flags=re.M)
    body = re.sub(r"\(\*\s*(\w+)\)\s*\([^;]*\)", r"\1", body)           # pointers to functions
    count, previous = 0, None
    while previous != body:
        previous = body
        body = re.sub(r"\b(?:struct|union|enum)\s*\w*\s*\{([^{}]*)\}\s*(\w[^;]*)?;",
                      lambda m: f"part {m.group(2)};" if m.group(2) else m.group(1), body)
    body = re.sub(r"\([^()]*\)|\[[^\]]*\]", "", re.sub(r"\([^()]*\)", "", body))
    for declaration in body.split(";"):
        count += declaration.count(",") + 1 if declaration.strip() else 0
    return count


def structs(text):
    """(name, members) of each struct that is defined at the left margin."""
    pattern = re.compile(r"^(?:typedef )?(?:struct|union)\s*(\w*)\s*\{\n(.*?)^\}\s*(\w*)", re.M | re.S)
    for match in pattern.finditer(text):
        yield match.group(1) or match.group(3), members(match.group(2))


def measured(root):
    """(kind, name, path, size) of everything."""
    for path in sources(root):
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
        where = os.path.relpath(path, root)
        yield "file", where, where, text.count("\n")
        text = without_comments(text)
        for name, size in functions(text.split("\n")):
            yield "function", name, where, size
        for name, size in structs(text):
            yield "struct", name, where, size


def faults_of(limits, sizes):
    found = list(limits.faults())
    exceeding = set()
    for kind, name, where, size in sizes:
        if size <= limits.most.get(kind, size):
            continue
        exceeding.add(name)
        if name not in limits.excepted:
            unit = "members" if kind == "struct" else "lines"
            found.append(f"{where}: {kind} {name} has {size} {unit}, at most {limits.most[kind]} are allowed")
    for name in sorted(set(limits.excepted) - exceeding):
        found.append(f"CONTRIBUTING.md: {name} may be larger, but is not")
    return found


# ---- the measure itself ---------------------------------------------------------------------------

PAGE = """### Sizes

| what | at most |
|---|---|
| file | 500 lines |
| function | 4 lines |
| struct | 3 members |

| name | why it may be larger |
|---|---|
| `wide` | settings |

## Next
"""
CASES = [
    ("int f(int a)\n{\n    return a;\n}\n", []),
    ("int f(int a)\n{\n    a++;\n    return a;\n}\n", ["function f has 5 lines"]),
    ("int f(int a,\n      int b)\n{\n    return a;\n}\n", ["function f has 5 lines"]),
    ("enum e {\n    A,\n};\n\nstatic int g(void)\n{\n\n\n}\n", ["function g has 5 lines"]),
    ("/*\nint f(int a)\n{\n\n\n}\n*/\n", []),
    ("struct s {\n    int a, b; /* c; d */\n    void (*f)(int x, int y);\n};\n", []),
    ("struct s {\n    int a, b;\n    int c[2][2];\n    int *d;\n};\n", ["struct s has 4 members"]),
    ("typedef struct {\n    struct {\n        int a, b, c;\n    } in;\n    int a, b;\n} s;\n", []),
    ("struct s {\n    union {\n        int a, b;\n    };\n    int c, d;\n};\n", ["struct s has 4 members"]),
    ("\n" * 501, ["file x.c has 501 lines"]),
]


def self_test():
    wrong = 0
    wide = "struct wide {\n    int a, b, c, d;\n};\n"
    for text, expected in CASES + [(None, ["wide may be larger, but is not"])]:
        text = without_comments((text or "") + (wide if text else ""))
        sizes = [("file", "x.c", "x.c", text.count("\n") - (wide in text) * wide.count("\n"))]
        sizes += [("function", *f[:1], "x.c", f[1]) for f in functions(text.split("\n"))]
        sizes += [("struct", *s[:1], "x.c", s[1]) for s in structs(text)]
        found = faults_of(Limits(PAGE), sizes)
        if len(found) != len(expected) or not all(e in f for e, f in zip(expected, found)):
            wrong += 1
            print(f"{text!r}: expected {expected}, got {found}")
    if not faults_of(Limits(PAGE.replace("| struct |", "| structs |")), []):
        wrong += 1
        print("a limit is missing, and nothing is said")
    print(f"self-test: {len(CASES) + 2} texts, {wrong} wrong")
    return 1 if wrong else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    with open(os.path.join(arguments[0], "CONTRIBUTING.md"), encoding="utf-8") as file:
        limits = Limits(file.read())
    sizes = list(measured(arguments[0]))
    found = faults_of(limits, sizes)
    for fault in found:
        print(fault)
    for kind in KINDS:
        of_kind = sorted(size for k, _, _, size in sizes if k == kind)
        if not of_kind:
            found.append(f"there is no {kind}")
            continue
        print(f"{kind}: {len(of_kind)}, median {of_kind[len(of_kind) // 2]}, "
              f"95 % at most {of_kind[len(of_kind) * 95 // 100]}, largest {of_kind[-1]}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
