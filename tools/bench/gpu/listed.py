"""Programs for devices, from their listings (dag_devprog_list()): what they copy, and when each command ends on a
machine that is described, where commands take no time besides and nothing else runs. No clock has a say in it.
"""
import os
import re
import subprocess
import tempfile

MACHINE = """name = outcore
workers = %d
devices = %d
device_streams = 1
device_memory = %s
device_link = 10us 12GB/s
kernel = getrf d 32:5 256:30
kernel = * d 32:12 192:36
kernel = * s 32:24 192:80
kernel = * c 32:30 192:82
kernel = * z 32:18 192:42
kernel = move * 32:6 128:10
device_kernel = gemm d 64:300 2048:600
device_kernel = herk d 64:300 2048:500
device_kernel = trsm d 64:300 2048:400
device_kernel = potrf d 64:20 2048:200
device_kernel = * * 64:300
device_kernel = move * 64:100 1024:300
"""

LINE = re.compile(r"(\d+) (LD|ST|EXEC|MARK|BAR) (host|d\d+) ?(.*?)(?: after (.*))?$")
REGISTER = re.compile(r"r\d+\[(\d+)x(\d+)\]")
RECTANGLE = re.compile(r"\w+\((\d+):(\d+), (\d+):(\d+)\)")
ELEM = 8 # double precision
INVERTED = 64 # order of squares that are inverted (outcore/block.c)


def rate(curve, order):
    """Straight lines between points; below the first it falls with the order, beyond the last it stays."""
    if order <= curve[0][0]:
        return curve[0][1] * order / curve[0][0]
    for (a, low), (b, high) in zip(curve, curve[1:]):
        if order <= b:
            return low + (order - a) / (b - a) * (high - low)
    return curve[-1][1]


class Machine:
    """Of a description (docs/design/simulation.md): the link of a device, each way by itself, and curves."""

    def __init__(self, text):
        self.curves, self.latency, self.bandwidth = {}, 0, 0
        for line in text.splitlines():
            key, _, value = line.partition(" = ")
            words = value.split()
            if key == "device_link":
                self.latency, self.bandwidth = float(words[0][:-2]) * 1e-6, float(words[1][:-4]) * 1e9
            elif key in ("kernel", "device_kernel") and words[1] in "d*":
                self.curves[key, words[0]] = [tuple(map(float, x.split(":"))) for x in words[2:]]

    def copy(self, items):
        return self.latency + ELEM * items / self.bandwidth

    def kernel(self, where, name, flops):
        curve = self.curves.get((where, name)) or self.curves[where, "*"]
        return flops / (1e9 * rate(curve, (flops / 2) ** (1 / 3)))

    def move(self, where, items):
        return ELEM * items / (1e9 * rate(self.curves[where, "move"], items ** .5))

    def on_device(self, name, shapes):
        m, n = shapes[-1]
        if name.startswith("gemm"): # of m x k, k x n and m x n items, each perhaps the other way round
            a, b, c = (x * y for x, y in shapes)
            return self.kernel("device_kernel", "gemm", 2 * (a * b * c) ** .5)
        if name == "herk":
            return self.kernel("device_kernel", "herk", m * shapes[0][0] * shapes[0][1])
        if name == "trsm":
            return self.kernel("device_kernel", "trsm", shapes[0][0] * m * n)
        if name == "potrf":
            return self.kernel("device_kernel", "potrf", shapes[0][0] ** 3 / 3)
        if name == "solve": # the triangle is on the side that has its order
            order = shapes[0][0]
            return self.by_inverse(order, m * n // order)
        if name == "trtri": # of the squares on the diagonal, in a copy
            each = self.kernel("device_kernel", "trtri", INVERTED ** 3 / 3)
            return self.move("device_kernel", m * n) + m / INVERTED * each
        return self.move("device_kernel", m * n) # pad, scale, zero

    def by_inverse(self, order, others):
        """A solve with a triangle whose squares on the diagonal are inverted: kernels as in outcore/kernels.inc.c."""
        if order <= INVERTED:
            return self.kernel("device_kernel", "trmm", order ** 2 * others)
        half = ((order - 1) // INVERTED + 1) // 2 * INVERTED
        return (self.by_inverse(half, others) + self.by_inverse(order - half, others) +
                self.kernel("device_kernel", "gemm", 2 * half * (order - half) * others))


class Run:
    """When all is over, what devices and links have to do, what is copied."""

    def __init__(self, machine, listing):
        self.machine = machine
        self.ends, self.free = [], {}
        self.busy, self.items = {}, {"LD": 0, "ST": 0}
        self.panel = (0, 0) # row, columns
        for text in listing.splitlines():
            number, op, device, rest, after = LINE.match(text).groups()
            assert int(number) == len(self.ends)
            waits = [self.ends[int(x.split(":")[0])] for x in after.split()] if after else []
            self.command(op, device, rest, max(waits, default=0))

    def command(self, op, device, rest, begin):
        queue, takes = (op, device), 0
        if op in ("LD", "ST"):
            m, n = map(int, REGISTER.search(rest).groups())
            takes = self.machine.copy(m * n)
            self.items[op] += m * n
        elif op == "EXEC":
            name = rest.split()[0]
            takes = self.host(name, rest) if device == "host" else self.machine.on_device(
                name, [tuple(map(int, x)) for x in REGISTER.findall(rest)])
        begin = max(begin, self.free.get(queue, 0))
        self.free[queue] = begin + takes
        self.busy[queue] = self.busy.get(queue, 0) + takes
        self.ends.append(begin + takes)

    def host(self, name, rest):
        """Panels, and exchanges of the rows of one panel or of all before."""
        top, bottom, left, right = map(int, RECTANGLE.search(rest).groups())
        m, n = bottom - top, right - left
        if name != "swap":
            self.panel = (top, n)
            return self.machine.kernel("kernel", "getrf", n * n * (m - n / 3))
        rows = self.panel[1] if top == self.panel[0] else left - top
        return self.machine.move("kernel", 2 * rows * n)

    @property
    def seconds(self):
        return max(self.ends, default=0)

    def most(self, op):
        """Of the device with most of it: seconds of kernels (EXEC), of copies (LD, ST)."""
        return max((x for (o, device), x in self.busy.items() if o == op and device != "host"), default=0)

    def hidden(self):
        """Of the shorter of kernels and copies in: how much is behind the other."""
        kernels, copies = self.most("EXEC"), self.most("LD")
        return 1 - max(self.seconds - max(kernels, copies), 0) / min(kernels, copies)


def described(devices, workers=2, memory="6M"):
    """The description of that many devices, for all precisions."""
    return "".join(line.replace(" * * ", " * %s " % prec) + "\n"
                   for line in (MACHINE % (workers, devices, memory)).splitlines()
                   for prec in ("sdcz" if " * * " in line else "d"))


def run(program, devices, *args):
    """A program of bench_outcore, on the fake CUDA, which gives the devices their memory."""
    with tempfile.TemporaryDirectory() as where:
        with open(where + "/machine", "w", encoding="utf-8") as out:
            out.write(described(devices))
        env = dict(os.environ, FAKE_CUDA_MACHINE=where + "/machine", DAG_THREADS="1", DAG_WARNINGS="off")
        done = subprocess.run([program, *map(str, args), "list"], env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit("%s: exit status %d\n%s" % (program, done.returncode, done.stderr))
    return Run(Machine(described(devices)), done.stdout)
