#pragma dag task inout(A)
void core(int A_n, double *A, int A_ld);
