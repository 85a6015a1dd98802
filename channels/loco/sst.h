/*
 * sst: a shared state table. Each participant owns one row, a register that it writes and
 * pushes; and reads, in its own memory, the rows of the others.
 *
 * An endpoint is a map from nodes to owned_vars. It begins with its own row, and adds a
 * peer's when that peer joins; so its shape follows the members that the endpoints name.
 * With each naming all, all see all. With one naming all and the others naming that one,
 * it is a star.
 *
 * A participant that restarts is taken back, and each row is what owned_var says of that: its own
 * is zero there and as it was elsewhere, until it pushes; the others' are zero there until they
 * push. It need not wait for that: loco_owned_var_read on the row gives the newest.
 *
 * Threads: one thread at a time stores and pushes the own row. Any thread may load.
 */
#ifndef LOCO_SST_H
#define LOCO_SST_H

#include "language.h"
#include "owned_var.h"

LOCO_DECLARATIONS

struct loco_sst {
    struct loco_channel channel;
    struct loco_members members;
    size_t size; /* of a row, bytes */
    struct loco_owned_var *mine;
    struct loco_owned_var **rows; /* mine, then by member index; NULL until that member joins */
    uint64_t room[2];
};

/* Constructs and joins; rows are zero at first. `members` stays valid while the endpoint
 * lives. Errors as of loco_channel_init. */
int loco_sst_init(struct loco_sst *sst, struct loco_manager *manager,
                  const struct loco_channel *parent, const char *name, struct loco_members members,
                  size_t row_size);
void loco_sst_fini(struct loco_sst *sst);

static inline void loco_sst_store_mine(struct loco_sst *sst, const void *value)
{
    loco_owned_var_store(sst->mine, value);
}

/* Writes the own row to every member that has connected. */
static inline struct loco_ack loco_sst_push_broadcast(struct loco_sst *sst)
{
    return loco_owned_var_push(sst->mine);
}

/* The row of `node`, or NULL: not a member, or not joined yet. */
struct loco_owned_var *loco_sst_row(const struct loco_sst *sst, uint32_t node);

/* For each row that is there, the own one first: a loop variable and a body. */
#define loco_sst_each(sst, row)                                                                    \
    for (unsigned row##_i = 0; row##_i <= (sst)->channel.member_count; row##_i++)                  \
        for (struct loco_owned_var *row = (sst)->rows[row##_i]; row; row = NULL)

LOCO_DECLARATIONS_END

#endif
