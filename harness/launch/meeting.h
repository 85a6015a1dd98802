/*
 * What a run's nodes must know to meet, and nobody else should: on shm a folder, and on every
 * fabric a secret.
 *
 * The nodes of one launcher have a folder and a secret of their own. Those that are started by hand
 * derive the same folder each, and are given a secret (secret.h).
 */
#ifndef HIL_MEETING_H
#define HIL_MEETING_H

#include <stddef.h>
#include <stdio.h>

#include "../../channels/loco/fabric/fabric.h"

enum {
    HIL_PLACE_SIZE = 92, /* of the folder's path: a socket's address is short */
};

/* Makes a folder that is nobody else's, and removes those whose makers were killed. Returns a
 * descriptor that holds the folder until this process and its children have closed it, or a
 * negative errno. */
int hil_meeting_make(char path[HIL_PLACE_SIZE]);

/* Removes the folder, and what killed nodes left there. */
void hil_meeting_remove(const char *path);

/* The folder of all who run the scenario of this name for this user, in this `job` (or ""), with
 * this secret. It is in a folder where only the user may make any; else in /tmp, where nobody else
 * can know its name beforehand if there is a secret. */
void hil_meeting_derive(char path[HIL_PLACE_SIZE], const char *name, const char *job,
                        struct loco_secret secret);

/* What to say of a folder that the fabric refused with this error. */
void hil_meeting_explain(char *text, size_t size, const char *path, int error);

/* Where processes that are started apart meet, and by what they know each other. */
struct hil_meeting {
    char place[HIL_PLACE_SIZE];
    struct loco_secret secret;
};

/* That of all who run the scenario of this name, in this `job`: in the folder `named`, or where
 * that is NULL in the one that they derive. Returns 0, or -EINVAL, having said why. */
int hil_meeting_of(struct hil_meeting *meeting, const char *named, const char *name,
                   const char *job, FILE *messages);

#endif
