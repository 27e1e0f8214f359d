#!/usr/bin/env python3
"""Random sequential nests, run: as graphs on several ranks, serially, and as tasks of OpenMP.

    bitwise.py DAGCC MPIRUN COUNT SEED RANKS OPENMP CC INCLUDES...

COUNT nests that dagcc takes, from number SEED on, become one program (bitwise.c), which runs on each number
of ranks in RANKS ("1,2,4") with messages in a random order. OPENMP is the option of the C compiler CC for
OpenMP; empty: there is no program for threads. INCLUDES are folders of headers. A nest that is refused is left
out, and the next one drawn; why it was is what nests.py looks at.
"""
import itertools
import os
import subprocess
import sys
import tempfile

from nests import HEAD, REGIONS, Nest

MOST_TILES = 5  # as in bitwise.c
HERE = os.path.dirname(os.path.abspath(__file__))
os.environ["DAGCC_PROOF_CACHE"] = "off"


def kernel_text(kernel):
    """A kernel whose tasks read and write all that its clauses allow; the same words for OpenMP."""
    depend, body = "", [f"int64_t sum = {1 + int(kernel.name.rpartition('K')[2])};"]
    for (tile, kind), region in zip(kernel.tiles, kernel.regions):
        depend += f" depend({kind}: {tile}[0])"
        if kind != "out":
            body.append(f"sum = bitwise_read(sum, {tile}, {tile}_m, {tile}_n, {tile}_ld, {REGIONS[region]});")
    for (tile, kind), region in zip(kernel.tiles, kernel.regions):
        if kind != "in":
            body.append(f"bitwise_write(sum++, {tile}, {tile}_m, {tile}_n, {tile}_ld, {REGIONS[region]});")
    clauses, params = kernel.clauses()
    return (f"#pragma dag task {clauses}\nstatic void {kernel.name}({params})\n{{\n"
            f"#pragma omp task{depend}\n    {{\n" + "".join(f"        {line}\n" for line in body) + "    }\n}\n")


def draw(number):
    """The nest of nests.py; None: all its loops are empty."""
    nest = Nest(number)
    for kernel in nest.kernels:
        kernel.name = f"N{number}_{kernel.name}"
    if not nest.run(MOST_TILES):
        return None
    return nest.text(f"nest_{number}", HEAD + '#include "bitwise.h"\n', kernel_text)


def run(command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)


def make_all(dagcc, compile_c, directory, count, number):
    """Objects of COUNT nests; their names."""
    names = []
    for number in itertools.count(number):
        name, text = f"nest_{number}", draw(number)
        if len(names) == count:
            return names
        if text is None:
            continue
        with open(os.path.join(directory, name + ".seq.c"), "w") as f:
            f.write(text)
        r = run([dagcc, "--emit=c", name + ".seq.c"], cwd=directory)
        if r.returncode == 0:
            names.append(name)
            compile_c(f"{name}.c", "-o", f"{name}.o")
        elif "[-Wseq-" not in r.stdout:
            raise SystemExit(f"{name}: exit {r.returncode}\n{r.stdout}")


def programs(directory, names, openmp):
    """The list of nests, and all of them in one file, serially and for threads."""
    types = "dag_matrix *A, dag_matrix *B, dag_matrix *C"
    with open(os.path.join(directory, "bitwise_nests.h"), "w") as f:
        f.write("".join(f'#include "{name}.h"\n' for name in names) +
                "#define NESTS(X) " + " ".join(f"X({name})" for name in names) + "\n" +
                "".join(f"void bitwise_{which}(int nest, {types});\n" for which in ("serial", "threads")) +
                ("#define THREADS\n" if openmp else ""))
    with open(os.path.join(directory, "all.c"), "w") as f:
        f.write("".join(f'#include "{name}.seq.c"\n' for name in names) +
                f"static void (*const nests[])({types}) = {{{', '.join(names)}}};\n"
                f"void WHICH(int nest, {types});\nvoid WHICH(int nest, {types})\n{{\n"
                "#pragma omp parallel num_threads(3)\n#pragma omp single\n    nests[nest](A, B, C);\n}\n")


def main():
    dagcc, mpirun, count, seed, ranks, openmp, cc = sys.argv[1:8]
    headers = ["-I.", f"-I{HERE}", *("-I" + folder for folder in sys.argv[8:])]
    with tempfile.TemporaryDirectory() as directory:
        def must(*command):
            r = run(command, cwd=directory)
            if r.returncode:
                raise SystemExit(f"{' '.join(command)}: exit {r.returncode}\n{r.stdout}")

        def compile_c(*arguments):
            must(cc, "-O0", "-w", "-c", *headers, *arguments)

        names = make_all(os.path.abspath(dagcc), compile_c, directory, int(count), int(seed))
        programs(directory, names, openmp)
        # dagcc compiles the last one itself, and links all: it knows how.
        objects = [f"{name}.o" for name in names[:-1]]
        for which, option in (("serial", "-fno-openmp"), ("threads", openmp)):
            if option:
                compile_c(option, f"-DWHICH=bitwise_{which}", "all.c", "-o", f"{which}.o")
                objects.append(f"{which}.o")
        compile_c(os.path.join(HERE, "bitwise.c"), "-o", "bitwise.o")
        must(dagcc, "-O0", *filter(None, [openmp]), *headers, f"{names[-1]}.seq.c", "bitwise.o", *objects,
             "-o", "bitwise")
        failed = False
        for n in ranks.split(","):
            r = run([mpirun, "-np", n, "--threads", "2", "--timeout", "1800", "./bitwise"], cwd=directory,
                    env={**os.environ, "DAG_CHAOS": str(int(seed) + int(n))})
            print(r.stdout, end="")
            failed = failed or r.returncode != 0
            for name in names:
                if f"FAIL {name}," in r.stdout:
                    print(open(os.path.join(directory, name + ".seq.c")).read())
        sys.exit(failed)


if __name__ == "__main__":
    main()
