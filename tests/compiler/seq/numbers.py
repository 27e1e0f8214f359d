#!/usr/bin/env python3
"""What is derived from nests, in numbers, beside the graphs that were written by hand.

    numbers.py DAGCC EXAMPLES [--update]

The graph of each nest is the one that graphs/ has: --update writes it anew. For each nest that stands for a graph of the library: at most 1.2 times the guards of that graph, no line of
more than 100 columns, at most as many copies as -Wrename lists there, 100 MiB of memory. Together the nests
have at most half the lines. Prints a table, with processor time, whose goal, 0.5 s for each, a busy machine
may miss.
"""
import os
import re
import subprocess
import sys
import tempfile

PAIRS = ["cholesky/potrf_L", "cholesky/potrf_U", "cholesky/lauum", "lu/getrf_nopiv", "qr/geqrf",
         *("blas3/" + name for name in ("gemm_C", "trsm_L", "trsm_R", "trtri", "trmm_L", "trmm_R", "syrk",
                                        "syr2k", "symm_L", "symm_R"))]
OTHERS = ["inverse", "qr"]  # no graph by hand is like these
GUARDS, COLUMNS, MEBIBYTES = 1.2, 100, 100
GRAPHS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "graphs")


def run(dagcc, *arguments):
    """Seconds, MiB, what is printed, and messages of a run that must succeed."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen([dagcc, "--no-proof-cache", *arguments], stdout=out, stderr=err)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode("utf-8", "replace"))
        if process.returncode != 0:
            sys.exit(f"{' '.join(arguments)}: exit {process.returncode}\n{texts[1]}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, *texts


def guards(graph):
    """Conditions on the lines of flows."""
    graph = re.sub(r"/\*.*?\*/|^BODY.*?^END$", "", graph, flags=re.S | re.M)
    lines = re.findall(r"^ *(?:(?:READ|RW|WRITE|CTL) +\w+ *)?(?:<-|->)(.*)$", graph, flags=re.M)
    return sum(line.count("?") for line in lines)


def renames(messages):
    return len(re.findall(r"\[-Wrename\]", messages))


def lines(path):
    with open(path, encoding="utf-8") as file:
        return sum(1 for _ in file)


def is_kept(name, graph, update):
    """Is this the graph that is kept? Places in it name the folder of the nest."""
    path, graph = os.path.join(GRAPHS, name + ".graph"), re.sub(r"(/\* )\S*/(\w+\.seq\.c:)", r"\1\2", graph)
    if update:
        with open(path, "w", encoding="utf-8") as file:
            file.write(graph)
    with open(path, encoding="utf-8") as file:
        return file.read() == graph


def main():
    dagcc, examples, update = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3:] == ["--update"]
    wrong, total = [], [0, 0]
    print(f"{'':14}{'guards':>8}{'of':>4}{'lines':>7}{'of':>5}{'columns':>9}{'seconds':>9}{'MiB':>6}")
    for pair in PAIRS:
        hand, name = f"{examples}/{pair}.jdf", os.path.basename(pair)
        nest = f"{examples}/sequential/{name}.seq.c"
        _, _, graph, _ = run(dagcc, "--emit=jdf", nest)
        _, _, model, _ = run(dagcc, "--emit=jdf", hand)
        if not is_kept(name, graph, update):
            wrong.append(f"{name}: another graph than graphs/{name}.graph; numbers.py --update accepts it")
        seconds, mebibytes, _, said = run(dagcc, "-fsyntax-only", "-Wrename", nest)
        known = run(dagcc, "-fsyntax-only", "-Wrename", hand)[3] if renames(said) else ""
        mine, theirs = guards(graph), guards(model)
        columns = max(map(len, graph.splitlines()))
        counts = lines(nest), lines(hand)
        total = [a + b for a, b in zip(total, counts)]
        print(f"{name:14}{mine:8}{theirs:4}{counts[0]:7}{counts[1]:5}{columns:9}{seconds:9.2f}{mebibytes:6.0f}")
        if mine > GUARDS * theirs:
            wrong.append(f"{name}: {mine} guards, {theirs} by hand")
        if columns > COLUMNS:
            wrong.append(f"{name}: a line of {columns} columns")
        if mebibytes > MEBIBYTES:
            wrong.append(f"{name}: {mebibytes:.0f} MiB")
        if renames(said) > renames(known):
            wrong.append(f"{name}: -Wrename lists what the file written by hand does not have\n{said}")
    for name in OTHERS:
        if not is_kept(name, run(dagcc, "--emit=jdf", f"{examples}/sequential/{name}.seq.c")[2], update):
            wrong.append(f"{name}: another graph than graphs/{name}.graph; numbers.py --update accepts it")
    print(f"{'together':14}{'':12}{total[0]:7}{total[1]:5}")
    if 2 * total[0] > total[1]:
        wrong.append(f"{total[0]} lines, {total[1]} by hand")
    print("\n".join("FAIL " + w for w in wrong))
    sys.exit(len(wrong) > 0)


if __name__ == "__main__":
    main()
