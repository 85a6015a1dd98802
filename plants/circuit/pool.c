#include "pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { POOL_BYTES = 32 << 20, POOL_LEAST = 8, POOL_MOST = 4096, BUCKETS = 1024, LINE = 64 };

static unsigned bucket_of(uint64_t key)
{
    return (unsigned)(key * 0x9e3779b97f4a7c15u >> 54);
}

int cir_pool_open(struct cir_pool *p, const struct cir_network *network,
                  const struct cir_probe *probes, unsigned probe_count, double period_s)
{
    *p = (struct cir_pool){0};
    int rc = cir_maker_open(&p->maker, network, probes, probe_count, period_s);
    if (rc)
        return rc;
    p->numbers_each = cir_configuration_numbers(&p->maker) + LINE / sizeof(double);
    p->numbers_each -= p->numbers_each % (LINE / sizeof(double));
    const size_t fit = POOL_BYTES / (p->numbers_each * sizeof(double));
    const unsigned devices = network->diode_count + network->gate_count;
    p->size = fit < POOL_LEAST ? POOL_LEAST : fit > POOL_MOST ? POOL_MOST : (unsigned)fit;
    if (devices < 12 && p->size > 1u << devices)
        p->size = (1u << devices) + 1;
    p->at = calloc(p->size, sizeof *p->at);
    p->next = calloc(p->size, sizeof *p->next);
    p->buckets = calloc(BUCKETS, sizeof *p->buckets);
    p->numbers = aligned_alloc(LINE, p->size * p->numbers_each * sizeof(double));
    if (p->at && p->next && p->buckets && p->numbers) {
        for (unsigned i = 0; i < BUCKETS; i++)
            p->buckets[i] = -1;
        return 0;
    }
    cir_pool_close(p);
    return -ENOMEM;
}

void cir_pool_close(struct cir_pool *p)
{
    cir_maker_close(&p->maker);
    free(p->at);
    free(p->next);
    free(p->buckets);
    free(p->numbers);
}

static void take_out(struct cir_pool *p, unsigned place)
{
    int *link = &p->buckets[bucket_of(p->at[place].key)];

    while (*link >= 0 && *link != (int)place)
        link = &p->next[*link];
    if (*link >= 0)
        *link = p->next[place];
}

const struct cir_configuration *cir_pool_get(struct cir_pool *p, uint64_t key,
                                             const struct cir_configuration *kept)
{
    int *first = &p->buckets[bucket_of(key)];

    for (int i = *first; i >= 0; i = p->next[i])
        if (p->at[i].key == key)
            return &p->at[i];
    unsigned place = p->count % p->size;
    if (p->count >= p->size && &p->at[place] == kept)
        place = ++p->count % p->size;
    if (p->count >= p->size)
        take_out(p, place);
    p->at[place].key = key;
    if (!cir_configure(&p->maker, &p->at[place], &p->numbers[place * p->numbers_each])) {
        p->at[place].key = ~(uint64_t)0; /* it is in no bucket */
        return NULL;
    }
    p->count++;
    p->next[place] = *first;
    *first = (int)place;
    return &p->at[place];
}

void cir_pool_fill(struct cir_pool *p)
{
    const struct cir_network *n = p->maker.network;
    const unsigned devices = n->diode_count + n->gate_count;

    if (devices > CIR_FILLED || 1u << devices >= p->size)
        return;
    for (uint64_t key = 0; key >> devices == 0; key++)
        cir_pool_get(p, key, NULL);
}
