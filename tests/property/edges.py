"""Spaces of tasks, and edges between them.

An edge is a function from the parameters of the task that depends on it to those of the task at its
other end, with the guard under which the result exists (Link). The other side of the edge is that
function inverted (Inverse): in closed form (shifts, strides, ranges) where that is possible, else
as an index list over the whole space with the equation as its guard.

All expressions are texts in the parameters of one class; `subst` moves them to another.
"""
import re

FRESH = ["x", "y", "z"]


def subst(text, names):
    return re.sub(r"\b[a-z]\b", lambda m: names.get(m.group(0), m.group(0)), text)


def mentions(text, names):
    return any(re.search(r"\b%s\b" % n, text) for n in names)


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

    def __init__(self, dep, other, args):
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
