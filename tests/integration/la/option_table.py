#!/usr/bin/env python3
"""docs/driver-options.md: which driver understands which option, made from what they say with --help; and
whether each of them does what its cell says. Called as driver_case.py says; with --write behind that it
writes the page.
"""
import json
import os
import re
import sys

from driver_case import BIN, ROUTINES, Case, main, run

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../docs/driver-options.md")
HEAD = """# Options of the drivers

Made by `tests/integration/la/option_table.py`, and compared with the programs, each cell tried, by the test
`la_drivers_optiontable`. What does not stand in a cell is refused with exit status 3. The manual,
`dag_drivers(1)`, says more of each.

"""
# What an option is tried with, beside --n 20 --nb 8; files are made in front.
VALUES = {
    "m": 20, "n": 20, "k": 12, "nb": 8, "prec": "z", "grid": "1x1", "threads": 2, "gpus": 0, "runs": 1,
    "seed": 5, "layout": "slab", "uplo": "upper", "split": "2,3", "out-of-core": "auto", "nrhs": 3, "pivoting": "none", "check-finite": "no",
    "rcond": "no", "matgen": "lehmer", "routine": "syrk", "side": "right", "transa": "t", "transb": "c",
    "diag": "unit", "method": "summa", "product-grid": "1x1x1", "lookahead": "1", "groups": "1x1", "inner": "4", "bcast": "chain", "predict": "2", "sample": "8,16", "matrix": "A.mtx", "rhs": "B.mtx", "out": "X.mtx", "pivots": "P.mtx", "triangle": "R.mtx", "trace": "T.json",
}


def options():
    """{option: (value, meaning, drivers)} in the order of the table of options."""
    found, order = {}, {}
    for driver in ROUTINES:
        status, out, err = run("dag_" + driver, "--help")
        assert status == 0, err
        for at, (name, value, meaning) in enumerate(
                re.findall(r"^  --([\w-]+) (\S*) +(\S.*)$", out, re.MULTILINE)):
            found.setdefault(name, (value, meaning, []))[2].append(driver)
            order.setdefault(name, []).append(at)
    return {name: found[name] for name in sorted(found, key=lambda n: (-len(order[n]), n))}


def page():
    lines = ["| option | what | " + " | ".join(ROUTINES) + " |",
             "|---|---|" + "---|" * len(ROUTINES)]
    for name, (value, meaning, drivers) in options().items():
        text = f"`--{name} {value}`".replace(" `", "`").replace("|", "\\|")
        cells = " | ".join("x" if driver in drivers else "" for driver in ROUTINES)
        lines.append(f"| {text} | {meaning} | {cells} |".replace("  |", " |"))
    return HEAD + "\n".join(lines) + "\n"


class OptionTable(Case):
    def test_page(self):
        with open(PAGE) as f:
            self.assertEqual(f.read(), page(), "option_table.py --write makes it again")

    def arguments(self, driver, name):
        """A command line on which the option makes sense."""
        value = VALUES.get(name)
        if name in ("matrix", "rhs", "out", "pivots", "triangle", "trace"):
            value = os.path.join(self.dir.name, value)
        more = ["--n", 20, "--nb", 8]
        if name in ("matrix", "n"):
            more = ["--nb", 8]
        elif name == "nb":
            more = ["--n", 20]
        elif name == "out" and driver == "getrf":
            more += ["--pivoting", "none"]
        elif name == "sample":
            more += ["--predict", 2] + (["--method", "stationary-c"] if driver == "gemm" else [])
        elif name == "pivots" and driver == "trtrs":
            more += ["--rhs", os.path.join(self.dir.name, "B.mtx")]
        return more + ["--" + name] + ([] if value is None else [value])

    def test_cells(self):
        identity = "".join(f"{float(i == j)}\n" for j in range(20) for i in range(20))
        self.file("%%MatrixMarket matrix array real general\n20 20\n" + identity, "A.mtx")
        self.file("%%MatrixMarket matrix array real general\n20 2\n" + "1.0\n" * 40, "B.mtx")
        self.file("%%MatrixMarket matrix array real general\n20 1\n" + "20\n" * 20, "P.mtx")
        for name, (value, _, drivers) in options().items():
            self.assertEqual(bool(value), name in VALUES, name)
            for driver in ROUTINES:
                with self.subTest(driver=driver, option=name):
                    args = self.arguments(driver, name)
                    if driver not in drivers:
                        self.bad(3, f"option --{name} means nothing to this program",
                                 "dag_" + driver, "--" + name, *([VALUES[name]] if value else []))
                        continue
                    status, out, err = run("dag_" + driver, *args, *(["--json"] if name not in ("json", "plan") else []))
                    self.assertEqual(status, 0, err)
                    if name not in ("help", "version", "plan"):
                        self.told(name, args[-1], json.loads(out.splitlines()[-1]))
                    for made in "out", "triangle", "trace":
                        if name == made:
                            self.assertGreater(os.path.getsize(args[-1]), 0)
                            os.remove(args[-1])

    def told(self, name, given, result):
        """What changes the result stands in it."""
        said = dict(result, **result["options"])
        if name == "matrix":
            self.assertEqual(said["n"], 20)
        elif name in said and name not in ("check-finite", "rcond"):
            value = int(said[name]) if isinstance(said[name], bool) else said[name]
            self.assertEqual(str(value), "1" if given == "--" + name else str(given))


if __name__ == "__main__":
    if sys.argv[-1] == "--write":
        with open(PAGE, "w") as to:
            to.write(page())
    else:
        main()
