/* Put in front of everything that is compiled for the oracle (-include): the oracle's functions, the
 * graphs and the collections get names of their own, so that both live in one program. */
#ifndef ORACLE_NAMES_H
#define ORACLE_NAMES_H

#define PROP_IS_ORACLE 1
#define PROP_NAME(name) PROP_ORACLE(name)

#define dag_add oracle_dag_add
#define dag_bind_memory oracle_dag_bind_memory
#define dag_bind_new oracle_dag_bind_new
#define dag_bind_new_like oracle_dag_bind_new_like
#define dag_bind_null oracle_dag_bind_null
#define dag_collection_init oracle_dag_collection_init
#define dag_error oracle_dag_error
#define dag_fini oracle_dag_fini
#define dag_globals_pool oracle_dag_globals_pool
#define dag_graph_error oracle_dag_graph_error
#define dag_init oracle_dag_init
#define dag_matrix_bytes oracle_dag_matrix_bytes
#define dag_matrix_each_local oracle_dag_matrix_each_local
#define dag_matrix_free oracle_dag_matrix_free
#define dag_matrix_is_local oracle_dag_matrix_is_local
#define dag_matrix_new oracle_dag_matrix_new
#define dag_matrix_tile oracle_dag_matrix_tile
#define dag_message oracle_dag_message
#define dag_pool_collection oracle_dag_pool_collection
#define dag_pool_globals oracle_dag_pool_globals
#define dag_pool_matrix oracle_dag_pool_matrix
#define dag_pool_new oracle_dag_pool_new
#define dag_pool_ready oracle_dag_pool_ready
#define dag_pool_require oracle_dag_pool_require
#define dag_pool_rounds oracle_dag_pool_rounds
#define dag_pool_scalar oracle_dag_pool_scalar
#define dag_rank oracle_dag_rank
#define dag_size oracle_dag_size
#define dag_start_task oracle_dag_start_task
#define dag_store oracle_dag_store
#define dag_task_context oracle_dag_task_context
#define dag_task_fail oracle_dag_task_fail
#define dag_task_info oracle_dag_task_info
#define dag_task_send_rows oracle_dag_task_send_rows
#define dag_task_worker oracle_dag_task_worker
#define dag_task_workspace oracle_dag_task_workspace
#define dag_taskpool_free oracle_dag_taskpool_free
#define dag_taskpool_info oracle_dag_taskpool_info
#define dag_test oracle_dag_test
#define dag_wait oracle_dag_wait
#define dag_workers oracle_dag_workers
#define dag_vector_new oracle_dag_vector_new
#define dag_vector_free oracle_dag_vector_free
#define prop_data_new oracle_prop_data_new
#define prop_data_free oracle_prop_data_free
#define prop_data_element oracle_prop_data_element
#define prop_data_args oracle_prop_data_args

/* The constructors of the graphs; written by gen.py. */
#include "oracle_files.h"

#endif
