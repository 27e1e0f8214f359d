"""What translation costs: dagcc on the graphs that are shipped, and the C compiler behind it."""
import resource
import shutil
import time

from harness.figures import Contestant, Figure, Point

TARGETS = ["dagcc"]


def seconds(env, command):
    """Processor time of a command: what others do on the machine counts least in it."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    env.command(command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


class Translation:
    """One .jdf file: what is made of it."""

    def __init__(self, env, path):
        self.env = env
        self.path = path
        self.name = f"{path.parent.name}/{path.stem}"
        self.dir = env.out / "compile"

    def generate(self, *options):
        self.dir.mkdir(parents=True, exist_ok=True)
        target = self.dir / f"{self.name.replace('/', '-')}.c"
        took = seconds(self.env, [self.env.program("dagcc"), "--emit=c", *options, "-o", target,
                                  self.path])
        return took, target

    def compile(self):
        target = self.generate()[1]
        mpi = self.env.command(["mpicc", "--showme:compile"]).split() if shutil.which("mpicc") else []
        includes = ["-I", self.env.root / "include", "-I", self.env.build / "include", "-I", self.dir,
                    "-I", self.path.parent, "-I", self.env.root / "dsl-examples"]
        return seconds(self.env, ["cc", "-std=gnu17", "-O3", *includes, *mpi, "-c", target, "-o",
                                  target.with_suffix(".o")])

    def lines(self):
        target = self.generate()[1]
        with open(target, encoding="utf-8") as c, open(self.path, encoding="utf-8") as jdf:
            return sum(1 for _ in c), sum(1 for _ in jdf), target.stat().st_size


def big_file(env, classes):
    """Path of a file of many small classes, for the speed of the front end."""
    env.out.mkdir(parents=True, exist_ok=True)
    path = env.out / "many_classes.jdf"
    text = ['extern "C" %{', "#include <dag/vector.h>", "%}", 'D [type = "dag_vector *"]',
            "N [type = int]", ""]
    for i in range(classes):
        text += [f"Task{i}(i, k)", "  k = 0 .. N-1", "  i = k .. N-1", ": D(i)",
                 f"RW X <- (k == 0) ? D(i) : X Task{i}(i, k-1)",
                 f"     -> (k < i) ? X Task{i}(i, k+1)",
                 "BODY", "  int *x = X;", "  *x += k;", "END", ""]
    path.write_text("\n".join(text) + "\n")
    return path, len(text)


def front_end(env):
    path, lines = big_file(env, env.scaled(2000, 500, 20))

    def rate(p):
        return lines / 1000 / seconds(env, [env.program("dagcc"), "--emit=jdf", "-o", "/dev/null",
                                            path])

    return Figure("front-end", "Reading and checking a large file, the proofs aside",
                  "thousand lines per s", [Point("many classes", goals=[("value", 100)])],
                  [Contestant("dagcc", rate)], better="higher", logy=False)


def figures(env):
    pattern = env.scaled("*.jdf", "*.jdf", "potrf_L.jdf")
    some = [Translation(env, f) for f in sorted((env.root / "dsl-examples").rglob(pattern))]
    points = [Point(t.name, what=t) for t in some]
    yield Figure("translate", "dagcc, proofs included: processor time", "ms", points,
                 [Contestant("dagcc", lambda p: 1000 * p.what.generate()[0])])
    # One operation per question: every proof is given up at once.
    yield Figure("translate-all", f"dagcc, all {len(some)} files that are shipped", "ms",
                 [Point("proofs aside", options=["--max-operations=1"], goals=[("value", 500)]),
                  Point("with proofs", options=[])],
                 [Contestant("dagcc", lambda p: 1000 * sum(t.generate(*p.options)[0]
                                                           for t in some))], logy=False)
    yield Figure("cc", "The C compiler on the result, -O3: processor time", "ms",
                 [Point(t.name, what=t, goals=[("value", 1500)]) for t in some],
                 [Contestant("cc", lambda p: 1000 * p.what.compile())], logy=False)

    def per_line(p):
        c, jdf, _ = p.what.lines()
        return c / jdf

    yield Figure("lines", "Lines of C per line of .jdf", "lines",
                 [Point(t.name, what=t, goals=[("value", 8)]) for t in some],
                 [Contestant("dagcc", per_line)], logy=False)
    yield Figure("bytes", "C that is generated", "KiB", points,
                 [Contestant("dagcc", lambda p: p.what.lines()[2] / 1024)], logy=False)
    yield front_end(env)
