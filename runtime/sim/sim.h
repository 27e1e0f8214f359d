/*
 * Simulated runs: the process plays all ranks of a job on a machine that a description stands for
 * (machine.h), in an order that simulated time decides. main() runs once, as rank 0, and what it calls
 * comes here where ctx->simulated is set. docs/design/simulation.md says what is real and what is played.
 *
 * One thread. Tasks, their dependencies, their completion and who gets what are those of task/ and comm/;
 * the ports of tasks (task/port.h) lead here.
 */
#ifndef DAGI_SIM_H
#define DAGI_SIM_H

#include "../base/base.h"

#include <dag/progress.h>

/* Read the description and make the ranks; sets ctx->size, before workers are made. */
dag_status dagi_sim_init(dag_context *ctx, char *why, size_t size);
/* Fill the ports. There is one worker, which plays all. */
void dagi_sim_open(dag_context *ctx);
void dagi_sim_fini(dag_context *ctx);

/* Ranks really run: kernels compute nothing and let as much time pass as a description of the machine says,
 * times `stretch`. That may be simulated by what carries messages. Ended by dagi_sim_fini(). */
dag_status dagi_sim_time_kernels(dag_context *ctx, char *why, size_t size);
/* What they have passed so, not stretched. */
double dagi_sim_modelled_seconds(const dag_context *ctx);

/* The parts of dag_add() and the like in a simulated run, once their arguments have been checked. */
void dagi_sim_add(dag_taskpool *pool);
/* Play until the pool has ended; a stall ends it. */
void dagi_sim_wait(dag_taskpool *pool);
void dagi_sim_barrier(dag_context *ctx);

/* Tells what has been played so far. */
void dagi_sim_tell(const dag_context *ctx, dag_simulation *out);
/* Seconds at rank 0, in the application. */
double dagi_sim_seconds(const dag_context *ctx);
/* dag_latency(). */
double dagi_sim_message_seconds(const dag_context *ctx);
/* dag_bcast_way_get() */
void dagi_sim_way(const dag_context *ctx, size_t bytes, int ranks, dag_bcast_way *way);
/* dag_simulated_gemm() */
double dagi_sim_gemm_seconds(const dag_context *ctx, dag_precision prec, int64_t m, int64_t n, int64_t k);
/* dag_network_get() */
int dagi_sim_network(const dag_context *ctx, dag_network *network);
/* dag_overlap_at_end(); the sums are set by dagi_sim_fini(). */
void dagi_sim_overlap_wish(dag_context *ctx, int phases, dag_overlap_phase *of, void *arg, dag_overlap *sums);
/* The report of a run, to stderr. */
void dagi_sim_report(const dag_context *ctx);

#endif
