/* Part of test_kernels.inc.c: inverses of triangles and their products with themselves. */

/* The inverse times the triangle is near the identity, element by element. */
static void LOCAL(trtri)(void)
{
    for (int in = 0; in < SIZE_COUNT; in++)
        for (int which = 0; which < 8; which++) {
            int n = sizes[in];
            /* from the left, not transposed */
            LOCAL(triangular) t = LOCAL(triangular_case)(n, n, which << 1 & 6, 0);
            dag_region region = t.diag == DAG_NON_UNIT ? dag_uplo_region(t.uplo)
                                : t.uplo == DAG_LOWER ? DAG_REGION_LOWER_STRICT : DAG_REGION_UPPER_STRICT;
            FN(trtri)(t.uplo, t.diag, n, t.a.a, t.a.ld);
            LOCAL(check_untouched)(&t.a, region, "trtri");
            ref_matrix x = ref_triangle(LOCAL(to_ref)(&t.a), t.uplo, t.diag), one = ref_new(n, n);
            for (int i = 0; i < n; i++)
                *ref_at(one, i, i) = 1;
            bool left = which & 4;
            ref_matrix first = left ? x : t.op_a, second = left ? t.op_a : x;
            ref_matrix bound = ref_add(ref_mul(1, ref_abs(first), ref_abs(second)), 1, one);
            LOCAL(check_near)(n, ref_mul(1, first, second), one, bound, "trtri");
            ref_free_all();
        }
}

static void LOCAL(lauum)(void)
{
    for (int in = 0; in < SIZE_COUNT; in++)
        for (int u = 0; u < 2; u++)
            for (int padding = 0; padding < 3; padding++) {
                int n = sizes[in];
                dag_region region = dag_uplo_region(uplos[u]);
                LOCAL(tile) a = LOCAL(random_tile)(n, n, 1); /* in c and z its diagonal is not real */
                LOCAL(hide)(&a, region);
                ref_matrix f = ref_triangle(LOCAL(to_ref)(&a), uplos[u], DAG_NON_UNIT);
                ref_matrix g = ref_op(f, DAG_CONJ_TRANS);
                bool lower = uplos[u] == DAG_LOWER;
                FN(lauum)(uplos[u], n, a.a, a.ld);
                LOCAL(check)(&a, region, ref_mul(1, lower ? g : f, lower ? f : g),
                             ref_mul(1, ref_abs(lower ? g : f), ref_abs(lower ? f : g)), n, "lauum");
                ref_free_all();
            }
}
