#!/usr/bin/env python3
"""Runs dag_potrf, dag_posv and dag_gesv as a user does: options, files, results, exit statuses.

usage: drivers.py MPIRUN BINDIR MOST_RANKS DATADIR [CLASS...]
DATADIR may hold matrices of the Harwell-Boeing collection; they are used if they are there. CLASS
names parts of this file: Options, Results, Files, RealMatrices, Memory. The last needs a program
that does nothing but start MPI, named in the environment as MPI_ONLY.
"""
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import unittest

MPIRUN, BIN, MOST, DATA = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
MANUAL = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      "../../../docs/dag_drivers.1")
RANKS = [n for n in (1, 2, 4, 6) if n <= MOST]
DRIVERS = ["dag_" + d for d in "potrf posv potri getrf gesv getri geqrf gelqf gels gemm blas3".split()]
FIELDS = ["routine", "prec", "m", "n", "nb", "ranks", "grid", "threads", "gpus", "time_s", "gflops",
          "residual", "info"]


def run(driver, *args, ranks=1):
    """(exit status, stdout, stderr)"""
    command = [os.path.join(BIN, driver)] + [str(a) for a in args]
    if ranks > 1:
        command = [MPIRUN, "-np", str(ranks), "--threads", "1", "--timeout", "100"] + command
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=dict(os.environ, DAG_THREADS="1", DAG_GPUS="0"))
    return done.returncode, done.stdout, done.stderr


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()

    def tearDown(self):
        self.dir.cleanup()

    def file(self, text, name="A.mtx"):
        path = os.path.join(self.dir.name, name)
        with open(path, "w") as f:
            f.write(text)
        return path

    def good(self, driver, *args, ranks=1):
        """The JSON objects of a run that ends well."""
        status, out, err = run(driver, *args, "--json", ranks=ranks)
        self.assertEqual(status, 0, err)
        return [json.loads(line) for line in out.splitlines()]

    def bad(self, status, text, driver, *args, ranks=1):
        got, out, err = run(driver, *args, ranks=ranks)
        self.assertEqual(got, status, err)
        self.assertIn(text, err)
        self.assertEqual(err.count(text), 1, "said once, not by every rank:\n" + err)
        return out


class Options(Case):
    def test_usage_errors(self):
        for text, *args in [
                ("unknown option --matix; did you mean --matrix?", "--matix", "x"),
                ("unknown option --frobnicate", "--frobnicate"),
                ("unexpected argument '12'", "12"),
                ("--n takes a number >= 0, not 'ten'", "--n", "ten"),
                ("--n takes a number >= 0, not '-3'", "--n", "-3"),
                ("--n takes a number >= 0, not '99999999999999999999'", "--n", "9" * 20),
                ("--n needs a value", "--n"),
                ("--nb takes a number from 0", "--nb", "-1"),
                ("--prec takes one of s, d, c, z, not 'q'", "--prec", "q"),
                ("--prec takes one of s, d, c, z, not 'double'", "--prec", "double"),
                ("--grid takes a grid of the form PxQ", "--grid", "2"),
                ("--grid takes a grid of the form PxQ", "--grid", "2x"),
                ("--grid takes a grid of the form PxQ", "--grid", "0x2"),
                ("--layout takes tile or slab", "--layout", "row"),
                ("--uplo takes lower or upper", "--uplo", "diagonal"),
                ("--threads takes a number from 1 to 1024", "--threads", "0"),
                ("--runs takes a number >= 1", "--runs", "0"),
                ("--json takes no value", "--json=1"),
                ("--matrix takes the name of a file, not ''", "--matrix", ""),
                ("--rhs takes the name of a file, not ''", "--rhs="),
                ("--out takes the name of a file, not ''", "--out="),
                ("--gpus takes a number from 0 to 16", "--gpus", "many"),
                ("--trace takes the name of a file, not ''", "--trace="),
                ("--matrix and --n do not go together", "--matrix", "x", "--n", "3"),
                ("option --k means nothing to this program", "--k", "3"),
                ("--check-finite takes yes or no, not 'maybe'", "--check-finite", "maybe"),
                ("--uplo takes lower or upper, not ''", "--uplo", ""),
        ]:
            with self.subTest(args=args):
                self.bad(3, text, "dag_posv", *args)
        self.bad(3, "option --nrhs means nothing", "dag_potrf", "--nrhs", "2")
        self.bad(3, "--matrix and --m do not go together", "dag_gels", "--matrix", "x", "--m", "3")
        self.bad(3, "unknown option --cheque", "dag_potrf", "--cheque", ranks=RANKS[-1])

    def test_help_and_version(self):
        for driver in "dag_potrf", "dag_posv":
            status, out, err = run(driver, "--help")
            self.assertEqual((status, err), (0, ""))
            for word in "--matrix FILE.mtx", "--layout tile|slab", "exit status", "backward error":
                if word != "backward error" or driver == "dag_posv":
                    self.assertIn(word, out)
            status, out, err = run(driver, "--version", ranks=RANKS[-1])
            self.assertEqual(status, 0)
            self.assertRegex(out, r"^%s \d+\.\d+\.\d+\n$" % driver)

    def test_manual(self):
        """Every program and option is on the page, and nothing else is called an option there."""
        with open(MANUAL) as f:
            page = f.read().replace("\\-", "-")
        options = set()
        for driver in DRIVERS:
            status, out, err = run(driver, "--help")
            self.assertEqual((status, err), (0, ""))
            self.assertIn(f"\n.B {driver}\n", page)
            options |= set(re.findall(r"^  (--[\w-]+)", out, re.MULTILINE))
        self.assertEqual(set(re.findall(r"--[\w-]+", page)) - {"--name"}, options)

    def test_grid_and_threads(self):
        for ranks in 1, RANKS[-1]:
            self.bad(3, f"--grid 3x5 needs 15 ranks, but the job has {ranks}", "dag_potrf",
                     "--grid", "3x5", ranks=ranks)
        r, = self.good("dag_potrf", "--n", 50, "--nb", 8, "--grid", "1x1", "--threads", 3,
                       "--check", ranks=RANKS[1] if len(RANKS) > 1 else 1)
        self.assertEqual((r["grid"], r["threads"]), ("1x1", 3))

    def test_json(self):
        for driver, more in (("dag_potrf", []), ("dag_posv", ["normwise", "componentwise"])):
            results = self.good(driver, "--n", 130, "--nb=32", "--runs", 3, "--check",
                                ranks=RANKS[-1])
            self.assertEqual(len(results), 3)
            for r in results:
                self.assertEqual(list(r), FIELDS + more)
                self.assertEqual((r["routine"], r["prec"], r["m"], r["n"], r["nb"], r["ranks"],
                                  r["threads"], r["gpus"], r["info"]),
                                 (driver[4:], "d", 130, 130, 32, RANKS[-1], 1, 0, 0))
                self.assertGreater(r["time_s"], 0)
                self.assertGreater(r["gflops"], 0)
        r, = self.good("dag_potrf", "--n", 0)
        self.assertEqual((r["n"], r["info"], r["residual"]), (0, 0, None))

    def test_results_that_are_lost(self):
        for args in ["--n", "10", "--json"], ["--n", "10"], ["--help"], ["--version"]:
            with open("/dev/full", "w") as full:
                done = subprocess.run([os.path.join(BIN, "dag_potrf")] + args, stdout=full,
                                      stderr=subprocess.PIPE, text=True,
                                      env=dict(os.environ, DAG_THREADS="1", DAG_GPUS="0"))
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("dag_potrf: cannot write to standard output: No space", done.stderr)

    def test_more_than_memory(self):
        for ranks in 1, RANKS[-1]:
            for layout in "tile", "slab":
                self.bad(1, "a matrix of 3000000 x 3000000 needs", "dag_potrf", "--n", "3000000",
                         "--layout", layout, "--nb", "1000", ranks=ranks)

    def test_environment(self):
        os.environ["DAG_EAGER_BYTES"] = "many"
        try:
            self.bad(1, "DAG_EAGER_BYTES", "dag_potrf", "--n", "10", ranks=RANKS[-1])
        finally:
            del os.environ["DAG_EAGER_BYTES"]

    def test_text(self):
        status, out, err = run("dag_posv", "--n", 40, "--check", "--prec", "c")
        self.assertEqual(status, 0)
        for line in err.splitlines():
            self.assertIn("warning", line)  # of a slow BLAS, for instance
        self.assertRegex(out, r"posv: prec c, n 40, nb 40, grid 1x1, 1 rank with 1 thread: .* s, "
                              r".* GFlop/s\nposv: backward error .* normwise, .* componentwise\n")


class Results(Case):
    def test_all_ways(self):
        for ranks in RANKS:
            for k, (prec, uplo, layout) in enumerate(
                    (p, u, l) for p in "sdcz" for u in ("lower", "upper") for l in ("tile", "slab")):
                if (k + ranks) % 3:
                    continue
                with self.subTest(ranks=ranks, prec=prec, uplo=uplo, layout=layout):
                    args = ["--n", 150, "--nb", 40, "--prec", prec, "--uplo", uplo, "--layout",
                            layout, "--check", "--seed", k]
                    self.good("dag_potrf", *args, ranks=ranks)
                    r, = self.good("dag_posv", *args, "--nrhs", 1 + k, ranks=ranks)
                    self.assertLess(r["normwise"], 1e-14 if prec in "dz" else 1e-5)

    def test_not_positive_definite(self):
        n, bad = 200, 117
        text = "%%MatrixMarket matrix coordinate real symmetric\n" + f"{n} {n} {n}\n"
        path = self.file(text + "".join(f"{i} {i} {-1 if i == bad else 2}\n"
                                        for i in range(1, n + 1)))
        for ranks in RANKS:
            for driver in "dag_potrf", "dag_posv":
                out = self.bad(2, "minor of order 117 is not (info = 117)", driver, "--matrix",
                               path, "--nb", 32, "--json", "--check", ranks=ranks)
                r = json.loads(out)
                self.assertEqual((r["info"], r["residual"], r["gflops"]), (bad, None, None))

    def test_general(self):
        for at, ranks in enumerate(RANKS):
            for layout, precisions in ("tile", "sdcz"), ("slab", "zsdc"):
                prec = precisions[at]
                r, = self.good("dag_gesv", "--n", 150, "--nb", 40, "--prec", prec, "--layout",
                               layout, "--nrhs", 3, "--check", ranks=ranks)
                self.assertEqual((r["routine"], r["info"]), ("gesv", 0))
            self.good("dag_getrf", "--n", 150, "--nb", 40, "--prec", "dzsc"[at], "--layout",
                      "slab", "--check", ranks=ranks)
            for driver in "dag_getrf", "dag_gesv":
                self.good(driver, "--n", 150, "--nb", 40, "--prec", "dzsc"[at], "--pivoting",
                          "none" if at % 2 else "tournament", "--check", ranks=ranks)
        r, = self.good("dag_gesv", "--n", 50, "--nb", 16, "--pivoting", "none", "--refine", "--check")
        self.assertLess(r["componentwise"], 1e-15)
        self.good("dag_getrf", "--n", 500, "--pivoting", "none", "--check")
        turned = self.file("%%MatrixMarket matrix array real general\n2 2\n0\n1\n1\n0\n")
        self.good("dag_gesv", "--matrix", turned, "--check")
        self.bad(2, "pivot 1 is exactly zero", "dag_gesv", "--matrix", turned, "--pivoting", "none",
                 ranks=RANKS[-1])
        self.bad(3, "--pivoting takes partial, tournament or none, not 'full'", "dag_gesv", "--pivoting",
                 "full")
        self.bad(3, "--mixed and --pivoting do not go together", "dag_gesv", "--mixed",
                 "--pivoting", "partial")

    def test_inverse(self):
        for at, ranks in enumerate(RANKS):
            turn = [["--uplo", "lower"], ["--uplo", "upper", "--layout", "slab"]][at % 2]
            for driver, *options in ["dag_potri", *turn], ["dag_getri"]:
                r, = self.good(driver, "--n", 150, "--nb", 40, "--prec", "dzsc"[at], "--check", *options,
                               ranks=ranks)
                self.assertLess(r["residual"], 1)
        eye = "%%MatrixMarket matrix array real general\n2 2\n2\n0\n0\n{}\n"
        for driver in "dag_potri", "dag_getri":
            r, = self.good(driver, "--matrix", self.file(eye.format(4)), "--nb", 1, "--check",
                           ranks=RANKS[-1])
            self.assertEqual(r["n"], 2)
            self.assertLess(r["residual"], 1)
            self.good(driver, "--n", 0, "--check")
        self.bad(2, "minor of order 2 is not", "dag_potri", "--matrix", self.file(eye.format(0)))
        self.bad(2, "pivot 2 is exactly zero", "dag_getri", "--matrix", self.file(eye.format(0)),
                 ranks=RANKS[-1])

    def test_lq(self):
        shapes = [(150, 150), (60, 200), (200, 60)]
        for m, n in (0, 5), (5, 0):
            self.good("dag_gelqf", "--m", m, "--n", n, "--check")
        for at, ranks in enumerate(RANKS):
            for m, n in shapes[at % 3], shapes[(at + 1) % 3]:
                r, = self.good("dag_gelqf", "--m", m, "--n", n, "--nb", 40, "--prec", "zdcs"[at],
                               "--layout", ("tile", "slab")[at % 2], "--check", ranks=ranks)
                self.assertLess(r["residual"], 1)

    def test_mixed_and_refined(self):
        for driver in "dag_gesv", "dag_posv":
            for prec in "d", "z":
                for ranks in RANKS[0], RANKS[-1]:
                    r, = self.good(driver, "--n", 150, "--nb", 40, "--prec", prec, "--nrhs", 3,
                                   "--mixed", "--check", ranks=ranks)
                    self.assertIn(r["iter"], range(1, 6))
            for prec in "sdcz":
                eps = 2.0**-52 if prec in "dz" else 2.0**-23
                r, = self.good(driver, "--n", 150, "--nb", 40, "--prec", prec, "--nrhs", 3,
                               "--refine", "--check", ranks=RANKS[-1])
                self.assertNotIn("iter", r)
                self.assertLess(r["componentwise"], 5 * eps)
            self.bad(3, "--mixed solves in double precision", driver, "--mixed", "--prec", "s")
            self.bad(3, "--mixed and --refine do not go together", driver, "--mixed", "--refine")
        large = self.file("%%MatrixMarket matrix array real general\n2 2\n1e200\n1\n1\n3\n")
        r, = self.good("dag_gesv", "--matrix", large, "--mixed", "--check")
        self.assertEqual(r["iter"], -2)
        status, out, err = run("dag_gesv", "--matrix", large, "--mixed")
        self.assertIn("because a number does not fit single precision (iter -2)", out)

    def test_singular(self):
        # the second column is twice the first
        text = "%%MatrixMarket matrix array real general\n3 3\n" + "\n".join("124248369")
        for ranks in RANKS:
            self.bad(2, "pivot 2 is exactly zero", "dag_gesv", "--matrix", self.file(text), "--nb",
                     2, ranks=ranks)


DENSE = """%%MatrixMarket matrix array real general
3 3
4
1
0
1
5
-2
0
-2
6
"""


class Products(Case):
    ROUTINES = "gemm symm hemm syrk herk syr2k her2k trmm trsm".split()

    def test_all_routines(self):
        for k, routine in enumerate(self.ROUTINES):
            prec, ranks = "dszc"[k % 4], RANKS[k % len(RANKS)]
            trans = "c" if routine in ("herk", "her2k") else "t"
            for options in [], ["--transa", trans, "--side", "right", "--uplo", "upper",
                                "--diag", "unit", "--layout", "slab"]:
                with self.subTest(routine=routine, options=options):
                    r, = self.good("dag_blas3", "--routine", routine, "--n", 90, "--m", 70, "--k", 40,
                                   "--nb", 16, "--prec", prec, "--check", *options, ranks=ranks)
                    self.assertEqual(r["routine"], routine)
                    self.assertLess(r["residual"], 1)

    def test_gemm(self):
        for shape in (0, 7, 5), (7, 7, 0), (300, 4, 90), (6, 5, 400):
            for ranks in RANKS:
                args = [x for pair in zip(("--m", "--n", "--k"), shape) for x in pair]
                r, = self.good("dag_gemm", *args, "--nb", 10, "--check", "--transb", "t", ranks=ranks)
                self.assertLess(r["residual"], 1)

    def test_refused(self):
        self.bad(1, "there is no routine 'gem'", "dag_blas3", "--routine", "gem", ranks=RANKS[-1])
        self.bad(3, "n, t or c", "dag_gemm", "--transa", "x")
        self.bad(3, "left or right", "dag_blas3", "--side", "up")
        self.bad(1, "trans is DAG_TRANS", "dag_blas3", "--routine", "herk", "--prec", "z", "--transa",
                 "t", "--n", 9, ranks=RANKS[-1])


class Files(Case):
    def solution(self, path):
        """Columns of a dense file."""
        with open(path) as f:
            self.header = f.readline()
            lines = [l for l in f.read().splitlines() if not l.startswith("%")]
        rows, cols = map(int, lines[0].split())
        values = [tuple(map(float, l.split())) for l in lines[1:]]
        self.assertEqual(len(values), rows * cols)
        return [values[c * rows:(c + 1) * rows] for c in range(cols)]

    def test_general_that_is_symmetric(self):
        path = self.file(DENSE)
        out = os.path.join(self.dir.name, "x.mtx")
        for ranks in RANKS:
            for uplo in "lower", "upper":
                for prec in "d", "z":
                    r, = self.good("dag_posv", "--matrix", path, "--nb", 2, "--uplo", uplo,
                                   "--prec", prec, "--out", out, "--check", ranks=ranks)
                    self.assertEqual(r["n"], 3)
                    for x in self.solution(out)[0]:
                        self.assertAlmostEqual(x[0], 1, places=14)

    def test_right_hand_sides(self):
        n, nrhs = 37, 20
        a = self.file("%%MatrixMarket matrix coordinate real symmetric\n" + f"{n} {n} {n}\n" +
                      "".join(f"{i} {i} {4**(i % 3)}\n" for i in range(1, n + 1)))
        b = self.file("%%MatrixMarket matrix array real general\n" + f"{n} {nrhs}\n" +
                      "".join(f"{8 * (i + 100 * j)}\n" for j in range(nrhs)
                              for i in range(1, n + 1)), "b.mtx")
        out = os.path.join(self.dir.name, "x.mtx")
        for ranks in RANKS:
            for layout in "tile", "slab":
                r, = self.good("dag_posv", "--matrix", a, "--rhs", b, "--out", out, "--nb", 8,
                               "--layout", layout, ranks=ranks)
                self.assertEqual(r["normwise"], 0)
                for j, column in enumerate(self.solution(out)):
                    for i, x in enumerate(column, 1):
                        self.assertEqual(x[0], 8 * (i + 100 * j) / 4**(i % 3))

    def test_complex(self):
        a = self.file("%%MatrixMarket matrix coordinate complex hermitian\n2 2 3\n"
                      "1 1 3 0\n2 1 1 -1\n2 2 4 0\n")
        b = self.file("%%MatrixMarket matrix array complex general\n2 1\n4 1\n5 -1\n", "b.mtx")
        out = os.path.join(self.dir.name, "x.mtx")
        for uplo in "lower", "upper":
            self.good("dag_posv", "--matrix", a, "--rhs", b, "--prec", "z", "--uplo", uplo,
                      "--out", out, "--check", ranks=RANKS[-1])
            x = [complex(*v) for v in self.solution(out)[0]]
            self.assertIn("complex", self.header)
            self.assertAlmostEqual(abs(3 * x[0] + (1 + 1j) * x[1] - (4 + 1j)), 0, places=13)
            self.assertAlmostEqual(abs((1 - 1j) * x[0] + 4 * x[1] - (5 - 1j)), 0, places=13)

    def test_refused(self):
        head = "%%MatrixMarket matrix coordinate "
        for text, body, *args in [
                ("A.mtx: the matrix is not square", "real general\n2 3 1\n1 1 1\n"),
                ("field 'pattern' stores the positions of entries but not their values",
                 "pattern symmetric\n2 2 1\n1 1\n"),
                ("skew-symmetric matrix is not positive definite",
                 "real skew-symmetric\n2 2 1\n2 1 1\n"),
                ("the matrix is complex; use --prec z or c",
                 "complex hermitian\n1 1 1\n1 1 1 0\n"),
                ("complex symmetric matrix is not Hermitian",
                 "complex symmetric\n1 1 1\n1 1 1 0\n", "--prec", "z"),
                ("A.mtx: the matrix is not symmetric: element (3, 2) is 7, but (2, 3) is 6.5",
                 "real general\n4 4 7\n1 1 1\n2 2 1\n3 3 1\n4 4 1\n3 2 7\n2 3 6.5\n4 3 1\n"),
                ("not symmetric: element (4, 1) is 0, but (1, 4) is -1",
                 "real general\n4 4 2\n1 4 -1\n1 1 1\n"),
                ("entry (2, 2) has imaginary part 1",
                 "complex hermitian\n2 2 2\n1 1 1 0\n2 2 1 1\n", "--prec", "z"),
                ("not Hermitian: its diagonal element (2, 2) is 1+1i, not real",
                 "complex general\n2 2 2\n1 1 1 0\n2 2 1 1\n", "--prec", "z"),
                ("not Hermitian: element (2, 1) is 1+1i, but (1, 2) is 1+1i",
                 "complex general\n2 2 4\n1 1 3 0\n2 2 3 0\n2 1 1 1\n1 2 1 1\n", "--prec", "z"),
                ("A.mtx:4: an entry is infinite or not a number (1 such entries)",
                 "real symmetric\n2 2 2\n1 1 1\n2 2 inf\n"),
                ("entry (2, 2) does not fit single precision",
                 "real symmetric\n2 2 2\n1 1 1\n2 2 1e40\n", "--prec", "s"),
        ]:
            with self.subTest(text=text):
                path = self.file(head + body)
                for ranks in (1, RANKS[-1]):
                    for uplo in "lower", "upper":
                        out = self.bad(1, text, "dag_posv", "--matrix", path, "--nb", 2, "--uplo",
                                       uplo, "--json", *args, ranks=ranks)
                        self.assertEqual(out, "")
        self.bad(1, "No such file", "dag_posv", "--matrix", "/nowhere/A.mtx", ranks=RANKS[-1])

    def test_rounding_is_not_asymmetry(self):
        path = self.file("%%MatrixMarket matrix array real general\n2 2\n3\n1\n"
                         "1.0000000000000002\n3\n")
        self.good("dag_posv", "--matrix", path, "--check")

    def test_broken(self):
        """What is wrong in a file is said by all who read files, once."""
        head = "%%MatrixMarket matrix "
        for at, (text, body) in enumerate([
                ("A.mtx: the file is empty", ""),
                ("A.mtx:1: not a Matrix Market file", "1 2\n3 4\n"),
                ("A.mtx:2: size -1 is negative", head + "coordinate real general\n3 3 -1\n"),
                ("A.mtx:4: column index 4 is not between 1 and 3",
                 head + "coordinate real general\n3 3 2\n1 1 1\n2 4 1\n"),
                ("A.mtx:4: the file ends after 2 of 9 entries",
                 head + "array real general\n3 3\n1\n2\n"),
                ("A.mtx:3: 'two' is not a number", head + "array real general\n1 1\ntwo\n"),
                ("A.mtx:4: unexpected '7' after the last of 1 entries",
                 head + "array real general\n1 1\n1\n7\n"),
                ("A.mtx:4: an entry is infinite or not a number (1 such entries)",
                 head + "array real general\n2 1\n1\nnan\n"),
        ]):
            path = self.file(body)
            drivers = ["dag_gels"] if "2 1" in body else ["dag_gels", "dag_gesv", "dag_posv"]
            for k, driver in enumerate(drivers):
                with self.subTest(text=text, driver=driver):
                    out = self.bad(1, text, driver, "--matrix", path, "--json",
                                   ranks=RANKS[-1] if at % 3 == k else 1)
                    self.assertEqual(out, "")
        square = self.file(DENSE)
        for driver in "dag_gels", "dag_gesv", "dag_posv":
            self.bad(1, "b.mtx:3: the file ends after 1 of 3 entries", driver, "--matrix", square,
                     "--rhs", self.file(head + "array real general\n3 1\n1\n", "b.mtx"))
            self.bad(1, "the right-hand sides have 2 rows, the matrix has 3", driver, "--matrix",
                     square, "--rhs", self.file(head + "array real general\n2 1\n1\n2\n", "b.mtx"))
            self.bad(1, "cannot read: Is a directory", driver, "--matrix", self.dir.name, ranks=RANKS[-1])
        flat = self.file(head + "array real general\n1 2\n1\n2\n", "flat.mtx")
        self.bad(1, "flat.mtx: the matrix is not square", "dag_gesv", "--matrix", flat)

    def test_not_finite(self):
        """--check-finite no: what the algorithms make of a NaN, on any number of ranks."""
        lines = DENSE.splitlines()
        lines[2 + 4] = "nan"  # element (2, 2)
        path = self.file("\n".join(lines) + "\n")
        for at, ranks in enumerate(RANKS):
            args = ["--matrix", path, "--nb", 1, "--check-finite", "no", "--layout",
                    ("tile", "slab")[at % 2]]
            self.bad(2, "minor of order 2 is not (info = 2)", "dag_posv", *args, ranks=ranks)
            for driver in "dag_gesv", "dag_gels":
                r, = self.good(driver, *args, ranks=ranks)
                self.assertEqual((r["info"], r["residual"]), (0, None))
        status, out, err = run("dag_gels", *args)
        self.assertIn("gels: scaled backward error nan", out)
        for driver in "dag_gesv", "dag_gels":
            self.bad(1, "check failed: the backward error", driver, *args, "--check")
        infinite = self.file(DENSE.replace("6", "inf"))
        self.bad(1, "A.mtx:11: an entry is infinite", "dag_gesv", "--matrix", infinite,
                 "--check-finite", "yes")
        self.good("dag_gesv", "--matrix", infinite, "--check-finite", "no", "--prec", "s")

    def test_least_squares(self):
        """A line through points, and the solution of least norm of one equation."""
        points = self.file("%%MatrixMarket matrix array real general\n4 2\n1\n1\n1\n1\n0\n1\n2\n3\n")
        values = self.file("%%MatrixMarket matrix array real general\n4 1\n1\n3\n5\n8\n", "b.mtx")
        flat = self.file("%%MatrixMarket matrix array real general\n1 3\n2\n0\n1\n", "flat.mtx")
        ten = self.file("%%MatrixMarket matrix array real general\n1 1\n10\n", "ten.mtx")
        out = os.path.join(self.dir.name, "x.mtx")
        for ranks in RANKS:
            for matrix, rhs, want in (points, values, [0.8, 2.3]), (flat, ten, [4, 0, 2]):
                self.good("dag_gels", "--matrix", matrix, "--rhs", rhs, "--nb", 1, "--out", out,
                          "--check", ranks=ranks)
                got = [x for x, in self.solution(out)[0]]
                self.assertEqual(len(got), len(want))
                for x, y in zip(got, want):
                    self.assertAlmostEqual(x, y, places=13)
        self.bad(2, "pivot 2 is exactly zero", "dag_gels", "--matrix",
                 self.file("%%MatrixMarket matrix array real general\n3 2\n1\n1\n1\n0\n0\n0\n"),
                 ranks=RANKS[-1])

    def test_right_hand_sides_refused(self):
        a = self.file(DENSE)
        general = "%%MatrixMarket matrix array "
        for text, body in [
                ("the right-hand sides have 2 rows, the matrix has 3", "real general\n2 1\n1\n2\n"),
                ("the right-hand sides are complex", "complex general\n3 1\n1 0\n2 0\n3 0\n"),
                ("must be a general matrix", "real symmetric\n1 1\n1\n"),
        ]:
            b = self.file(general + body, "b.mtx")
            self.bad(1, text, "dag_posv", "--matrix", a, "--rhs", b, ranks=RANKS[-1])
        out = os.path.join(self.dir.name, "nowhere", "x.mtx")
        result = self.bad(1, "nowhere", "dag_posv", "--matrix", a, "--out", out, ranks=RANKS[-1])
        self.assertEqual(result, "", "said before the work")

    def test_solution_that_is_lost(self):
        for ranks in 1, RANKS[-1]:
            result = self.bad(1, "/dev/full: cannot write: No space", "dag_posv", "--n", "50",
                              "--json", "--out", "/dev/full", ranks=ranks)
            self.assertEqual(json.loads(result)["info"], 0)

    def test_pipes(self):
        fifo = os.path.join(self.dir.name, "fifo")
        os.mkfifo(fifo)
        for ranks in 1, RANKS[-1]:
            self.bad(1, "fifo is not a regular file", "dag_posv", "--matrix", fifo, ranks=ranks)
            self.bad(1, "fifo is not a regular file", "dag_posv", "--n", "3", "--rhs", fifo,
                     ranks=ranks)

    @unittest.skipUnless(MOST >= 2, "needs 2 ranks")
    def test_other_file_elsewhere(self):
        head = "%%MatrixMarket matrix array real symmetric\n"
        for k, body in enumerate(("1 1\n1\n", "2 2\n1\n0\n1\n")):
            os.mkdir(os.path.join(self.dir.name, str(k)))
            self.file(head + body, f"{k}/A.mtx")
        command = f"cd {self.dir.name}/$((${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}} > 0)) && " \
                  f"exec {BIN}/dag_posv --matrix A.mtx"
        done = subprocess.run([MPIRUN, "-np", "2", "--threads", "1", "--timeout", "100", "sh", "-c",
                               command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stderr.count("rank 1 reads another A.mtx than rank 0 (2 x 2"), 1,
                         done.stderr)


class Memory(Case):
    """Peak resident memory, in KiB, of the largest process below a command."""

    def peak(self, *command):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:  # a process of our own, because the kernel keeps one maximum per parent
            done = subprocess.run([str(c) for c in command], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, env=dict(os.environ, DAG_THREADS="1"))
            peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
            os.write(writer, b"%d %d" % (done.returncode, peak))
            os._exit(0)
        os.waitpid(child, 0)
        os.close(writer)
        with os.fdopen(reader) as f:
            status, peak = map(int, f.read().split())
        return status, peak

    def test_factorisation(self):
        n, nb = 4000, 192
        sizes = [nb] * (n // nb) + [n % nb]
        lower = sum(a * b for j, b in enumerate(sizes) for a in sizes[j:]) * 8 / 1024
        _, base = self.peak(os.environ["MPI_ONLY"])
        for layout, tiles in (("tile", lower), ("slab", n * n * 8 / 1024)):
            status, peak = self.peak(os.path.join(BIN, "dag_potrf"), "--n", n, "--layout", layout)
            self.assertEqual(status, 0)
            self.assertLess(peak - base, 1.05 * tiles + 10 * 1024, layout)

    @unittest.skipUnless(MOST >= 4, "needs 4 ranks")
    def test_reading(self):
        # Each rank keeps its quarter of the triangle, whatever the file has. The factorisation
        # ends with the first element, so that only reading is measured.
        n, nb = 2400, 192
        path = os.path.join(self.dir.name, "A.mtx")
        with open(path, "w") as f:
            f.write("%%MatrixMarket matrix array real symmetric\n" + f"{n} {n}\n-1\n")
            for j in range(n):
                f.write("1\n" * (n - j - (j == 0)))
        launch = [MPIRUN, "-np", "4", "--threads", "1", os.path.join(BIN, "dag_posv")]
        _, base = self.peak(*launch, "--n", 10)
        status, peak = self.peak(*launch, "--matrix", path, "--nb", nb)
        self.assertEqual(status, 2)
        share, block = n * (n + nb) / 2 / 4 * 8 / 1024, n * nb * 8 / 1024
        self.assertLess(peak - base, 1.25 * share + block + 4 * 1024)
        self.assertGreater(n * n / 2 * 8 / 1024, 1.25 * share + block + 4 * 1024)


@unittest.skipUnless(os.path.exists(os.path.join(DATA, "bcsstk16.mtx")), "no matrices in " + DATA)
class RealMatrices(Case):
    def test_general(self):
        for name, prec in ("west0067", "d"), ("fs_183_1", "d"), ("young1c", "z"):
            path = os.path.join(DATA, name + ".mtx")
            if not os.path.exists(path):
                self.skipTest(path + " is not there")
            for ranks in RANKS:
                r, = self.good("dag_gesv", "--matrix", path, "--prec", prec, "--nb", 48, "--check",
                               ranks=ranks)
                self.assertLess(r["normwise"], 1e-14)
                r, = self.good("dag_gels", "--matrix", path, "--prec", prec, "--nb", 48, "--check",
                               ranks=ranks)
                self.assertLess(r["residual"], 1)

    def path(self, name):
        return os.path.join(DATA, name + ".mtx")

    def test_stiffness(self):
        for ranks in RANKS:
            for k, nb in enumerate((64, 100, 192, 5000)):
                layout = ("tile", "slab")[(k + ranks // 2) % 2]
                r, = self.good("dag_posv", "--matrix", self.path("bcsstk16"), "--check", "--nb", nb,
                               "--layout", layout, ranks=ranks)
                self.assertLess(r["normwise"], 1e-14)
                self.assertEqual(r["n"], 4884)

    def test_others(self):
        for ranks in RANKS:
            for layout in "tile", "slab":
                r, = self.good("dag_posv", "--matrix", self.path("mhd1280b"), "--prec", "z", "--nb",
                               100, "--layout", layout, "--check", ranks=ranks)
                self.assertLess(r["normwise"], 1e-14)
            r, = self.good("dag_posv", "--matrix", self.path("bcsstk01"), "--check", "--nb", 10,
                           "--prec", "z", "--nrhs", 3, ranks=ranks)
            self.assertLess(r["normwise"], 1e-14)
            self.bad(1, "fs_183_1.mtx: the matrix is not symmetric: element (2, 1) is",
                     "dag_posv", "--matrix", self.path("fs_183_1"), "--nb", 64, ranks=ranks)


if __name__ == "__main__":
    result = unittest.main(argv=sys.argv[:1] + sys.argv[5:], verbosity=1, exit=False).result
    if result.wasSuccessful() and len(result.skipped) >= result.testsRun:
        sys.exit(77)  # nothing ran: not a test that passed
    sys.exit(not result.wasSuccessful())
