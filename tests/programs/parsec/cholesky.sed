# What was to be decided about the Cholesky factorisation.
# A square matrix; leading dimensions; the graph is made by cholesky_new(), the wrapper goes.
/^descA /i %assume descA->mt == descA->nt
s/\<\([ABCT]\), descA->mb/\1, \1_ld/g
/^parsec_taskpool_t/,/^}/d
/DECIDE:/d
