#!/usr/bin/env python3
"""Runs the drivers on files: what they read, write and refuse, and what memory that takes.
driver_case.py says how this program is called; its parts are Files, Saved, Memory, which needs a program
that does nothing but start MPI, named in the environment as MPI_ONLY, and RealMatrices.
"""
import json
import os
import resource
import signal
import subprocess
import time
import unittest

from driver_case import BIN, DATA, FULL, MOST, MPIRUN, RANKS, Case, main, run

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


class Dense(Case):
    def solution(self, path):
        """Columns of a dense file."""
        with open(path) as f:
            self.header = f.readline()
            lines = [l for l in f.read().splitlines() if not l.startswith("%")]
        rows, cols = map(int, lines[0].split())
        values = [tuple(map(float, l.split())) for l in lines[1:]]
        self.assertEqual(len(values), rows * cols)
        return [values[c * rows:(c + 1) * rows] for c in range(cols)]


class Files(Dense):
    def test_general_that_is_symmetric(self):
        path = self.file(DENSE)
        out = os.path.join(self.dir.name, "x.mtx")
        for at, ranks in enumerate(RANKS):
            for k, uplo in enumerate(("lower", "upper")):
                for prec in "dz" if FULL else "dz"[(at + k) % 2]:
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
        for turn, (text, body, *args) in enumerate([
                ("A.mtx: the matrix is not square", "real general\n2 3 1\n1 1 1\n"),
                ("entries of field 'pattern' have no sign", "pattern skew-symmetric\n2 2 1\n2 1\n"),
                ("memory", "real symmetric\n1000000000 1000000000 1\n1 1 1\n"),
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
        ]):
            with self.subTest(text=text):
                path = self.file(head + body)
                for at, ranks in enumerate((1, RANKS[-1])):
                    for k, uplo in enumerate(("lower", "upper")):
                        if (turn + at + k) % 2 and not FULL:  # one rank tries one triangle, many the other one
                            continue
                        out = self.bad(1, text, "dag_posv", "--matrix", path, "--nb", 2, "--uplo",
                                       uplo, "--json", *args, ranks=ranks)
                        self.assertEqual(out, "")
        self.bad(1, "No such file", "dag_posv", "--matrix", "/nowhere/A.mtx", ranks=RANKS[-1])

    def test_pattern(self):
        """Places without values are ones; the diagonal stands three times, which adds up."""
        places = "".join(f"{i} {i}\n" * 3 for i in range(1, 6)) + "2 1\n5 3\n"
        path = self.file(f"%%MatrixMarket matrix coordinate pattern symmetric\n5 5 17\n{places}")
        out = os.path.join(self.dir.name, "x.mtx")
        b = self.file("%%MatrixMarket matrix array real general\n5 1\n5\n7\n3\n6\n1\n", "b.mtx")
        for driver in "dag_posv", "dag_gesv", "dag_gels":
            self.good(driver, "--matrix", path, "--rhs", b, "--nb", 2, "--out", out, "--check",
                      ranks=RANKS[-1])
            for x, want in zip(self.solution(out)[0], [1, 2, 1, 2, 0]):
                self.assertAlmostEqual(x[0], want, places=13)

    def test_failed_check(self):
        """What fails the check is not written, unless asked for."""
        n = 60  # singular to working precision, and all its factors are exact
        path = self.file(f"%%MatrixMarket matrix array real general\n{n} {n}\n" + "".join(
            f"{1 if i == j else -1 if i < j else 0}\n" for j in range(n) for i in range(n)))
        out = os.path.join(self.dir.name, "x.mtx")
        for at, driver in enumerate(["dag_gesv", "dag_gels"]):
            args = [driver, "--matrix", path, "--nb", 32, "--check", "--out"]
            ranks = RANKS[-at]
            self.bad(2, "x.mtx is not written", *args, out, ranks=ranks)
            self.assertFalse(os.path.exists(out))
            self.bad(2, "x.mtx is not written", *args, self.file("old", "x.mtx"))
            with open(out) as f:
                self.assertEqual(f.read(), "old")
            self.assertEqual(self.bad(2, "/dev/stdout is not written", *args, "/dev/stdout",
                                      "--json").count("\n"), 1)
            self.bad(2, "check failed", *args, out, "--keep", ranks=ranks)
            self.assertEqual(len(self.solution(out)[0]), n)
            os.unlink(out)
            self.assertEqual(sorted(os.listdir(self.dir.name)), ["A.mtx"])

    def test_changed_input(self):
        """The solution is out before the matrix is read again: it waits in a pipe while that changes."""
        path, columns = self.file(DENSE), 3000
        b = self.file(f"%%MatrixMarket matrix array real general\n3 {columns}\n" + "".join(
            f"{1 / (k + 3)!r}\n" for k in range(3 * columns)), "b.mtx")
        out = os.path.join(self.dir.name, "pipe")
        os.mkfifo(out)
        for driver in "dag_gesv", "dag_posv", "dag_gels":
            child = subprocess.Popen([os.path.join(BIN, driver), "--matrix", path, "--rhs", b, "--out",
                                      out], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                     env=dict(os.environ, DAG_THREADS="1", DAG_GPUS="0"))
            with open(out) as pipe:  # opened by both: the matrix has been read
                with open(path, "a") as f:
                    f.write("\n")
                text = pipe.read()  # more than a pipe holds
            err = child.communicate()[1]
            self.assertEqual(child.returncode, 1, err)
            self.assertEqual(err.count("A.mtx has changed since it was read"), 1, err)
            self.assertEqual(len(text.splitlines()), 3 + 3 * columns)
            self.file(DENSE)

    def test_interrupted(self):
        for number in signal.SIGINT, signal.SIGTERM:
            out = os.path.join(self.dir.name, "x.mtx")
            child = subprocess.Popen([os.path.join(BIN, "dag_posv"), "--n", "200", "--runs", "100000000",
                                      "--out", out], stdout=subprocess.DEVNULL,
                                     env=dict(os.environ, DAG_THREADS="1", DAG_GPUS="0"))
            while not os.path.exists(out) and child.poll() is None:
                time.sleep(0.01)
            child.send_signal(number)
            self.assertEqual(child.wait(), -number)
            self.assertEqual(os.listdir(self.dir.name), ["x.mtx"])
            self.assertEqual(len(self.solution(out)[0]), 200)
            os.unlink(out)

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
        done = subprocess.run([MPIRUN, "-np", "2", "--threads", "1", "--timeout", "600", "sh", "-c",
                               command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stderr.count("rank 1 reads another A.mtx than rank 0 (2 x 2"), 1,
                         done.stderr)


class Saved(Dense):
    """What one driver writes another reads and solves with; and matrices of the gallery."""

    def path(self, name):
        return os.path.join(self.dir.name, name)

    def near(self, a, b, most=1e-11):
        a, b = (self.solution(self.path(name)) for name in (a, b))
        self.assertEqual([len(c) for c in a], [len(c) for c in b])
        for x, y in ((x, y) for c, d in zip(a, b) for x, y in zip(c, d)):
            self.assertLess(abs(complex(*x) - complex(*y)), most)

    def chain(self, *runs, ranks=1):
        """Each run: driver, options; names of files become paths."""
        for at, args in enumerate(runs):
            self.good(*[self.path(a) if str(a).endswith(".mtx") else a for a in args], "--nb", 16,
                      "--check", ranks=ranks if at == 0 else 1)

    def test_cholesky(self):
        for prec, uplo, trans, ranks in ("d", "lower", "nc", 1), ("z", "upper", "cn", RANKS[-1]):
            same = ["--prec", prec, "--uplo", uplo]
            self.chain(["dag_potrf", "--n", 50, *same, "--out", "F.mtx"],
                       ["dag_posv", "--n", 50, *same, "--rhs", "B.mtx", "--out", "X.mtx"],
                       ["dag_trtrs", "--matrix", "F.mtx", *same, "--transa", trans[0], "--rhs", "B.mtx",
                        "--out", "Y.mtx"],
                       ["dag_trtrs", "--matrix", "F.mtx", *same, "--transa", trans[1], "--rhs", "Y.mtx",
                        "--out", "Z.mtx"], ranks=ranks)
            self.near("X.mtx", "Z.mtx")

    def test_lu(self):
        self.chain(["dag_getrf", "--n", 50, "--pivoting", "none", "--out", "F.mtx"],
                   ["dag_gesv", "--n", 50, "--pivoting", "none", "--rhs", "B.mtx", "--out", "X.mtx"],
                   ["dag_trtrs", "--matrix", "F.mtx", "--diag", "unit", "--rhs", "B.mtx", "--out", "Y.mtx"],
                   ["dag_trtrs", "--matrix", "F.mtx", "--uplo", "upper", "--rhs", "Y.mtx", "--out", "Z.mtx"],
                   ranks=RANKS[-1])
        self.near("X.mtx", "Z.mtx")
        self.bad(3, "it needs --pivots", "dag_getrf", "--out", self.path("F.mtx"))

    def test_pivots(self):
        for prec, pivoting, ranks in ("d", "partial", RANKS[-1]), ("z", "tournament", 1):
            matrix = ["--n", 50, "--matgen", "random", "--prec", prec]
            factors = ["dag_trtrs", "--matrix", "F.mtx", "--prec", prec]
            self.chain(["dag_getrf", *matrix, "--pivoting", pivoting, "--out", "F.mtx", "--pivots", "P.mtx"],
                       ["dag_gesv", *matrix, "--rhs", "B.mtx", "--out", "X.mtx"],
                       [*factors, "--diag", "unit", "--pivots", "P.mtx", "--rhs", "B.mtx", "--out", "Y.mtx"],
                       [*factors, "--uplo", "upper", "--rhs", "Y.mtx", "--out", "Z.mtx"], ranks=ranks)
            self.near("X.mtx", "Z.mtx", 1e-9)
        self.bad(3, "nothing to write", "dag_getrf", "--pivoting", "none", "--pivots", self.path("P.mtx"))
        self.bad(3, "it needs --rhs", "dag_trtrs", "--pivots", self.path("P.mtx"))
        self.bad(1, "a file of pivots has one column of whole numbers", "dag_trtrs", "--n", 50, "--rhs",
                 self.path("B.mtx"), "--pivots", self.path("B.mtx"))
        zeros = self.file("%%MatrixMarket matrix array real general\n50 1\n" + "0\n" * 50, "zeros.mtx")
        self.bad(1, "pivot 1 is 0; it must be a row from 1 to 50", "dag_trtrs", "--n", 50, "--rhs",
                 self.path("B.mtx"), "--pivots", zeros)
        self.bad(1, "have 50 rows, the matrix has 30", "dag_trtrs", "--n", 30, "--rhs",
                 self.path("B.mtx"), "--pivots", self.path("P.mtx"))

    def test_triangle(self):
        """A = Q R, so A X = B is Q Y = B and R X = Y; A = L Q likewise."""
        matrix = ["--n", 50, "--matgen", "random"]
        self.chain(["dag_gesv", *matrix, "--rhs", "B.mtx", "--out", "X.mtx"])
        q = ["dag_gesv", "--matrix", "Q.mtx", "--rhs"]
        triangle = ["dag_trtrs", "--matrix", "R.mtx", "--rhs"]
        for layout, ranks in ("slab", RANKS[-1]), ("tile", 1):
            made = [*matrix, "--layout", layout, "--out", "Q.mtx", "--triangle", "R.mtx"]
            self.chain(["dag_geqrf", *made], [*q, "B.mtx", "--out", "Y.mtx"],
                       [*triangle, "Y.mtx", "--uplo", "upper", "--out", "Z.mtx"], ranks=ranks)
            self.near("X.mtx", "Z.mtx", 1e-9)
            self.chain(["dag_gelqf", *made], [*triangle, "B.mtx", "--out", "Y.mtx"],
                       [*q, "Y.mtx", "--out", "Z.mtx"])
            self.near("X.mtx", "Z.mtx", 1e-9)
        self.good("dag_geqrf", "--m", 40, "--n", 30, "--triangle", self.path("R.mtx"))
        self.good("dag_trtrs", "--matrix", self.path("R.mtx"), "--uplo", "upper", "--check")

    def test_inverse(self):
        """B is what the inverse makes of the solution."""
        for driver, solver, *options in (["dag_getri", "dag_gesv"], ["dag_potri", "dag_posv"],
                                         ["dag_potri", "dag_posv", "--uplo", "upper"]):
            self.chain([driver, "--n", 50, *options, "--out", "I.mtx"],
                       [solver, "--n", 50, *options, "--rhs", "B.mtx", "--out", "X.mtx"],
                       [solver, "--matrix", "I.mtx", *options, "--rhs", "X.mtx", "--out", "Y.mtx"],
                       ranks=RANKS[-1])
            self.near("B.mtx", "Y.mtx", 1e-9)

    def test_q(self):
        """Q has orthonormal columns (rows), so that a system with it is perfectly conditioned."""
        for driver, m, n in ("dag_geqrf", 70, 50), ("dag_gelqf", 50, 70):
            for ranks in 1, RANKS[-1]:
                self.chain([driver, "--m", m, "--n", n, "--out", "Q.mtx"], ranks=ranks)
                r, = self.good("dag_gels", "--matrix", self.path("Q.mtx"), "--nb", 16, "--check")
                self.assertEqual((r["m"], r["n"]), (m, n))
                self.assertGreater(r["rcond"], 1 - 1e-12)
            self.chain([driver, "--matrix", "Q.mtx", "--out", "R.mtx"])

    def test_gallery(self):
        """As if the matrix had been read."""
        n = 50
        self.file(f"%%MatrixMarket matrix array real general\n{n} {n}\n" + "".join(
            f"{min(i, j)}\n" for j in range(1, n + 1) for i in range(1, n + 1)), "A.mtx")
        for ranks, driver in zip([1, RANKS[-1]] * 3, ["dag_posv", "dag_gesv", "dag_gels", "dag_posv"]):
            args = ["--rhs", self.path("B.mtx"), "--nb", 16, "--check", "--out"]
            self.good(driver, "--matrix", self.path("A.mtx"), *args, self.path("X.mtx"), ranks=ranks)
            r, = self.good(driver, "--n", n, "--matgen", "minij", *args, self.path("Y.mtx"), ranks=ranks)
            self.assertEqual(r["options"]["matgen"], "minij")
            self.near("X.mtx", "Y.mtx", 1e-300)
        for prec in "sz":
            for driver in "dag_potrf", "dag_potri", "dag_getri", "dag_trtrs":
                self.good(driver, "--n", n, "--nb", 16, "--matgen", "spd", "--prec", prec, "--check",
                          "--seed", 3, ranks=RANKS[-1] if driver == "dag_potri" else 1)
        self.bad(2, "is not positive definite", "dag_posv", "--n", n, "--matgen", "fiedler")
        self.bad(1, "is square, not 9 x 5", "dag_gels", "--m", 9, "--n", 5, "--matgen", "house",
                 ranks=RANKS[-1])
        self.bad(3, "--matgen takes a name of dag/matgen.h", "dag_gesv", "--matgen", "hubert")
        self.bad(3, "--matrix and --matgen do not go together", "dag_gesv", "--matrix", "x", "--matgen",
                 "hilbert")

    def setUp(self):
        super().setUp()
        n = 50
        self.file(f"%%MatrixMarket matrix array real general\n{n} 2\n" + "".join(
            f"{(7 * i) % 11 - 5}\n" for i in range(2 * n)), "B.mtx")


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
        for at, ranks in enumerate(RANKS):
            for k, nb in enumerate((64, 100, 192, 5000)):
                if k % len(RANKS) != at and not FULL:  # each tile size on one number of ranks
                    continue
                layout = ("tile", "slab")[(k + ranks // 2 if FULL else k) % 2]
                r, = self.good("dag_posv", "--matrix", self.path("bcsstk16"), "--check", "--nb", nb,
                               "--layout", layout, ranks=ranks)
                self.assertLess(r["normwise"], 1e-14)
                self.assertEqual(r["n"], 4884)

    def test_others(self):
        for at, ranks in enumerate(RANKS):
            for layout in ("tile", "slab") if FULL else [("tile", "slab")[at % 2]]:
                r, = self.good("dag_posv", "--matrix", self.path("mhd1280b"), "--prec", "z", "--nb",
                               100, "--layout", layout, "--check", ranks=ranks)
                self.assertLess(r["normwise"], 1e-14)
            r, = self.good("dag_posv", "--matrix", self.path("bcsstk01"), "--check", "--nb", 10,
                           "--prec", "z", "--nrhs", 3, ranks=ranks)
            self.assertLess(r["normwise"], 1e-14)
            self.bad(1, "fs_183_1.mtx: the matrix is not symmetric: element (2, 1) is",
                     "dag_posv", "--matrix", self.path("fs_183_1"), "--nb", 64, ranks=ranks)


if __name__ == "__main__":
    main()
