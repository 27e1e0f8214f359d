#!/usr/bin/env python3
"""A program of task classes with random placements: conditions, mirrored indices, strides, remainders.

usage: places.py FILE.jdf

It counts its instances, which loops over all of them do as well; the serial oracle compares what each
rank says to have with what runs there. The same file every time.
"""
import random
import sys

CLASSES = 60
HEAD = '''extern "C" %{
#include "case.h"
#include "serial_runtime.h"
#include <string.h>
static uint64_t seen[@CLASSES@], want[@CLASSES@];

/* Sums of this differ where instances do. */
static uint64_t hash(int64_t a, int64_t b, int64_t c)
{
    uint64_t x = (uint64_t)(a + 64 * b + 4096 * c + 1) * UINT64_C(0x9e3779b97f4a7c15);
    return x ^ x >> 29;
}
%}
A [type = "dag_collection *"]
D [type = "dag_collection *"]
N [type = int]
S [type = int]
T [type = int]
%assume S >= 1
'''
TAIL = '''
static void compare(dag_context *context, int n, int s, int t, int closed)
{
    int size = dag_size(context), p = t == 1 || size % 2 ? size : size / 2;
    cells *a = cells_new(context, 256, 256, p, size / p, closed);
    cells *d = cells_new(context, 256, 0, size > 2 ? size - 1 : size, 1, closed);
    memset(seen, 0, sizeof seen);
    memset(want, 0, sizeof want);
    expect(n, s, t);
    run_expecting(context, places_new(context, &a->super, &d->super, n, s, t), DAG_SUCCESS);
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++)
        if (seen[i] != want[i]) {
            fprintf(stderr, "C%zu: not the instances of N = %d, S = %d, T = %d on %d ranks\\n", i, n,
                    s, t, size);
            exit(1);
        }
    cells_free(a);
    cells_free(d);
}

int main(void)
{
    static const int sizes[] = {0, 1, 5, 8}, ranks[] = {1, 2, 3, 4, 6};
    for (size_t r = 0; r < sizeof ranks / sizeof *ranks; r++) {
        serial_configure(ranks[r], 1, 3);
        dag_context *context;
        dag_init(&context, NULL, NULL, 0);
        for (int k = 0; k < 4 * 3 * 2 * 2; k++)
            compare(context, sizes[k % 4], k / 4 % 3 + 1, k / 12 % 2 + 1, k / 24);
        dag_fini(context);
    }
    return 0;
}
%}
'''


def space(rng):
    """(names, first, last, step) of each loop; parameters are no less than 0 and no more than 2 N + 3."""
    loops = [("i", "0", "N - 1", 1)]
    kind = rng.choice(["line", "steps", "plane", "triangle", "band", "stride", "cube"])
    if kind == "steps":
        loops = [("i", rng.choice("01"), "2 * N", rng.choice([2, 3]))]
    elif kind == "stride":
        loops = [("i", "0", "S - 1", 1), ("j", "0", "3", 1)]
    elif kind == "band":
        loops.append(("j", "(i > 2 ? i - 2 : 0)", "i", 1))
    elif kind != "line":
        loops.append(("j", "0", "i" if kind == "triangle" else "N", 1))
    if kind == "cube":
        loops.append(("k", rng.choice(["0", "j"]), "N", 1))
    return loops


def condition(rng, names):
    v, w = rng.choice(names), rng.choice(names)
    c = rng.randint(0, 4)
    simple = ["T == 1", "T == %d" % c, "S > T", "%s == %d" % (v, c), "%s < %d" % (v, c),
              "%s >= N - %d" % (v, c), "%s %% 2 == 0" % v]
    if v != w:
        simple += ["%s == %s" % (v, w), "%s < %s" % (v, w), "%s <= %s + 1" % (v, w)] * 2
    x, y = rng.choice(simple), rng.choice(simple)
    return rng.choice([x, x, x, "%s && %s" % (x, y), "%s || %s" % (x, y), "!(%s)" % x])


def plain(rng, names):
    v, w, param = rng.choice(names), rng.choice(names), rng.choice([n for n in names if n != "x"])
    forms = [v, v, "%s + %d" % (v, rng.randint(1, 3)), "2 * N + 3 - %s" % param,
             "2 * N + 4 - %s" % param, "%d * %s" % (rng.randint(2, 3), v), "S * %s" % v,
             "%s %% S" % v, "%s / 2" % v, "T", "(%s * 3 + 1) %% 8" % v]
    if v != w:
        forms += ["%s + %s" % (v, w), "%s + S * %s" % (v, w), "%s + 2 * %s" % (v, w),
                  "(%s + 3 * %s) %% S" % (v, w), "(2 * %s + %s) %% (2 * S)" % (v, w),
                  "2 * N + 3 + %s - %s" % (v, param)]
    return rng.choice(forms)


def index(rng, names, depth=0):
    if depth < 2 and rng.random() < (0.6, 0.25)[depth]:
        choice = "((%s) ? %s : %s)" % (condition(rng, names), index(rng, names, depth + 1),
                                      index(rng, names, depth + 1))
        return rng.choice([choice, choice, choice, "%s + %s" % (choice, rng.choice(names))])
    return plain(rng, names)


def task_class(rng, number):
    """The text of a class, and of loops over what it has."""
    loops = space(rng)
    names = [loop[0] for loop in loops]
    text = ["C%d(%s)" % (number, ", ".join(names))]
    for name, first, last, step in loops:
        text.append("  %s = %s .. %s%s" % (name, first, last, " .. %d" % step if step > 1 else ""))
    if rng.random() < 0.3:      # the same index by way of a local
        text.append("  x = %s" % index(rng, names))
        names = names + ["x"]
    element = [index(rng, names) for _ in range(rng.choice([1, 2, 2, 2]))]
    if "x" in names and not any("x" in e for e in element):
        element[0] = "x"
    text.append(": %s(%s)" % ("D" if len(element) == 1 else "A", ", ".join(element)))
    if loops[0][1:] == ("0", "N - 1", 1) and "i" not in "".join(x[1] + x[2] for x in loops[1:]) \
            and rng.random() < 0.7:     # only the first ones wait for nothing
        rest = "".join(", " + loop[0] for loop in loops[1:])
        text.append("CTL X <- (i > 0) ? X C%d(i - 1%s)" % (number, rest))
        text.append("      -> (i < N - 1) ? X C%d(i + 1%s)" % (number, rest))
    instance = "hash(%s)" % ", ".join([loop[0] for loop in loops] + ["0"] * (3 - len(loops)))
    text += ["BODY", "    seen[%d] += %s;" % (number, instance), "END", ""]
    walk = ["    " * (d + 1) + "for (int %s = %s; %s <= %s; %s += %d)"
            % (name, first, name, last, name, step)
            for d, (name, first, last, step) in enumerate(loops)]
    walk.append("    " * (len(loops) + 1) + "want[%d] += %s;" % (number, instance))
    return "\n".join(text), "\n".join(walk)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.split("\n\n")[1])
    rng = random.Random(23)
    classes = [task_class(rng, k) for k in range(CLASSES)]
    with open(sys.argv[1], "w") as out:
        out.write(HEAD.replace("@CLASSES@", str(CLASSES)) + "\n")
        out.write("\n".join(c[0] for c in classes))
        out.write('\nextern "C" %{\nstatic void expect(int N, int S, int T)\n{\n    (void)T;\n')
        out.write("\n".join(c[1] for c in classes) + "\n}\n" + TAIL)


if __name__ == "__main__":
    main()
