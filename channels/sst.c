#include "loco/sst.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int sst_add_row(struct loco_sst *s, uint32_t node, struct loco_owned_var **row)
{
    char name[16];
    struct loco_owned_var *v = calloc(1, sizeof *v);

    if (!v)
        return -ENOMEM;
    snprintf(name, sizeof name, "ov%u", node);
    int rc = loco_owned_var_init(v, s->channel.mgr, &s->channel, name, node, s->members, s->size);
    if (rc)
        free(v);
    else
        __atomic_store_n(row, v, __ATOMIC_RELEASE); /* loco_sst_row may be reading it */
    return rc;
}

/* Adds a participant's row when it joins: only then is it known to take part. A participant that
 * comes back has a row already, and the owned_var takes it back by itself. */
static void sst_on_join(struct loco_channel *channel, uint32_t node)
{
    struct loco_sst *s = (struct loco_sst *)channel;
    int m = loco_channel_member(channel, node);
    int rc = s->rows[1 + m] ? 0 : sst_add_row(s, node, &s->rows[1 + m]);

    if (rc)
        loco_log(channel->mgr, LOCO_ERROR, "channel %s: no row for node %u: %s", channel->name,
                 node, strerror(-rc));
}

static const struct loco_channel_ops sst_ops = {.on_join = sst_on_join, .takes_back = true};

int loco_sst_init(struct loco_sst *s, struct loco_manager *manager,
                  const struct loco_channel *parent, const char *name, struct loco_members members,
                  size_t row_size)
{
    s->members = members;
    s->size = row_size;
    int rc = loco_channel_init(&s->channel, manager, parent, name, members, &sst_ops);
    if (rc)
        return rc;
    rc = -ENOMEM;
    s->rows = calloc(1 + s->channel.member_count, sizeof(struct loco_owned_var *));
    if (!s->rows)
        goto fini_channel;
    rc = sst_add_row(s, manager->id, &s->rows[0]);
    if (rc)
        goto free_rows;
    s->mine = s->rows[0];
    loco_channel_join(&s->channel);
    return 0;

free_rows:
    free(s->rows);
fini_channel:
    loco_channel_fini(&s->channel);
    return rc;
}

void loco_sst_fini(struct loco_sst *s)
{
    unsigned last = s->channel.member_count;

    if (!s->channel.mgr)
        return;
    loco_channel_fini(&s->channel); /* no row is added any more */
    for (unsigned i = 0; i <= last; i++) {
        if (s->rows[i])
            loco_owned_var_fini(s->rows[i]);
        free(s->rows[i]);
    }
    free(s->rows);
    *s = (struct loco_sst){0};
}

struct loco_owned_var *loco_sst_row(const struct loco_sst *s, uint32_t node)
{
    if (node == s->channel.mgr->id)
        return s->mine;
    int m = loco_channel_member(&s->channel, node);
    return m < 0 ? NULL : __atomic_load_n(&s->rows[1 + m], __ATOMIC_ACQUIRE);
}
