#!/usr/bin/env python3
"""Products in groups: a paper's figures from formulas, and from dag_sim's runs of hsumma.jdf.

    products.py PROGRAMS [--only 7|8|9|10] [--ranks 1048576] [--quick] [--doc FILE]

PROGRAMS is the folder of dag_sim and dag_gemm. --only: one figure. --ranks: larger jobs are not simulated, and the
table of 2^20 ranks is left as it is. Tables go between the lines <!-- figure-N --> and <!-- /figure-N --> of FILE.
Communication alone: kernels take no time.
--quick: a small product, and that no way takes less time than what a rank has to receive.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

from papers import write

# What figures are of: latency, seconds of a byte, and whether the whole run is played or a part of its steps.
BGP, EXA, CLUSTER = (3e-6, 1e-9), (500e-9, 1e-11), (100e-6, 1e-9)
SHAPES = {"flat": "flat", "binomial": "binomial", "scatter": "scatter", "chain": "chain", "two trees": "trees"} # and DAG_BCAST
FEW_MESSAGES = ("flat", "binomial") # of the shapes, for 2^20 ranks
BYTES = 8
MACHINE = """name = {name}
workers = 1
between = {latency:g}us {rate:g}GB/s
network = flat
send = 0us
receive = 0us
task = 0us
copy = 1000000GB/s
kernel = * * 32:1000000000000
"""


# ---- formulas ----------------------------------------------------------------------------------

def tree(shape, p, m, alpha, beta):
    """Seconds of a broadcast of m bytes among p ranks."""
    if p == 1:
        return 0.0
    log = math.log2(p)
    if shape == "flat":
        return (p - 1) * (alpha + m * beta)
    if shape == "binomial":
        return log * (alpha + m * beta)
    if shape == "scatter":
        return (log + p - 1) * alpha + 2 * (p - 1) / p * m * beta
    # in s segments, each of which takes a step; s is the best there is
    steps = p - 2 if shape == "chain" else 2 * math.ceil(log) - 1 # two trees: a rank gets half of its data from each
    best = max(1, round(math.sqrt(steps * m * beta / alpha)))
    return min((steps + s) * (alpha + m / s * beta) for s in (max(1, best - 1), best, best + 1))


def formula(shape, grid, groups, n, b, network, unit=BYTES):
    """n / b steps; in each rows and columns are busy at once, groups first among each other, then inside."""
    seconds = 0.0
    for p, other, across in ((grid[0], grid[1], groups[0]), (grid[1], grid[0], groups[1])):
        m = n / other * b * unit
        seconds = max(seconds, tree(shape, across, m, *network) + tree(shape, p // across, m, *network))
    return n / b * seconds


def divided(grid, count):
    """Groups I x J, as many as `count`, whose numbers of ranks across are as alike as can be."""
    found = [(i, count // i) for i in range(1, grid[0] + 1)
             if count % i == 0 and grid[0] % i == 0 and grid[1] % (count // i) == 0]
    return min(found, key=lambda g: abs(math.log(grid[0] / g[0] * g[1] / grid[1])) + abs(math.log(g[0] / g[1])))


def powers(p):
    return [2 ** i for i in range(int(math.log2(p)) + 1)]


# ---- simulated ---------------------------------------------------------------------------------

class Player:
    def __init__(self, programs, work, most):
        self.programs, self.work, self.most = programs, work, most

    def run(self, grid, groups, n, nb, steps, shape, ahead, network):
        path = os.path.join(self.work, "machine")
        with open(path, "w", encoding="ascii") as file:
            file.write(MACHINE.format(name="figure", latency=network[0] * 1e6, rate=1e-9 / network[1]))
        command = [os.path.join(self.programs, "dag_sim"), "-np", str(grid[0] * grid[1]), "--machine", path,
                   os.path.join(self.programs, "dag_gemm"), "--method", "hsumma", "--groups", f"{groups[0]}x{groups[1]}",
                   "--grid", f"{grid[0]}x{grid[1]}", "--lookahead", str(ahead), "--n", str(n), "--k", str(steps * nb),
                   "--nb", str(nb), "--json"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=3600, check=False,
                              env=os.environ | {"DAG_BCAST": SHAPES[shape]})
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
        result = json.loads(done.stdout)
        if result.get("simulated") is not True:
            sys.exit(f"{' '.join(command)}: the result does not say that it is simulated")
        return result["time_s"]

    def play(self, grid, groups, n, nb, shape, ahead, network, part=None):
        """Seconds of n / nb steps; with part = (a, b) of a and b steps, the others alike."""
        steps = n // nb
        if grid[0] * grid[1] > self.most:
            return None
        if not part or part[1] >= steps:
            seconds = self.run(grid, groups, n, nb, steps, shape, ahead, network)
        else:
            few, more = (self.run(grid, groups, n, nb, s, shape, ahead, network) for s in part)
            seconds = more + (more - few) / (part[1] - part[0]) * (steps - part[1])
        print(f"{grid} {groups} {n} {nb} {shape} {ahead}: {seconds:.4g} s", file=sys.stderr)
        return seconds


def of(seconds):
    return "" if seconds is None else f"{seconds:.3g}"


def wins(rows):
    """Where groups gain 5 %: for each column, the best row beside the first."""
    found = []
    for name in rows[0][1]:
        one, (best, label) = rows[0][1][name], min((row[1][name] or math.inf, row[0]) for row in rows)
        if one is not None and best < one / 1.05:
            found.append(f"{name} ({label}: {one / best:.2f} times as fast)")
    return "Groups gain 5 % or more with: " + ("; ".join(found) or "nothing") + "."


def groups_table(player, grid, n, nb, b, network, counts, part=None):
    """Time over the number of groups: formulas with blocks of b, runs with tiles of nb."""
    rows = []
    for count in counts:
        groups = divided(grid, count)
        cells = {}
        for shape in SHAPES:
            cells[f"{shape}, formula"] = formula(shape, grid, groups, n, b, network)
            for ahead in (0, 1):
                cells[f"{shape}, {ahead} ahead"] = player.play(grid, groups, n, nb, shape, ahead, network, part)
        rows.append((f"{count} = {groups[0]}x{groups[1]}", cells))
    names = list(rows[0][1])
    return ["| groups | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|",
            *(f"| {label} | " + " | ".join(of(cells[name]) for name in names) + " |" for label, cells in rows), "",
            wins(rows)]


def in_elements(network):
    """An element as long on the wire as a byte."""
    return network[0], network[1] / BYTES


def figure_7(player):
    case = (8, 16), 8192, 512, 512
    return ["In bytes:", "", *groups_table(player, *case, CLUSTER, powers(128)), "",
            "In elements, each counted as a byte:", "",
            *groups_table(player, *case, in_elements(CLUSTER), powers(128))]


def figure_8(player):
    case, counts = ((128, 128), 65536, 512, 256), (1, 4, 16, 64, 256, 512, 1024, 4096, 16384)
    return ["In bytes:", "", *groups_table(player, *case, BGP, counts, (2, 4)), "",
            "In elements, each counted as a byte:", "", *groups_table(player, *case, in_elements(BGP), counts, (2, 4))]


def figure_9(player):
    out = ["| ranks | shape | formula: SUMMA | groups | ratio | simulated, 0 ahead: SUMMA | groups | ratio "
           "| 1 ahead: SUMMA | groups | ratio |", "|---" * 11 + "|"]
    for p in (2048, 4096, 8192):
        grid = (2 ** (int(math.log2(p)) // 2), 2 ** (int(math.log2(p) + 1) // 2))
        for shape in SHAPES:
            said = {g: formula(shape, grid, divided(grid, g), 65536, 256, BGP) for g in powers(p)}
            best = divided(grid, min(said, key=said.get) if min(said.values()) < 0.999 * said[1] else p // grid[1])
            pairs = [(said[1], min(said.values()))]
            for ahead in (0, 1):
                pairs.append(tuple(player.play(grid, groups, 65536, 512, shape, ahead, BGP, (2, 4))
                                   for groups in ((1, 1), best)))
            cells = (f"{of(one)} | {of(many)} | {'' if None in (one, many) else f'{one / many:.2f}'}"
                     for one, many in pairs)
            out.append(f"| {p} | {shape}, groups {best[0]}x{best[1]} | {' | '.join(cells)} |")
    return out


def figure_10(player):
    """The paper's case by formulas, and a 256th of its ranks, with as much on each, simulated."""
    grid, n, small = (1024, 1024), 2 ** 22, (64, 64)
    out = ["| shape | groups | formula, b = 256, elements for bytes (paper) | bytes | formula, b = 4096, bytes "
           "| groups of 2^12 ranks | formula, b = 4096 | simulated, 0 ahead | 1 ahead |", "|---" * 9 + "|"]
    for shape in SHAPES:
        for groups, fewer in (((1, 1), (1, 1)), ((32, 32), (8, 8))):
            cells = [formula(shape, grid, groups, n, 256, EXA, 1), formula(shape, grid, groups, n, 256, EXA),
                     formula(shape, grid, groups, n, 4096, EXA)]
            less = [formula(shape, small, fewer, n // 16, 4096, EXA)]
            less += [player.play(small, fewer, n // 16, 4096, shape, ahead, EXA, (2, 6)) for ahead in (0, 1)]
            out.append(f"| {shape} | {groups[0]}x{groups[1]} | {' | '.join(map(of, cells))} | {fewer[0]}x{fewer[1]} "
                       f"| {' | '.join(map(of, less))} |")
    return out


def figure_10_whole(player):
    """A step of SUMMA on all of its ranks, where that does not take too many messages."""
    grid, n, b, alone = (1024, 1024), 2 ** 22, 4096, (1, 1)
    return ["| shape | formula, a step, b = 4096, bytes | simulated, a product of one step |", "|---" * 3 + "|",
            *(f"| {shape} | {of(formula(shape, grid, alone, n, b, EXA) / (n // b))} "
              f"| {of(player.run(grid, alone, n, b, 1, shape, 0, EXA))} |" for shape in FEW_MESSAGES)]


# ---- the page ----------------------------------------------------------------------------------

FIGURES = {7: figure_7, 8: figure_8, 9: figure_9, 10: figure_10}
WHOLE = 2 ** 20 # ranks of figure 10


def quick(player):
    """As figure 7 on 16 ranks. A rank receives what others have of its rows of A and of its columns of B."""
    grid, n = (4, 4), 2048
    least = n / grid[0] * n * BYTES * (1 - 1 / grid[1]) * CLUSTER[1] * 2
    for shape in SHAPES:
        for groups in ((1, 1), (2, 2)):
            for ahead in (0, 1):
                seconds = player.play(grid, groups, n, 256, shape, ahead, CLUSTER)
                if not least <= seconds:
                    sys.exit(f"{shape}, groups {groups}, {ahead} ahead: {seconds:.4g} s, and {least:.4g} s to receive")
    return groups_table(player, grid, n, 256, 256, CLUSTER, (1, 4))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs")
    parser.add_argument("--only", type=int, choices=list(FIGURES))
    parser.add_argument("--ranks", type=int, default=1 << 20)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--doc")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        player = Player(options.programs, work, options.ranks)
        figures = {"quick": quick} if options.quick else {
            f"figure-{n}": figure for n, figure in FIGURES.items() if options.only in (None, n)}
        if "figure-10" in figures and options.ranks >= WHOLE:
            figures["figure-10-whole"] = figure_10_whole
        parts = {name: "\n".join(figure(player)) for name, figure in figures.items()}
    print("\n\n".join(parts.values()))
    if options.doc:
        write(options.doc, parts)


if __name__ == "__main__":
    main()
