/*
 * sst: a shared state table. Each participant owns one row, a register that it stores and pushes.
 * It reads the other participants' rows in its own memory.
 *
 * An endpoint maps nodes to owned_vars. It begins with its own row, and adds a member's row when
 * that member joins. So the members that the endpoints name give the table its shape: if each names
 * all, all see all; if one names all and the others name that one, it is a star.
 *
 * A participant that restarts is taken back. Its own row is then zero at itself and unchanged
 * elsewhere, until it pushes. The other rows are zero at the participant until their owners push;
 * loco_owned_var_read on a row gets the owner's value at once.
 *
 * Threads: one thread at a time stores and pushes the node's own row. Any thread may load.
 */
#ifndef LOCO_SST_H
#define LOCO_SST_H

#include "fabric/language.h"
#include "owned_var.h"

LOCO_DECLARATIONS

struct loco_sst {
    struct loco_channel channel;
    struct loco_members members;
    size_t size; /* of a row, bytes */
    struct loco_owned_var *mine;
    struct loco_owned_var **rows; /* first mine, then by member index; NULL until it joins */
    uint64_t room[2];
};

/* Constructs and joins. A row has `row_size` bytes and is zero at first. The nodes of `members`
 * must stay valid while the endpoint lives. Returns 0 or an error of loco_channel_init. */
int loco_sst_init(struct loco_sst *sst, struct loco_manager *manager,
                  const struct loco_channel *parent, const char *name, struct loco_members members,
                  size_t row_size);
void loco_sst_fini(struct loco_sst *sst);

/* Stores the own row, without telling the others: loco_owned_var_store. */
static inline void loco_sst_store_mine(struct loco_sst *sst, const void *value)
{
    loco_owned_var_store(sst->mine, value);
}

/* Writes the own row to every member that has connected: loco_owned_var_push. */
static inline struct loco_ack loco_sst_push_broadcast(struct loco_sst *sst)
{
    return loco_owned_var_push(sst->mine);
}

/* Returns the row of `node`; NULL when it is no member or has not joined yet. Any thread. */
struct loco_owned_var *loco_sst_row(const struct loco_sst *sst, uint32_t node);

/* loco_sst_each (sst, row) { ... } runs the body for each row that is there, the own row first. */
#define loco_sst_each(sst, row)                                                                    \
    for (unsigned row##_i = 0; row##_i <= (sst)->channel.member_count; row##_i++)                  \
        for (struct loco_owned_var *row = (sst)->rows[row##_i]; row; row = NULL)

LOCO_DECLARATIONS_END

#endif
