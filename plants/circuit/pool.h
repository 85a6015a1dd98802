/*
 * The configurations that a component has met. Their number is bounded: when the pool is full, the
 * oldest makes room. Nothing allocates after the beginning.
 */
#ifndef HILOCO_CIRCUIT_POOL_H
#define HILOCO_CIRCUIT_POOL_H

#include "configuration.h"

struct cir_pool {
    struct cir_maker maker;
    struct cir_configuration *at;
    int *next;    /* of each configuration: the next in its bucket */
    int *buckets; /* the first in each */
    double *numbers;
    size_t numbers_each;
    unsigned size, count; /* `count` only grows: the next one to make takes place count % size */
};

/* Returns 0 or -ENOMEM. */
int cir_pool_open(struct cir_pool *pool, const struct cir_network *network,
                  const struct cir_probe *probes, unsigned probe_count, double period_s);
void cir_pool_close(struct cir_pool *pool);

/* The configuration of this key, made if need be; never in the place of `kept`. NULL: its network
 * is singular. */
const struct cir_configuration *cir_pool_get(struct cir_pool *pool, uint64_t key,
                                             const struct cir_configuration *kept);

/* Makes all configurations that there are, of a circuit with at most this many devices: then no
 * step has to. */
enum { CIR_FILLED = 8 };
void cir_pool_fill(struct cir_pool *pool);

#endif
