/* --same: two files as graphs over common names.
 *
 * Both files are lifted into one context of isl. The second file's names are replaced by those of
 * the first (renames); a class that is in both gets one tuple of the parameters that both have; a
 * parameter that only one of them has must have one value in every task, and is left out. An edge
 * then is a link between two nodes: a flow of a class, or a collection. Relays, which have no body
 * and hand on one flow, are composed away. Both sides of edges are compared: links as receivers say
 * them, and as senders do.
 */
#ifndef DAGCC_VERIFY_SAME_H
#define DAGCC_VERIFY_SAME_H

#include "report.h"

/* One pair of --rename; a class is NULL where the name is not of one class. */
typedef struct same_rename {
    const char *cls[2], *name[2];
} same_rename;

typedef enum same_kind { SAME_FLOW, SAME_MEMORY, SAME_NEW, SAME_ORDER } same_kind;

/* An end of a link. Names are interned: nodes are equal if their members are. */
typedef struct same_node {
    same_kind kind;
    const char *cls;            /* FLOW, ORDER */
    const char *name;           /* flow, collection */
    size_t arity;               /* collection */
} same_node;

typedef struct same_link {
    same_node from, to;
    isl_map *rel;               /* over common names, within both spaces and the facts */
    src_range where;
    unsigned region;            /* of a store: bits of dag_region; else all */
    const char *text;           /* NULL: exact. Else what the file says, in common names: equal
                                   texts are equal relations, whatever they are */
    src_range opaque_at;
    const char *why;
} same_link;

typedef struct same_links {
    same_link *items;
    size_t n, cap;
} same_links;

/* The two sides of edges. */
typedef enum same_view { SAME_RECEIVERS, SAME_SENDERS, SAME_VIEWS } same_view;

typedef struct same_file {
    const sema_info *sema;
    verify_model *m;
    const char *label;
    int number;                 /* 0 or 1 */
    bool *relay;                /* by class */
    isl_map **common;           /* by class: to the common tuple; NULL: it keeps its own */
    same_links views[SAME_VIEWS];
} same_file;

typedef struct same {
    same_file file[2];
    verify_model joint;         /* the parameters of both, for witnesses */
    isl_ctx *isl;
    arena *arena;
    names *names;
    diag *d;
    const verify_same_options *options;
    same_rename *renames;
    isl_set *facts;             /* what both files say of the parameters */
    bool wrong_names;           /* --rename names what is not there; reported */
    bool different;             /* reported */
    src_range doubt, other;     /* the first question that could not be decided, in both files */
    const char *why;            /* NULL: all were */
    struct same_finding *least; /* the smallest difference so far; in the arena */
} same;

/* ---- same_names.c ---------------------------------------------------------------------------- */

/* Reads the renames; false after a report. */
bool same_read_renames(same *s);
/* The common name of what is called `name` in the file, in class cls (NULL: everywhere). */
const char *same_name(const same *s, const same_file *f, const char *cls, const char *name);
/* The same of a parameter such as "A->mt". */
const char *same_param(const same *s, const same_file *f, const char *name);
/* Appends C or JDF text with its names replaced. */
void same_put_text(const same *s, const same_file *f, const char *cls, const char *str, text *out);
/* The class of the file that has this common name, or NULL. */
const verify_class *same_find_class(const same *s, const same_file *f, const char *common);

/* ---- same_links.c ---------------------------------------------------------------------------- */

void same_find_relays(const same *s, same_file *f);
/* map with the parameters called as in the first file, and within the facts. Takes map. */
isl_map *same_common_params(const same *s, const same_file *f, isl_map *map);
/* The tasks of a class as the file describes them, in common names. */
const char *same_space_text(const same *s, const same_file *f, const verify_class *c);
/* Fills f->views; relays are composed away. */
void same_make_links(same *s, same_file *f);
void same_free_links(same_file *f);
bool same_nodes_equal(const same_node *a, const same_node *b);

/* ---- same_compare.c -------------------------------------------------------------------------- */

/* Links of both files that have to be one relation. */
void same_compare(same *s, same_view view, const same_link *const *a, size_t n_a,
                  const same_link *const *b, size_t n_b, unsigned region);

/* ---- same_report.c --------------------------------------------------------------------------- */

/* A point that is in one file alone. `from` of tasks is of kind NEW. */
typedef struct same_finding {
    verify_witness w;
    same_view view;
    int in;                     /* the file that has it */
    same_node from, to;
    size_t n_from;              /* coordinates of the witness that are of `from` */
    unsigned region;
    const same_link *link;      /* of that file */
    uint64_t size;
} same_finding;

/* Notes the smallest point of `rest` (taken), which file `in` has alone in one of its links, if it
 * is smaller than what was found. */
void same_note(same *s, same_view view, int in, const same_link *const *links, size_t n,
               unsigned region, isl_map *rest);
/* A question cannot be decided. `other`: what stands against it, or none; why NULL: isl gave up. */
void same_doubt(same *s, src_range where, src_range other, const char *why);
/* Reports the smallest difference, if there is one. */
void same_report(same *s);

#endif
