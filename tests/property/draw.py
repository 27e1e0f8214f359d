"""Draws task graphs that are consistent by construction.

A graph is a sequence of classes over small spaces. Classes only depend on earlier classes, or on
their own tasks along an order (time, wavefront, index), so there is no cycle. Elements of a
collection are divided among the stores before any store is made.
"""
import random

from edges import (FRESH, Arg, Inverse, Link, Space, conj, mentions, mirror, subst, twice, unit)

REGIONS = {"FULL": 7, "LOWER": 3, "UPPER": 6, "LOWER_STRICT": 1, "UPPER_STRICT": 4}
ELEMS = {"float": "s", "double": "d", "dag_scomplex": "c", "dag_dcomplex": "z"}


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
        """A flow that fetches each element once, works on it and stores it back: what a compiler
        may prove to be in place."""
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
            if guards is not None and not flow.nullable and not flow.chain and \
                    rng.random() < 0.75 and (flow.kind == "m") == (col == "A"):
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
