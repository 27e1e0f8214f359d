#!/usr/bin/env python3
"""dag_hpl as a user runs it: its input, its output beside that of hpcc, what it refuses. driver_case.py says
how this program is called; its parts are HplInput and Hpl, and HplFull for the list of long tests.
"""
import json
import os
import re
import unittest

from driver_case import BIN, RANKS, Case, main, run

BENCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../tools/bench/la/group.py")

# What Debian's example for hpcc has, with its comments.
EXAMPLE = """HPLinpack benchmark input file
Innovative Computing Laboratory, University of Tennessee
HPL.out      output file name (if any)
8            device out (6=stdout,7=stderr,file)
1            # of problems sizes (N)
1000         Ns
1            # of NBs
80           NBs
0            PMAP process mapping (0=Row-,1=Column-major)
1            # of process grids (P x Q)
2            Ps
2            Qs
16.0         threshold
1            # of panel fact
2            PFACTs (0=left, 1=Crout, 2=Right)
1            # of recursive stopping criterium
4            NBMINs (>= 1)
1            # of panels in recursion
2            NDIVs
1            # of recursive panel fact.
1            RFACTs (0=left, 1=Crout, 2=Right)
1            # of broadcast
1            BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
1            # of lookahead depth
1            DEPTHs (>=0)
2            SWAP (0=bin-exch,1=long,2=mix)
64           swapping threshold
0            L1 in (0=transposed,1=no-transposed) form
0            U  in (0=transposed,1=no-transposed) form
1            Equilibration (0=no,1=yes)
8            memory alignment in double (> 0)
##### This line (no. 32) is ignored (it serves as a separator). ######
0                      		Number of additional problem sizes for PTRANS
1200 10000 30000        	values of N
0                       	number of additional blocking sizes for PTRANS
40 9 8 13 13 20 16 32 64       	values of NB
"""

# What hpcc 1.5 prints for a file of lists.
PARAMETERS = """
N      :      50        7        0 
NB     :       1        2        3        4        5        6        7        8 
               9 
PMAP   : Column-major process mapping
P      :       1        2 
Q      :       2        1 
PFACT  :    Left    Crout 
NBMIN  :       2        4 
NDIV   :       2        3 
RFACT  :    Left    Crout 
BCAST  :   Blong   BlongM 
DEPTH  :       0        1 
SWAP   : Binary-exchange
L1     : no-transposed form
U      : no-transposed form
EQUIL  : no
ALIGN  : 8 double precision words

"""

# The norms that hpcc prints: ||A||_oo, ||A||_1, ||x||_oo, ||x||_1, ||b||_oo.
NORMS = {200: "54.583395 55.384166 26.177999 1401.080699 0.498670",
         1000: "262.773468 263.865287 11.351297 2619.625251 0.499776",
         2000: "522.676122 523.014321 4.052241 1840.296356 0.499960"}

# Two nodes of one worker each.
NETWORK = """name = gigabit
ranks = 1
workers = 1
between = 50us 118MB/s
kernel = * * 16:4 32:10 64:24 96:32 128:38
kernel = move * 32:4 128:8
"""

LISTS = {"n": 6, "nb": 8, "pmap": 9, "p": 11, "q": 12, "threshold": 13, "pfact": 15, "nbmin": 17, "ndiv": 19,
         "rfact": 21, "bcast": 23, "depth": 25, "swap": 26, "l1": 28, "u": 29, "equil": 30}
SCALARS = ("pmap", "threshold", "swap", "l1", "u", "equil")
GRIDS = [(1, 1), (1, 2), (2, 1), (2, 2), (2, 3), (3, 2), (1, 6), (6, 1)]


def data(**lines):
    """HPL.dat with those values, on standard output."""
    text = EXAMPLE.splitlines()
    text[3] = "6"
    for name, values in lines.items():
        values = values if isinstance(values, (list, tuple)) else [values]
        if name not in SCALARS and name != "q":
            text[LISTS[name] - 2] = str(len(values))
        text[LISTS[name] - 1] = " ".join(map(str, values))
    return "\n".join(text) + "\n"


class HplCase(Case):
    def results(self, text, ranks=1, status=0, **more):
        """The lines of JSON of a run of that file, and its text."""
        name, out = self.file(text, "HPL.dat"), os.path.join(self.dir.name, "results")
        options = [word for key, value in more.items() for word in ("--" + key.replace("_", "-"), value)]
        got, printed, err = run("dag_hpl", "--json", out, *options, name, ranks=ranks)
        self.assertEqual(got, status, err + printed)
        with open(out) as f:
            return [json.loads(line) for line in f], printed

    def passed(self, text, ranks=1):
        results, printed = self.results(text, ranks)
        self.assertEqual({r["verdict"] for r in results}, {"passed"})
        self.assertIn(f"Finished {len(results):6} tests", printed)
        return results


class HplInput(HplCase):
    def test_damage(self):
        """Each line in turn: what is wrong is said with the line and its meaning."""
        lines = EXAMPLE.splitlines()
        words = {4: "device", 6: "problem sizes N", 8: "block sizes NB", 9: "mapping of processes PMAP", 12: "columns of the grids Q",
                 13: "threshold of", 23: "broadcasts BCAST", 26: "exchange of rows SWAP", 31: "alignment"}
        for line in range(4, 32):
            for wrong in "many", "3.5.1", "":
                broken = lines[:line - 1] + [wrong] + lines[line:]
                if wrong == "3.5.1" and line not in words:
                    continue
                self.bad(3, f"HPL.dat:{line}: ", "dag_hpl", self.file("\n".join(broken) + "\n", "HPL.dat"))
        for line, word in words.items():
            broken = lines[:line - 1] + ["-7"] + lines[line:] if line != 13 else lines[:12] + ["inf"]
            self.bad(3, f"HPL.dat:{line}: {word}", "dag_hpl", self.file("\n".join(broken), "HPL.dat"))
        self.bad(3, "HPL.dat:20: number of recursive panel factorisations: the file ends", "dag_hpl",
                 self.file("\n".join(lines[:19]) + "\n", "HPL.dat"))
        lines[4] = "3"
        self.bad(3, "HPL.dat:6: problem sizes N: line 5 announces 3 of them, but here are 2", "dag_hpl",
                 self.file("\n".join(lines[:5] + ["1 2"] + lines[6:]), "HPL.dat"))
        lines[4] = "21"
        self.bad(3, "HPL.dat:5: number of problem sizes: 21 is not in 1 ... 20", "dag_hpl",
                 self.file("\n".join(lines), "HPL.dat"))

    def test_options(self):
        for text, *args in [
                ("--pivoting tournament: the rules of HPL", "--pivoting", "tournament"),
                ("--mixed: the rules of HPL", "--mixed"),
                ("--n takes orders, such as 1000,2000, not '5,'", "--n", "5,"),
                ("--nb takes block sizes", "--nb", "64,0"),
                ("--grid takes grids, such as 1x4,2x2, not '2'", "--grid", "2"),
                ("--pmap takes row or column, not 'diagonal'", "--pmap", "diagonal"),
                ("--depth takes depths", "--depth", "-1"),
                ("do not go together", "--n", 5, "HPL.dat"),
                ("no-such-file: No such file", "no-such-file"),
                ("unexpected argument 'b'", "a", "b"),
        ]:
            self.bad(3, text, "dag_hpl", *args, ranks=RANKS[-1] if args[0] == "--mixed" else 1)
        self.bad(3, "the largest grid needs 15 ranks", "dag_hpl", "--n", 10, "--grid", "1x1,3x5")
        status, out, err = run("dag_hpl", "--help")
        self.assertEqual((status, err, out.count("usage: dag_hpl")), (0, "", 1))
        manual = os.path.join(os.path.dirname(BENCH), "../../../docs/dag_hpl.1")
        with open(manual) as page:
            known = set(re.findall(r"--[a-z][a-z-]*", page.read().replace("\\-", "-")))
        self.assertEqual(known, set(re.findall(r"--[a-z][a-z-]*", out)))


class Hpl(HplCase):
    def test_norms(self):
        """With a threshold that nothing meets the norms are printed: those of hpcc, digit by digit."""
        _, out = self.results(data(n=list(NORMS), nb=64, p=1, q=1, threshold=1e-9), status=1)
        found = re.findall(r"^\|\|[^-\n]*\. = +(\S+)$", out, re.MULTILINE)
        self.assertEqual(found, " ".join(NORMS.values()).split())
        self.assertIn("     3 tests completed and failed residual checks,\n", out)

    def test_text(self):
        """Parameters as hpcc prints them; the benchmark's expression reads the results."""
        with open(BENCH) as f:
            expression, = re.findall(r'RESULT = re.compile\(r"(.*)", re.M\)', f.read())
        text = data(n=[50, 7, 0], nb=list(range(1, 10)), pmap=1, p=[1, 1], q=[1, 1], pfact=[0, 1], nbmin=[2, 4],
                    ndiv=[2, 3], rfact=[0, 1], bcast=[4, 5], depth=[0, 1], swap=0, l1=1, u=1, equil=0,
                    threshold=-1)
        results, out = self.results(text)
        wanted = PARAMETERS.replace("P      :       1        2", "P      :       1        1")
        self.assertIn(wanted.replace("Q      :       2", "Q      :       1"), out)
        lines = re.findall(expression, out, re.MULTILINE)
        self.assertEqual([line[:4] for line in lines],
                         [(str(r["n"]), str(r["nb"]), *r["grid"].split("x")) for r in results])
        self.assertEqual(len(lines), 2 * 3 * 9 * 64)
        self.assertEqual([r["variant"] for r in results[:6]],
                         ["WC04L2L2", "WC04L3L2", "WC04L2L4", "WC04L3L4", "WC04L2C2", "WC04L3C2"])
        self.assertEqual({r["verdict"] for r in results}, {"unchecked"})
        self.assertIn("  3456 tests completed without checking,\n", out)

    @unittest.skipIf(RANKS[-1] < 4, "needs four ranks")
    def test_example(self):
        """Debian's file as it is; results go to the file that it names."""
        name = self.file(EXAMPLE, "_hpccinf.txt")
        here = os.getcwd()
        os.chdir(self.dir.name)
        try:
            status, out, err = run(os.path.join(here, BIN, "dag_hpl"), name, ranks=4)
        finally:
            os.chdir(here)
        self.assertEqual((status, out), (0, ""), err)
        self.assertEqual(err.count("dag_hpl: note: "), 6)
        with open(os.path.join(self.dir.name, "HPL.out")) as f:
            out = f.read()
        self.assertIn("WR11C2R4        1000    80     2     2 ", out)
        self.assertIn("     1 tests completed and passed residual checks,\n", out)

    def test_flipped_bit(self):
        for at in 1, 77, 100:
            results, out = self.results(data(n=100, nb=32, p=1, q=1), status=1, flip_bit=at)
            self.assertEqual([r["verdict"] for r in results], ["failed"])
            self.assertIn(" ...... FAILED\n||Ax-b||_oo  . .", out)

    def test_slow(self):
        """A run that lasts much longer than the time between looks is ended."""
        status, out, err = run("dag_hpl", "--n", 6000, "--nb", 128, "--progress", 0.02, "--abort-below", 1e9)
        self.assertEqual(status, 1, err)
        self.assertRegex(err, r"N 6000: about [\d.]+ % done after \d+ s, \S+ Gflop/s, \d+ s left\n"
                              r".*less than --abort-below 1e\+09: the job ends\n")
        self.assertNotIn("Finished", out)
        self.bad(3, "--abort-below looks when a line", "dag_hpl", "--n", 5, "--abort-below", 1,
                 "--progress", 0)

    def test_plan(self):
        """N fills the part of the memory that it may, and the file can be read."""
        size = {}
        for part in 0.01, 0.04:
            status, out, err = run("dag_hpl", "--plan", "--memory", part)
            self.assertEqual(status, 0, err)
            lines = out.splitlines()
            size[part] = int(lines[5])
            block = int(lines[7])
            self.assertEqual(size[part] % block, 0)
            memory, = re.findall(r"of the (\S+) GB of each of 1 ranks", err)
            most = (part * float(memory) * 1e9 / 8.8) ** .5
            self.assertTrue(0.999 * most - block < size[part] <= 1.001 * most, (size, most))
        self.assertTrue(size[0.01] < size[0.04])
        text = "\n".join(lines[:5] + ["50"] + lines[6:]) + "\n"
        self.assertEqual([r["nb"] for r in self.passed(text)], [block])
        for args in ("--plan", "--n", 5), ("--plan", "HPL.dat"):
            self.bad(3, "--plan says what to run", "dag_hpl", *args)
        self.bad(3, "--memory takes a part of the memory", "dag_hpl", "--memory", 2)

    def consistent(self, sent):
        """Phases may be under way at once; what is not exposed is hidden."""
        self.assertEqual(list(sent), ["panel", "rows", "back", "all"])
        for phase in sent.values():
            self.assertAlmostEqual(phase["seconds"], phase["hidden"] + phase["exposed"], delta=1e-7)
            self.assertTrue(phase["hidden"] >= 0 and phase["exposed"] >= 0, sent)
        parts = [sent[key]["seconds"] for key in ("panel", "rows", "back")]
        self.assertTrue(max(parts) <= sent["all"]["seconds"] + 1e-7 <= sum(parts) + 2e-7, sent)

    def test_hidden(self):
        """Two nodes at 1 Gbit/s, simulated: what the wire takes, and that look-ahead hides it."""
        machine = self.file(NETWORK, "machine")
        runs = {}
        for depth in 0, 1, 1:
            results = os.path.join(self.dir.name, "results")
            status, out, err = run("dag_sim", "-np", 2, "--machine", machine, os.path.join(BIN, "dag_hpl"), "--n", 4000,
                                   "--nb", 128, "--grid", "1x2", "--depth", depth, "--threshold", -1, "--detail",
                                   "--json", results)
            self.assertEqual(status, 0, err)
            self.assertEqual(out.count("\nCommunication, "), 4)
            with open(results) as lines:
                result = json.loads(lines.read())
            sent = result["communication"]
            self.consistent(sent)
            self.assertEqual(sent["rows"]["seconds"], 0)  # there is one process row
            self.assertEqual(sent, runs.setdefault(depth, result)["communication"])
            self.assertGreater(sent["panel"]["seconds"], 4 * 4000 ** 2 / 118e6)  # each rank sends half of L
        hidden = [runs[depth]["communication"]["panel"]["hidden"] / runs[depth]["communication"]["panel"]["seconds"]
                  for depth in (0, 1)]
        self.assertGreater(runs[1]["gflops"], 1.28 * runs[0]["gflops"])
        self.assertLess(hidden[0] + 0.05, hidden[1])

    def test_choice(self):
        """Grid and depth that are left open follow from the described network, and beat others there, simulated."""
        machine = self.file(NETWORK, "machine")

        def go(*more):
            status, out, err = run("dag_sim", "-np", 4, "--machine", machine, os.path.join(BIN, "dag_hpl"), "--n", 2000,
                                   "--nb", 128, "--threshold", -1, *more)
            self.assertEqual(status, 0, err)
            (p, q, rate), = re.findall(r"^WR\S+ +2000 +128 +(\d) +(\d) +\S+ +(\S+)$", out, re.MULTILINE)
            return f"{p}x{q}", float(rate), err
        grid, rate, err = go()
        said, depth = re.search(r"dag_hpl: grid (\dx\d) for N 2000: .* messages of 50 us and 0.118 GB/s, ranks of 38 Gflop/s"
                                r": \S+ s, with DEPTH (\d+)\n", err).groups()
        self.assertEqual((grid, said, int(depth) % 4), ("1x4", "1x4", 0))
        self.assertEqual(rate, go("--grid", "1x4", "--depth", depth)[1])
        self.assertEqual(rate, go("--grid", "1x4")[1])
        for other in ("2x2", 1), ("2x2", 8), ("4x1", 1), ("1x4", 1), ("1x4", 3):
            self.assertGreater(rate, 1.05 * go("--grid", other[0], "--depth", other[1])[1], other)
        status, out, err = run("dag_sim", "-np", 4, "--machine", machine, os.path.join(BIN, "dag_hpl"), "--plan",
                               "--memory", 0.001)
        self.assertEqual(status, 0, err)
        self.assertRegex(err, r"grid \dx\d: the least by the model of panels, with messages of 50 us and 0.118 GB/s\n")
        self.assertRegex(err, r"predicted: about \S+ s, \S+ Gflop/s; kernels \S+ s, messages counted\n")
        self.assertEqual(re.search(r"DEPTH (\d+)", err).group(1), out.splitlines()[24])

    @unittest.skipIf(RANKS[-1] < 4, "needs four ranks")
    def test_ranks(self):
        """Each rank is measured; they stand in the grid as PMAP says."""
        for pmap, wanted in ("row", [0, 1, 2, 3]), ("column", [0, 2, 1, 3]):
            results = os.path.join(self.dir.name, "results")
            status, out, err = run("dag_hpl", "--n", 200, "--nb", 32, "--grid", "2x2", "--pmap", pmap, "--detail",
                                   "--screen", "--report", "--json", results, ranks=4)
            self.assertEqual(status, 0, err)
            places = re.findall(r"^dag_hpl: \((\d),(\d)\) is rank (\d) of the job on \S+: update", err, re.MULTILINE)
            self.assertEqual(places, [(str(i // 2), str(i % 2), str(r)) for i, r in enumerate(wanted)])
            found = re.findall(r"^dag_hpl: rank (\d) on \S+: dgemm \S+ Gflop/s of a worker, memory \S+ GB/s, "
                               r"link to rank (\d) \S+ GB/s, \S+ us", err, re.MULTILINE)
            self.assertEqual(found, [(str(r), str((r + 1) % 4)) for r in range(4)])
            self.assertEqual(out.count("Max aggregated wall time"), 5)
            self.assertEqual(out.count("\nCommunication, "), 4)
            with open(results) as lines:
                sent = json.loads(lines.read())["communication"]
            self.consistent(sent)
            self.assertTrue(sent["panel"]["seconds"] > 0 and sent["rows"]["seconds"] > 0, sent)
            told = re.findall(r"^dag:   rank \d: communication for (\S+) s", err, re.MULTILINE)[-4:]
            self.assertLessEqual(4 * sent["all"]["seconds"], 1.001 * sum(map(float, told)), sent)
        status, _, err = run("dag_hpl", "--n", 100, "--nb", 32, "--grid", "2x2", "--detail", "--json", results, ranks=4)
        self.assertEqual(status, 0, err)
        with open(results) as lines:
            sent = json.loads(lines.read())["communication"]
        self.consistent(sent)
        self.assertTrue(sent["panel"]["seconds"] > 0 and sent["rows"]["seconds"] > 0, sent)  # without a report, too

    @unittest.skipIf(RANKS[-1] < 6, "needs six ranks")
    def test_cases(self):
        """All grids and odd orders; look-ahead and PMAP where they matter."""
        rows, columns = zip(*GRIDS)
        self.passed(data(n=[0, 1, 7, 191, 193], nb=64, p=rows, q=columns), 6)
        self.passed(data(n=193, nb=[30, 192], p=[2, 3], q=[3, 2], depth=[0, 3], pmap=1), 6)
        self.passed(data(n=[7, 20], nb=1, p=2, q=3), 6)


class HplFull(HplCase):
    @unittest.skipIf(RANKS[-1] < 6, "needs six ranks")
    def test_all(self):
        rows, columns = zip(*GRIDS)
        for pmap in 0, 1:
            self.passed(data(n=[0, 1, 7, 100], nb=1, p=rows, q=columns, depth=[0, 1, 2, 3], pmap=pmap), 6)
            for swap in 0, 1, 2:
                self.passed(data(n=[0, 1, 7, 100, 191, 193], nb=[64, 128, 192], p=rows, q=columns,
                                 depth=[0, 1, 2, 3], bcast=list(range(6)), swap=swap, pmap=pmap), 6)
            self.passed(data(n=1000, nb=[64, 128, 192], p=rows, q=columns, depth=[0, 1, 2, 3], pmap=pmap), 6)
            self.passed(data(n=4000, nb=[64, 128, 192], p=rows, q=columns, depth=1, pmap=pmap), 6)


if __name__ == "__main__":
    main()
