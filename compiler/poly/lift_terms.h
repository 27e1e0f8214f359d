/* What the files that make terms share. */
#ifndef DAGCC_POLY_LIFT_TERMS_H
#define DAGCC_POLY_LIFT_TERMS_H

#include "poly.h"

/* Coefficients beyond it are taken for none. */
enum { LIFT_LARGEST = 1000000 };

/* lift_table.c: the parameter of a term; -1: there are too many. Takes its values. */
int lift_find_term(const poly *m, poly_term t);
void lift_free_values(poly_term *t);
/* A parameter for each term that there may be, of which nothing is known yet. */
void lift_add_places(poly *m);

/* lift_modulo.c: the coefficient that a variable has in all pieces; 0: there is none. */
long lift_coefficient(isl_pw_aff *pa, enum isl_dim_type type, int pos);
/* pa + c*x. Takes both. */
isl_pw_aff *lift_add_multiple(isl_pw_aff *pa, long c, isl_pw_aff *x);
/* of (kept) % by, a function of the parameters of the scope's class as `of` is; NULL: that is no sum of
 * multiples and few small numbers. */
isl_pw_aff *lift_modulo(const lift_scope *s, isl_pw_aff *of, int by);

#endif
