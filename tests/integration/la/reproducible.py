#!/usr/bin/env python3
"""What docs/reproducible.md promises of --reproducible, promise by promise: files that hold results have to
be equal byte by byte, which they are when the numbers are. Called as driver_case.py says.
"""
import os
import tempfile

from driver_case import RANKS, Case, main

# In tiles of 192 that are no whole ones at the edges. The panel of the third is so high that workers would
# decide into how many stacks it is cut.
SOLVERS = [["dag_posv", "--n", 500, "--nrhs", 3], ["dag_gesv", "--n", 450, "--nrhs", 2],
           ["dag_gels", "--m", 4000, "--n", 200]]


class Reproducible(Case):
    def result(self, driver, *args, ranks=1, **environment):
        """The bytes of the solution."""
        out = os.path.join(self.dir.name, "X.mtx")
        before = dict(os.environ)
        os.environ.update(environment)
        try:
            self.said, = self.good(driver, *args, "--out", out, ranks=ranks)
        finally:
            os.environ.clear()
            os.environ.update(before)
        with open(out, "rb") as f:
            return f.read()

    def test_caches(self):
        """No measured time has a part in it, and none is taken."""
        for solver in SOLVERS:
            found = set()
            for _ in range(6):
                with tempfile.TemporaryDirectory() as cache:
                    found.add(self.result(*solver, "--reproducible", XDG_CACHE_HOME=cache))
                    self.assertEqual(os.listdir(cache), [])
                self.assertEqual((self.said["nb"], self.said["gpus"]), (192, 0))
                self.assertEqual(self.said["options"]["reproducible"], 1)
                self.assertEqual(self.said["nb_chosen"], 1)
                self.assertTrue(self.said["kernels"] and self.said["version"])
            self.assertEqual(len(found), 1, solver)

    def test_setting(self):
        """It is that of the library, which programs without the option set."""
        for solver in SOLVERS:
            self.assertEqual(self.result(*solver, DAG_REPRODUCIBLE="on"),
                             self.result(*solver, "--reproducible"), solver)
            self.assertEqual(self.said["options"]["reproducible"], 1)

    def test_threads_seeds_layout(self):
        """DAG_CHAOS: other schedules and orders of messages."""
        for solver in SOLVERS:
            found = {self.result(*solver, "--reproducible", "--threads", threads, "--layout",
                                 ["tile", "slab"][threads % 2], DAG_CHAOS=str(7 * threads))
                     for threads in range(1, 5)}
            self.assertEqual(len(found), 1, solver)

    def test_ranks_seeds(self):
        """Several ranks, each time with another order of messages."""
        for solver in SOLVERS:
            found = {self.result(*solver, "--reproducible", ranks=RANKS[-1], DAG_CHAOS=str(seed))
                     for seed in (1, 2)}
            self.assertEqual(len(found), 1, solver)

    def test_ranks(self):
        """Cholesky, its solve, and triangular solves on any grid."""
        many = ["dag_posv", "--n", 500, "--nrhs", 900] # B stays where it is on several ranks
        for solver in SOLVERS[0], many, ["dag_trtrs", "--n", 400]:
            found = {self.result(*solver, "--reproducible", ranks=ranks) for ranks in RANKS[:3]}
            self.assertEqual(len(found), 1, solver)

    def test_refused(self):
        self.bad(3, "--reproducible and --gpus do not go together", "dag_posv", "--reproducible",
                 "--gpus", 1)


if __name__ == "__main__":
    main()
