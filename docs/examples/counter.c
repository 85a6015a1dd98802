#include "counter.h"

int counter_init(struct counter *c, struct loco_manager *manager, const struct loco_channel *parent,
                 const char *name, struct loco_members members)
{
    c->part = 0;
    int rc = loco_channel_init(&c->channel, manager, parent, name, members, NULL);
    if (rc)
        return rc;
    rc = loco_sst_init(&c->parts, manager, &c->channel, "parts", members, sizeof c->part);
    if (rc) {
        loco_channel_fini(&c->channel);
        return rc;
    }
    loco_channel_join(&c->channel);
    return 0;
}

void counter_fini(struct counter *c)
{
    loco_sst_fini(&c->parts);
    loco_channel_fini(&c->channel);
}

void counter_add(struct counter *c, uint64_t amount)
{
    c->part += amount;
    loco_sst_store_mine(&c->parts, &c->part);
    atomic_thread_fence(memory_order_seq_cst); /* the others read it in memory */
}

/* Sums the parts. Each is read at some moment of the call, but not all at the same moment. */
static int collect(struct counter *c, uint64_t *sum)
{
    struct loco_ack all = {0};
    uint64_t part;

    loco_sst_each (&c->parts, row)
        if (row != c->parts.mine)
            all = loco_ack_union(all, loco_owned_var_pull(row));
    int rc = loco_ack_wait(&all, UINT64_MAX);
    if (rc)
        return rc;
    *sum = 0;
    loco_sst_each (&c->parts, row) {
        loco_owned_var_load(row, &part);
        *sum += part;
    }
    return 0;
}

/* Parts only grow. So if two sums are equal, no part changed from its first to its second reading,
 * and the sum was right at the moment between the two collects. */
int counter_sum(struct counter *c, uint64_t *sum)
{
    uint64_t before;
    int rc = collect(c, sum);

    do {
        before = *sum;
        if (!rc)
            rc = collect(c, sum);
    } while (!rc && *sum != before);
    return rc;
}
