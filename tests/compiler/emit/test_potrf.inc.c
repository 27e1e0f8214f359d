/* One precision of test_potrf.c. */
#define NAMED(name) DAG_PRECISION_CAT(name, DAG_PRECISION)
#define MAKE2(uplo, p) potrf_##uplo##_##p##_new
#define MAKE1(uplo, p) MAKE2(uplo, p)
#define MAKE(uplo) MAKE1(uplo, DAG_PRECISION)

static dag_matrix *NAMED(random_)(dag_context *context, int n, int p, int q, int upper)
{
    dag_matrix *a = NULL;
    dag_matrix_desc desc = {.prec = DAG_PREC, .m = n, .n = n, .mb = 8, .nb = 8, .p = p, .q = q,
                            .uplo = upper ? DAG_UPPER : DAG_LOWER};
    CHECK(dag_matrix_new(context, &desc, &a) == DAG_SUCCESS);
    for (int64_t j = 0; j < a->nt; j++)
        for (int64_t i = 0; i < a->mt; i++) {
            dag_element e;
            if (!dag_matrix_is_local(a, i, j))
                continue;
            CHECK(dag_matrix_tile(a, i, j, &e) == DAG_SUCCESS);
            FN(plghe)((real_t)n, (int)e.shape.m, (int)e.shape.n, e.ptr, (int)e.ld, n, i * 8,
                      j * 8, 42);
        }
    return a;
}

static void NAMED(test_)(dag_context *context, int n, int p, int q, int upper)
{
    dag_matrix *a = NAMED(random_)(context, n, p, q, upper);
    elem_t *want = malloc((size_t)(n * n + 1) * sizeof *want);
    FN(plghe)((real_t)n, n, n, want, n > 0 ? n : 1, n, 0, 0, 42);
    CHECK(FN(potrf)(upper ? DAG_UPPER : DAG_LOWER, n, want, n > 0 ? n : 1) == 0);
    dag_taskpool *pool = upper ? MAKE(U)(context, a) : MAKE(L)(context, a);
    run_expecting(context, pool, DAG_SUCCESS);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            dag_element e;
            if (upper ? i > j : i < j)
                continue;
            CHECK(dag_matrix_tile(a, i / 8, j / 8, &e) == DAG_SUCCESS);
            elem_t got = ((const elem_t *)e.ptr)[i % 8 + j % 8 * e.ld];
            CHECK(DAG_ABS(got - want[i + j * n]) <= 100 * DAG_EPS * (real_t)sqrt(n));
        }
    free(want);
    dag_matrix_free(a);
}

/* LAPACK's info, the order of the first minor that is not positive definite. */
static DAG_UNUSED void NAMED(indefinite_)(dag_context *context, int p, int q)
{
    for (int upper = 0; upper < 2; upper++) {
        dag_matrix *a = NAMED(random_)(context, 30, p, q, upper);
        dag_element e;
        CHECK(dag_matrix_tile(a, 2, 2, &e) == DAG_SUCCESS);
        ((elem_t *)e.ptr)[3 + 3 * e.ld] = -1;
        dag_taskpool *pool = upper ? MAKE(U)(context, a) : MAKE(L)(context, a);
        CHECK(dag_add(context, pool) == DAG_SUCCESS && dag_wait(pool) == DAG_SUCCESS);
        CHECK(dag_taskpool_info(pool) == 20);
        dag_taskpool_free(pool);
        dag_matrix_free(a);
    }
}

#undef NAMED
#undef MAKE
#undef MAKE1
#undef MAKE2
