/* What choices know things of: places, links and classes of tasks. See choice.h. */
#include "choice_impl.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Guesses while nothing is known. */
#define LINK_RATE 1e10
#define LINK_LATENCY 1e-5

/* ---- life ----------------------------------------------------------------------------------- */

static int model_named(dagi_choice *c, const char *name)
{
    /* The cores are a model of their own, whatever a device is called. */
    for (int i = 1; i < c->nmodels; i++) {
        if (strcmp(c->model[i].name, name) == 0)
            return i;
    }
    dagi_model *made = &c->model[c->nmodels];
    made->name = strdup(name);
    atomic_store_explicit(&made->factor, 1, memory_order_relaxed);
    return made->name != NULL ? c->nmodels++ : -1;
}

void dagi_choice_slower(dagi_choice *c, double factor)
{
    c->slower = factor;
    for (int i = 0; i < c->nmodels * c->nmodels; i++) {
        atomic_store_explicit(&c->link[i].latency, LINK_LATENCY * factor, memory_order_relaxed);
        atomic_store_explicit(&c->link[i].rate, LINK_RATE / factor, memory_order_relaxed);
    }
}

dagi_choice *dagi_choice_new(const dagi_choice_place *places, int nplaces)
{
    assert(nplaces >= 1 && nplaces <= DAGI_MAX_SPACES);
    dagi_choice *c = calloc(1, sizeof(*c));
    if (c == NULL)
        return NULL;
    c->nplaces = nplaces;
    for (int i = 0; i < nplaces; i++) {
        c->model_of[i] = model_named(c, places[i].model);
        if (c->model_of[i] < 0) {
            dagi_choice_free(c);
            return NULL;
        }
    }
    c->link = calloc((size_t)c->nmodels * (size_t)c->nmodels, sizeof(*c->link));
    if (c->link == NULL) {
        dagi_choice_free(c);
        return NULL;
    }
    dagi_choice_slower(c, 1);
    return c;
}

static void free_class(dagi_choice_class *cls, int nmodels)
{
    for (int i = 0; cls->times != NULL && i < nmodels * DAGI_SIZES; i++)
        free(atomic_load_explicit(&cls->times[i], memory_order_relaxed));
    free(cls->times);
    free(cls->program);
    free(cls->name);
    free(cls);
}

void dagi_choice_free(dagi_choice *c)
{
    if (c == NULL)
        return;
    for (int i = 0; i < DAGI_CLASS_LISTS; i++) {
        dagi_choice_class *cls = atomic_load_explicit(&c->classes[i], memory_order_relaxed);
        while (cls != NULL) {
            dagi_choice_class *next = cls->next;
            free_class(cls, c->nmodels);
            cls = next;
        }
    }
    for (int i = 0; i < c->nmodels; i++)
        free(c->model[i].name);
    free(c->link);
    free(c);
}

/* ---- classes -------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, const char *text)
{
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return (hash ^ 0xff) * 0x100000001b3u;
}

static dagi_choice_class *find_class(dagi_choice_class *from, uint64_t hash, const char *program,
                                     dag_precision prec, const char *name)
{
    for (; from != NULL; from = from->next) {
        if (from->hash == hash && from->prec == prec && strcmp(from->name, name) == 0 &&
            strcmp(from->program, program) == 0)
            return from;
    }
    return NULL;
}

static dagi_choice_class *new_class(const dagi_choice *c, uint64_t hash, const char *program,
                                    dag_precision prec, const char *name)
{
    dagi_choice_class *cls = calloc(1, sizeof(*cls));
    if (cls == NULL)
        return NULL;
    cls->hash = hash;
    cls->prec = prec;
    cls->program = strdup(program);
    cls->name = strdup(name);
    cls->times = calloc((size_t)c->nmodels * DAGI_SIZES, sizeof(*cls->times));
    if (cls->program == NULL || cls->name == NULL || cls->times == NULL) {
        free_class(cls, c->nmodels);
        return NULL;
    }
    return cls;
}

dagi_choice_class *dagi_choice_class_of(dagi_choice *c, const char *program, dag_precision prec,
                                        const char *name)
{
    uint64_t hash = mix(mix(0xcbf29ce484222325u + (uint64_t)prec, program), name);
    _Atomic(dagi_choice_class *) *list = &c->classes[hash % DAGI_CLASS_LISTS];
    /* Acquire pairs with the release of whoever entered the class. */
    dagi_choice_class *first = atomic_load_explicit(list, memory_order_acquire);
    dagi_choice_class *found = find_class(first, hash, program, prec, name);
    if (found != NULL)
        return found;
    dagi_choice_class *made = new_class(c, hash, program, prec, name);
    if (made == NULL)
        return NULL;
    do {
        found = find_class(first, hash, program, prec, name);
        if (found != NULL) {
            free_class(made, c->nmodels);
            return found;
        }
        made->next = first;
    } while (!atomic_compare_exchange_weak_explicit(list, &first, made, memory_order_release,
                                                    memory_order_acquire));
    return made;
}
