/*
 * MPI datatypes of views. A contiguous view needs none; others are made once and kept in a small
 * set-associative cache, the one unused for longest giving way. MPI keeps a type that is freed here
 * alive until the transfers that use it are complete.
 *
 * All types are made of bytes, so what a sender packs fits any receiver whose view has the same
 * shape and region, whatever its ld.
 */
#include "mpi.h"

#include "../view.h"

#include <limits.h>
#include <stdlib.h>

#define GIGABYTE ((size_t)1 << 30)
#define SINK_BYTES 4096

/* A run of more bytes than an int can count; to be freed. */
static MPI_Datatype long_run(dagi_mpi *m, size_t bytes)
{
    if (!m->types.has_gigabyte++)
        MPI_Type_contiguous((int)GIGABYTE, MPI_BYTE, &m->types.gigabyte);
    int lengths[2] = {(int)(bytes / GIGABYTE), (int)(bytes % GIGABYTE)};
    MPI_Aint places[2] = {0, (MPI_Aint)(bytes / GIGABYTE * GIGABYTE)};
    MPI_Datatype types[2] = {m->types.gigabyte, MPI_BYTE}, run;
    MPI_Type_create_struct(2, lengths, places, types, &run);
    return run;
}

/* n runs of equal length, `stride` bytes apart. */
static MPI_Datatype make_strided(dagi_mpi *m, size_t n, size_t bytes, size_t stride)
{
    MPI_Datatype type;
    if (bytes <= INT_MAX) {
        MPI_Type_create_hvector((int)n, (int)bytes, (MPI_Aint)stride, MPI_BYTE, &type);
        return type;
    }
    MPI_Datatype run = long_run(m, bytes);
    MPI_Type_create_hvector((int)n, 1, (MPI_Aint)stride, run, &type);
    MPI_Type_free(&run);
    return type;
}

/* A triangle: one run per column. Columns of triangles are short: n x n items must fit memory. */
static MPI_Datatype make_columns(const dagi_view *v)
{
    MPI_Datatype type;
    int *lengths = dagi_mpi_alloc((size_t)v->n * sizeof *lengths);
    MPI_Aint *places = dagi_mpi_alloc((size_t)v->n * sizeof *places);
    int runs = 0;
    for (int64_t j = 0; j < v->n; j++) {
        int64_t first, count;
        dagi_view_column(v, j, &first, &count);
        if (count == 0)
            continue;
        lengths[runs] = (int)((size_t)count * v->elem);
        places[runs++] = (MPI_Aint)(((size_t)first + (size_t)j * (size_t)v->ld) * v->elem);
    }
    MPI_Type_create_hindexed(runs, lengths, places, MPI_BYTE, &type);
    free(lengths);
    free(places);
    return type;
}

/* Nowhere: every run of a few KiB goes to the same place. Overlapping runs are not what the
 * standard wants of a receive, but what lands there is never looked at, and it is the one way to
 * take a message that there is no memory for. */
static MPI_Datatype make_sink(dagi_mpi *m, size_t bytes)
{
    if (!m->sink)
        m->sink = dagi_mpi_alloc(SINK_BYTES);
    MPI_Datatype whole, type;
    size_t runs = bytes / SINK_BYTES, rest = bytes % SINK_BYTES;
    MPI_Type_create_hvector((int)runs, SINK_BYTES, 0, MPI_BYTE, &whole);
    int lengths[2] = {1, (int)rest};
    MPI_Aint places[2] = {0, 0};
    MPI_Datatype types[2] = {whole, MPI_BYTE};
    MPI_Type_create_struct(2, lengths, places, types, &type);
    MPI_Type_free(&whole);
    return type;
}

static MPI_Datatype make(dagi_mpi *m, const dagi_view *v)
{
    MPI_Datatype type;
    size_t bytes = dagi_view_bytes(v);
    if (!v->ptr)
        type = make_sink(m, bytes);
    else if (dagi_view_is_contiguous(v))
        type = long_run(m, bytes);
    else if (dagi_view_is_whole(v))
        type = make_strided(m, (size_t)v->n, (size_t)v->m * v->elem, (size_t)v->ld * v->elem);
    else
        type = make_columns(v);
    MPI_Type_commit(&type);
    return type;
}

static size_t hash_of(const dagi_view *v)
{
    uint64_t h = (uint64_t)v->m;
    h = h * 0x9e3779b97f4a7c15u + (uint64_t)v->n;
    h = h * 0x9e3779b97f4a7c15u + (uint64_t)v->ld;
    h = h * 0x9e3779b97f4a7c15u + v->elem * 16 + (uint64_t)v->region * 2 + !v->ptr;
    h *= 0x9e3779b97f4a7c15u;
    return (size_t)(h >> 32) % DAGI_TYPE_SETS;
}

/* Is it of no account what is there, so that any bytes will do? */
static bool is_nowhere(const dagi_engine *e, const char *at)
{
    return e->nowhere && at >= e->nowhere && at < e->nowhere + e->nowhere_bytes;
}

MPI_Datatype dagi_mpi_type(dagi_mpi *m, const dagi_view *v, int *count)
{
    bool flat = v->ptr && (dagi_view_is_contiguous(v) || is_nowhere(&m->super, v->ptr));
    size_t bytes = flat ? dagi_view_bytes(v) : SIZE_MAX;
    *count = 1;
    if (bytes <= INT_MAX) {
        *count = (int)bytes;
        return MPI_BYTE;
    }
    int region = (int)v->region * 2 + !v->ptr;
    dagi_type *set = &m->types.known[hash_of(v) * DAGI_TYPE_WAYS], *oldest = set;
    for (dagi_type *t = set; t < set + DAGI_TYPE_WAYS; t++) {
        if (t->used && t->m == v->m && t->n == v->n && t->ld == v->ld && t->elem == v->elem &&
            t->region == region) {
            t->used = ++m->types.clock;
            return t->type;
        }
        if (t->used < oldest->used)
            oldest = t;
    }
    if (oldest->used)
        MPI_Type_free(&oldest->type);
    *oldest = (dagi_type){v->m, v->n, v->ld, v->elem, region, ++m->types.clock, make(m, v)};
    return oldest->type;
}

void dagi_mpi_type_fini(dagi_mpi *m)
{
    for (size_t i = 0; i < sizeof m->types.known / sizeof *m->types.known; i++)
        if (m->types.known[i].used)
            MPI_Type_free(&m->types.known[i].type);
    if (m->types.has_gigabyte)
        MPI_Type_free(&m->types.gigabyte);
    free(m->sink);
}
