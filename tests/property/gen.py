#!/usr/bin/env python3
"""Random task graphs for the property test, consistent by construction.

usage: gen.py OUTDIR FIRST COUNT

Writes OUTDIR/pNNN.jdf for NNN = FIRST .. FIRST+COUNT-1, the number is the seed; cases.c, the table
of their constructors for the driver; and oracle_files.h, their second names.
"""
import sys

from draw import ELEMS, Graph
from jdf import Jdf


def case_entry(graph, cols):
    precs = "sd" if graph.precisions else ELEMS[graph.elem]
    both = all(len(graph.stored & set(pair)) <= 1 for pair in ("VW", "AB"))
    return '    {"%s", PROP_RUNTIME(%s), PROP_ORACLE(%s), "%s", "%s", %d, %d},' % (
        graph.name, graph.name, graph.name, "".join(cols), precs, graph.ragged, both)


def write_oracle_files(path, graphs):
    with open(path, "w") as out:
        out.write("/* Made by gen.py. */\n")
        for g in graphs:
            for infix in ["_s", "_d"] if g.precisions else [""]:
                name = g.name + infix + "_new"
                out.write("#define %s oracle_%s\n" % (name, name))


def write_cases(path, graphs, texts):
    with open(path, "w") as out:
        out.write("/* Made by gen.py. */\n#include \"driver.h\"\n\n")
        for g in graphs:
            out.write("extern prop_make PROP_RUNTIME(%s), PROP_ORACLE(%s);\n" % (g.name, g.name))
        out.write("\nconst prop_file prop_files[] = {\n")
        out.write("\n".join(case_entry(g, t.cols) for g, t in zip(graphs, texts)))
        out.write("\n};\nconst int prop_nfiles = %d;\n" % len(graphs))


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__.split("\n\n")[1])
    where, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    graphs = [Graph(seed) for seed in range(first, first + count)]
    texts = [Jdf(g) for g in graphs]
    for g, t in zip(graphs, texts):
        with open("%s/%s.jdf" % (where, g.name), "w") as out:
            out.write(t.text)
    write_oracle_files(where + "/oracle_files.h", graphs)
    write_cases(where + "/cases.c", graphs, texts)


if __name__ == "__main__":
    main()
