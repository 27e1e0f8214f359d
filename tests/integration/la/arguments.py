#!/usr/bin/env python3
"""Writes a program that calls each routine of dag/la.h with bad arguments: arguments.py HEADER OUT

HEADER is dag/la.h after the preprocessor. Of each routine with a context and a matrix, and of those that
make one of an array, one argument at a time is NULL, no value of its enumeration, negative, not a number,
another argument once more, or not the same on all ranks. A routine must refuse each and name itself and the argument; the last call is
right and must succeed. What an argument may be is told here, once for all routines.
"""
import itertools
import re
import sys

# Arguments that may be NULL, by the routine's name without its letter; "" is any routine.
OPTIONAL = {
    "": {"options", "iter", "ferr", "seconds"},
    **{name: {"info"} for name in ("potrf", "getrf", "getrf_with", "getrf_nopiv", "potri", "getri",
                                   "trtri")},
    "getrs": {"ipiv"}, "gemm_tune": {"plan"},
}
# Matrices that a routine only reads; two of these may be the same.
READ = {
    **{name: {"A", "B"} for name in ("gemm", "gemm_with", "gemm_tune", "symm", "hemm", "syr2k", "her2k")},
    **{name: {"A"} for name in ("syrk", "herk", "trmm", "trsm", "trtrs", "potrs", "getrs", "unmqr",
                                "ormqr", "ungqr", "orgqr", "unmlq", "ormlq", "unglq", "orglq",
                                "geadd", "lacpy", "redistribute")},
    **{name: {"F"} for name in ("potrf_residual", "geqrf_residual")},
    **{name: {"A", "F", "B"} for name in ("gerfs", "porfs", "gerfs_bounds", "porfs_bounds")},
    **{name: {"A", "X"} for name in ("getri_bounds", "potri_bounds")},
    **{name: {"A", "B"} for name in ("dsposv", "zcposv", "posv_mixed")},
}
# Enumerations: a value, another one.
ENUM = {
    "dag_uplo": ("DAG_LOWER", "DAG_UPPER"),
    "dag_trans": ("DAG_NO_TRANS", "DAG_CONJ_TRANS"),
    "dag_side": ("DAG_LEFT", "DAG_RIGHT"),
    "dag_diag": ("DAG_NON_UNIT", "DAG_UNIT"),
    "dag_norm": ("DAG_NORM_ONE", "DAG_NORM_INF"),
    "dag_precision": ("DAG_D", "DAG_S"),
    "dag_part_access": ("DAG_PART_RW", "DAG_PART_READ"),
}
POINTER = {
    "int64_t *ipiv": "pivots", "const int64_t *ipiv": "pivots", "int64_t *info": "&info",
    "int *iter": "&iter", "double *rcond": "&real[0]", "double *value": "&real[0]",
    "double *seconds": "&real[1]", "double *ferr": "real", "double *berr": "real", "dag_qr **qr": "&made_qr",
    "dag_lq **lq": "&made_lq", "const dag_qr *qr": "qr[{p}]", "const dag_lq *lq": "lq[{p}]",
    "void *local": "array", "const int *desc": "desc", "dag_part **part": "&made_part",
    "double *error": "&real[0]", "double *residual": "&real[0]", "double *orthogonality": "&real[1]",
    "const dag_lu_options *options": "NULL", "const dag_qr_options *options": "NULL",
    "const dag_gemm_options *options": "NULL", "dag_gemm_plan *plan": "NULL",
}
NUMBER = {"double anorm", "double from", "double to"}  # that must be one
COUNTED = {"int64_t m", "int64_t n", "int64_t ia", "int64_t ja"}  # -1 is none
VALUE = {"int64_t m": "N", "int64_t n": "N", "int64_t ia": "1", "int64_t ja": "1",
         "int64_t k": "N", "int backward": "0", "double bump": "N", "uint64_t seed": "1", "int64_t seed": "1"}
# Routines with arguments of their own, which other tests call.
ELSEWHERE = {"maker_fill", "matgen", "solve_residual", "matrix_panel", "row_sums", "matrix_scatter",
             "matrix_gather", "find_nonfinite"}
LETTERS = "sdcz"


def routines(header):
    """(type, name, its context, [(type, name)]) of each routine with a context and a matrix, or a grid."""
    text = " ".join(header.split())
    for kind, name, first, inner in re.findall(
            r"\b(dag_status|dag_taskpool) ?\*?dag_(\w+)"
            r"\((dag_context \*ctx|const dag_blacs_grid \*grid), ([^;{]*)\);", text):
        if "dag_matrix *" in inner or "grid" in first:
            inner = re.sub(r"(\w+)\[\d+\]", r"*\1", inner)
            yield (kind, name, "&grid" if "grid" in first else "ctx",
                   [tuple(re.match(r"(.*?)(\w+)$", a.strip()).groups()) for a in inner.split(",")])


def letter_and_base(name, names):
    base = re.sub(r"_new$", "", name)
    if base.startswith(("ds", "zc")) and base[1:] not in names and base[2:] in names:
        return base[0], base
    real = base[1:].replace("or", "un", 1) if base[1:3] == "or" else base[1:]
    if base[0] in LETTERS and (base[1:] in names or real in names):
        return base[0], base[1:]
    return "d", base


def argument(kind, name, p, matrix):
    """The right value of an argument."""
    kind = kind.strip()
    whole = f"{kind}{'' if kind.endswith('*') else ' '}{name}"
    if kind in ("dag_matrix *", "const dag_matrix *"):
        return f"M[{p}][{matrix}]"
    if kind in ENUM:
        return ENUM[kind][0]
    if whole in POINTER:
        return POINTER[whole].format(p=p)
    if whole in VALUE:
        return VALUE[whole]
    if kind in ("double", "float", "dag_dcomplex", "dag_scomplex"):
        return "1"
    sys.exit(f"arguments.py: what is `{whole}`? Say it in the tables of this program")


def calls(kind, name, first, params, letter, base):
    """(what, {rank 1 only: bad value}, words of the message) of each bad call, then the good one."""
    p = LETTERS.index(letter)
    count = itertools.count()
    good = [argument(k, n, p, next(count) if "dag_matrix *" in k else 0) for k, n in params]
    optional = OPTIONAL[""] | OPTIONAL.get(base, set())
    written = {n for k, n in params if "dag_matrix *" in k} - READ.get(base, set())

    def with_bad(i, bad):
        return [first] + good[:i] + [bad] + good[i + 1:]

    yield f"{first} is NULL", ["NULL"] + good, None, None
    for i, (k, n) in enumerate(params):
        k = k.strip()
        if k.endswith("*") and n not in optional:
            yield f"{n} is NULL", with_bad(i, "NULL"), None, n
        if k in ENUM:
            yield f"{n} is 99", with_bad(i, f"({k})99"), None, n
        if f"{k} {n}" in COUNTED:
            yield f"{n} is -1", with_bad(i, "-1"), None, n
        if f"{k} {n}" in NUMBER:
            yield f"{n} is NaN", with_bad(i, "NAN"), None, n
        if kind == "dag_status" and k in ENUM:
            yield (f"{n} differs", [first] + good, with_bad(i, ENUM[k][1]), n)
        if kind == "dag_status" and "dag_matrix *" in k:
            yield f"{n} differs", [first] + good, with_bad(i, f"small[{p}]"), ""
    for (i, a), (j, b) in itertools.combinations(
            [(i, n) for i, (k, n) in enumerate(params) if "dag_matrix *" in k], 2):
        if {a, b} & written:
            yield f"{b} is {a}", with_bad(j, good[i]), None, b
    yield None, [first] + good, None, None


def program(header):
    found = list(routines(header))
    names = {name for _, name, _, _ in found}
    body, tests = [], []
    for kind, name, first, params in found:
        if re.sub(r"_new$", "", name) in ELSEWHERE:
            continue
        letter, base = letter_and_base(name, names)
        pool = kind == "dag_taskpool"
        body.append(f"static void test_{name}(void)\n{{")
        for what, args, other, word in calls(kind, name, first, params, letter, base):
            call = f"dag_{name}({', '.join(args)})"
            call = f"pool({call})" if pool else call
            if what is None:
                body.append(f"    succeeds(\"dag_{name}\", {f'run({call[5:-1]})' if pool else call});")
            elif other is not None:
                body.append(f"    if (dag_size(ctx) > 1)\n        refuses_somewhere(\"dag_{name}\", \"{what}\", "
                            f"dag_rank(ctx) == 1 ? dag_{name}({', '.join(other)}) : {call});")
            else:
                word = "NULL" if word is None else f'"{word}"'
                body.append(f"    refuses(\"dag_{name}\", \"{what}\", {call}, {word});")
        body.append("    clean();\n}\n")
        tests.append(f"    test_{name}();")
    if len(tests) < 150:
        sys.exit(f"arguments.py: only {len(tests)} routines were found in the header")
    return ("/* Made by arguments.py from dag/la.h. */\n#include \"arguments.h\"\n\n" + "\n".join(body)
            + "\nvoid test_all(void)\n{\n" + "\n".join(tests) + "\n}\n")


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as source:
        made = program(source.read())
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        out.write(made)
