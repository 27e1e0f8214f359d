/* What the values of options have to be. */
#include "options.h"
#include "generate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool parse_integer(const char *text, int64_t low, int64_t high, int64_t *value)
{
    char *end;
    errno = 0;
    long long v = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || v < low || v > high)
        return false;
    *value = v;
    return true;
}

static bool parse_int(const char *text, int64_t low, int64_t high, int *value)
{
    int64_t v;
    if (!parse_integer(text, low, high, &v))
        return false;
    *value = (int)v;
    return true;
}

/* Numbers with an x between each two; false unless there are `count` of them. */
static bool parse_numbers(const char *text, int count, int *numbers[])
{
    for (int i = 0; i < count; i++) {
        char one[16];
        size_t length = strcspn(text, "xX");
        if (length >= sizeof(one) || (text[length] == '\0') != (i + 1 == count))
            return false;
        memcpy(one, text, length);
        one[length] = '\0';
        if (!parse_int(one, 1, INT32_MAX, numbers[i]))
            return false;
        text += length + 1;
    }
    return true;
}

static bool parse_method(const char *text, dag_gemm_method *method)
{
    for (int i = DAG_GEMM_AUTO; i <= DAG_GEMM_HSUMMA; i++)
        if (strcmp(text, dag_gemm_method_name((dag_gemm_method)i)) == 0) {
            *method = (dag_gemm_method)i;
            return true;
        }
    return false;
}

/* Perhaps shortened to one letter. */
static bool is_word(const char *text, const char *word)
{
    return strcmp(text, word) == 0 ||
           (text[0] != '\0' && text[1] == '\0' && (text[0] | 0x20) == word[0]);
}

/* `text` is a or b: 0 or 1; else -1. */
static int parse_word(const char *text, const char *a, const char *b)
{
    return is_word(text, a) ? 0 : is_word(text, b) ? 1 : -1;
}

static bool parse_pivoting(const char *text, driver_pivoting *pivoting)
{
    static const char *const words[] = {[DRIVER_PIVOT_PARTIAL] = "partial",
                                        [DRIVER_PIVOT_TOURNAMENT] = "tournament",
                                        [DRIVER_PIVOT_NONE] = "none"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (is_word(text, words[i])) {
            *pivoting = (driver_pivoting)i;
            return true;
        }
    return false;
}

static bool parse_trans(const char *text, dag_trans *trans)
{
    static const dag_trans values[] = {DAG_NO_TRANS, DAG_TRANS, DAG_CONJ_TRANS};
    static const char letters[] = "ntc";
    const char *at = text[0] != '\0' ? strchr(letters, text[0] | 0x20) : NULL;
    if (at == NULL || text[1] != '\0')
        return false;
    *trans = values[at - letters];
    return true;
}

/* NULL, or what the value should have been. */
static const char *set_number(options *o, int id, const char *text)
{
    const int64_t most = (int64_t)1 << 40;
    switch (id) {
    case OPT_M: return parse_integer(text, 0, most, &o->m) ? NULL : "a number >= 0";
    case OPT_N: return parse_integer(text, 0, most, &o->n) ? NULL : "a number >= 0";
    case OPT_K: return parse_integer(text, 0, most, &o->k) ? NULL : "a number >= 0";
    case OPT_NB:
        return parse_integer(text, 0, INT32_MAX, &o->nb) ? NULL : "a number from 0 to 2147483647";
    case OPT_NRHS: return parse_integer(text, 0, most, &o->nrhs) ? NULL : "a number >= 0";
    case OPT_RUNS: return parse_integer(text, 1, most, &o->runs) ? NULL : "a number >= 1";
    case OPT_SEED:
        return parse_integer(text, INT64_MIN, INT64_MAX, &o->seed) ? NULL : "a 64-bit integer";
    case OPT_LOOKAHEAD:
        if (!parse_integer(text, 0, INT32_MAX, &o->product.steps))
            return "a number from 0 to 2147483647";
        o->product.steps++;
        return NULL;
    case OPT_INNER:
        return parse_integer(text, 1, INT32_MAX, &o->product.inner)
                   ? NULL : "a number from 1 to 2147483647";
    case OPT_GPUS: return parse_int(text, 0, 16, &o->gpus) ? NULL : "a number from 0 to 16";
    default: return parse_int(text, 1, 1024, &o->threads) ? NULL : "a number from 1 to 1024";
    }
}

static bool parse_predict(options *o, const char *text)
{
    char ranks[16];
    size_t length = strcspn(text, ",");
    if (length >= sizeof(ranks) || (text[length] == ',' && text[length + 1] == '\0'))
        return false;
    memcpy(ranks, text, length);
    ranks[length] = '\0';
    o->machine = text[length] == ',' ? text + length + 1 : NULL;
    return parse_integer(ranks, 1, 1 << 24, &o->predict);
}

/* Two lengths that grow. */
static bool parse_sample(options *o, const char *text)
{
    const int64_t most = (int64_t)1 << 40;
    char *comma;
    errno = 0;
    o->sample[0] = strtoll(text, &comma, 10);
    return errno == 0 && comma != text && *comma == ',' && o->sample[0] > 0 &&
           o->sample[0] < most && parse_integer(comma + 1, o->sample[0] + 1, most, &o->sample[1]);
}

/* As the setting `split` takes it, which is looked at closer where tiles are cut. */
static const char *set_split(options *o, const char *text)
{
    char *comma;
    o->split = text;
    if (strcmp(text, "none") == 0 || strcmp(text, "auto") == 0)
        return NULL;
    long long s = strtoll(text, &comma, 10);
    int64_t b;
    return *comma == ',' && s >= 0 && comma != text && parse_integer(comma + 1, 0, INT32_MAX, &b)
               ? NULL : "none, auto, or S,B such as 2,192";
}

/* As the setting takes it. */
static const char *set_out_of_core(options *o, const char *text)
{
    static const char *const words[] = {"graph", "program", "auto"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (is_word(text, words[i])) {
            o->out_of_core = words[i];
            return NULL;
        }
    return "graph, program or auto";
}

static const char *set_word(options *o, int id, const char *text)
{
    int word;
    switch (id) {
    case OPT_PREC:
        return text[0] != '\0' && text[1] == '\0' && dag_precision_parse(text[0], &o->prec)
                   ? NULL : "one of s, d, c, z";
    case OPT_METHOD:
        return parse_method(text, &o->product.method)
                   ? NULL : "auto, summa, hsumma, stationary-a or stationary-c";
    case OPT_LAYOUT:
        word = parse_word(text, "tile", "slab");
        o->layout = word == 1 ? DAG_LAYOUT_SLAB : DAG_LAYOUT_TILE;
        return word >= 0 ? NULL : "tile or slab";
    case OPT_UPLO:
        word = parse_word(text, "lower", "upper");
        o->uplo = word == 1 ? DAG_UPPER : DAG_LOWER;
        return word >= 0 ? NULL : "lower or upper";
    case OPT_SIDE:
        word = parse_word(text, "left", "right");
        o->side = word == 1 ? DAG_RIGHT : DAG_LEFT;
        return word >= 0 ? NULL : "left or right";
    case OPT_DIAG:
        word = parse_word(text, "nonunit", "unit");
        o->diag = word == 1 ? DAG_UNIT : DAG_NON_UNIT;
        return word >= 0 ? NULL : "nonunit or unit";
    case OPT_PIVOTING:
        return parse_pivoting(text, &o->pivoting) ? NULL : "partial, tournament or none";
    case OPT_CHECK_FINITE:
        word = parse_word(text, "yes", "no");
        o->check_finite = word == 0;
        return word >= 0 ? NULL : "yes or no";
    case OPT_RCOND:
        word = parse_word(text, "yes", "no");
        o->rcond = word == 0;
        return word >= 0 ? NULL : "yes or no";
    case OPT_TRANSA: return parse_trans(text, &o->transa) ? NULL : "n, t or c";
    case OPT_TRANSB: return parse_trans(text, &o->transb) ? NULL : "n, t or c";
    case OPT_PREDICT: return parse_predict(o, text) ? NULL : "a number of ranks, and a file behind a comma";
    case OPT_SAMPLE: return parse_sample(o, text) ? NULL : "two lengths, the second larger, such as 8000,16000";
    case OPT_SPLIT: return set_split(o, text);
    case OPT_OUT_OF_CORE: return set_out_of_core(o, text);
    case OPT_BCAST: o->bcast = text; return NULL; /* the setting knows the shapes */
    case OPT_MATGEN:
        o->matgen = text;
        return generate_knows(text) ? NULL : "a name of dag/matgen.h, such as hilbert";
    default: o->routine = text; return NULL;
    }
}

static const char *set_file(options *o, int id, const char *text)
{
    if (text[0] == '\0')
        return "the name of a file";
    switch (id) {
    case OPT_MATRIX: o->matrix = text; return NULL;
    case OPT_RHS: o->rhs = text; return NULL;
    case OPT_PIVOTS: o->pivots = text; return NULL;
    case OPT_TRIANGLE: o->triangle = text; return NULL;
    case OPT_TRACE: o->trace = text; return NULL;
    default: o->out = text; return NULL;
    }
}

const char *options_value(options *o, int id, const char *text)
{
    switch (id) {
    case OPT_M: case OPT_N: case OPT_K: case OPT_NB: case OPT_NRHS: case OPT_RUNS: case OPT_SEED:
    case OPT_LOOKAHEAD: case OPT_INNER: case OPT_GPUS: case OPT_THREADS:
        return set_number(o, id, text);
    case OPT_GRID:
        return parse_numbers(text, 2, (int *[]){&o->p, &o->q})
                   ? NULL : "a grid of the form PxQ, such as 2x3";
    case OPT_PRODUCT_GRID:
        return parse_numbers(text, 3, (int *[]){&o->product.p, &o->product.q, &o->product.layers})
                   ? NULL : "a grid of the form PxQxC, such as 2x2x2";
    case OPT_GROUPS:
        return parse_numbers(text, 2, (int *[]){&o->product.groups_p, &o->product.groups_q})
                   ? NULL : "a grid of groups of the form IxJ, such as 2x2";
    case OPT_MATRIX: case OPT_RHS: case OPT_PIVOTS: case OPT_TRIANGLE: case OPT_TRACE: case OPT_OUT:
        return set_file(o, id, text);
    default: return set_word(o, id, text);
    }
}
