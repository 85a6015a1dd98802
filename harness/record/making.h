/*
 * Makes the trace of a recorder from its journal, in the process that appends to the journal: by a
 * thread while rows come, and the rest when they are all there.
 */
#ifndef HIL_MAKING_H
#define HIL_MAKING_H

struct hil_recorder;

/* Starts a thread that makes the trace as rows come. If it cannot, or meets an error such as a full
 * disk, the trace is made at the end. */
void recorder_follow(struct hil_recorder *recorder);

/* The journal is complete: makes what is left of the trace, or all of it. Returns 0 or a negative
 * errno. */
int recorder_make(struct hil_recorder *recorder);

#endif
