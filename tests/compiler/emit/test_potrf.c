/* The shipped Cholesky, both triangles and four precisions, against an unblocked one: on virtual
 * ranks in every grid, for sizes around multiples of the tile. */
#include "case.h"

#include <dag/kernels.h>
#include <dag/jdf.h>
#include <dag/matrix.h>
#include "potrf_L.h"
#include "potrf_U.h"

#include "serial_runtime.h"

#include <math.h>
#include <string.h>

#define DAG_TEMPLATE "test_potrf.inc.c"
#include <dag/each_precision.h>

int main(void)
{
    static const int grids[][2] = {{1, 1}, {1, 2}, {2, 1}, {2, 2}, {2, 3}, {3, 2}, {1, 6}};
    static const int sizes[] = {0, 1, 5, 8, 9, 31, 32, 40};
    dag_kernels_init(NULL);
    for (size_t g = 0; g < sizeof grids / sizeof *grids; g++) {
        int p = grids[g][0], q = grids[g][1];
        /* one rank more than the grid has: it owns nothing */
        serial_configure(p * q + (int)(g % 2), (unsigned)g + 1, 1 + (int)g);
        dag_context *context;
        dag_init(&context, NULL, NULL, 0);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (int upper = 0; upper < 2; upper++) {
                test_s(context, sizes[i], p, q, upper);
                test_d(context, sizes[i], p, q, upper);
                test_c(context, sizes[i], p, q, upper);
                test_z(context, sizes[i], p, q, upper);
            }
        indefinite_d(context, p, q);
        dag_fini(context);
    }
    return 0;
}
