/*
 * The place and the secret with which the nodes of a run meet, and which nobody else should know:
 * on shm a folder, and on every fabric a secret.
 *
 * The nodes of one launcher have a folder and a secret of their own. Nodes that are started by hand
 * all derive the same folder, and are given a secret (secret.h).
 */
#ifndef HIL_MEETING_H
#define HIL_MEETING_H

#include <stddef.h>
#include <stdio.h>

#include "../../channels/loco/fabric/fabric.h"

enum {
    HIL_PLACE_SIZE = 92, /* of the folder's path, because a socket's address is short */
};

/* Makes a new folder, and removes folders whose makers were killed. Returns a descriptor that holds
 * the folder until this process and its children have closed it, or a negative errno. */
int hil_meeting_make(char path[HIL_PLACE_SIZE]);

/* Removes the folder, including files left by killed nodes. */
void hil_meeting_remove(const char *path);

/* Derives the folder for everyone who runs the scenario of this name as this user, in this `job`
 * (or ""), with this secret. It lies in a folder to which only the user may write; otherwise in
 * /tmp, where a secret keeps others from predicting its name. */
void hil_meeting_derive(char path[HIL_PLACE_SIZE], const char *name, const char *job,
                        struct loco_secret secret);

/* Where separately started processes meet, and the secret by which they recognize each other. */
struct hil_meeting {
    char place[HIL_PLACE_SIZE];
    struct loco_secret secret;
};

/* The meeting of everyone who runs the scenario of this name in this `job`: in the folder `named`,
 * or in the derived folder if that is NULL. Returns 0, or -EINVAL after a message. */
int hil_meeting_of(struct hil_meeting *meeting, const char *named, const char *name,
                   const char *job, FILE *messages);

#endif
