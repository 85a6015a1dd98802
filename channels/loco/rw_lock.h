/*
 * rw_lock: any number of readers, or one writer, among all threads of all participants. It is
 * Brandenburg and Anderson's phase-fair lock over network memory: a reader waits for one writer at
 * most, and a writer for the readers that came before it. Writers are served in the order in which
 * they came. Neither starves the other.
 *
 * Its words are at the lock's host. A free lock costs a reader one round trip to acquire and none
 * to release; and a writer four, since it takes a ticket, waits for its turn, shuts out new readers
 * and looks whether the old ones have left. Who waits looks at the host again and again.
 *
 * A loss of any participant ends the lock: whoever waits, and all later calls but a release, return
 * -ECONNRESET, also at participants that have not lost it themselves. A participant that restarts
 * is not taken back: all participants end their endpoints and construct the lock again.
 *
 * Threads: any attached thread; the thread that acquired a lock releases it. Not recursive: a
 * reader that reads again waits for a writer that waits for it.
 * Order: what a writer wrote before its release, as far as the release's fence covers it, is
 * visible to every later reader and writer. What a reader reads is done before it releases: it
 * waits for the acks of its reads.
 */
#ifndef LOCO_RW_LOCK_H
#define LOCO_RW_LOCK_H

#include "atomic_var.h"
#include "fabric/language.h"
#include "fence.h"

LOCO_DECLARATIONS

struct loco_rw_lock {
    struct loco_atomic_array words;
    uint32_t host;
    uint64_t room[3];
};

/* Constructs and joins. Every participant names all the others as `members`, and the same `host`,
 * which is one of the participants. Returns 0 or an error of loco_channel_init; -EINVAL also when
 * `host` is no node. At most 65,535 writers may wait at a time. */
int loco_rw_lock_init(struct loco_rw_lock *lock, struct loco_manager *manager,
                      const struct loco_channel *parent, const char *name, uint32_t host,
                      struct loco_members members);
void loco_rw_lock_fini(struct loco_rw_lock *lock);

/* Wait for the lock, without a limit. Return 0; -ECONNRESET once a participant was lost; or an
 * error of loco_atomic_fetch_add. After an error the lock is not held. */
int loco_rw_lock_read(struct loco_rw_lock *lock);
int loco_rw_lock_write(struct loco_rw_lock *lock);

/* Take the lock if they can at once. Return 0, -EBUSY, or an error as above. Over a network they
 * wait for the host's answers. */
int loco_rw_lock_try_read(struct loco_rw_lock *lock);
int loco_rw_lock_try_write(struct loco_rw_lock *lock);

/* Try until they succeed, for at most `timeout_ns`. Return 0, -ETIMEDOUT, or an error as above.
 * They have no place among those that wait. They try at least once; if a host across the network
 * does not answer a look, they give up 10 ms after their time is over. A claim that is under way is
 * waited for until the host answers or is lost. */
int loco_rw_lock_read_timed(struct loco_rw_lock *lock, uint64_t timeout_ns);
int loco_rw_lock_write_timed(struct loco_rw_lock *lock, uint64_t timeout_ns);

/* Releases what a reader holds. Returns 0 or an error; the lock is released also then, except after
 * -EPERM. */
int loco_rw_lock_release_read(struct loco_rw_lock *lock);

/* Releases what a writer holds. `fence` says which writes later holders will see, as with
 * loco_ticket_lock_release; LOCO_FENCE_PAIR, for writes to the lock's host, waits for nothing.
 * Returns 0, or the first error of the fence or of the release; the lock is released also then,
 * except after -EPERM. The timed call waits for its fence for at most `timeout_ns`; after
 * -ETIMEDOUT the lock is still held. */
int loco_rw_lock_release_write(struct loco_rw_lock *lock, enum loco_fence fence);
int loco_rw_lock_release_write_timed(struct loco_rw_lock *lock, enum loco_fence fence,
                                     uint64_t timeout_ns);

LOCO_DECLARATIONS_END

#endif
