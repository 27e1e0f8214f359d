"""What the tests of the drivers share: runs, their results, and the command line

    MPIRUN BINDIR MOST_RANKS DATADIR [CLASS...]

DATADIR may hold matrices of the Harwell-Boeing collection; CLASS names parts of the file.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

MPIRUN, BIN, MOST, DATA = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
FULL = os.environ.get("DAGCC_TEST_FULL") == "1"
RANKS = [n for n in (1, 2, 4, 6) if n <= MOST]
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                       "../../../dsl-examples/routines.def")) as table:
    ROUTINES, PRODUCTS = (re.findall(rf"^{row}\((\w+),", text, re.MULTILINE)
                          for text in [table.read()] for row in ("ROUTINE", "PRODUCT"))


def run(driver, *args, ranks=1):
    """(exit status, stdout, stderr)"""
    command = [os.path.join(BIN, driver)] + [str(a) for a in args]
    if ranks > 1:
        command = [MPIRUN, "-np", str(ranks), "--threads", "1", "--timeout", "600"] + command
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


def main():
    """Runs the classes of the program; 77 if all of them were skipped."""
    result = unittest.main(argv=sys.argv[:1] + sys.argv[5:], verbosity=1, exit=False).result
    if result.wasSuccessful() and len(result.skipped) >= result.testsRun:
        sys.exit(77)  # nothing ran: not a test that passed
    sys.exit(not result.wasSuccessful())
