#!/usr/bin/env python3
"""dag_sim beside SimGrid: the same graphs, kernels and network, played by the one and by the other.

    against_simgrid.py BUILD SIMGRID-BUILD [--ranks 4,16,64] [--tiles 24] [--graphs cholesky,lu] [--bandwidths 1]
                       [--doc FILE | --network "fat-tree 4 2" --line "adapters = 2"]
    against_simgrid.py BUILD --recorded --doc FILE [--most 256]

SIMGRID-BUILD is a build of the preset `simgrid`. --recorded: what SimGrid said is taken from the table in FILE, up to so many
ranks. dag_sim plays each row twice: transfers follow each other on a wire (share = fifo) or share it (fair). Messages, bytes of data and tasks have to be equal, and
times near: within 5 % of each other where wires are fast, 10 % where they are not. Ends with 1 where counts
differ. Prints a table, and puts its rows into that of FILE, between the lines <!-- simgrid --> and <!-- /simgrid -->.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROUTINES = [("Cholesky", "cholesky"), ("QR", "qr"), ("product", "product"), ("LU", "lu"),
            ("LU without pivots", "nopiv")]
NETWORKS = [("12.5 GB/s", "1.5us 12.5GB/s"), ("1 GB/s", "5us 1GB/s")]
NB = 128
# What SimGrid cannot play takes no time: what a task and a copy cost beside kernels.
MACHINE = """name = flat
network = {network}
share = {share}
between = {between}
within = 0.6us 8GB/s
send = 0us
receive = 0us
task = 0us
copy = 1000000GB/s
kernel = * * 16:5 32:12 64:25 96:34 128:38 192:42 384:45
kernel = potrf * 16:2 32:8 64:18 128:30
kernel = getrf * 32:6 96:14 192:22 384:28
kernel = getrf_column * 16:2 128:4
kernel = geqrt_stack * 32:6 96:16 192:24
kernel = tpqrt * 32:4 96:9 192:14
kernel = move * 32:4 128:8
"""
LINE = re.compile(r"[a-z ]+: (\d+) messages, (\d+) bytes, (\d+) tasks, ([0-9.]+) s")


def result(command, **environment):
    done = subprocess.run(command, capture_output=True, text=True, timeout=3000, check=False,
                          env=dict(os.environ, DAG_BCAST="binomial", **environment))
    match = LINE.search(done.stdout)
    if done.returncode != 0 or not match:
        sys.exit(f"{' '.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return tuple(int(n) for n in match.groups()[:3]), float(match[4])


def describe(options, machine, between, share):
    with open(machine, "w", encoding="ascii") as file:
        file.write(MACHINE.format(network=options.network, between=between, share=share))
        file.writelines(f"{line}\n" for line in options.line)


def order_of(options, ranks):
    """24 x 24 tiles are too few for 1,024 ranks."""
    return (options.tiles if ranks < 1024 else max(options.tiles, 32)) * NB


def recorded(options, _machine):
    """Rows of the table in the page: network, ranks, graph, counts, SimGrid's time."""
    with open(options.doc, encoding="utf-8") as file:
        text = file.read().split("<!-- simgrid -->", 1)[1].split("<!-- /simgrid -->", 1)[0]
    column = None
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if "SimGrid, s" in cells:
            column = cells.index("SimGrid, s")
        if column and cells[1].isdigit() and int(cells[1]) <= options.most and \
                dict(ROUTINES)[cells[2]] in options.graphs and cells[0].split()[0] in options.bandwidths:
            order = order_of(options, int(cells[1]))
            counts = tuple(int(re.findall(r"\d+", cell)[-1]) for cell in cells[3:5]) # its own, where they differ
            yield cells[0], int(cells[1]), cells[2], order, counts, float(cells[column])


def run_simgrid(options, machine):
    for network, between in NETWORKS:
        for ranks in options.ranks:
            for name, routine in ROUTINES:
                if routine not in options.graphs or network.split()[0] not in options.bandwidths:
                    continue
                describe(options, machine, between, "fifo")
                order = order_of(options, ranks)
                counts, other = result([os.path.join(HERE, "..", "simulate"), "-np", str(ranks), "--machine",
                                        machine, os.path.join(options.simgrid, "bin/sim_counts"), routine,
                                        str(order), str(NB)])
                yield network, ranks, name, order, counts[:2], other


def rows(options, machine):
    for network, ranks, name, order, counts, other in (recorded if options.recorded else run_simgrid)(options, machine):
        times = []
        for share in "fifo", "fair":
            describe(options, machine, dict(NETWORKS)[network], share)
            played, time = result([os.path.join(options.build, "tests/integration/sim_counts"), dict(ROUTINES)[name],
                                   str(order), str(NB)], DAG_SIMULATE=str(ranks), DAG_MACHINE=machine)
            times.append(time)
        yield network, ranks, name, played[:2], counts, times, other
        print(f"{network} {ranks} {name}: {played} {counts} {times} {other}", file=sys.stderr)


def table(found):
    out = ["| network | ranks | graph | messages | bytes | SimGrid, s | dag_sim, s: fifo | difference | fair | difference |",
           "|---" * 10 + "|"]
    for network, ranks, name, played, counts, times, other in found:
        same = "" if played == counts else f" (SimGrid {counts[0]})", "" if played == counts else f" ({counts[1]})"
        out.append(f"| {network} | {ranks} | {name} | {played[0]}{same[0]} | {played[1]}{same[1]} | {other:.6f} | "
                   + " | ".join(f"{time:.6f} | {100 * (time / other - 1):+.1f} %" for time in times) + " |")
    return "\n".join(out)


def key_of(line):
    """The place of a row in the table of the page."""
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    return [network for network, _ in NETWORKS].index(cells[0]), int(cells[1]), [name for name, _ in ROUTINES].index(cells[2])


def merged(text, old):
    """Rows of `text` in place of the same ones of a table; the others stay."""
    new, before = text.splitlines(), [line for line in old.splitlines() if re.match(r"\| [0-9.]+ GB/s \| \d", line)]
    kept = {key_of(line): line for line in before} | {key_of(line): line for line in new[2:]}
    return "\n".join(new[:2] + [kept[key] for key in sorted(kept)])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("simgrid", nargs="?")
    parser.add_argument("--recorded", action="store_true")
    parser.add_argument("--most", type=int, default=1024)
    parser.add_argument("--ranks", type=lambda text: [int(n) for n in text.split(",")], default=[4, 16, 64])
    parser.add_argument("--tiles", type=int, default=24)
    parser.add_argument("--graphs", type=lambda text: text.split(","), default=[routine for _, routine in ROUTINES])
    parser.add_argument("--bandwidths", type=lambda text: text.split(","), default=[name.split()[0] for name, _ in NETWORKS])
    parser.add_argument("--network", default="flat")
    parser.add_argument("--line", action="append", default=[], help="another line of the description")
    parser.add_argument("--doc")
    options = parser.parse_args()
    if not options.recorded and not options.simgrid or options.recorded and not options.doc:
        parser.error("give a build of the preset simgrid, or --recorded and --doc FILE with its table")
    if options.doc and (options.network != "flat" or options.line):
        parser.error("the table in the page is of flat networks")
    known = [routine for _, routine in ROUTINES] + [name.split()[0] for name, _ in NETWORKS]
    for word in options.graphs + options.bandwidths:
        if word not in known:
            parser.error(f"{word} is not known; graphs and bandwidths are {', '.join(known)}")
    if options.doc and options.tiles != parser.get_default("tiles"):
        parser.error("the table in the page has its own number of tiles; leave out --tiles, or --doc")
    with tempfile.TemporaryDirectory() as work:
        found = list(rows(options, os.path.join(work, "machine")))
    text = table(found)
    print(text)
    if options.doc:
        with open(options.doc, encoding="utf-8") as file:
            before, rest = file.read().split("<!-- simgrid -->", 1)
        old, after = rest.split("<!-- /simgrid -->", 1)
        with open(options.doc, "w", encoding="utf-8") as file:
            file.write(f"{before}<!-- simgrid -->\nAll times are simulated; n = {options.tiles * NB} in tiles of "
                       f"{NB}, on 1,024 ranks {order_of(options, 1024)}.\n\n{merged(text, old)}\n<!-- /simgrid -->{after}")
    return any(played != counts for _, _, _, played, counts, *_ in found)


if __name__ == "__main__":
    sys.exit(main())
