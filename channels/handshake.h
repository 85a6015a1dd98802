/*
 * How an endpoint meets its members, by the messages of packet.h. Called with the manager's lock
 * held.
 */
#ifndef LOCO_HANDSHAKE_H
#define LOCO_HANDSHAKE_H

#include "loco/channel.h"

/* The endpoint of that full name; NULL: this node has none. */
struct loco_channel *loco_channel_find(const struct loco_manager *manager, const char *name);

/* From now on loco_manager_ready returns the error, until all channels that met one are ended. A
 * lost peer does not hide another error. */
void loco_channel_fail(struct loco_channel *channel, int error);

/* Whether this endpoint does not take the member back, should it restart. It takes a member that
 * was lost earlier: with that one it has nothing in common yet. */
bool loco_member_stays_lost(const struct loco_channel *channel, const struct loco_member *member);

/* Sends the member the endpoint's join. */
void loco_channel_send_join(struct loco_channel *channel, const struct loco_member *member);

#endif
