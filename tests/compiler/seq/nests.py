#!/usr/bin/env python3
"""Random sequential nests: dagcc's graph against a table of last writers.

    nests.py DAGCC COUNT [SEED]

Each nest is run here, loop by loop, for a few sizes; a table says which task wrote each tile last. The
graph that dagcc derives has to have the same tasks and, its relays contracted, the same edges; it has to
pass every proof, as a nest and as the .jdf that is printed. A nest may be refused for a call that has one
tile under two names or a diagonal that is stored alone, and then the table has to know one; and one in fifty may
take more work than dagcc allows by itself.
"""
import os
import random
import re
import subprocess
import sys
import tempfile

os.environ["DAGCC_PROOF_CACHE"] = "off"
REGIONS = {"FULL": 7, "LOWER": 3, "UPPER": 6, "LOWER_STRICT": 1, "UPPER_STRICT": 4}
SIZES = range(7)
HEAD = """#include <dag/sequential.h>
#define A(i, j) DAG_AT(A, i, j)
#define B(i, j) DAG_AT(B, i, j)
#define C(i, j) DAG_AT(C, i, j)
"""


class Kernel:
    def __init__(self, name, kinds):
        self.name = name
        self.tiles = [(f"T{i}", kind) for i, kind in enumerate(kinds)]
        self.regions = ["FULL"] * len(kinds)

    @classmethod
    def draw(cls, r, regions, name):
        n = r.randint(1, 3)
        kinds = ["in"] * (n - 1) + ["inout" if r.random() < 0.8 else "out"]
        if n == 3 and r.random() < 0.3:
            kinds[1] = "inout"
        kernel = cls(name, kinds)
        part = regions.random() < 0.3
        kernel.regions = [regions.choice(sorted(REGIONS)) if part and kind != "out" else "FULL" for kind in kinds]
        return kernel

    def clauses(self):
        """What the pragma says, and the parameters."""
        clauses = " ".join(f"{kind}({tile}{'' if region == 'FULL' else ': ' + region})"
                           for (tile, kind), region in zip(self.tiles, self.regions))
        return f"{clauses} at({self.tiles[-1][0]})", ", ".join(f"DAG_TILE({tile})" for tile, _ in self.tiles)

    def text(self):
        clauses, params = self.clauses()
        return (f"#pragma dag task {clauses}\nstatic void {self.name}({params})\n"
                f"{{\n    {self.tiles[-1][0]}[0] += 1;\n}}\n")


class Nest:
    """Statements are ("for", var, lo, hi, step, body), ("if", cond, body, else), ("call", kernel, tiles);
    expressions are texts that C and Python read alike but for '/' (C's on what is not negative). In every fifth
    nest C is an array inside of it: its tiles are written first, and read at the end."""

    def __init__(self, number):
        r = random.Random(number)
        self.r = r
        self.regions = random.Random(f"regions {number}")
        self.local = random.Random(f"local {number}").random() < 0.2
        self.kernels = []
        self.n_vars = 0
        self.body = [self.statement([], 0) for _ in range(r.randint(1, 2))]
        if self.local:
            self.body = [self.all_tiles(["out"], "C"), *self.body, self.all_tiles(["in", "inout"], "CA")]

    def all_tiles(self, kinds, arrays):
        """A task for each tile of the arrays."""
        kernel = Kernel(f"K{len(self.kernels)}", kinds)
        self.kernels.append(kernel)
        inner = ("for", "y", "0", "A->mt - 1", 1, [("call", kernel, [(array, "x", "y") for array in arrays])])
        return ("for", "x", "0", "A->mt - 1", 1, [inner])

    def subscript(self, scope):
        r = self.r
        if not scope or r.random() < 0.05:
            return "0"
        v = r.choice(scope)
        return r.choice([v] * 12 + [f"A->mt - 1 - {v}", f"max({v} - 1, 0)", f"min({v} + 1, A->mt - 1)",
                         f"{v} / 2"])

    def loop(self, scope, depth):
        r = self.r
        var = "ijklm"[self.n_vars % 5] + ("" if self.n_vars < 5 else str(self.n_vars // 5))
        self.n_vars += 1
        low = r.choice(["0", "0", "1"] + [f"{v} + 1" for v in scope] + scope)
        high = r.choice(["A->mt - 1", "A->mt - 1", "A->mt - 2"] + scope + [f"{v} - 1" for v in scope])
        step = r.choice([1, 1, 1, -1, 2, -2])
        body = [self.statement(scope + [var], depth + 1) for _ in range(r.randint(1, 2))]
        return ("for", var, low, high, step, body)

    def statement(self, scope, depth):
        r = self.r
        kind = r.random()
        if depth == 0 or (depth < 3 and kind < 0.45):
            return self.loop(scope, depth)
        if kind < 0.6 and len(scope) > 0:
            v = r.choice(scope)
            cond = r.choice([f"{v} % 2 == 0", f"{v} > 0", f"{v} != 1", f"{v} + 2 < A->mt",
                             f"{v} == {r.choice(scope)}", f"{v} < {r.choice(scope)}"])
            other = [self.call(scope)] if r.random() < 0.5 else []
            return ("if", cond, [self.call(scope)], other)
        return self.call(scope)

    def call(self, scope):
        r = self.r
        kernel = Kernel.draw(r, self.regions, f"K{len(self.kernels)}")
        self.kernels.append(kernel)
        arrays = r.sample("ABC", 3) if r.random() < 0.7 else r.choices("AB", k=3)
        tiles = [(array, self.subscript(scope), self.subscript(scope))
                 for array, _ in zip(arrays, kernel.tiles)]
        return ("call", kernel, tiles)

    def text(self, name="nest", head=HEAD, kernel_text=Kernel.text):
        lines = []

        def put(body, indent):
            for s in body:
                pad = "    " * indent
                if s[0] == "for":
                    _, var, low, high, step, inner = s
                    head = (f"int {var} = {low}; {var} <= {high}; {var} += {step}" if step > 0 else
                            f"int {var} = {high}; {var} >= {low}; {var} -= {-step}")
                    lines.append(f"{pad}for ({head}) {{")
                    put(inner, indent + 1)
                    lines.append(pad + "}")
                elif s[0] == "if":
                    lines.append(f"{pad}if ({s[1]}) {{")
                    put(s[2], indent + 1)
                    if s[3]:
                        lines.append(pad + "} else {")
                        put(s[3], indent + 1)
                    lines.append(pad + "}")
                else:
                    args = ", ".join(f"{a}({i}, {j})" for a, i, j in s[2])
                    lines.append(f"{pad}{s[1].name}({args});")

        if self.local:
            lines.append("    DAG_TILES(C, A);")
        put(self.body, 1)
        given = "other" if self.local else "C"
        return (head + "".join(kernel_text(k) for k in self.kernels) +
                "#pragma dag graph assume(A->mt == A->nt) assume(B->mt == A->mt && B->nt == A->mt) \\\n"
                f"    assume({given}->mt == A->mt && {given}->nt == A->mt)\n"
                f"static void {name}(dag_matrix *A, dag_matrix *B, dag_matrix *{given})\n{{\n" + "\n".join(lines) + "\n}\n")

    def run(self, size):
        """Tasks, accesses in order: (task, [(flow, kind, element, region)])."""
        trace = []

        def value(e, scope):
            e = e.replace("A->mt", "size").replace("/", "//")
            return eval(e, {"size": size, "min": min, "max": max}, scope)

        def walk(body, scope):
            for s in body:
                if s[0] == "for":
                    _, var, low, high, step, inner = s
                    first, last = value(low, scope), value(high, scope)
                    values = range(first, last + 1, step) if step > 0 else range(last, first - 1, step)
                    for v in values:
                        walk(inner, {**scope, var: v})
                elif s[0] == "if":
                    walk(s[2] if value(s[1], scope) else s[3], scope)
                else:
                    args = [(a, value(i, scope), value(j, scope)) for a, i, j in s[2]]
                    name = f"{s[1].name}({', '.join(f'{k}={v}' for k, v in scope.items())})"
                    trace.append((name, [(t, kind, e, REGIONS[region]) for (t, kind), e, region
                                         in zip(s[1].tiles, args, s[1].regions)]))

        walk(self.body, {})
        return trace


def aliased(trace):
    for _, accesses in trace:
        for n, (_, kind, e, _) in enumerate(accesses):
            for _, other, f, _ in accesses[:n]:
                if e == f and (kind != "in" or other != "in"):
                    return True
    return False


def table(trace, carried):
    """Edges (task, flow, task) by the last writer of each element: of a region that meets what is read, of any
    region for what is changed and so carried as a whole."""
    writers, edges = {}, set()
    for task, accesses in trace:
        kernel = task.split("(")[0]
        for flow, kind, e, region in accesses:
            needs = region if kind == "in" else 7
            met = [w for w in writers.get(e, []) if w[2] & needs]
            if (kind != "out" or (kernel, flow) in carried) and met:
                edges.add((*met[-1][:2], task))
        for flow, kind, e, region in accesses:
            if kind != "in":
                writers.setdefault(e, []).append((task, flow, region))
    return edges


def diagonals(trace):
    """Is there a task of which the diagonal alone stays? That has no name."""
    writers = {}
    for task, accesses in trace:
        for flow, kind, e, region in accesses:
            if kind != "in":
                writers.setdefault(e, []).append(region)
    for regions in writers.values():
        seen = 0
        for region in reversed(regions):
            if region & ~seen == 2:
                return True
            seen |= region
    return False


def graph(dagcc, path, size):
    r = subprocess.run([dagcc, f"--emit=dot:N={size}", "-o", "-", path], stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, text=True)
    if r.returncode:
        raise SystemExit(f"dagcc --emit=dot fails\n{r.stderr}")
    names = dict(re.findall(r'^ *(t\d+) \[label = "([^"]*)"', r.stdout, flags=re.M))
    edges = re.findall(r'(t\d+) -> (t\d+) \[label = "([^"]*)"', r.stdout)
    relay = re.compile(r"(GIVE|HOME)_")
    tasks = sorted(n for n in names.values() if not relay.match(n))
    return tasks, {(names[a], flow, names[b]) for a, b, label in edges for flow in label.split(", ")
                   if not relay.match(names[a]) and not relay.match(names[b])}


def check(dagcc, nest, directory):
    """The reason for which the nest was refused, or None."""
    path = os.path.join(directory, "nest.seq.c")
    printed = os.path.join(directory, "nest.jdf")
    with open(path, "w") as f:
        f.write(nest.text())
    r = subprocess.run([dagcc, "--emit=jdf", "-o", printed, path], stderr=subprocess.PIPE, text=True)
    if r.returncode:
        alias = any(aliased(nest.run(n)) for n in range(12))
        if "[-Wseq-alias]" in r.stderr and alias:
            return "alias"
        if "[-Wseq-undecided]" in r.stderr:
            return "undecided"
        if "[-Wseq-unsupported]" in r.stderr and any(diagonals(nest.run(n)) for n in range(12)):
            return "diagonal"
        raise SystemExit(f"refused\n{r.stderr}")
    r = subprocess.run([dagcc, "-fsyntax-only", printed], stderr=subprocess.PIPE,
                       text=True)
    if r.returncode:
        raise SystemExit(f"not proven\n{r.stderr}")
    carried, kernel = set(), None
    with open(printed) as f:
        for line in f:
            head = re.match(r"(K\d+)\(", line)
            flow = re.match(r"RW +(T\d+) ", line)
            kernel = head.group(1) if head else kernel
            if flow:
                carried.add((kernel, flow.group(1)))
    for size in SIZES:
        trace = nest.run(size)
        tasks, edges = graph(dagcc, printed, size)
        if tasks != sorted(t for t, _ in trace):
            raise SystemExit(f"size {size}: other tasks: "
                             f"{set(tasks) ^ set(t for t, _ in trace)}")
        want = table(trace, carried)
        if edges != want:
            raise SystemExit(f"size {size}: too many edges: {sorted(edges - want)[:5]}, "
                             f"too few: {sorted(want - edges)[:5]}")
    return None


def main():
    dagcc, count = os.path.abspath(sys.argv[1]), int(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    refused = {None: 0, "alias": 0, "undecided": 0, "diagonal": 0}
    with tempfile.TemporaryDirectory() as directory:
        for n in range(count):
            nest = Nest(seed + n)
            try:
                refused[check(dagcc, nest, directory)] += 1
            except SystemExit as e:
                raise SystemExit(f"nest {seed + n}: {e}\n{nest.text()}") from None
    print(f"{count} nests, {refused['alias']} refused for a tile under two names, "
          f"{refused['undecided']} for too much work, {refused['diagonal']} for a diagonal that has no name")
    if refused[None] * 2 < count or refused["undecided"] * 50 > count:
        raise SystemExit("too many nests were refused: this test tests little")


if __name__ == "__main__":
    main()
