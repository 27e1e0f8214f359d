/*
 * The random numbers of the test matrices: a pure function of (seed, counter), so that any
 * process makes any element, in any order, without making others.
 */
#ifndef DAG_KERNELS_GEN_H
#define DAG_KERNELS_GEN_H

#include <stdint.h>

/* Scrambles 64 bits: a bijection in which every input bit affects every output bit. */
static inline uint64_t gen_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/*
 * Number `counter` of the sequence `key`, 64 random bits. The sequence is that of the SplitMix64
 * generator started in state `key`; multiplying by its odd increment keeps counters distinct.
 */
static inline uint64_t gen_bits(uint64_t key, uint64_t counter)
{
    return gen_mix(key + (counter + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

/* Uniform in [-0.5, 0.5): the top bits, as many as the type holds, so that none is rounded. */
static inline double gen_uniform_double(uint64_t bits)
{
    return (double)(bits >> 11) * 0x1p-53 - 0.5;
}

static inline float gen_uniform_float(uint64_t bits)
{
    return (float)(bits >> 40) * 0x1p-24f - 0.5f;
}

#endif
