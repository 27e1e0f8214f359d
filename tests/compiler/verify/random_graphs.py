#!/usr/bin/env python3
"""Random graphs that are right, and one mistake in each.

usage: random_graphs.py DAGCC PROPERTY FIRST COUNT [--jobs N]

The graphs are those of the property test (PROPERTY is its directory), of the seeds FIRST .. FIRST +
COUNT - 1; some of their edges are not affine. Each is accepted, and where a note proposes a command that
checks small sizes, this finds nothing. Then one place of one edge between tasks is changed, chosen by the
seed: an index by one, two indices swapped, a guard dropped, a comparison flipped, one side left out. The
mutant is refused, or found by the command that the note prints. What is neither counts as missed if
the tasks or edges differ from those of the graph for one of three sets of parameters; at least 99 % are not.
"""
import argparse
import concurrent.futures
import os
import random
import re
import shlex
import subprocess
import sys
import tempfile

LEAST_PERCENT = 99
LONGEST = 900                   # seconds for one run: nothing here takes one of them on an idle machine
FLIPS = {"==": "!=", "!=": "==", "<=": "<", ">=": ">", "<": "<=", ">": ">="}
SIZES = [(4, 4, 4), (3, 5, 2), (5, 2, 3)]
EDGE = re.compile(r"(<-|->) .*\b[A-Za-z]\w* C\d+\(")


# ---- mistakes ------------------------------------------------------------------------------------

def closing(text, at):
    """Where the parenthesis that opens at `at` is closed."""
    depth = 0
    for k in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[k], 0)
        if depth == 0:
            return k
    raise ValueError(text)


def split_arguments(text):
    args, depth, last = [], 0, 0
    for k, c in enumerate(text):
        depth += {"(": 1, ")": -1, "[": 1, "]": -1, "{": 1, "}": -1}.get(c, 0)
        if c == "," and depth == 0:
            args.append(text[last:k].strip())
            last = k + 1
    return args + [text[last:].strip()] if text.strip() else []


def call_of(line):
    """Where the arguments of the first task that an edge names begin and end."""
    begin = re.search(r"\b[A-Za-z]\w* C\d+\(", line).end() - 1
    return begin + 1, closing(line, begin)


def guard_of(line):
    """Where the guard begins and ends, with its question mark, or None; not that of an index list."""
    found = re.match(r".*?(?:<-|->) (?:\[[^]]*\] )?\(", line)
    if not found:
        return None
    begin = found.end() - 1
    end = closing(line, begin)
    return (begin, end + 4) if line[end:end + 4] == ") ? " else None


def shift(line, dice):
    begin, end = call_of(line)
    args = split_arguments(line[begin:end])
    if not args:
        return None
    k, by = dice.randrange(len(args)), dice.choice(["+ 1", "- 1"])
    low, dots, rest = args[k].partition(" .. ")
    args[k] = "(%s) %s%s%s" % (low, by, dots, rest)
    return line[:begin] + ", ".join(args) + line[end:]


def swap(line, dice):
    begin, end = call_of(line)
    args = split_arguments(line[begin:end])
    pairs = [(i, k) for i in range(len(args)) for k in range(i) if args[i] != args[k]]
    if not pairs:
        return None
    i, k = dice.choice(pairs)
    args[i], args[k] = args[k], args[i]
    return line[:begin] + ", ".join(args) + line[end:]


def drop_guard(line, _dice):
    guard = guard_of(line)
    if not guard or " : " in line or "dynamic" in line:
        return None
    return line[:guard[0]] + line[guard[1]:]


def flip(line, dice):
    guard = guard_of(line)
    if not guard:
        return None
    signs = [m for m in re.finditer(r"==|!=|<=|>=|<|>", line) if guard[0] < m.start() < guard[1]]
    if not signs:
        return None
    sign = dice.choice(signs)
    return line[:sign.start()] + FLIPS[sign.group()] + line[sign.end():]


def leave_out(line, _dice):
    return line[:re.search(r"<-|->", line).start()].rstrip()


def mutant(text, seed):
    """(what was done, the line, the text with it), or None."""
    dice = random.Random("mutant %d" % seed)
    lines = text.split("\n")
    edges = [k for k, line in enumerate(lines) if EDGE.search(line)]
    ways = [shift, shift, swap, drop_guard, flip, flip, leave_out]
    for _ in range(50):
        if not edges:
            return None
        k, way = dice.choice(edges), dice.choice(ways)
        changed = way(lines[k], dice)
        if changed is not None and changed != lines[k]:
            return way.__name__, changed, "\n".join(lines[:k] + [changed] + lines[k + 1:])
    return None


# ---- what dagcc says -----------------------------------------------------------------------------

class Judge:
    def __init__(self, dagcc, include):
        self.dagcc, self.include = dagcc, include
        self.env = dict(os.environ, DAGCC_PROOF_CACHE="off")

    def run(self, *args):
        done = subprocess.run([self.dagcc, *args], capture_output=True, text=True, env=self.env,
                              timeout=LONGEST, check=False)
        if done.returncode not in (0, 1):
            raise RuntimeError("%s: exit %d\n%s" % (args, done.returncode, done.stderr))
        return done.returncode == 0, done.stdout, done.stderr

    def check(self, path):
        """(accepted, what the command of a note finds or None where there is no note, messages)"""
        fine, _, messages = self.run("-I", self.include, "-fsyntax-only", path)
        note = re.search(r"'dagcc ([^']*--enumerate [^']*)'", messages)
        if not fine or not note:
            return fine, None, messages
        clean, _, found = self.run(*shlex.split(note.group(1)))
        return True, None if clean else found, messages

    def graph(self, path, collections, sizes):
        n, m, t = sizes
        k = max(sizes) + 1
        values = ["N=%d" % n, "M=%d" % m, "T=%d" % t, "K=%d" % k]
        for c in collections:
            values += {"V": ["V->count=%d" % (4 * k * k)], "W": ["W->count=%d" % (4 * k * k)],
                       "U": []}.get(c, ["%s->mt=%d" % (c, k), "%s->nt=%d" % (c, k)])
        known = self.run("-I", self.include, "--emit=dot:" + ",".join(values), "-o", "-", path)
        return sorted(known[1].split("\n")) if known[0] else known[2]


def judge(task):
    """One seed: (seed, verdict of the graph, verdict of the mutant, words)."""
    seed, dagcc, directory = task
    sys.path.insert(0, directory)
    from draw import Graph      # pylint: disable=import-error,import-outside-toplevel
    from jdf import Jdf         # pylint: disable=import-error,import-outside-toplevel
    drawn = Jdf(Graph(seed))
    judged = Judge(dagcc, directory)
    with tempfile.TemporaryDirectory() as where:
        right, wrong = where + "/right.jdf", where + "/wrong.jdf"
        with open(right, "w", encoding="utf-8") as out:
            out.write(drawn.text)
        fine, found, messages = judged.check(right)
        if not fine or found:
            return seed, "refused" if not fine else "wrong command", "", found or messages
        change = mutant(drawn.text, seed)
        if not change:
            return seed, "accepted", "none", ""
        with open(wrong, "w", encoding="utf-8") as out:
            out.write(change[2])
        fine, found, messages = judged.check(wrong)
        if not fine or found:
            return seed, "accepted", "refused" if not fine else "found", ""
        same = all(judged.graph(right, drawn.cols, s) == judged.graph(wrong, drawn.cols, s)
                   for s in SIZES)
        return seed, "accepted", "same graph" if same else "missed", "%s: %s" % change[:2]


def main():
    options = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1])
    options.add_argument("dagcc")
    options.add_argument("property")
    options.add_argument("first", type=int)
    options.add_argument("count", type=int)
    options.add_argument("--jobs", type=int, default=1)
    o = options.parse_args()
    tasks = [(seed, o.dagcc, os.path.abspath(o.property))
             for seed in range(o.first, o.first + o.count)]
    graphs, mutants, ok = {}, {}, True
    with concurrent.futures.ProcessPoolExecutor(o.jobs) as pool:
        for seed, graph, verdict, words in pool.map(judge, tasks):
            graphs[graph] = graphs.get(graph, 0) + 1
            if graph != "accepted":
                print("seed %d: %s\n%s" % (seed, graph, words), flush=True)
                ok = False
                continue
            mutants[verdict] = mutants.get(verdict, 0) + 1
            if verdict == "missed":
                print("seed %d: missed: %s" % (seed, words), flush=True)
    caught = mutants.get("refused", 0) + mutants.get("found", 0)
    missed = mutants.get("missed", 0)
    print("graphs: %s\nmutants: %s" % (graphs, mutants))
    if caught * 100 < (caught + missed) * LEAST_PERCENT or caught == 0:
        print("fewer than %d %% of the mutants that change an edge are caught" % LEAST_PERCENT)
        ok = False
    sys.exit(not ok)


if __name__ == "__main__":
    main()
