#pragma dag graph
void nest(dag_matrix *A);
