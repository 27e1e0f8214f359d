#!/usr/bin/env python3
"""Random task graphs for the property test, consistent by construction.

usage: gen.py OUTDIR FIRST COUNT

Writes OUTDIR/pNNN.jdf for NNN = FIRST .. FIRST+COUNT-1, the number is the seed; cases.c, the table of
their constructors for the driver; and oracle_files.h, their second names.

A graph is a sequence of classes over small spaces. An edge is a function from the parameters of
the task that depends on it to those of the task at its other end, with the guard under which the
result exists. The other side of the edge is that function inverted: in closed form (shifts,
strides, ranges) where that is possible, else as an index list over the whole space with the
equation as its guard. Classes only depend on earlier classes, or on their own tasks along an order
(time, wavefront, index), so there is no cycle. Elements of a collection are divided among the
stores before any store is made.

All expressions are texts in the parameters of one class; `subst` moves them to another.
"""
import random
import re
import sys

NAMES = ["i", "j", "t", "h"]
FRESH = ["x", "y", "z"]
BCASTS = ["binomial", "chain", "ring", "scatter", "hier(2)", "hier(3)"]
REGIONS = {"FULL": 7, "LOWER": 3, "UPPER": 6, "LOWER_STRICT": 1, "UPPER_STRICT": 4}
ELEMS = {"float": "s", "double": "d", "dag_scomplex": "c", "dag_dcomplex": "z"}


def subst(text, names):
    return re.sub(r"\b[a-z]\b", lambda m: names.get(m.group(0), m.group(0)), text)


def mentions(text, names):
    return any(re.search(r"\b%s\b" % n, text) for n in names)


def in_c(text):
    """An expression of the language as C: inline C loses its frame."""
    return re.sub(r"%\{ return (.*?); %\}", r"(\1)", text)


def conj(conds):
    return " && ".join(conds)


def without_trivial(conds):
    """Without repetitions and comparisons of a thing with itself."""
    def trivial(cond):
        sides = re.fullmatch(r"(.*) [<>]= (.*)", cond)
        return sides and sides.group(1).strip("()") == sides.group(2).strip("()")
    return list(dict.fromkeys(c for c in conds if not trivial(c)))


class Var:
    def __init__(self, name, lo, hi, step=1, form=None):
        self.name, self.lo, self.hi, self.step = name, lo, hi, step
        self.form = form            # another way to write lo .. hi .. step


class Space:
    """A product or triangle of ranges; `order` is how tasks may depend on others of their class."""

    def __init__(self, rng):
        kind = rng.choice(["one", "line", "line", "line", "steps", "plane", "plane", "triangle",
                           "time", "time", "time2", "heap"])
        self.kind, self.order = kind, None
        n = rng.choice(["N-1", "N-1", "M-1", "N", "M"])
        if kind == "one":
            self.vars = []
        elif kind == "line" or kind == "heap":
            form = rng.choice([None, None, "back", "inline", "list"])
            self.vars = [Var("i" if kind == "line" else "h", "0", n, 1, form)]
            self.order = rng.choice([None, "up", "down"]) if kind == "line" else "down"
        elif kind == "steps":
            lo, step = rng.choice(["0", "1"]), rng.choice([2, 3])
            self.vars = [Var("i", lo, "2*N", step, rng.choice([None, "even"]))]
            if self.vars[0].form == "even":
                self.vars[0].lo, self.vars[0].step = "0", 2
        elif kind == "plane":
            self.vars = [Var("i", "0", n), Var("j", "0", rng.choice(["M-1", "N-1", "T"]))]
            self.order = rng.choice([None, "wave"])
        elif kind == "triangle":
            self.vars = [Var("i", "0", n), Var("j", "0", "i")]
            self.order = rng.choice([None, "wave"])
        elif kind == "time":
            self.vars = [Var("t", "0", "T-1"), Var("i", "0", n)]
            self.order = "time"
        else:
            self.vars = [Var("t", "0", "T-1"), Var("i", "0", "N-1"), Var("j", "0", "M-1")]
            self.order = "time"

    def names(self):
        return [v.name for v in self.vars]

    def var(self, name):
        return next(v for v in self.vars if v.name == name)


class Arg:
    """One argument of an edge's function: text in the dependent task's parameters, and its form:
    unit (sign * var + rest), twice (2 * var + rest), div (var / rest), mod (var % rest), const,
    other."""

    def __init__(self, form, text, var=None, sign=1, rest="0"):
        self.form, self.text, self.var, self.sign, self.rest = form, text, var, sign, rest


def unit(var, shift=0):
    text = var if shift == 0 else "%s%+d" % (var, shift)
    return Arg("unit", text, var, 1, str(shift))


def mirror(var, top):
    return Arg("unit", "%s - %s" % (top, var), var, -1, top)


def twice(var, shift):
    return Arg("twice", "2*%s%+d" % (var, shift), var, 1, str(shift))


class Link:
    """An edge between classes: dep's task q is tied to other's task args(q) where conds hold."""

    def __init__(self, dep, other, args, exact=None):
        self.dep, self.other, self.args, self.dynamic = dep, other, args, False
        self.conds = []
        names = {}
        for v, a in zip(other.space.vars, args):
            lo, hi = subst(v.lo, names), subst(v.hi, names)
            names[v.name] = "(%s)" % a.text
            own = next((w for w in dep.space.vars if w.name == a.var), None)
            if a.form == "const":
                self.conds += [] if v.lo == lo == a.text == "0" and not mentions(v.hi, "ij") else \
                    ["%s <= %s" % (lo, a.text), "%s <= %s" % (a.text, hi)]
                continue
            same = a.form == "unit" and a.sign == 1 and a.rest == "0" and own and own.step == 1
            natural = a.form in ("div", "mod", "other") or \
                a.form == "unit" and a.sign == 1 and not a.rest.startswith("-") or \
                a.form == "twice" and not a.rest.startswith("-")
            if not (natural and lo == "0"):
                self.conds.append("%s >= %s" % (a.text, lo))
            if not (same and own.hi == v.hi and not mentions(v.hi, "ij")):
                self.conds.append("%s <= %s" % (a.text, hi))
            if v.step > 1:
                self.conds.append("(%s - (%s)) %% %d == 0" % (a.text, lo, v.step))
        # A constant in front of a range that may be empty.
        for v in other.space.vars:
            if v.hi in ("M-1",) and any(a.form == "const" for a in args):
                self.conds.append("M >= 1")
        self.conds = without_trivial(self.conds)

    def args_text(self):
        return ", ".join(a.text for a in self.args)


class Inverse:
    """The tasks q of link.dep with args(q) == p, as seen from p: guard, indices, arguments."""

    def __init__(self, rng, link, extra):
        self.dynamic = False
        dep = link.dep.space
        renamed = dict(zip(dep.names(), FRESH))
        solved, guards = {}, []
        bounds = {}                 # var -> (lo, hi, step) in p's names and fresh ones
        closed = rng.random() < 0.8
        # The parameters p of the other class; clashes with dep's names are why dep's get renamed.
        rest = []
        for v, a in zip(link.other.space.vars, link.args):
            if closed and a.form in ("unit", "twice") and a.var not in solved:
                if a.form == "twice":
                    solved[a.var] = "((%s - (%s)) / 2)" % (v.name, a.rest)
                    guards.append("(%s - (%s)) %% 2 == 0" % (v.name, a.rest))
                elif a.sign == 1:
                    solved[a.var] = v.name if a.rest == "0" else "(%s - (%s))" % (v.name, a.rest)
                else:
                    solved[a.var] = "(%s - %s)" % (a.rest, v.name)
            else:
                rest.append((v, a))
        for v, a in rest:
            w = dep.var(a.var) if a.var else None
            plain = closed and w and a.var not in solved and a.var not in bounds and \
                w.lo == "0" and w.step == 1 and not mentions(w.hi, "ij")
            if plain and a.form == "div":
                top = "%s*%s+%d" % (a.rest, v.name, int(a.rest) - 1)
                bounds[a.var] = ("%s*%s" % (a.rest, v.name),
                                 "(%s < %s ? %s : %s)" % (top, w.hi, top, w.hi), 1)
            elif plain and a.form == "mod":
                bounds[a.var] = (v.name, w.hi, int(a.rest))
                guards.append("%s < %s" % (v.name, a.rest))
            else:
                guards.append("%s == %s" % (v.name, self.place(a.text, solved, renamed)))
        indices, args = [], []
        for w in dep.vars:
            lo, hi = (self.place(b, solved, renamed) for b in (w.lo, w.hi))
            if w.name in solved:
                e = solved[w.name]
                args.append(e)
                guards += ["%s >= %s" % (e, lo), "%s <= %s" % (e, hi)]
                if w.step > 1:
                    guards.append("(%s - (%s)) %% %d == 0" % (e, lo, w.step))
                continue
            step = w.step
            if w.name in bounds:
                lo, hi, step = bounds[w.name]
            elif dep.kind == "triangle" and w.name == "i" and "j" in solved:
                # i from j on: the guard j <= i need not be asked
                lo = solved["j"]
            indices.append((renamed[w.name], lo, hi, step))
            args.append(renamed[w.name])
        if dep.kind == "triangle" and "j" in solved and not {"i"} & {*solved, *bounds}:
            guards = [g for g in guards if g != "%s <= %s" % (solved["j"], renamed["i"])]
        conds = [self.place(c, solved, renamed) for c in extra]
        if indices or not closed or rng.random() < 0.3:
            conds = [self.place(c, solved, renamed) for c in link.conds] + conds
        self.guards = without_trivial(guards + conds)
        self.indices, self.args = indices, args
        own = [x[0] for x in indices]
        self.ranges = bool(own) and not any(mentions(g, own) for g in self.guards) and \
            not any(mentions(b, own) for x in indices for b in x[1:3]) and rng.random() < 0.7
        self.back = rng.random() < 0.15

    @staticmethod
    def place(text, solved, renamed):
        return subst(text, {**renamed, **solved})

    def text(self, target):
        """(index list, guard, target) as texts."""
        def span(lo, hi, step):
            if self.back and step == 1:
                return "%s .. %s .. -1" % (hi, lo)
            return "%s .. %s" % (lo, hi) + (" .. %d" % step if step != 1 else "")
        spans = {x[0]: span(*x[1:]) for x in self.indices}
        guard = conj(self.guards)
        if self.ranges:
            args = [spans.get(a, a) for a in self.args]
            return "", guard, "%s(%s)" % (target, ", ".join(args))
        indices = ", ".join("%s = %s" % s for s in spans.items())
        return "[%s] " % indices if indices else "", guard, "%s(%s)" % (target,
                                                                       ", ".join(self.args))


class Flow:
    def __init__(self, name, access, kind, region):
        self.name, self.access, self.kind, self.region = name, access, kind, region
        self.inputs, self.outputs = [], []
        self.nullable = False       # some input is NULL: nothing may follow from it
        self.fresh = []             # guards under which the contents are undefined at first
        self.chain = False          # stored already
        self.home = False           # holds the shape of the element at the placement


class Class:
    def __init__(self, index, space):
        self.index, self.space = index, space
        self.name = "C%d" % index
        self.flows, self.ctl, self.checks, self.locals = [], [], [], []
        # (collection, index texts, guards that make it injective, what they fix)
        self.place = None


class Graph:
    def __init__(self, seed):
        self.rng = rng = random.Random(seed * 7919 + 13)
        self.seed, self.name = seed, "p%03d" % seed
        self.elem = rng.choice(list(ELEMS))
        self.precisions = rng.random() < 0.15
        self.classes, self.fetched = [], set()
        self.ragged = True          # every store of a tile suits tiles of different shapes
        self.home = set()           # collections that are worked on in place
        self.tokens = {}
        for c in "VWUAB":
            full = [("FULL", None)]
            halves = [("FULL", "(%s) %% 2 == 0"), ("FULL", "(%s) %% 2 != 0")]
            parts = [("LOWER", None), ("UPPER_STRICT", None)]
            self.tokens[c] = list(rng.choice([full, full, halves, parts if c in "AB" else full]))
        self.stored = set()
        for k in range(rng.randint(3, 7)):
            self.add_class(k)
        if rng.random() < 0.3:
            self.add_dynamic(len(self.classes))
        for cls in self.classes:
            self.add_stores(cls)

    # ---- classes -------------------------------------------------------------------------

    def add_class(self, k):
        rng = self.rng
        cls = Class(k, Space(rng))
        self.choose_place(cls)
        self.classes.append(cls)
        for f in range(rng.choice([0, 1, 1, 1, 2, 2, 3]) if k else rng.randint(1, 2)):
            self.add_flow(cls, "XYZ"[f])
        if k and rng.random() < 0.5 or not cls.flows:
            self.add_ctl(cls)

    def choose_place(self, cls):
        rng, space = self.rng, cls.space
        names = space.names()
        firm = {v: "%s == %s" % (v, rng.choice([space.var(v).lo, space.var(v).hi]))
                for v in names}
        if space.kind == "triangle":
            firm["i"] = "i == %s" % space.var("i").hi
            firm["j"] = "j == 0"
        places = []

        def add(weight, col, index, fixed=()):
            """fixed: guards of a store, a name of a parameter or a text; None = cannot store"""
            guards = None if fixed is None else [firm.get(g, g) for g in fixed]
            places.extend([(col, index, guards, fixed)] * weight)

        for col in "VVU":
            for v in names:
                others = [w for w in names if w != v]
                add(2, col, [v], others)
                add(1, col, [v + "+1"], others)
                add(1, col, ["2*%s" % v], others)
                add(1, col, ["%s/2" % v], others + ["%s %% 2 == 0" % v])
                add(1, col, ["%s %% 3" % v], others + ["%s < 3" % v])
                add(1, col, ["(%s*3+1) %% K" % v], None)
                if not mentions(space.var(v).hi, "i") and space.kind != "steps":
                    add(1, col, ["%s - %s" % (space.var(v).hi, v)], others)
            add(1 if names else 4, col, ["0"], names)
            if "i" in names and "j" in names:
                fixed = [w for w in names if w not in "ij"]
                add(3, col, ["i*K + j"], fixed)
                add(1, col, ["i + j"], fixed + ["j"])
                add(1, col, ["(i*3+j) % N"], None)
        if space.kind == "steps":
            places = [p for p in places if "2*" not in p[1][0]]
        tiles = len(places) // 2
        if space.kind in ("plane", "triangle", "time2"):
            fixed = [w for w in names if w not in "ij"]
            for _ in range(tiles // 2 + 1):
                add(1, "A", ["i", "j"], fixed)
            add(3, "A", ["j", "i"], fixed)
            add(1, "A", ["i", "i"], fixed + ["j"])
        elif names and space.kind != "steps":
            last = names[-1]
            for _ in range(tiles // 3 + 1):
                others = names[:-1]
                add(1, "A", [last, last], others)
                add(1, "A", [last, "0"], others)
                if others:
                    add(1, "A", [last, others[0]])
        cls.place = rng.choice(places)

    # ---- edges ---------------------------------------------------------------------------

    def some_args(self, dep, other):
        """A function from dep's parameters to other's."""
        rng, args = self.rng, []
        for v in other.space.vars:
            cands = [(2, Arg("const", "0"))] if v.lo == "0" else []
            if v.step == 1 and v.lo == "0" and not mentions(v.hi, "ij"):
                cands.append((1, Arg("const", v.hi)))
            for w in dep.space.vars:
                n = w.name
                same = n == v.name or v.hi == w.hi
                cands += [(8 if same else 3, unit(n)), (2, unit(n, rng.choice([-2, -1, 1, 2]))),
                          (1, Arg("div", "%s/2" % n, n, 1, "2")),
                          (1, Arg("mod", "%s%%%d" % (n, 2), n, 1, "2")), (1, twice(n, 1)),
                          (1, Arg("other", "(%s*3+1) %% N" % n, n)),
                          (1, Arg("other", "%%{ return %s; %%}" % n, n))]
                if not mentions(v.hi, "ij"):
                    cands.append((2, mirror(n, v.hi)))
            args.append(rng.choices([c[1] for c in cands], [c[0] for c in cands])[0]
                        if cands else Arg("const", v.lo))
        return args

    def self_args(self, cls):
        rng, space = self.rng, cls.space
        if space.order == "time":
            args = [unit("t", -1)]
            for v in space.vars[1:]:
                args.append(rng.choice([unit(v.name), unit(v.name), unit(v.name, 1),
                                        unit(v.name, -1), mirror(v.name, v.hi),
                                        Arg("div", "%s/2" % v.name, v.name, 1, "2")]))
            return args
        if space.order == "wave":
            return rng.choice([[unit("i", -1), unit("j")], [unit("i"), unit("j", -1)],
                               [unit("i", -1), unit("j", -1)]])
        n = space.names()[0]
        if space.order == "up":
            return [rng.choice([unit(n, -1), unit(n, -1), unit(n, -2)])]
        return [rng.choice([twice(n, 1), twice(n, 2)] if space.kind == "heap" else [unit(n, 1)])]

    def sources(self, kind, region, cls):
        """Flows of earlier classes that cls may take a value of this kind and region from."""
        return [(c, f) for c in self.classes if c is not cls for f in c.flows
                if f.kind == kind and not f.nullable
                and REGIONS[f.region] & REGIONS[region] == REGIONS[region]]

    def add_flow(self, cls, name):
        rng = self.rng
        kind = "m" if cls.place[0] == "A" and rng.random() < 0.8 else rng.choice("vvm")
        region = "FULL"
        if kind == "m" and rng.random() < 0.35:
            region = rng.choice(list(REGIONS))
        if rng.random() < 0.4 and self.add_home_flow(cls, name):
            return
        access = rng.choice(["RW"] * 5 + ["READ"] * 4 + ["WRITE"] * 2)
        memory = self.memory_for(cls, kind)
        flow = Flow(name, access, kind, region)
        if access == "WRITE":
            flow.region = "FULL"
            flow.fresh = ["1"]
            flow.inputs.append(None)        # settled with the stores
            flow.home = True
            cls.flows.append(flow)
            return
        alts, negated = [], []
        choices = []
        if cls.space.order and rng.random() < 0.8:
            choices.append((cls, flow))
        earlier = self.sources(kind, region, cls)
        rng.shuffle(earlier)
        # The latest classes first: long chains of classes
        earlier.sort(key=lambda s: -s[0].index - 3 * rng.random())
        choices += earlier[:rng.choice([0, 1, 1, 1, 2])]
        flow.home = True
        for other, source in choices:
            if alts and not alts[-1][0].conds:
                break
            args = self.self_args(cls) if other is cls else self.some_args(cls, other)
            link = Link(cls, other, args)
            alts.append((link, source))
            flow.home = flow.home and other is cls and self.stays(cls, link)
        self.close_inputs(cls, flow, memory, alts)
        for link, source in alts:
            self.connect(cls, flow, link, source, list(negated))
            negated.append("!(%s)" % conj(link.conds))
        cls.flows.append(flow)

    def add_home_flow(self, cls, name):
        """A flow that fetches each element once, works on it and stores it back: what a compiler may
        prove to be in place."""
        col, index, guards, fixed = cls.place
        other = {"V": "W", "A": "B", "U": "U"}[col]
        free = [c for c in (col, other) if self.tokens[c] == [("FULL", None)]
                and c not in self.home and c not in self.fetched]
        if guards is None or not free or any(f != "t" for f in fixed):
            return False
        where = self.rng.choice(free)
        self.tokens[where] = []
        self.home.add(where)
        self.stored.add(where)
        flow = Flow(name, "RW", "m" if col == "A" else "v", "FULL")
        flow.home = flow.chain = True
        timed = cls.space.order == "time"
        element = "%s(%s)" % (where, ", ".join(index))
        alts = []
        if timed:
            args = [unit("t", -1)] + [unit(v.name) for v in cls.space.vars[1:]]
            alts = [(Link(cls, cls, args), flow)]
            self.connect(cls, flow, alts[0][0], flow, [])
        flow.inputs = [alts, element]
        flow.outputs.append((("", "t == T-1" if timed else "", element), None, "FULL"))
        cls.flows.append(flow)
        return True

    def add_dynamic(self, k):
        """A class that runs if a byte of its predecessor's value is odd."""
        rng = self.rng
        cls = Class(k, Space(rng))
        self.choose_place(cls)
        cls.space.order = None
        choices = [s for s in self.sources("v", "FULL", cls) + self.sources("m", "FULL", cls)]
        for _ in range(20):
            if not choices:
                return
            other, source = rng.choice(choices)
            link = Link(cls, other, self.some_args(cls, other))
            inverse = Inverse(rng, link, [])
            if any(mentions(g, FRESH) for g in inverse.guards):
                continue
            flow = Flow("X", "RW", source.kind, "FULL")
            link.dynamic = inverse.dynamic = True
            self.close_inputs(cls, flow, self.memory_for(cls, flow.kind), [(link, source)])
            source.outputs.append((inverse, "X %s" % cls.name, "FULL"))
            cls.flows.append(flow)
            self.classes.append(cls)
            return

    def stays(self, cls, link):
        """The edge keeps the element of the placement."""
        names = {v.name: "(%s)" % a.text for v, a in zip(cls.space.vars, link.args)}
        moved = [subst(x, names).replace("(", "").replace(")", "") for x in cls.place[1]]
        return moved == [x.replace("(", "").replace(")", "") for x in cls.place[1]]

    def memory_for(self, cls, kind):
        col, index = cls.place[:2]
        if (kind == "m") != (col == "A"):
            return None
        other = {"V": "W", "A": "B", "U": "U"}[col]
        where = col if self.rng.random() < 0.6 else other
        if where in self.home and self.rng.random() < 0.9:
            where = next((c for c in (col, other) if c not in self.home), None)
        return where and (where, index)

    def close_inputs(self, cls, flow, memory, alts):
        """What holds where no alternative does."""
        rng = self.rng
        guards = [conj(link.conds) for link, _ in alts]
        if alts and not alts[-1][0].conds:
            rest = None
        elif memory and rng.random() < 0.8:
            self.fetched.add(memory[0])
            rest = "%s(%s)" % (memory[0], ", ".join(memory[1]))
        elif flow.access == "READ" and rng.random() < 0.6 and \
                not any(source is flow for _, source in alts):
            rest = "NULL"
            flow.nullable = True
        else:
            rest = "NEW"
            flow.access = "RW"      # nobody may read what nobody wrote
            flow.home = False
            flow.fresh = [conj("!(%s)" % g for g in guards) or "1"]
        flow.inputs = [alts, rest]

    def connect(self, cls, flow, link, source, negated):
        inverse = Inverse(self.rng, link, negated)
        source.outputs.append((inverse, "%s %s" % (flow.name, cls.name), flow.region))

    # ---- control -------------------------------------------------------------------------

    def add_ctl(self, cls):
        rng = self.rng
        before = [c for c in self.classes if c is not cls]
        flow = Flow("c", "CTL", None, None)
        cls.ctl.append(flow)
        for _ in range(rng.randint(1, 2)):
            own = cls.space.order and rng.random() < 0.4
            if not own and not before:
                continue
            other = cls if own else rng.choice(before)
            out = Flow("o%d" % len(other.ctl), "CTL", None, None)
            if own and rng.random() < 0.5:
                out = flow          # a chain through one flow
            else:
                other.ctl.append(out)
            target, source = "%s %s" % (flow.name, cls.name), "%s %s" % (out.name, other.name)
            if own or rng.random() < 0.5:
                link = Link(cls, other, self.self_args(cls) if own else self.some_args(cls, other))
                if out is flow and flow.inputs:
                    continue            # perhaps the same edge again
                flow.inputs.append(("", conj(link.conds), "%s(%s)" % (source, link.args_text())))
                out.outputs.append((Inverse(rng, link, []), target, None))
                cls.checks.append((link, True))
            else:
                # a gather: the function goes from the predecessor to cls
                link = Link(other, cls, self.some_args(other, cls))
                flow.inputs.append(Inverse(rng, link, []).text(source))
                out.outputs.append((("", conj(link.conds), "%s(%s)" % (target, link.args_text())),
                                    None, None))
                cls.checks.append((link, False))

    # ---- stores --------------------------------------------------------------------------

    def add_stores(self, cls):
        rng = self.rng
        col, index, guards, _ = cls.place
        for flow in cls.flows:
            plain = flow.access == "WRITE"
            if guards is not None and not flow.nullable and not flow.chain and rng.random() < 0.75 and \
                    (flow.kind == "m") == (col == "A"):
                for where in rng.sample([col, {"V": "W", "A": "B", "U": "U"}[col]], 2):
                    if self.add_store(cls, flow, where, index, guards):
                        break
            if plain:
                stores = [o for o in flow.outputs if o[1] is None]
                if len(stores) == 1 and not stores[0][0][1] and rng.random() < 0.7:
                    flow.inputs = None      # shaped like the element it is stored to
                else:
                    flow.inputs = [[], "NEW"]
                    self.ragged = self.ragged and not (flow.kind == "m" and stores)

    def add_store(self, cls, flow, where, index, guards):
        for token in self.tokens[where]:
            region, condition = token
            if REGIONS[flow.region] & REGIONS[region] != REGIONS[region]:
                region = "NONE"
            if region == "NONE":
                continue
            self.tokens[where].remove(token)
            self.stored.add(where)
            conds = list(guards)
            if condition:
                conds.append(condition % index[0])
            if flow.kind == "m" and not flow.home:
                self.ragged = False
            flow.outputs.append((("", conj(conds), "%s(%s)" % (where, ", ".join(index))), None,
                                 region))
            return True
        return False

    # ---- text ----------------------------------------------------------------------------

    def properties(self, region, memory, bcast, dynamic=False):
        rng, props = self.rng, ["dynamic"] if dynamic else []
        if region and region != "FULL":
            limited = rng.random() < 0.5
            kind = "type" if not limited else "type_data" if memory else "type_remote"
            props.append("%s = %s" % (kind, region))
        if bcast and rng.random() < 0.4:
            props.append("bcast = %s" % rng.choice(BCASTS))
        return "  [%s]" % " ".join(props) if props else ""

    def input_lines(self, flow):
        if flow.inputs is None:
            return []
        alts, rest = flow.inputs
        if rest == "NEW":
            rest_props = "  [type = %s]" % ("S" if flow.kind == "v" else "A")
        else:
            rest_props = self.properties(flow.region, True, False) if rest not in (None, "NULL") \
                else ""
        lines, before = [], []
        texts = ["%s %s(%s)" % (source.name, link.other.name, link.args_text())
                 for link, source in alts]
        if len(alts) == 1 and rest and flow.region == "FULL" and rest != "NEW" and \
                not alts[0][0].dynamic:
            return ["<- (%s) ? %s : %s" % (conj(alts[0][0].conds), texts[0], rest)]
        for (link, _), text in zip(alts, texts):
            guard = conj(before + link.conds)
            lines.append("<- %s%s%s" % ("(%s) ? " % guard if guard else "", text,
                                        self.properties(flow.region, False, False, link.dynamic)))
            before.append("!(%s)" % conj(link.conds))
        if rest:
            lines.append("<- %s%s%s" % ("(%s) ? " % conj(before) if before else "", rest,
                                        rest_props))
        return lines

    def output_lines(self, flow):
        lines = []
        for where, target, region in flow.outputs:
            indices, guard, text = where.text(target) if target else where
            dynamic = target and where.dynamic
            if dynamic:
                odd = "%%{ return *(const unsigned char *)%s & 1; %%}" % flow.name
                guard = conj(([guard] if guard else []) + [odd])
            lines.append("-> %s%s%s%s" % (indices, "(%s) ? " % guard if guard else "", text,
                                          self.properties(region, target is None,
                                                          target and flow.kind, dynamic)))
        self.rng.shuffle(lines)
        return lines

    def ctl_input_lines(self, flow):
        return ["<- %s%s%s" % (i, "(%s) ? " % g if g else "", t) for i, g, t in flow.inputs]

    def span(self, v):
        if v.form == "back":
            return "%s .. %s .. -1" % (v.hi, v.lo)
        if v.form == "inline":
            return "%s .. %%{ return %s; %%}" % (v.lo, v.hi)
        if v.form == "list":
            return "[x = 0 .. (%s)/2, y = 0 .. (2*x < %s ? 1 : 0)] 2*x + y" % (v.hi, v.hi) \
                if False else "[x = %s .. %s] %s" % (v.lo, v.hi, "x")
        if v.form == "even":
            return "[x = 0 .. N] 2*x"
        return "%s .. %s" % (v.lo, v.hi) + (" .. %d" % v.step if v.step != 1 else "")

    def class_text(self, cls):
        rng = self.rng
        names = cls.space.names()
        out = ["", "%s(%s)%s" % (cls.name, ", ".join(names),
                                 rng.choice(["", "", "", " [high_priority = on]"]))]
        out += ["  %s = %s" % (v.name, self.span(v)) for v in cls.space.vars]
        col, index = cls.place[:2]
        place = list(index)
        for k, text in enumerate(place):
            if rng.random() < 0.3 or "%" in text:
                out.append("  d%d = %s" % (k, text))
                place[k] = "d%d" % k
        out.append(": %s(%s)" % (col, ", ".join(place)))
        for flow in cls.flows:
            lines = self.input_lines(flow) + self.output_lines(flow)
            out.append("%s %s %s" % (flow.access, flow.name, lines[0] if lines else ""))
            out += ["     " + line for line in lines[1:]]
        for flow in cls.ctl:
            lines = self.ctl_input_lines(flow) + self.output_lines(flow)
            out.append("CTL %s %s" % (flow.name, lines[0] if lines else ""))
            out += ["     " + line for line in lines[1:]]
        if rng.random() < 0.4:
            out.append("; " + rng.choice(["N - 1", "3"] + ["%s * 5 - N" % n for n in names]))
        return out + self.body_text(cls)

    @staticmethod
    def task_id(cls, args):
        args = (["0"] * 3 + list(args))[-3:]
        return "PROP_ID(%d, %s)" % (cls.index, ", ".join(args))

    def body_text(self, cls):
        out = ["BODY"]
        for link, forward in cls.checks:
            if forward:
                guard = in_c(conj(link.conds)) or "1"
                out.append("    if (%s)" % guard)
                out.append("        prop_expect(seen, %s, %s);" % (
                    self.task_id(cls, cls.space.names()),
                    self.task_id(link.other, [in_c(a.text) for a in link.args])))
                continue
            names = dict(zip(link.dep.space.names(), FRESH))
            for v in link.dep.space.vars:
                x = names[v.name]
                out.append("    for (int %s = %s; %s <= %s; %s += %d)" % (
                    x, v.lo, x, subst(v.hi, names), x, v.step))
            conds = [subst(in_c(c), names) for c in link.conds]
            conds += ["%s == %s" % (subst(in_c(a.text), names), v.name)
                      for v, a in zip(link.other.space.vars, link.args)]
            # A single condition stays bare: clang takes "((x == y))" for a slip.
            test = conj("(%s)" % c for c in conds) if len(conds) > 1 else "".join(conds) or "1"
            out.append("    if (%s)" % test)
            out.append("        prop_expect(seen, %s, %s);" % (
                self.task_id(cls, cls.space.names()),
                self.task_id(link.dep, [names[n] for n in link.dep.space.names()])))
        flows = ", ".join("{%s, %d, %s}" % (f.name, REGIONS[f.region],
                                            in_c(f.fresh[0]) if f.fresh else "0")
                          for f in cls.flows)
        given = "(const prop_flow[]){%s}" % flows if flows else "NULL"
        return out + ["    prop_task(dag_task, seen, %s, %d, %s);" % (
            self.task_id(cls, cls.space.names()), len(cls.flows), given), "END"]

    def text(self):
        body = []
        for cls in self.classes:
            body += self.class_text(cls)
        everything = "\n".join(body)
        cols = [c for c in "VWUAB" if re.search(r"\b%s\b" % c, everything)]
        if "B" in cols and "A" not in cols:
            cols.insert(cols.index("B"), "A")
        types = {"V": "dag_vector *", "W": "dag_vector *", "U": "prop_cells *",
                 "A": "dag_matrix *", "B": "dag_matrix *"}
        aligned = {"W": "V", "B": "A"}
        out = ["// Made by gen.py from seed %d." % self.seed, 'extern "C" %{',
               '#include "prop.h"', "%}"]
        if self.precisions:
            out.append("%precision s d")
        for c in cols:
            props = 'type = "%s"' % types[c]
            if c in "AB" and not self.precisions:
                props += " elem = %s" % self.elem
            if c in aligned and aligned[c] in cols and self.rng.random() < 0.5:
                props += " aligned = %s" % aligned[c]
            out.append("%s [%s]" % (c, props))
        out += ["%s [type = int]" % g for g in "NMTK"]
        out += ['S [type = "dag_shape *"]', 'seen [type = "uint32_t *"]']
        facts = ["N >= 1", "M >= 0", "T >= 1", "K > N", "K > M", "K > T"]
        for c in cols:
            facts += {"V": ["V->count >= 4*K*K"], "W": ["W->count >= 4*K*K"], "U": []}.get(
                c, ["%s->mt == K" % c, "%s->nt == K" % c])
        out.append("%%assume %s" % conj(facts))
        out += body
        args = ", ".join(["context"] + ["a->" + c for c in cols]
                         + ["a->N", "a->M", "a->T", "a->K", "a->S", "a->seen"])
        out += ["", 'extern "C" %{', "dag_taskpool *PROP_NAME(%s)(dag_context *context, "
                "const prop_args *a);" % self.name,
                "dag_taskpool *PROP_NAME(%s)(dag_context *context, const prop_args *a)" % self.name,
                "{"]
        if self.precisions:
            out += ["    if (a->prec == DAG_S)", "        return %s_s_new(%s);" % (self.name, args),
                    "    return %s_d_new(%s);" % (self.name, args)]
        else:
            out.append("    return %s_new(%s);" % (self.name, args))
        out += ["}", "%}"]
        self.cols = cols
        return "\n".join(out) + "\n"

    def case_entry(self):
        precs = "sd" if self.precisions else ELEMS[self.elem]
        both = [len(self.stored & set(pair)) <= 1 for pair in ("VW", "AB")]
        return '    {"%s", PROP_RUNTIME(%s), PROP_ORACLE(%s), "%s", "%s", %d, %d},' % (
            self.name, self.name, self.name, "".join(self.cols), precs, self.ragged,
            all(both))


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__.split("\n\n")[1])
    where, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    graphs = [Graph(seed) for seed in range(first, first + count)]
    for g in graphs:
        with open("%s/%s.jdf" % (where, g.name), "w") as out:
            out.write(g.text())
    with open(where + "/oracle_files.h", "w") as out:
        out.write("/* Made by gen.py. */\n")
        for g in graphs:
            for infix in ["_s", "_d"] if g.precisions else [""]:
                name = g.name + infix + "_new"
                out.write("#define %s oracle_%s\n" % (name, name))
    with open(where + "/cases.c", "w") as out:
        out.write("/* Made by gen.py. */\n#include \"driver.h\"\n\n")
        for g in graphs:
            out.write("extern prop_make PROP_RUNTIME(%s), PROP_ORACLE(%s);\n" % (g.name, g.name))
        out.write("\nconst prop_file prop_files[] = {\n")
        out.write("\n".join(g.case_entry() for g in graphs))
        out.write("\n};\nconst int prop_nfiles = %d;\n" % len(graphs))


if __name__ == "__main__":
    main()
