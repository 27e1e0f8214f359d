/* Plans of products that were made before, and how rank 0's becomes that of all ranks. */
#include "plan.h"

#include <dag/la.h>

#include <math.h>
#include <pthread.h>
#include <string.h>

enum { KEPT = 64 };

/* Under `lock`. */
static struct kept {
    uint64_t hash; /* of the key, never 0; 0 = nothing is here */
    product_key key;
    dag_gemm_plan plan;
} kept[KEPT];
static unsigned next; /* who gives place, the oldest */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

product_key dagi_plan_key(const product_case *c, const dag_gemm_options *o)
{
    return (product_key){{(double)c->m, (double)c->n, (double)c->k, (double)c->mb, (double)c->nb, (double)c->kb,
                          c->a.down, c->a.across, c->a.turned, c->b.down, c->b.across, c->b.turned,
                          c->c.down, c->c.across, c->c.turned, c->ranks, c->workers, c->elem, c->complex,
                          (double)c->parts, c->a_stays, c->latency, c->rate, c->flops,
                          o->method, o->p, o->q, o->layers, (double)o->steps, o->groups_p, o->groups_q,
                          (double)o->inner, (double)o->memory, o->tune != 0, c->known}};
}

static uint64_t hash_of(const product_key *key)
{
    uint64_t hash = 0;
    for (int i = 0; i < DAGI_PLAN_KEY; i++) {
        uint64_t bits;
        memcpy(&bits, &key->of[i], sizeof(bits));
        hash = (hash ^ bits) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 32;
    }
    return hash | 1;
}

static bool same(const product_key *a, const product_key *b)
{
    for (int i = 0; i < DAGI_PLAN_KEY; i++)
        if (a->of[i] < b->of[i] || a->of[i] > b->of[i])
            return false;
    return true;
}

/* Where a plan is, or NULL. */
static struct kept *find(const product_key *key, uint64_t hash)
{
    for (int i = 0; i < KEPT; i++)
        if (kept[i].hash == hash && same(&kept[i].key, key))
            return &kept[i];
    return NULL;
}

bool dagi_plan_recall(const product_key *key, dag_gemm_plan *plan)
{
    uint64_t hash = hash_of(key);
    pthread_mutex_lock(&lock);
    const struct kept *at = find(key, hash);
    if (at != NULL)
        *plan = at->plan;
    pthread_mutex_unlock(&lock);
    return at != NULL;
}

void dagi_plan_remember(const product_key *key, const dag_gemm_plan *plan)
{
    uint64_t hash = hash_of(key);
    pthread_mutex_lock(&lock);
    struct kept *at = find(key, hash);
    *(at != NULL ? at : &kept[next++ % KEPT]) = (struct kept){hash, *key, *plan};
    pthread_mutex_unlock(&lock);
}

void dagi_plan_numbers(const dag_gemm_plan *p, int64_t numbers[DAGI_PLAN_NUMBERS])
{
    const int64_t all[DAGI_PLAN_NUMBERS] = {p->method, p->p, p->q, p->layers, p->steps, p->groups_p,
                                            p->groups_q, p->inner, p->sums};
    memcpy(numbers, all, sizeof(all));
}

void dagi_plan_first(dag_gemm_plan *plans, int count, const dag_gemm_plan *first)
{
    int64_t wanted[DAGI_PLAN_NUMBERS], here[DAGI_PLAN_NUMBERS];
    int at = 0;
    dagi_plan_numbers(first, wanted);
    for (; at < count - 1; at++) {
        dagi_plan_numbers(&plans[at], here);
        if (memcmp(here, wanted, sizeof(here)) == 0)
            break;
    }
    for (; at > 0; at--)
        plans[at] = plans[at - 1];
    plans[0] = *first;
}

dag_status dagi_plan_share(dag_context *ctx, dag_gemm_plan *p)
{
    enum { PREDICTED = 5, ALL = DAGI_PLAN_NUMBERS + PREDICTED };
    int64_t numbers[DAGI_PLAN_NUMBERS];
    double all[ALL];
    dagi_plan_numbers(p, numbers);
    const double predicted[PREDICTED] = {p->compute, p->exposed, p->received, p->memory, p->total};
    for (int i = 0; i < ALL; i++) {
        double mine = i < DAGI_PLAN_NUMBERS ? (double)numbers[i] : predicted[i - DAGI_PLAN_NUMBERS];
        all[i] = dag_rank(ctx) == 0 ? mine : -INFINITY;
    }
    dag_status status = dag_size(ctx) > 1 ? dag_allreduce(ctx, DAG_MAX, all, ALL) : DAG_SUCCESS;
    if (status == DAG_SUCCESS)
        *p = (dag_gemm_plan){.method = (dag_gemm_method)all[0], .p = (int)all[1], .q = (int)all[2],
                             .layers = (int)all[3], .steps = (int64_t)all[4], .groups_p = (int)all[5],
                             .groups_q = (int)all[6], .inner = (int64_t)all[7], .sums = (int64_t)all[8],
                             .compute = all[9], .exposed = all[10], .received = all[11],
                             .memory = all[12], .total = all[13]};
    return status;
}
