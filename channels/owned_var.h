/*
 * owned_var: a single-writer, multi-reader register. The owner holds the one authoritative
 * copy; each reader holds a cached copy, brought up to date by the owner's push or by its
 * own pull.
 *
 * Atomicity is by size. A value of 1, 2, 4 or 8 bytes is one word and never torn. A longer
 * one carries a checksum of itself: a load that meets a half-written value sees that and
 * tries again.
 *
 * Who restarts is taken back. A reader that did begins at zero again, and has the value with the
 * owner's next push, or its own pull; it pulls if the owner pushes seldom. An owner that did also
 * begins at zero, while the readers keep what they have until it pushes; a value that it left
 * half-written is zero.
 *
 * Threads: one thread at a time stores and pushes. Any thread may load or pull.
 * Order: a reader that loads a value also sees everything that the owner placed (fenced)
 * before its push.
 */
#ifndef LOCO_OWNED_VAR_H
#define LOCO_OWNED_VAR_H

#include "channel.h"

struct loco_owned_var {
    struct loco_channel channel;
    struct loco_region *region; /* the value; above a word, then its checksum */
    size_t size;                /* of the value, bytes */
    uint32_t owner;
};

/*
 * Constructs and joins an endpoint of the variable owned by node `owner`, zero at first. At
 * the owner `readers` are the members; elsewhere the owner is the only one, and `readers` is
 * not looked at. Errors as of loco_channel_init.
 */
int loco_owned_var_init(struct loco_owned_var *var, struct loco_manager *manager,
                        const struct loco_channel *parent, const char *name, uint32_t owner,
                        struct loco_members readers, size_t size);
void loco_owned_var_fini(struct loco_owned_var *var);

/* The owner's: stores into its copy; nobody is told yet. Where the stored value and its
 * checksum are above LOCO_INLINE_MAX, the last push is done. */
void loco_owned_var_store(struct loco_owned_var *var, const void *value);

/* The owner's: writes its copy to every reader that has connected. */
struct loco_ack loco_owned_var_push(struct loco_owned_var *var);

/* A reader's: reads the owner's copy into its own. */
struct loco_ack loco_owned_var_pull(struct loco_owned_var *var);

/* Loads this node's copy. Returns 0, or -EAGAIN when it was torn LOCO_LOAD_TRIES times
 * over; *value is then a mixture. */
int loco_owned_var_load(const struct loco_owned_var *var, void *value);

enum { LOCO_LOAD_TRIES = 1000 };

#endif
