"""The machine, the build, and how programs are compiled and run: what a group is given."""
import json
import os
import platform
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def source_of(build):
    """The tree that a build directory was configured for, as CMake noted it there."""
    key = "CMAKE_HOME_DIRECTORY:INTERNAL="
    try:
        for line in open(build / "CMakeCache.txt", encoding="utf-8"):
            if line.startswith(key):
                return Path(line[len(key):].strip())
    except OSError:
        pass
    return ROOT


class Environment:
    """
    root      the source tree of the build
    build     the build directory of dagcc
    out       where results go; programs of contestants into out/bin
    mode      'full', 'quick' or 'tiny' (the self-test: shows that all works, no figures)
    threads   numbers of workers to measure with: 1, and all processors
    older     the build is one that another is held against
    """

    def __init__(self, build, out, mode, older=False):
        self.build = Path(build)
        self.root = source_of(self.build)
        self.out = Path(out)
        self.mode = mode
        self.older = older
        self.programs = {}
        self.cpus = len(os.sched_getaffinity(0))
        self.threads = sorted({1, min(2, self.cpus)})

    def scaled(self, full, quick, tiny):
        return {"full": full, "quick": quick, "tiny": tiny}[self.mode]

    def program(self, name):
        """Path of a program of our build, wherever it lies in it. Tests leave installed copies
        deeper in the tree, from whenever they last ran: the one nearest to the root is the build's."""
        if name not in self.programs:
            found = [p for p in self.build.rglob(name) if p.is_file() and os.access(p, os.X_OK)]
            if not found:
                raise FileNotFoundError(f"{name} is not in {self.build}; is its target built?")
            self.programs[name] = str(min(found, key=lambda p: len(p.parts)))
        return self.programs[name]

    def has(self, name):
        """Whether a figure that needs this program can be made: an older build need not have it."""
        try:
            return bool(self.program(name))
        except FileNotFoundError:
            if not self.older:
                raise
            return False

    def command(self, command, env=None, timeout=120):
        """Standard output of a command; raises with its standard error when it fails."""
        r = subprocess.run([str(c) for c in command], env={**os.environ, **(env or {})},
                           timeout=timeout, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           text=True, check=False)
        if r.returncode != 0:
            raise RuntimeError(f"{' '.join(str(c) for c in command)}: status {r.returncode}: "
                               f"{r.stderr.strip()[-500:]}")
        return r.stdout

    def mpirun(self, ranks, command, threads=None, env=None, timeout=120):
        launch = [self.root / "tools" / "mpirun", "-np", ranks]
        if threads:
            launch += ["--threads", threads]
        return self.command([*launch, *command], env=env, timeout=timeout)

    def objects(self, text):
        """The JSON objects, one a line, in the output of a program."""
        return [json.loads(line) for line in text.splitlines() if line.startswith("{")]

    def compile(self, name, sources, flags=(), libs=(), cc="cc", package=None):
        """(path, None), or (None, why) when it cannot be compiled here."""
        if not shutil.which(cc):
            return None, f"there is no {cc}"
        target = self.out / "bin" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        sources = [self.root / "tools" / "bench" / s for s in sources]
        newest = max(p.stat().st_mtime for s in sources for p in s.parent.glob("*.[ch]"))
        if target.exists() and target.stat().st_mtime > newest:
            return str(target), None
        r = subprocess.run([cc, "-std=gnu17", "-O3", "-march=native", "-Wall", "-Wextra", *flags,
                            "-o", target, *sources, *libs], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True, check=False)
        if r.returncode != 0:
            return None, f"{name} does not compile: {r.stderr.strip()[:300]}"
        return str(target), None

    def pkg_config(self, package):
        """(cflags, libs), or None."""
        try:
            return tuple(self.command(["pkg-config", what, package]).split()
                         for what in ("--cflags", "--libs"))
        except (RuntimeError, FileNotFoundError):
            return None

    def between_cores(self):
        """A function that tells how many ns a cache line takes between two cores, or None."""
        path, why = self.compile("between_cores", ["harness/between_cores.c"], ["-pthread"])
        return None if why or self.cpus < 2 else lambda: float(self.command([path]))

    def machine(self):
        cpu = platform.processor()
        try:
            for line in open("/proc/cpuinfo", encoding="utf-8"):
                if line.startswith("model name"):
                    cpu = line.split(":", 1)[1].strip()
                    break
        except OSError:
            pass
        return {"cpu": cpu, "cpus": self.cpus, "system": platform.platform(),
                "load": os.getloadavg()[0]}
