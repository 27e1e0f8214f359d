#!/usr/bin/env python3
"""The tile size that --nb 0 chooses, and the file of kernel times that it follows from.
driver_case.py says how this program is called; its part is Tiles.
"""
import os
import re

from driver_case import RANKS, Case, main, run

SIZES, KERNELS = 9, 4  # of the file; the sizes from the fourth on are 144 and more


class Tiles(Case):
    def setUp(self):
        super().setUp()
        self.path = os.path.join(self.dir.name, "times")
        self.settings = {"DAG_TILE_TIMES": self.path, "XDG_CACHE_HOME": self.dir.name}
        self.before = {name: os.environ.get(name) for name in self.settings}
        os.environ.update(self.settings)

    def tearDown(self):
        for name, value in self.before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
        super().tearDown()

    def text(self):
        with open(self.path) as f:
            return f.read()

    def slow_down(self, first, last, factor):
        """Make the kernels slower for a range of sizes, in the file."""
        lines = self.text().splitlines()
        fields = lines[1].split("\t")
        for kernel in range(KERNELS):
            for size in range(first, last):
                at = 2 + kernel * SIZES + size
                fields[at] = str(int(fields[at]) * factor)
        with open(self.path, "w") as f:
            f.write("\n".join([lines[0], "\t".join(fields), lines[2], ""]))

    def chosen(self, *args, ranks=1):
        r, = self.good("dag_potrf", *args, ranks=ranks)
        self.assertEqual(r["nb_chosen"], 1)
        self.assertGreater(r["gflops_expected"], 0)
        return r["nb"]

    def test_measured_once(self):
        nb = self.chosen("--n", 600)
        first = self.text()
        self.assertEqual(first.count("\n"), 3, first)
        self.assertEqual(len(first.splitlines()[1].split("\t")), 2 + SIZES * KERNELS)
        self.assertEqual(self.chosen("--n", 600), nb)
        self.assertEqual(self.text(), first, "read, and not measured again")
        self.chosen("--n", 600, "--prec", "z")
        self.assertEqual(self.text().count("\n"), 4, "another precision beside it")

    def test_follows_from_the_file(self):
        self.chosen("--n", 50)
        self.slow_down(3, SIZES, 20)
        for ranks in RANKS:
            self.assertLessEqual(self.chosen("--n", 700, ranks=ranks), 120)
        self.slow_down(0, 5, 1000)
        self.assertGreaterEqual(self.chosen("--n", 700), 192)
        status, out, err = run("dag_potrf", "--n", 300)
        self.assertEqual((status, err), (0, ""))
        self.assertRegex(out, r"n 300, nb 300 \(chosen\), .* GFlop/s \(\d\S* expected\)\n")

    def test_other_drivers(self):
        r, = self.good("dag_posv", "--n", 300)
        self.assertEqual(r["nb_chosen"], 1)
        r, = self.good("dag_gemm", "--n", 100, "--prec", "d")
        self.assertEqual(r["nb_chosen"], 1)
        self.assertEqual(self.text().count("\n"), 3)

    def test_not_asked_for(self):
        r, = self.good("dag_potrf", "--n", 100, "--nb", 32)
        self.assertNotIn("nb_chosen", r)
        self.assertNotIn("gflops_expected", r)
        status, out, err = run("dag_potrf", "--n", 100, "--nb", 32)
        self.assertNotRegex(out, "chosen|expected")
        os.environ["DAG_TILE_TIMES"] = "off"
        self.assertEqual(self.chosen("--n", 1000), 216, "with the times that are built in")
        self.assertEqual(os.listdir(self.dir.name), [])

    def test_the_users_directory(self):
        os.environ["DAG_TILE_TIMES"] = ""
        self.chosen("--n", 100)
        self.path = os.path.join(self.dir.name, "dagcc", "tile-times")
        self.assertEqual(self.text().count("\n"), 3)

    def complaint(self, ranks=1):
        """What a run says about the file, once, and goes on."""
        status, out, err = run("dag_potrf", "--n", 100, ranks=ranks)
        self.assertEqual(status, 0, err)
        self.assertIn("(chosen)", out)
        said = re.findall(r"dag: rank 0: warning: tile_times: (.*)\n", err)
        self.assertEqual(len(said), 1, err)
        return said[0]

    def test_bad_files(self):
        self.file("dag tile times 1\nd\tsomewhere\t1\nend\t1\n", "times")
        self.assertEqual(self.complaint(RANKS[-1]),
                         self.path + ": damaged; tile kernels are measured anew")
        self.assertEqual(self.text().count("\n"), 3)
        self.file("something else\n", "times")
        self.assertEqual(self.complaint(), self.path + ": not a file of tile times of this "
                         "version; it is left alone")
        self.assertEqual(self.text(), "something else\n")
        os.environ["DAG_TILE_TIMES"] = self.dir.name + "/absent/times"
        self.assertEqual(self.complaint(), self.dir.name + "/absent/times: times of tile kernels "
                         "could not be written: No such file or directory")


if __name__ == "__main__":
    main()
