/* Exchanges of rows in one precision: items are moved whatever they are. */
void FN(dev_laswp)(dag_device_queue *queue, const dag_device_exchanges *e, int m, int n, elem_t *A,
                    int lda, void *work)
{
    swap(queue, e, &(dagi_cuda_rows){A, m, n, lda, sizeof(elem_t)}, work);
}

void FN(dev_pick_rows)(dag_device_queue *queue, const dag_device_exchanges *e, int m, int n,
                        const elem_t *C, int ldc, elem_t *W, void *work)
{
    pick(queue, e, &(dagi_cuda_rows){(elem_t *)(uintptr_t)C, m, n, ldc, sizeof(elem_t)},
         &(dagi_cuda_rows){W, 2 * e->nb, n, 2 * e->nb, sizeof(elem_t)}, work);
}

void FN(dev_put_rows)(dag_device_queue *queue, const dag_device_exchanges *e, int m, int n,
                       const elem_t *W, elem_t *C, int ldc, void *work)
{
    put(queue, e, &(dagi_cuda_rows){(elem_t *)(uintptr_t)W, 2 * e->nb, n, 2 * e->nb, sizeof(elem_t)},
        &(dagi_cuda_rows){C, m, n, ldc, sizeof(elem_t)}, work);
}
