// options: --kernels tile-names.h
#define A(i, j) addr(A, i, j)

#pragma dag graph
static void nest(dag_matrix *A)
{
    for (int k = 0; k < A->mt; k++)
        core(A->nb, A(k, 0), A->mb);
}
