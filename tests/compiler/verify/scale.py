#!/usr/bin/env python3
"""Graphs of many classes are proven: nothing is given up, in processor time near linear in them.

    scale.py DAGCC

Chains, chains in which every class stores, fans from one class and back, and classes that are tied to
one by a loop. The limit on processor time is ten times what they need.
"""
import resource
import subprocess
import sys

MANY = 600
HEAD = 'A [type = "dag_matrix *" elem = double]\n%assume A->mt == A->nt && A->mt >= 2\n'
GRID = ("i, j", "  i = 0 .. A->mt-1\n  j = 0 .. A->nt-1\n: A(i, j)\n")
LINE = ("k", "  k = 0 .. A->mt-1\n: A(0, 0)\n")
LIMIT = 30


def make(name, where, flows):
    uses = "  (void)X;\n" if " X " in flows else ""
    return f"\n{name}({where[0]})\n{where[1]}{flows}BODY\n{uses}END\n"


def chain(stores, last=MANY - 1):
    out = HEAD
    for c in range(MANY):
        flows = "RW X <- " + (f"X C{c - 1}(i, j)\n" if c else "A(i, j)\n")
        flows += "     -> A(i, j)\n" if stores or c == last else ""
        flows += f"     -> X C{c + 1}(i, j)\n" if c < last else ""
        out += make(f"C{c}", GRID, flows)
    return out


def fan():
    out = HEAD + make("Root", GRID, "RW X <- A(i, j)\n" + "".join(
        f"     -> X C{c}(i, j)\n" for c in range(MANY)))
    for c in range(MANY):
        out += make(f"C{c}", GRID, "READ X <- X Root(i, j)\nCTL done -> done End(i, j)\n")
    return out + make("End", GRID, "CTL done\n" + "".join(
        f"     <- done C{c}(i, j)\n" for c in range(MANY)))


def tied():
    flows = "RW X <- (k == 0) ? A(0, 0) : X Hub(k-1)\n     -> (k < A->mt-1) ? X Hub(k+1)\n"
    flows += "CTL go\n" + "".join(f"     -> go C{c}(k)\n" for c in range(MANY))
    flows += "CTL back\n" + "".join(f"     <- (k > 0) ? back C{c}(k-1)\n" for c in range(MANY))
    out = HEAD + make("Hub", LINE, flows)
    for c in range(MANY):
        out += make(f"C{c}", LINE,
                    "CTL go <- go Hub(k)\nCTL back -> (k < A->mt-1) ? back Hub(k+1)\n")
    return out


def main():
    bad = 0
    for name, text in (("chain", chain(False)), ("stores", chain(True)), ("fan", fan()),
                       ("tied", tied())):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        r = subprocess.run([sys.argv[1], "-fsyntax-only", "--no-proof-cache", "-"], input=text,
                           capture_output=True, text=True,
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU,
                                                                 (LIMIT, LIMIT)))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(f"{name}: {after.ru_utime - before.ru_utime:.2f} s for {MANY} classes")
        if r.returncode != 0 or r.stderr:
            print(f"FAIL {name}: exit {r.returncode}\n{r.stderr[:2000]}")
            bad = 1
    return bad


if __name__ == "__main__":
    sys.exit(main())
