/*
 * insert.cpp - insert.c in C++, with types.
 *
 * What a body takes is all that is said of a kernel: how many tiles a task has, of what items, and which of them it
 * reads (in), writes (out), or both (inout). The compiler holds each call against that.
 */
#include <dag/config.h>
#include <dag/insert.hpp>
#include <dag/matrix.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace {

constexpr int64_t N = 300, NB = 32;

/* ---- kernels: what a task does with its tiles ------------------------------------------------- */

/* Arguments are copied when a task is inserted. */
struct step {
    int64_t k, last;
};

/* The indices of the first item of a tile. */
struct corner {
    int64_t i, j;
};

int fill(const corner &from, dag::out<double> a)
{
    for (int64_t j = 0; j < a.columns(); j++)
        for (int64_t i = 0; i < a.rows(); i++)
            a(i, j) = static_cast<double>(std::min(from.i + i, from.j + j) + 1);
    return 0;
}

int factor(const step &, dag::inout<double> a)
{
    for (int64_t j = 0; j < a.columns(); j++) {
        for (int64_t k = 0; k < j; k++)
            for (int64_t i = j; i < a.rows(); i++)
                a(i, j) -= a(i, k) * a(j, k);
        const double d = a(j, j);
        if (!(d > 0))
            return 1;
        for (int64_t i = j; i < a.rows(); i++)
            a(i, j) /= std::sqrt(d);
    }
    return 0;
}

int solve(const step &, dag::in<double> l, dag::inout<double> b)
{
    for (int64_t j = 0; j < b.columns(); j++) {
        for (int64_t k = 0; k < j; k++)
            for (int64_t i = 0; i < b.rows(); i++)
                b(i, j) -= b(i, k) * l(j, k);
        for (int64_t i = 0; i < b.rows(); i++)
            b(i, j) /= l(j, j);
    }
    return 0;
}

int update(const step &, dag::in<double> a, dag::in<double> b, dag::inout<double> c)
{
    for (int64_t j = 0; j < c.columns(); j++)
        for (int64_t k = 0; k < a.columns(); k++)
            for (int64_t i = 0; i < c.rows(); i++)
                c(i, j) -= a(i, k) * b(j, k);
    return 0;
}

/* A task names a tile once. */
int update_diagonal(const step &at, dag::in<double> a, dag::inout<double> c)
{
    return update(at, a, a, c);
}

/* What comes earlier on the way to the end goes first. */
int64_t by_step(const step &at)
{
    return at.last - at.k;
}

/* A task runs where the tile of the number behind the body lives, 0 if there is none. */
constexpr dag::kernel<fill> Fill("fill");
constexpr auto Factor = dag::kernel<factor>("factor").priority<by_step>();
constexpr auto Solve = dag::kernel<solve, 1>("solve").priority<by_step>();
constexpr auto Update = dag::kernel<update, 2>("update").priority<by_step>();
constexpr auto Diagonal = dag::kernel<update_diagonal, 1>("update_diagonal").priority<by_step>();

/* ---- the sequential program ------------------------------------------------------------------ */

/* A call fails where it makes no sense. What goes wrong in a body, dag_wait() tells. */
dag_status cholesky(dag_taskpool *pool, const dag::collection<double> &A, int64_t nt)
{
    dag_status s = DAG_SUCCESS;
    for (int64_t j = 0; j < nt && !s; j++)
        for (int64_t i = j; i < nt && !s; i++)
            s = Fill(pool, {i * NB, j * NB}, A(i, j));
    for (int64_t k = 0; k < nt && !s; k++) {
        s = Factor(pool, {k, nt}, A(k, k));
        for (int64_t i = k + 1; i < nt && !s; i++)
            s = Solve(pool, {k, nt}, A(k, k), A(i, k));
        for (int64_t j = k + 1; j < nt && !s; j++) {
            s = Diagonal(pool, {k, nt}, A(j, k), A(j, j));
            for (int64_t i = j + 1; i < nt && !s; i++)
                s = Update(pool, {k, nt}, A(i, k), A(j, k), A(i, j));
        }
        /* Nobody needs this column any more: copies on other ranks may go. */
        for (int64_t i = k; i < nt && !s; i++)
            s = dag::release(pool, A(i, k));
    }
    return s;
}

dag_status look(dag_matrix *, int64_t i, int64_t j, const dag_element *e, void *wrong)
{
    for (int64_t c = 0; c < e->shape.n; c++)
        for (int64_t r = i == j ? c : 0; r < e->shape.m; r++)
            *static_cast<int *>(wrong) += static_cast<const double *>(e->ptr)[r + c * e->ld] != 1;
    return DAG_SUCCESS;
}

} // namespace

int main()
{
    dag_context *ctx;
    dag_matrix *m = nullptr;
    dag_taskpool *pool = nullptr;
    int wrong = 0;
    char why[256];
    if (dag_init(&ctx, nullptr, why, sizeof why) != DAG_SUCCESS) {
        std::fprintf(stderr, "%s\n", why);
        return 1;
    }
    dag_matrix_desc desc{};
    desc.prec = DAG_D;
    desc.m = desc.n = N;
    desc.mb = desc.nb = NB;
    desc.uplo = DAG_LOWER;
    dag_status s = dag_matrix_new(ctx, &desc, &m);
    if (s == DAG_SUCCESS) {
        const dag::collection<double> A(m->super);
        s = dag::begin(ctx, "cholesky", {A}, {Fill, Factor, Solve, Update, Diagonal}, &pool);
        if (s == DAG_SUCCESS) {
            s = cholesky(pool, A, m->nt);
            const dag_status ended = dag_insert_end(pool), ran = dag_wait(pool);
            s = s != DAG_SUCCESS ? s : ended != DAG_SUCCESS ? ended : ran;
            dag_taskpool_free(pool);
        }
    }
    if (s == DAG_SUCCESS)
        s = dag_matrix_each_local(m, look, &wrong);
    if (s != DAG_SUCCESS)
        std::fprintf(stderr, "insert: %s\n", dag_message(ctx));
    else
        std::printf("rank %d: %s\n", dag_rank(ctx), wrong ? "WRONG" : "all of L is 1");
    dag_matrix_free(m);
    dag_fini(ctx);
    return s != DAG_SUCCESS || wrong;
}
