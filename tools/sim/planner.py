#!/usr/bin/env python3
"""How near the planner of products comes to the best way that a sweep finds, simulated.

    planner.py DIRECTORY-OF-PROGRAMS [--ranks R ...] [--all] [--gap PERCENT]
    planner.py DIRECTORY-OF-PROGRAMS --layers

On three networks, at 16, 64 and 256 ranks, the product that the library plans is simulated beside ways that are named:
C or A stays, grids with one to four layers, steps ahead, groups, shapes of broadcasts; at most 200 on a network.
A table in Markdown goes to standard output, with --all each way that was tried. Exit status 1 when the plan takes more
than PERCENT (10) longer than the best.

--layers: which number of layers wins for square matrices on 8, 64 and 512 ranks, and what it holds: of each number the
best of the grids near a square, 1, 3 and 7 steps ahead.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

# Latency, rate, workers of a rank and its kernels; ranks are nodes.
NETWORKS = {
    "BlueGene/P": "workers = 4\nbetween = 3us 1GB/s\nkernel = * * 32:1.5 128:2.7 256:3\n",
    "10 GbE": "workers = 8\nbetween = 20us 1.2GB/s\nkernel = * * 32:15 128:35 256:40\n",
    "100 Gbit/s": "workers = 8\nbetween = 1.5us 12.5GB/s\nkernel = * * 32:15 128:35 256:40\n",
}
SIZES = {16: (4096, 256), 64: (8192, 256), 256: (8192, 256)}
LAYERS = {8: (4096, 256), 64: (8192, 256), 512: (8192, 256)}
SHAPES = ("binomial", "chain", "scatter")


def near_root(ranks):
    p = int(ranks ** 0.5)
    while ranks % p:
        p -= 1
    return p, ranks // p


def ways(ranks):
    """(options, shape) of each way; None is the library's plan."""
    p, q = near_root(ranks)
    yield None, None
    for shape in SHAPES:
        yield ["--method", "stationary-c"], shape
    yield ["--method", "stationary-c"], None
    yield ["--method", "stationary-a"], None
    grids = [(p, q, 1), (p // 2, q * 2, 1), (p * 2, q // 2, 1)]
    for layers in 2, 4:
        a, b = near_root(ranks // layers)
        grids += [(a, b, layers), (b, a, layers)] if a != b else [(a, b, layers)]
    for grid in grids:
        for ahead in 0, 1, 3, 7, 15:
            yield ["--method", "summa", "--product-grid", "x".join(map(str, grid)), "--lookahead", str(ahead)], None
    for shape in SHAPES:
        for ahead in 1, 7:
            yield ["--method", "summa", "--product-grid", f"{p}x{q}x1", "--lookahead", str(ahead)], shape
    for groups in 2, 4:
        for ahead in 0, 1:
            yield ["--method", "hsumma", "--product-grid", f"{p}x{q}x1", "--groups", f"{groups}x{groups}", "--lookahead",
                   str(ahead)], None


def simulate(programs, machine, ranks, options, shape, sizes=SIZES):
    n, nb = sizes[ranks]
    grid = "x".join(map(str, near_root(ranks)))
    command = [os.path.join(programs, "dag_gemm"), "--predict", f"{ranks},{machine}", "--n", str(n), "--nb", str(nb),
               "--grid", grid, "--json", *(options or [])]
    environment = dict(os.environ, DAG_NETWORK="", **({"DAG_BCAST": shape} if shape else {}))
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


def described(directory, network):
    """The file that describes a machine."""
    machine = os.path.join(directory, "machine")
    with open(machine, "w", encoding="ascii") as file:
        file.write(f"name = {network}\nranks = 1\n{NETWORKS[network]}")
    return machine


def layers(programs, directory):
    print("| network | ranks | n, nb | layers | grid, ahead | s | MB received | MB held |\n|" + "---|" * 8)
    for network in NETWORKS:
        machine = described(directory, network)
        for ranks, (n, nb) in LAYERS.items():
            best = []
            for count in 1, 2, 4, 8:
                p, q = near_root(ranks // count)
                tried = [simulate(programs, machine, ranks, ["--method", "summa", "--product-grid", f"{a}x{b}x{count}",
                                                             "--lookahead", str(ahead)], None, LAYERS)
                         for a, b in {(p, q), (q, p)} for ahead in (1, 3, 7)]
                best.append((min(tried, key=lambda r: r["time_s"]), count))
            wins = min(best, key=lambda r: r[0]["time_s"])[1]
            for r, count in best:
                mark = "**" if count == wins else ""
                print(f"| {network} | {ranks} | {n}, {nb} | {mark}{count}{mark} | {r['product_grid_taken']}, "
                      f"{r['lookahead_taken']} | {r['time_s']:.4g} | {r['bytes_predicted'] / 1e6:.1f} | "
                      f"{r['memory_predicted'] / 1e6:.1f} |", flush=True)


def name(result, shape):
    method, grid = result["method_taken"], result.get("product_grid_taken", result["grid"])
    ahead = f", {result['lookahead_taken']} ahead" if "lookahead_taken" in result else ""
    groups = f", {result['groups_taken']} groups" if "groups_taken" in result else ""
    return f"{method} {grid}{groups}{ahead}{', ' + shape if shape else ''}"


def sweep(asked, directory):
    """Whether some plan is too slow."""
    failed = False
    print("| network | ranks | n, nb | planned | s | best of the sweep | s | longer by | ways |\n|" + "---|" * 9)
    for network in NETWORKS:
        machine = described(directory, network)
        for ranks in asked.ranks:
            found = []
            for options, shape in ways(ranks):
                result = simulate(asked.programs, machine, ranks, options, shape)
                found.append((result["time_s"], name(result, shape)))
            planned, best = found[0], min(found)
            longer = 100 * (planned[0] / best[0] - 1)
            failed |= longer > asked.gap
            n, nb = SIZES[ranks]
            print(f"| {network} | {ranks} | {n}, {nb} | {planned[1]} | {planned[0]:.4g} | {best[1]} | {best[0]:.4g} | "
                  f"{longer:.1f} % | {len(found)} |", flush=True)
            for seconds, way in sorted(found) if asked.all else ():
                print(f"    {seconds:.4g} {way}")
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs")
    parser.add_argument("--ranks", type=int, nargs="+", default=sorted(SIZES), choices=sorted(SIZES))
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--layers", action="store_true")
    parser.add_argument("--gap", type=float, default=10)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        if asked.layers:
            layers(asked.programs, directory)
            return
        sys.exit(sweep(asked, directory))


if __name__ == "__main__":
    main()
