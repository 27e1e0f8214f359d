/*
 * dag/insert.hpp: a program with typed kernels gives what it should on any number of ranks; what a body throws, and
 * the line of a call, are reported. What does not compile, tests/consumer/typed.sh shows. Exit status 1 when a check
 * fails.
 */
#include <dag/config.h>
#include <dag/insert.hpp>
#include <dag/matrix.h>

#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

int failures;

#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            std::fprintf(stderr, "%s:%d: %s fails: ", __FILE__, __LINE__, #condition);             \
            std::fprintf(stderr, __VA_ARGS__);                                                     \
            std::fprintf(stderr, "\n");                                                            \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

enum { TILES = 6, NB = 3 };

struct number {
    double by;
};

/* ---- kernels ----------------------------------------------------------------------------------- */

int fill(const number &x, dag::out<double> a)
{
    for (int64_t j = 0; j < a.columns(); j++)
        for (int64_t i = 0; i < a.rows(); i++)
            a(i, j) = x.by;
    return 0;
}

int scale(dag_task *task, const number &x, dag::inout<double> a) noexcept
{
    for (int64_t j = 0; j < a.columns(); j++)
        for (int64_t i = 0; i < a.rows(); i++)
            a(i, j) *= x.by;
    return task == nullptr;
}

int add_scaled(const number &x, dag::in<double> a, dag::inout<double> b)
{
    for (int64_t j = 0; j < b.columns(); j++)
        for (int64_t i = 0; i < b.rows(); i++)
            b(i, j) += x.by * a(i, j);
    return 0;
}

int sum_all(const number &, dag::inout<double> into, dag::list<dag::in<double>> from)
{
    for (int k = 0; k < from.size(); k++)
        add_scaled({1}, from[k], into);
    return 0;
}

int contribute(const number &x, dag::in<double> a, dag::part<double> b)
{
    fill({0}, dag::out<double>(dag_tile_view{b.data(), b.ld(), b.rows(), b.columns()}));
    return add_scaled(x, a, dag::inout<double>(dag_tile_view{b.data(), b.ld(), b.rows(), b.columns()}));
}

void add(double *into, const double *from, std::size_t items)
{
    for (std::size_t k = 0; k < items; k++)
        into[k] += from[k];
}

/* What is above the diagonal, from below it. */
int mirror(const number &x, dag::in<double, DAG_REGION_LOWER> a, dag::out<double, DAG_REGION_UPPER_STRICT> b)
{
    for (int64_t j = 0; j < b.columns(); j++)
        for (int64_t i = 0; i < j; i++)
            b(i, j) = x.by * a(j, i);
    return 0;
}

double seen_here; /* there is one worker */

int witness(const number &x, dag::list<dag::in<double>> all)
{
    for (int k = 0; k < all.size(); k++)
        seen_here += x.by * all[k](0, 0);
    return 0;
}

int throws(const number &x, dag::inout<double>)
{
    if (x.by > 0)
        throw std::runtime_error("thrown on purpose");
    throw 7;
}

int64_t larger_first(const number &x)
{
    return static_cast<int64_t>(x.by);
}

constexpr dag::kernel<fill> Fill("fill");
constexpr auto Scale = dag::kernel<scale>("scale").priority<larger_first>();
constexpr dag::kernel<add_scaled, 1> Add("add_scaled");
constexpr dag::kernel<sum_all> Sum("sum_all");
constexpr dag::kernel<contribute, 0, add> Contribute("contribute");
constexpr dag::kernel<mirror, 1> Mirror("mirror");
constexpr dag::kernel<witness, dag::anywhere> Witness("witness");
constexpr dag::kernel<throws> Throws("throws");

/* ---- programs ---------------------------------------------------------------------------------- */

/* All items of a tile are the same: what they are, kept beside. */
void program(dag_context *ctx, dag_matrix *m)
{
    dag::collection<double> A(m->super);
    dag_taskpool *pool = nullptr;
    double is[TILES], expected = 0;
    CHECK(dag::begin(ctx, "typed", {A}, {Fill, Scale, Add, Sum, Contribute, Mirror, Witness}, &pool) == DAG_SUCCESS, "%s",
          dag_message(ctx));
    dag_status s = DAG_SUCCESS;
    for (int i = 0; i < TILES && !s; i++) {
        is[i] = i + 1;
        s = Fill(pool, {is[i]}, A(i, 0));
    }
    for (int i = 1; i < TILES && !s; i++) {
        s = Scale(pool, {2}, {A, i, 0});
        is[i] = is[i] * 2 + 3 * is[i - 1];
        s = s ? s : Add(pool, {3}, A(i - 1), A(i));
    }
    s = s ? s : Sum(pool, {0}, A(0), {A(1), A(4), A(5)});
    is[0] += is[1] + is[4] + is[5];
    const std::vector<dag::tile<double>> others{A(2), A(3)};
    s = s ? s : Sum(pool, {0}, A(1), others);
    is[1] += is[2] + is[3];
    for (int i = 1; i < TILES && !s; i++) {
        s = Contribute(pool, {0.5}, A(i), A(0));
        is[0] += 0.5 * is[i];
    }
    s = s ? s : Mirror(pool, {3}, A(3), A(4));
    for (int r = 0; r < dag_size(ctx) && !s; r++)
        s = Witness.on(r, pool, {2}, {A(0), A(5)});
    expected = 2 * (is[0] + is[5]);
    double buffer[NB * NB] = {};
    s = s ? s : dag::value(pool, A(0), buffer, NB * NB);
    CHECK(s == DAG_SUCCESS && buffer[NB] == is[0], "%s: %g, expected %g", dag_message(ctx), buffer[NB], is[0]);
    s = dag::value(pool, A(4), buffer, NB * NB);
    CHECK(s == DAG_SUCCESS && buffer[NB] == 3 * is[3] && buffer[1] == is[4] && buffer[0] == is[4],
          "%s: %g %g %g, expected %g and %g", dag_message(ctx), buffer[NB], buffer[1], buffer[0], 3 * is[3], is[4]);
    CHECK(dag::value(pool, A(0), buffer, NB) == DAG_ERR_ARG, "too little room");
    CHECK(dag::release(pool, A(0)) == DAG_SUCCESS, "%s", dag_message(ctx));
    CHECK(Scale(pool, {2}, A(0)) == DAG_ERR_ARG, "a tile that was released");
    CHECK(Sum(pool, {0}, A(1), std::vector<dag::tile<double>>(DAG_INSERT_MOST, A(2))) == DAG_ERR_ARG, "too many");
    CHECK(dag_insert_end(pool) == DAG_SUCCESS && dag_wait(pool) == DAG_SUCCESS, "%s", dag_message(ctx));
    CHECK(seen_here == expected, "%g, expected %g", seen_here, expected);
    dag_taskpool_free(pool);
}

/* On all ranks alike. */
void fails(dag_context *ctx, dag_matrix *m, double how, const char *what)
{
    dag::collection<double> A(m->super);
    dag_taskpool *pool = nullptr;
    CHECK(dag::begin(ctx, "fails", {A}, {Throws}, &pool) == DAG_SUCCESS, "%s", dag_message(ctx));
    const std::string line = std::string("throws(#0, ") + __FILE__ + ":" + std::to_string(__LINE__ + 1) + ")";
    CHECK(Throws(pool, {how}, A(TILES - 1)) == DAG_SUCCESS, "%s", dag_message(ctx));
    CHECK(dag_insert_end(pool) == DAG_SUCCESS, "%s", dag_message(ctx));
    CHECK(dag_wait(pool) == DAG_ERR_TASK, "%s", dag_message(ctx));
    CHECK(std::strstr(dag_message(ctx), line.c_str()) && std::strstr(dag_message(ctx), what),
          "\"%s\", expected %s and \"%s\"", dag_message(ctx), line.c_str(), what);
    dag_taskpool_free(pool);
}

void other_items(dag_context *ctx, dag_matrix *m)
{
    dag::collection<float> A(m->super);
    dag_taskpool *pool = nullptr;
    CHECK(dag::begin(ctx, "items", {A}, {Fill}, &pool) == DAG_ERR_ARG, "items of another size");
    CHECK(std::strstr(dag_message(ctx), "have 8 bytes, not 4"), "%s", dag_message(ctx));
}

} // namespace

int main()
{
    dag_context *ctx;
    dag_matrix *m = nullptr;
    char why[256];
    if (dag_init(&ctx, nullptr, why, sizeof why) != DAG_SUCCESS) {
        std::fprintf(stderr, "%s\n", why);
        return 1;
    }
    dag_matrix_desc desc{};
    desc.prec = DAG_D;
    desc.m = TILES * NB;
    desc.n = NB;
    desc.mb = desc.nb = NB;
    desc.p = dag_size(ctx);
    desc.q = 1;
    CHECK(dag_matrix_new(ctx, &desc, &m) == DAG_SUCCESS, "%s", dag_message(ctx));
    program(ctx, m);
    fails(ctx, m, 1, "thrown on purpose");
    fails(ctx, m, 0, "none of the standard library's");
    other_items(ctx, m);
    dag_matrix_free(m);
    CHECK(dag_fini(ctx) == DAG_SUCCESS, "dag_fini");
    return failures > 0;
}
