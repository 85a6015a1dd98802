/* What the nodes of a run know, and nobody else should: docs/meeting.md. */
#ifndef HIL_SECRET_H
#define HIL_SECRET_H

#include <stddef.h>
#include <stdio.h>

#include "../../channels/loco/fabric/fabric.h"

enum { HIL_SECRET_LEAST = 16 };

/* The secret that was given to programs started by hand: HILOCO_SECRET, or the line of the file
 * that HILOCO_SECRET_FILE names, which only its owner, this user, may read. Where neither is set,
 * the one that this process was given before, or none. Children inherit neither. Returns 0, or
 * -EINVAL, having said why. */
int hil_secret_given(struct loco_secret *secret, FILE *messages);

/* A new one. Returns 0 or a negative errno. */
int hil_secret_new(unsigned char *bytes, size_t size);

#endif
