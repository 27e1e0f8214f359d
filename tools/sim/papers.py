#!/usr/bin/env python3
"""What two papers have measured, beside what dag_sim says of machines like theirs.

    papers.py PROGRAMS [--nodes 100] [--only song|clusters|nodes|tiles|sizes] [--doc FILE]

PROGRAMS is the folder of dag_sim and the drivers. --nodes: leave larger runs out. --only: one table, for trials.
Tables go between the lines <!-- NAME --> and <!-- /NAME --> of FILE. Machines are as the papers and data sheets
say; what was fitted, and to what, is said where the machine is described. All times that are played are simulated.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

# ---- Song and Dongarra -------------------------------------------------------------------------

# Table I: nodes, n, total s, computation s, communication s, non-computation %.
CHOLESKY = [(1, 34560, 19.6, 18.3, None, 6.6), (2, 46080, 22.6, 20.1, 1.9, 11.1),
            (4, 69120, 37.2, 34.8, 5.7, 6.5), (8, 92160, 43.7, 39.8, 8.4, 8.9),
            (16, 138240, 74.4, 68.7, 15.6, 7.7), (32, 184320, 90.7, 80.8, 26.6, 10.9),
            (64, 276480, 152.6, 138.6, 48, 9.2)]
QR = [(1, 32256, 102.7, 102.4, None, 0.3), (2, 43008, 120.2, 119.9, 3.7, 0.2),
      (4, 64512, 218.2, 217.2, 76.3, 0.5), (8, 86016, 260.5, 259.3, 101.2, 0.5),
      (16, 129024, 432.1, 420.2, 166.2, 2.8), (32, 172032, 516.4, 503.2, 218.6, 2.6),
      (64, 258048, 871.4, 820.3, 361, 5.9)]

# Two processors of six cores, three devices M2070, QDR InfiniBand. Products on a device as their Figure 2 and its
# text have them: 302 Gflop/s for tiles of 1088, 95 % of the most; 235 at most for several of up to 512, which are twice
# as fast as one of 320. Cores as their Figure 13. `rate` is the one factor on all kernels that is fitted.
KEENELAND = """name = keeneland
workers = 12
between = {latency}us {network}GB/s
network = fat-tree 18 1
kernel = * d 32:{c[4]} 64:{c[7]} 128:{c[9]} 256:{c[10]} 960:{c[10.4]}
kernel = potrf d 64:{p[4]} 256:{p[8]} 960:{p[9.5]}
kernel = geqrt_stack d 32:{p[2]} 64:{p[4]} 128:{p[6]} 256:{p[8]} 960:{p[9]}
devices = 3
device_streams = 1
device_memory = 6G
device_link = 15us {link}GB/s
device_kernel = gemm d 64:{c[8]} 128:{c[40]} 320:{c[118]} 512:{c[200]} 960:{c[290]} 1088:{c[302]} 1920:{c[318]}
device_kernel = herk d 64:{c[8]} 128:{c[40]} 320:{c[118]} 512:{c[200]} 960:{c[290]} 1088:{c[302]} 1920:{c[318]}
device_kernel = trsm d 64:{c[3]} 256:{c[50]} 512:{c[110]} 960:{c[190]}
device_kernel = gemqrt_stack d 64:{c[6]} 128:{c[30]} 320:{c[88]} 512:{c[150]} 960:{c[220]} 1920:{c[240]}
device_kernel = move * 32:2 256:60
"""
# Sixteen cores that share eight units for floating point, one device K20; tiles of 1920 on the device. The paper does
# not name the network: that of the first machine is taken.
KEPLER = """name = kepler
workers = 16
between = {latency}us {network}GB/s
network = fat-tree 18 1
kernel = * d 32:{c[3]} 128:{c[6]} 256:{c[7]} 1920:{c[7.5]}
kernel = potrf d 64:{p[3]} 256:{p[6]} 1920:{p[7]}
devices = 1
device_streams = 1
device_memory = 5G
device_link = 10us {link}GB/s
device_kernel = gemm d 128:{c[100]} 512:{c[700]} 1024:{c[950]} 1920:{c[1050]}
device_kernel = herk d 128:{c[80]} 512:{c[600]} 1024:{c[850]} 1920:{c[1000]}
device_kernel = trsm d 128:{c[30]} 512:{c[250]} 1024:{c[450]} 1920:{c[650]}
device_kernel = move * 32:2 256:100
"""


class Scaled(dict):
    """{x[8.5]} in a description: 8.5 times the factor."""

    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def __missing__(self, key):
        return f"{float(key) * self.factor:.6g}"

    def __getitem__(self, key):
        return self.__missing__(key)


def described(text, rate, network=3.4, latency=1.3, link=5.5, panels=1.0):
    return text.format(c=Scaled(rate), p=Scaled(rate * panels), network=network, latency=latency, link=link)


# What is made ten times as fast to find what keeps devices waiting.
CAUSES = [("the network", {"network": 34, "latency": 0.13}), ("panels on cores", {"panels": 10}),
          ("links to devices", {"link": 55})]


class Player:
    def __init__(self, programs, work, most):
        self.programs, self.work, self.most = programs, work, most

    def play(self, text, driver, ranks, n, nb, *more):
        machine = os.path.join(self.work, "machine")
        with open(machine, "w", encoding="ascii") as file:
            file.write(text)
        command = [os.path.join(self.programs, "dag_sim"), "-np", str(ranks), "--machine", machine,
                   os.path.join(self.programs, driver), "--n", str(n), "--nb", str(nb), "--json", *more]
        done = subprocess.run(command, capture_output=True, text=True, timeout=3600, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
        result = json.loads(done.stdout)
        if result.get("simulated") is not True:
            sys.exit(f"{' '.join(command)}: the result does not say that it is simulated")
        print(f"{driver} {ranks} {n} {nb} {' '.join(more)}: {result['time_s']:.4g} s", file=sys.stderr)
        return result


def grid(nodes):
    """As square as it gets: theirs is a process grid, and QR on one row has panels of one node."""
    p = max(d for d in range(1, math.isqrt(nodes) + 1) if nodes % d == 0)
    return "--grid", f"{p}x{nodes // p}"


def fit(player, text, driver, n, nb, seconds):
    """The factor with which one node takes as long as theirs."""
    rate = 1.0
    for _ in range(4):
        rate *= player.play(described(text, rate), driver, 1, n, nb)["time_s"] / seconds
    return rate


def cause(player, text, rate, run, idle):
    """Of what is made ten times as fast, what leaves devices idle least."""
    found = [(player.play(described(text, rate, **change), *run)["device_idle_percent"], name)
             for name, change in CAUSES]
    least, name = min(found)
    if least > 0.8 * idle:
        return f"none alone: {least:.1f} % with {name} ten times as fast"
    return f"{name}: ten times as fast {least:.1f} %"


def of(value):
    return "" if value is None else f"{value:g}"


def song(player):
    out = ["| | nodes | n | theirs: total, s | computation | communication | non-computation | simulated: total, s "
           "| computation | communication | non-computation | cause |", "|---" * 12 + "|"]
    for name, driver, nb, rows in (("Cholesky", "dag_potrf", 960, CHOLESKY), ("QR", "dag_geqrf", 240, QR)):
        rate = fit(player, KEENELAND, driver, rows[0][1], nb, rows[0][2])
        for nodes, n, total, computing, talking, percent in rows:
            if nodes > player.most:
                continue
            run = (driver, nodes, n, nb, *grid(nodes))
            r = player.play(described(KEENELAND, rate), *run)
            idle = r["device_idle_percent"]
            why = cause(player, KEENELAND, rate, run, idle) if idle > 10 else ""
            out.append(f"| {name} | {nodes} | {n} | {total} | {computing} | {of(talking)} | {percent} % | {r['time_s']:.1f} "
                       f"| {r['time_s'] * (1 - idle / 100):.1f} | {r['leaving'] / nodes / 3.4e9:.1f} | {idle:.1f} % "
                       f"| {why} |")
        out[-1] += f"\n| {name}, factor {rate:.3f} " + "| " * 11 + "|"
    return out


def clusters(player):
    out = ["| machine | | nodes | n | theirs, Tflop/s | simulated, Tflop/s | simulated: devices idle |",
           "|---" * 7 + "|"]
    plain = KEENELAND.replace("workers = 12", "workers = 11").replace("devices = 3", "devices = 0")
    potrf = fit(player, KEENELAND, "dag_potrf", 34560, 960, 19.6)
    geqrf = fit(player, KEENELAND, "dag_geqrf", 32256, 240, 102.7)
    kepler = fit(player, KEPLER, "dag_potrf", 26880, 1920, 26880**3 / 3 / 720e9)
    for name, text, rate, driver, nodes, n, nb, theirs in (
            ("first", KEENELAND, potrf, "dag_potrf", 100, 345600, 960, 75),
            ("first", KEENELAND, geqrf, "dag_geqrf", 100, 322560, 240, 40),
            ("second", KEPLER, kepler, "dag_potrf", 1, 26880, 1920, 0.72),
            ("second", KEPLER, kepler, "dag_potrf", 32, 152055, 1920, 20.9),
            ("first, cores alone", plain, 1.0, "dag_potrf", 100, 345600, 960, "11.1")):
        if nodes > player.most:
            continue
        r = player.play(described(text, rate), driver, nodes, n, nb, *grid(nodes))
        idle = f"{r['device_idle_percent']:.1f} %" if "device_count" in r else ""
        out.append(f"| {name} | {'QR' if 'geqrf' in driver else 'Cholesky'} | {nodes} | {n} | {theirs} "
                   f"| {r['gflops'] / 1000:.3g} | {idle} |")
    return out


# ---- DAGuE -------------------------------------------------------------------------------------

def blocks(n, width=80, processors=14, full=483.0):
    """Products of order n by blocks of width x width on so many processors: what of the last round is idle, and what
    blocks at the edge do in vain, is lost where nothing else runs."""
    across = math.ceil(n / width)
    rounds = math.ceil(across * across / processors)
    return full * (n / width / across) ** 2 * across * across / (rounds * processors)


# Dancer: 8 cores of 19.55 Gflop/s in products; network and links as their Table I has them beside each other
# (interleaved). Products alone have bodies for devices. C2050: with what they say is the practical peak of four nodes
# (1.97 Tflop/s are 77 %) a device has 483 Gflop/s; C1060: 367 by their account of Mordor.
CORES = """kernel = gemm s 48:14 96:18 192:19.55
kernel = herk s 48:12 96:17 192:19
kernel = trsm s 48:12 96:17 192:18.7
kernel = potrf s 50:5 100:11 200:16
"""
FERMI = " ".join(f"{n}:{blocks(n):.5g}" for n in (80, 160, 192, 240, 256, 320, 384, 400, 480, 512, 560, 640, 1040,
                                                   2000)) + " 8000:483"
TESLA = "96:180 192:300 256:330 384:355 960:367"
DANCER = """name = dancer
workers = 8
between = 2us 1.375GB/s
network = flat
""" + CORES
CARD = """devices = {count}
device_streams = {streams}
device_memory = {memory}
device_link = 15us 3.24GB/s 1.51GB/s
device_kernel = gemm s {rates}
"""
# Mordor: 16 cores of 14 Gflop/s in products (17.6 by the data sheet), two devices on a link. They report about 400 Gflop/s
# with one device, expect 1500 of four, and measured slightly less.
MORDOR = """name = mordor
workers = 16
kernel = * s 48:9 96:12 192:14
kernel = potrf s 50:5 100:9 200:12
device_links = 2
"""
NODE, PEAK = 8 * 19.55, {"cores": 0, "Fermi": 483, "Tesla": 367}


def dancer(kind, streams=4):
    if kind == "cores":
        return DANCER
    return DANCER + CARD.format(count=1, streams=streams, memory="3G" if kind == "Fermi" else "4G",
                                rates=FERMI if kind == "Fermi" else TESLA)


def rated(player, text, nodes, n, nb):
    return player.play(text, "dag_potrf", nodes, n, nb, "--prec", "s")["gflops"]


def share(rate, kind, nodes):
    return f"{rate:.0f} ({100 * rate / (nodes * (NODE + PEAK[kind])):.1f} %)"


def nodes_table(player):
    """Figures 4, 5 and 7."""
    out = ["| figure | machine | n | nb | simulated, Gflop/s: 1 stream | 4 streams |", "|---" * 6 + "|"]
    for n in (1920, 3840, 7680, 15360, 23040):
        one, four = (share(rated(player, dancer("Fermi", s), 1, n, 320), "Fermi", 1) for s in (1, 4))
        out.append(f"| 4 | one node with C2050 | {n} | 320 | {one} | {four} |")
    for count in (0, 1, 2, 3, 4):
        text = [MORDOR + CARD.format(count=count, streams=s, memory="4G", rates=TESLA) for s in (1, 4)]
        one, four = (f"{rated(player, t, 1, 23040, 384):.0f}" for t in text)
        out.append(f"| 5 | Mordor, {count} of four C1060 | 23040 | 384 | {one} | {four} |")
    for kind in ("cores", "Tesla", "Fermi"):
        for nodes in (1, 2, 4):
            n = int(17280 * math.sqrt(nodes)) // 384 * 384
            cells = [share(rated(player, dancer(kind, s), nodes, n, 384), kind, nodes) for s in (1, 4)]
            out.append(f"| 7 | {nodes} nodes, {kind} | {n} | 384 | {' | '.join(cells)} |")
    return out


def tiles(player):
    """Figure 6."""
    out = ["| nb | cores | Fermi, 1 stream | Fermi, 4 streams | Tesla, 1 stream | Tesla, 4 streams |", "|---" * 6 + "|"]
    for nb in (128, 192, 256, 320, 384, 512, 640):
        cells = [share(rated(player, dancer(kind, s), 4, 34560, nb), kind, 4)
                 for kind, s in (("cores", 1), ("Fermi", 1), ("Fermi", 4), ("Tesla", 1), ("Tesla", 4))]
        out.append(f"| {nb} | {' | '.join(cells)} |")
    return out


def sizes(player):
    """Figures 8 and 9."""
    out = ["| n | cores | Fermi, 1 stream | Fermi, 4 streams | Tesla, 1 stream | Tesla, 4 streams |", "|---" * 6 + "|"]
    for n in (11520, 23040, 34560, 46080):
        cells = [share(rated(player, dancer(kind, s), 4, n, 384), kind, 4)
                 for kind, s in (("cores", 1), ("Fermi", 1), ("Fermi", 4), ("Tesla", 1), ("Tesla", 4))]
        out.append(f"| {n} | {' | '.join(cells)} |")
    out.append("| theirs, largest | 546 (87.3 %) | | 1970 (77 %) | 76 % | |")
    return out


# ---- the page ----------------------------------------------------------------------------------

TABLES = {"song": song, "clusters": clusters, "nodes": nodes_table, "tiles": tiles, "sizes": sizes}


def write(path, parts):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for name, part in parts.items():
        if f"<!-- {name} -->" not in text or f"<!-- /{name} -->" not in text:
            sys.exit(f"{path}: there are no lines <!-- {name} --> and <!-- /{name} -->")
        before, rest = text.split(f"<!-- {name} -->", 1)
        text = f"{before}<!-- {name} -->\n{part}\n<!-- /{name} -->" + rest.split(f"<!-- /{name} -->", 1)[1]
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs")
    parser.add_argument("--nodes", type=int, default=100)
    parser.add_argument("--only", choices=list(TABLES))
    parser.add_argument("--doc")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        player = Player(options.programs, work, options.nodes)
        parts = {name: "\n".join(table(player)) for name, table in TABLES.items()
                 if options.only in (None, name)}
    print("\n\n".join(parts.values()))
    if options.doc:
        write(options.doc, parts)


if __name__ == "__main__":
    main()
