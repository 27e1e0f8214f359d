/* Matrices whose elements are functions of their place: the table of kinds. */
#include "la/check.h"
#include "la/numbers.h"

#include <dag/kernels.h>
#include <dag/matgen.h>

#include "gallery.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/*
 * Random vectors of reflections, of length 1, and what follows from them; NULL where a kind has no
 * use for them. Complex numbers are pairs.
 */
struct dag_maker {
    dag_maker_desc desc;
    void (*element)(const dag_maker *g, int64_t i, int64_t j, double part[2]);
    int64_t k;      /* min(m, n) */
    double *d;      /* k singular values */
    double *u, *v;  /* m and n pairs; v == u where one reflection serves both sides */
    double udv[2];  /* u^H D v */
    double step[2]; /* wright: the elements of the exponential */
    double growth;  /* gfpp: what is taken off below the diagonal */
};

/* ---- elements, counted from 0 ------------------------------------------------------------ */

static void random_element(const dag_maker *g, int64_t i, int64_t j, double part[2])
{
    uint64_t seed = (uint64_t)g->desc.seed;
    if (g->desc.is_complex) {
        dag_dcomplex z;
        dag_tile_zplrnt(0, 1, 1, &z, 1, g->desc.m, i, j, seed);
        part[0] = __builtin_creal(z);
        part[1] = __builtin_cimag(z);
    } else {
        dag_tile_dplrnt(0, 1, 1, part, 1, g->desc.m, i, j, seed);
    }
}

/* += scale * x * conj(y) */
static void add_outer(double part[2], double scale, const double x[2], const double y[2])
{
    part[0] += scale * (x[0] * y[0] + x[1] * y[1]);
    part[1] += scale * (x[1] * y[0] - x[0] * y[1]);
}

/* (I - 2 u u^H) D (I - 2 v v^H) */
static void svd_element(const dag_maker *g, int64_t i, int64_t j, double part[2])
{
    const double *ui = g->u + 2 * i, *vj = g->v + 2 * j;
    if (i == j)
        part[0] = g->d[i];
    if (j < g->k)
        add_outer(part, -2 * g->d[j], ui, g->u + 2 * j);
    if (i < g->k)
        add_outer(part, -2 * g->d[i], g->v + 2 * i, vj);
    double middle[2] = {ui[0] * g->udv[0] - ui[1] * g->udv[1],
                        ui[0] * g->udv[1] + ui[1] * g->udv[0]};
    add_outer(part, 4, middle, vj);
}

static void house_element(const dag_maker *g, int64_t i, int64_t j, double part[2])
{
    part[0] = i == j;
    add_outer(part, -2, g->u + 2 * i, g->u + 2 * j);
}

/* Real elements that are a formula of i, j and what the maker knows. */
#define FORMULA(name, value)                                                                       \
    static void name##_element(const dag_maker *g, int64_t i, int64_t j, double part[2])           \
    {                                                                                              \
        (void)g;                                                                                   \
        part[0] = value;                                                                           \
    }
FORMULA(hilbert, 1 / (double)(i + j + 1))
FORMULA(lotkin, i == 0 ? 1 : 1 / (double)(i + j + 1))
FORMULA(cauchy, 1 / (double)(i + j + 2))
FORMULA(parter, 1 / ((double)(i - j) + 0.5))
FORMULA(ris, 0.5 / ((double)(g->desc.n - i - j) - 0.5))
FORMULA(lehmer, (double)(dagi_least(i, j) + 1) / (double)(i + j - dagi_least(i, j) + 1))
FORMULA(minij, (double)(dagi_least(i, j) + 1))
FORMULA(moler, i == j ? (double)(i + 1) : (double)(dagi_least(i, j) - 1))
FORMULA(kms, pow(0.5, fabs((double)(i - j))))
FORMULA(prolate, i == j ? 0.5 : sin(0.5 * pi * (double)((i - j) % 4)) / (pi * (double)(i - j)))
FORMULA(fiedler, fabs((double)(i - j)))
FORMULA(circulant, (double)(1 + (j - i + g->desc.n) % g->desc.n))
FORMULA(frank, j >= i - 1 ? (double)(g->desc.n - (i > j ? i : j)) : 0)
FORMULA(invhess, i >= j ? (double)(j + 1) : -(double)(i + 1))
FORMULA(kahan, i > j ? 0 : pow(sin(1.2), (double)i) * (i == j ? 1 : -cos(1.2)))
FORMULA(triw, i == j ? 1 : i < j ? -1 : 0)
FORMULA(hadamard, __builtin_parityll((unsigned long long)(i & j)) ? -1 : 1)

static void orthogonal_element(const dag_maker *g, int64_t i, int64_t j, double part[2])
{
    /* the product is reduced before it loses digits: the sine has the period 2 (n + 1) */
    int64_t n1 = g->desc.n + 1,
            turns = (int64_t)((unsigned __int128)(i + 1) * (unsigned __int128)(j + 1) %
                              (unsigned __int128)(2 * n1));
    part[0] = sqrt(2 / (double)n1) * sin(pi * (double)turns / (double)n1);
}

static void demmel_element(const dag_maker *g, int64_t i, int64_t j, double part[2])
{
    double scale = pow(10, 14 * (double)i / (double)g->desc.n);
    random_element(g, i, j, part);
    part[0] = scale * ((i == j) + 1e-7 * part[0]);
    part[1] *= 1e-7 * scale;
}

static void langou_element(const dag_maker *g, int64_t i, int64_t j, double part[2])
{
    random_element(g, i, j, part);
    if (j >= g->desc.n / 4 && j < g->desc.n / 2) {
        part[0] *= 0x1p-53;
        part[1] *= 0x1p-53;
    }
}

FORMULA(gfpp, i == j || j == g->desc.n - 1 ? 1 : i > j ? -g->growth : 0)

/* Foster's matrix with step times kernel 2/3 and c = 1: each pivot is 2/3, and -2/3 stands below.
 * */
static void foster_element(const dag_maker *g, int64_t i, int64_t j, double part[2])
{
    const double kh = 2.0 / 3;
    if (j == 0)
        part[0] = i == 0 ? 1 : -kh / 2;
    else if (i == j)
        part[0] = 1 - kh / 2;
    else
        part[0] = i > j ? -kh : 0;
    if (j == g->desc.n - 1 && j > 0)
        part[0] -= 1;
}

/* Identities on the diagonal and in the last block column of the first block row, minus the
 * exponential below; blocks of order 2. An odd order has one more row of the identity. */
static void wright_element(const dag_maker *g, int64_t i, int64_t j, double part[2])
{
    int64_t blocks = g->desc.n / 2, bi = i / 2, bj = j / 2;
    int same = i % 2 == j % 2;
    if (i == j)
        part[0] = 1;
    else if (bi == bj + 1 && bi < blocks)
        part[0] = -g->step[!same];
    else if (bi == 0 && bj == blocks - 1 && blocks > 1)
        part[0] = same;
}

/* ---- kinds ------------------------------------------------------------------------------- */

enum { SQUARE = 1, VALUES = 2, LEFT = 4, RIGHT = 8 }; /* order; which vectors are needed */

static const struct kind {
    const char *name;
    void (*element)(const dag_maker *g, int64_t i, int64_t j, double part[2]);
    int needs;
} kinds[] = {
    {"random", random_element, 0},
    {"svd", svd_element, VALUES | LEFT | RIGHT},
    {"spd", svd_element, SQUARE | VALUES | LEFT},
    {"hilbert", hilbert_element, 0},
    {"lotkin", lotkin_element, 0},
    {"cauchy", cauchy_element, 0},
    {"parter", parter_element, 0},
    {"ris", ris_element, SQUARE},
    {"lehmer", lehmer_element, 0},
    {"minij", minij_element, 0},
    {"moler", moler_element, 0},
    {"kms", kms_element, 0},
    {"prolate", prolate_element, 0},
    {"fiedler", fiedler_element, 0},
    {"circulant", circulant_element, SQUARE},
    {"frank", frank_element, SQUARE},
    {"invhess", invhess_element, 0},
    {"kahan", kahan_element, 0},
    {"triw", triw_element, 0},
    {"hadamard", hadamard_element, 0},
    {"orthogonal", orthogonal_element, SQUARE},
    {"house", house_element, SQUARE | LEFT},
    {"demmel", demmel_element, SQUARE},
    {"langou", langou_element, 0},
    {"wilkinson", gfpp_element, SQUARE},
    {"gfpp", gfpp_element, SQUARE},
    {"foster", foster_element, SQUARE},
    {"wright", wright_element, SQUARE},
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

const char *dag_maker_kind(int index)
{
    return index >= 0 && index < KINDS ? kinds[index].name : NULL;
}

static dag_status unknown_kind(dag_context *ctx, const char *name)
{
    char all[512] = "";
    for (int k = 0; k < KINDS; k++) {
        strncat(all, k > 0 ? ", " : "", sizeof(all) - strlen(all) - 1);
        strncat(all, kinds[k].name, sizeof(all) - strlen(all) - 1);
    }
    return dag_error(ctx, DAG_ERR_ARG, "there is no test matrix called '%s'; there are %s", name,
                     all);
}

/* ---- makers ------------------------------------------------------------------------------ */

static void random_unit_vector(double *x, int64_t length, uint64_t seed, int complex)
{
    double sum = 0;
    dag_tile_zplrnt(0, (int)length, 1, (dag_dcomplex *)x, (int)length, length, 0, 0, seed);
    for (int64_t i = 0; i < length; i++) {
        if (!complex)
            x[2 * i + 1] = 0;
        sum += x[2 * i] * x[2 * i] + x[2 * i + 1] * x[2 * i + 1];
    }
    for (int64_t i = 0; i < 2 * length; i++)
        x[i] /= sqrt(sum);
}

static double value(dag_spectrum spectrum, double cond, int64_t k, int64_t count)
{
    double at = count > 1 ? (double)k / (double)(count - 1) : 0;
    switch (spectrum) {
    case DAG_SPECTRUM_ARITHMETIC:
        return 1 - at * (1 - 1 / cond);
    case DAG_SPECTRUM_ONE_LARGE:
        return k == 0 ? 1 : 1 / cond;
    case DAG_SPECTRUM_ONE_SMALL:
        return k < count - 1 || count == 1 ? 1 : 1 / cond;
    default:
        return pow(cond, -at);
    }
}

/* Memory for what the kind needs, in one block that starts at d. */
static dag_status fill_vectors(dag_maker *g, int needs)
{
    const dag_maker_desc *o = &g->desc;
    g->d = malloc((size_t)(g->k + 2 * o->m + 2 * o->n + 1) * sizeof(*g->d));
    if (g->d == NULL)
        return DAG_ERR_NOMEM;
    g->u = g->d + g->k;
    g->v = needs & RIGHT ? g->u + 2 * o->m : g->u;
    if (needs & VALUES)
        for (int64_t k = 0; k < g->k; k++)
            g->d[k] = value(o->spectrum, o->cond, k, g->k);
    if (o->m > 0)
        random_unit_vector(g->u, o->m, (uint64_t)o->seed ^ UINT64_C(0x75), o->is_complex);
    if (needs & RIGHT && o->n > 0)
        random_unit_vector(g->v, o->n, (uint64_t)o->seed ^ UINT64_C(0x76), o->is_complex);
    for (int64_t k = 0; needs & VALUES && k < g->k; k++)
        add_outer(g->udv, g->d[k], g->v + 2 * k, g->u + 2 * k);
    return DAG_SUCCESS;
}

static dag_status check_desc(dag_context *ctx, const dag_maker_desc *o, const struct kind *kind)
{
    if (o->m < 0 || o->n < 0 || o->m > INT32_MAX || o->n > INT32_MAX)
        return dag_error(ctx, DAG_ERR_ARG,
                         "a test matrix of %" PRId64 " x %" PRId64 " cannot be made", o->m, o->n);
    if (kind->needs & SQUARE && o->m != o->n)
        return dag_error(ctx, DAG_ERR_ARG,
                         "the test matrix '%s' is square, not %" PRId64 " x %" PRId64, kind->name,
                         o->m, o->n);
    if (o->cond != 0 && !(o->cond >= 1))
        return dag_error(ctx, DAG_ERR_ARG,
                         "the condition of a test matrix is %g; it must be at least "
                         "1",
                         o->cond);
    return DAG_SUCCESS;
}

dag_status dag_maker_new(dag_context *ctx, const dag_maker_desc *desc, dag_maker **maker)
{
    const struct kind *kind = NULL;
    for (int k = 0; k < KINDS && desc->kind != NULL; k++)
        if (strcmp(kinds[k].name, desc->kind) == 0)
            kind = &kinds[k];
    if (kind == NULL)
        return unknown_kind(ctx, desc->kind == NULL ? "(null)" : desc->kind);
    dag_status status = check_desc(ctx, desc, kind);
    if (status != DAG_SUCCESS)
        return status;
    dag_maker *g = calloc(1, sizeof(*g));
    if (g == NULL)
        return DAG_ERR_NOMEM;
    g->desc = *desc;
    g->desc.kind = kind->name;
    g->desc.cond = desc->cond == 0 ? 1e6 : desc->cond;
    g->element = kind->element;
    g->k = dagi_least(desc->m, desc->n);
    g->growth = strcmp(kind->name, "wilkinson") == 0 || desc->n < 2
                    ? 1
                    : pow(g->desc.cond, 1 / (double)(desc->n - 1)) - 1;
    g->step[0] = exp(-0.05) * cosh(0.3);
    g->step[1] = exp(-0.05) * sinh(0.3);
    if (kind->needs & LEFT)
        status = fill_vectors(g, kind->needs);
    if (status == DAG_SUCCESS)
        *maker = g;
    else
        dag_maker_free(g);
    return status;
}

void dag_maker_free(dag_maker *maker)
{
    if (maker != NULL)
        free(maker->d);
    free(maker);
}

void dag_maker_element(const dag_maker *maker, int64_t i, int64_t j, double part[2])
{
    part[0] = part[1] = 0;
    maker->element(maker, i, j, part);
}

/* ---- matrices ---------------------------------------------------------------------------- */

static dag_status fill(dag_context *ctx, const dag_maker *maker, dag_matrix *A)
{
    DAGI_MAKERS(gallery) make[4] = DAGI_FOUR(gallery);
    return dag_run(ctx, make[A->prec](ctx, A, A->uplo == DAG_LOWER, A->uplo == DAG_UPPER, maker));
}

dag_status dag_maker_fill(dag_context *ctx, const dag_maker *maker, dag_matrix *A)
{
    dagi_check c;
    dagi_check_start(&c, ctx, "dag_maker_fill");
    dagi_check_present(&c, "maker", maker);
    dagi_check_matrix(&c, "A", A);
    if (c.status == DAG_SUCCESS && (A->m != maker->desc.m || A->n != maker->desc.n))
        dagi_check_fail(&c,
                        "the maker makes %" PRId64 " x %" PRId64 ", A is %" PRId64 " x %" PRId64,
                        maker->desc.m, maker->desc.n, A->m, A->n);
    if (c.status == DAG_SUCCESS && maker->desc.is_complex && !dag_precision_is_complex(A->prec))
        dagi_check_fail(&c, "the maker makes complex numbers, A holds real ones");
    return dagi_check_agreed(&c) ? fill(ctx, maker, A) : c.status;
}

dag_status dag_matgen(dag_context *ctx, const char *kind, double cond, int64_t seed, dag_matrix *A)
{
    dag_maker *maker = NULL;
    dagi_check c;
    dagi_check_start(&c, ctx, "dag_matgen");
    dagi_check_matrix(&c, "A", A);
    if (c.status == DAG_SUCCESS) {
        const dag_maker_desc desc = {.kind = kind,
                                     .m = A->m,
                                     .n = A->n,
                                     .cond = cond,
                                     .seed = seed,
                                     .is_complex = dag_precision_is_complex(A->prec)};
        c.status = dag_maker_new(ctx, &desc, &maker);
    }
    dag_status status = dagi_check_agreed(&c) ? fill(ctx, maker, A) : c.status;
    dag_maker_free(maker);
    return status;
}

/* ---- as a source of elements ------------------------------------------------------------- */

struct sink {
    const dag_maker *maker;
    void (*add)(void *to, int64_t i, int64_t j, double re, double im);
    void *to;
};

static dag_status give_tile(dag_matrix *a, int64_t ti, int64_t tj, const dag_element *e, void *arg)
{
    const struct sink *s = arg;
    for (int64_t j = tj * a->nb; j < tj * a->nb + e->shape.n; j++)
        for (int64_t i = ti * a->mb; i < ti * a->mb + e->shape.m; i++) {
            double part[2];
            dag_maker_element(s->maker, i, j, part);
            s->add(s->to, i, j, part[0], part[1]);
        }
    return DAG_SUCCESS;
}

dag_status dag_maker_each(void *arg,
                          void (*add)(void *to, int64_t i, int64_t j, double re, double im),
                          void *to)
{
    const dag_maker_source *source = arg;
    struct sink s = {source->maker, add, to};
    return dag_matrix_each_local(source->like, give_tile, &s);
}
