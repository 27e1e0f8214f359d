/**
 * @file outcore.h
 * Routines on matrices that no device has memory for, as programs for devices (dag/devprog.h).
 *
 * The matrices stay on the host. Blocks of the result are loaded one after the other, the
 * products that they need are added on a device, and they are stored. After P. Bogdanov,
 * *Heterogeneous computing and numerical libraries with OpenCL* (NIISI, 2012).
 * docs/design/outcore.md has the programs, and what they move.
 *
 * The matrices lie on one rank, which need not be the only one: the others have empty programs.
 * The entries of the library, such as dag_gemm(), run these programs where the setting
 * `out_of_core` says so.
 */
#ifndef DAG_OUTCORE_H
#define DAG_OUTCORE_H

#include <dag/devprog.h>
#include <dag/la.h>

DAG_C_BEGIN

/** How a program is cut; 0 and NULL leave the choice to it. */
typedef struct dag_outcore_options {
    /** Most rows and columns of a block; 0 = as takes least time with the device's memory,
     *  by estimate; of LU factors by a rule of their own. */
    int64_t block;
    /** 5; or 6: the next block of the result is loaded while this one is worked on. 0 = 6. A
     *  solve that keeps inverses has one more, and so has a Cholesky factor, for its workspace. */
    int registers;
    /** [dag_devices()], in any unit: the parts of devices; 0 = has none. NULL = as measured so far,
     *  alike where nothing was, and with the setting `reproducible`. */
    const double *speed;
} dag_outcore_options;

/**
 * The program of dag_gemm(): rows of C are divided over the devices. On all ranks, with the same
 * arguments.
 * @param[out] program  owned by the caller; the matrices outlive it. Set on success alone.
 * @return DAG_ERR_ARG with dag_message(); DAG_ERR_UNSUPPORTED: there is no device, or a matrix
 *         lies on several ranks, or is a part of one of which another part is used; DAG_ERR_NOMEM.
 */
dag_status dag_gemm_program(dag_context *ctx, dag_trans transa, dag_trans transb,
                            dag_dcomplex alpha, dag_matrix *A, dag_matrix *B, dag_dcomplex beta,
                            dag_matrix *C, const dag_outcore_options *options,
                            dag_devprog **program);

/**
 * The program of dag_trsm(): columns of B are divided over the devices, or its rows where A is on
 * the right. As dag_gemm_program(). A triangle that is stored alone has the layout of LAPACK; of
 * the other one what stands beside the diagonal is loaded, and not used.
 *
 * Accuracy: where one block of B has a triangle, that is not inverted. Where several have it,
 * squares of 64 on its diagonal may be inverted: the residual is that of substitution times the
 * condition | |T| |T^-1| | of the worst such square. Factorisations invert nothing.
 */
dag_status dag_trsm_program(dag_context *ctx, dag_side side, dag_uplo uplo, dag_trans trans,
                            dag_diag diag, dag_dcomplex alpha, dag_matrix *A, dag_matrix *B,
                            const dag_outcore_options *options, dag_devprog **program);

/**
 * The program of dag_potrf(): block rows are dealt out to the devices. As dag_trsm_program(); but
 * what stands beside the diagonal, in the other triangle, is stored as it was loaded.
 * dag_taskpool_info() of a taskpool that has ended is LAPACK's info.
 */
dag_status dag_potrf_program(dag_context *ctx, dag_uplo uplo, dag_matrix *A,
                             const dag_outcore_options *options, dag_devprog **program);

/**
 * The program of dag_getrf(): the host factors panels in place, while the devices update the next
 * block column, whose rows are divided over them. As dag_gemm_program(); A has the layout of
 * LAPACK (slab).
 * @param ipiv  min(m, n) items on the rank that A lies on: when a taskpool of the program has
 *              ended they are LAPACK's, from 1. They and `info` outlive the program's taskpools.
 * @param info  likewise; where U has a zero on its diagonal the factorisation is completed.
 */
dag_status dag_getrf_program(dag_context *ctx, dag_matrix *A, int64_t *ipiv, int64_t *info,
                             const dag_outcore_options *options, dag_devprog **program);

/** The program of dag_getrf_nopiv(), likewise. dag_taskpool_info() of a taskpool that has ended is
 * its info. */
dag_status dag_getrf_nopiv_program(dag_context *ctx, dag_matrix *A,
                                   const dag_outcore_options *options, dag_devprog **program);

DAG_C_END

#endif
