/* The secret that the nodes of a run share, and that nobody else should know: docs/meeting.md. */
#ifndef HIL_SECRET_H
#define HIL_SECRET_H

#include <stddef.h>
#include <stdio.h>

#include "../../channels/loco/fabric/fabric.h"

enum { HIL_SECRET_LEAST = 16 };

/* Takes HILOCO_SECRET and HILOCO_SECRET_FILE out of the environment and keeps them, so that no
 * program which is started from now on inherits them. */
void hil_secret_hide(void);

/* Puts them back, if nobody got the secret: for a hiloco that this process becomes. */
void hil_secret_hand_on(void);

/* Gets the secret for programs started by hand: HILOCO_SECRET, or the line of the file that
 * HILOCO_SECRET_FILE names, which must belong to this user and be readable by nobody else. If
 * neither is set, it is the secret of an earlier call, or none. Hides both.
 * Returns 0, or -EINVAL after a message. */
int hil_secret_given(struct loco_secret *secret, FILE *messages);

/* Makes a new secret. Returns 0 or a negative errno. */
int hil_secret_new(unsigned char *bytes, size_t size);

#endif
