"""Writes a drawn graph as JDF."""
import random
import re

from draw import REGIONS
from edges import FRESH, conj, subst

BCASTS = ["binomial", "chain", "ring", "scatter", "hier(2, chain, ring)",
          "hier(3)", "trees", "hier(2, trees, binomial)"]


def in_c(text):
    """An expression of the language as C: inline C loses its frame."""
    return re.sub(r"%\{ return (.*?); %\}", r"(\1)", text)


class Jdf:
    """The text of a graph; how to write a thing is drawn as well, by the graph's own dice."""

    def __init__(self, graph):
        self.graph, self.rng = graph, graph.rng
        self.cols = []              # the collections that the text mentions
        self.text = self.whole_text()

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
            return "[x = %s .. %s] x" % (v.lo, v.hi)
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
        """Bodies. What is for devices is drawn by dice of its own: the graph is the same without."""
        dice = random.Random("%d/%d" % (self.graph.seed, cls.index))
        out = []
        if dice.random() < 0.7:
            place = dice.choice(["", "", "  device = %d" % dice.randrange(4)]
                                + ["  device = %s" % n for n in cls.space.names()] * 2)
            out += self.one_body(cls, "BODY [type = CUDA%s]" % place, True)
        return out + self.one_body(cls, "BODY", False)

    def one_body(self, cls, head, device):
        out = [head]
        if device:
            out.append("    prop_needs needs = {.count = 0};")
            expect = "prop_need(&needs, "
        else:
            expect = "prop_expect(seen, %s, " % self.task_id(cls, cls.space.names())
        for link, forward in cls.checks:
            if forward:
                guard = in_c(conj(link.conds)) or "1"
                out.append("    if (%s)" % guard)
                out.append("        %s%s);" % (
                    expect, self.task_id(link.other, [in_c(a.text) for a in link.args])))
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
            out.append("        %s%s);" % (
                expect, self.task_id(link.dep, [names[n] for n in link.dep.space.names()])))
        flows = ", ".join("{%s, %d, %s}" % (f.name, REGIONS[f.region],
                                            in_c(f.fresh[0]) if f.fresh else "0")
                          for f in cls.flows)
        given = "(const prop_flow[]){%s}" % flows if flows else "NULL"
        args = "seen, %s, %d, %s" % (self.task_id(cls, cls.space.names()), len(cls.flows), given)
        if device:
            return out + ["    if (prop_task_on_device(dag_task, dag_queue, &needs, %s) != 0)" % args,
                          "        return DAG_BODY_ERROR;", "END"]
        return out + ["    prop_task(dag_task, %s);" % args, "END"]

    def whole_text(self):
        body = []
        for cls in self.graph.classes:
            body += self.class_text(cls)
        everything = "\n".join(body)
        cols = [c for c in "VWUAB" if re.search(r"\b%s\b" % c, everything)]
        if "B" in cols and "A" not in cols:
            cols.insert(cols.index("B"), "A")
        types = {"V": "dag_vector *", "W": "dag_vector *", "U": "prop_cells *",
                 "A": "dag_matrix *", "B": "dag_matrix *"}
        aligned = {"W": "V", "B": "A"}
        out = ["// Made by gen.py from seed %d." % self.graph.seed, 'extern "C" %{',
               '#include "prop.h"', "%}"]
        if self.graph.precisions:
            out.append("%precision s d")
        for c in cols:
            props = 'type = "%s"' % types[c]
            if c in "AB" and not self.graph.precisions:
                props += " elem = %s" % self.graph.elem
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
        name = self.graph.name
        args = ", ".join(["context"] + ["a->" + c for c in cols]
                         + ["a->N", "a->M", "a->T", "a->K", "a->S", "a->seen"])
        out += ["", 'extern "C" %{', "dag_taskpool *PROP_NAME(%s)(dag_context *context, "
                "const prop_args *a);" % name,
                "dag_taskpool *PROP_NAME(%s)(dag_context *context, const prop_args *a)" % name,
                "{"]
        if self.graph.precisions:
            out += ["    if (a->prec == DAG_S)", "        return %s_s_new(%s);" % (name, args),
                    "    return %s_d_new(%s);" % (name, args)]
        else:
            out.append("    return %s_new(%s);" % (name, args))
        out += ["}", "%}"]
        self.cols = cols
        return "\n".join(out) + "\n"
