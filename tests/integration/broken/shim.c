/* An OpenBLAS that confirms what it is told and does as it likes. */
void openblas_set_num_threads(int n);
int openblas_get_num_threads(void);

void openblas_set_num_threads(int n)
{
    (void)n;
}

int openblas_get_num_threads(void)
{
    return 1;
}
