/*
 * A process that computes for a component, and talks with it in lines of text over a socket. It
 * ends with ours, however ours ends. What it prints on its standard output goes to our standard
 * error.
 */
#ifndef HIL_CHILD_H
#define HIL_CHILD_H

#include <stddef.h>

struct hil_child;

/* The number of the socket, in the child's environment. */
#define HIL_CHILD_SOCKET "HILOCO_FD"

/* Starts the program `argv[0]`, a path. Returns 0 or a negative errno. */
int hil_child_start(struct hil_child **child, char *const argv[]);

/* Sends text, which ends in '\n'. Returns 0 or a negative errno; -EPIPE: the child has ended. */
int hil_child_send(struct hil_child *child, const char *text, size_t length);

/*
 * The next line, without its end; it stays until the next call. Waits for it for so long at most,
 * or for ever (-1). Returns 0; -ETIMEDOUT; -EPIPE when the child has ended; -EMSGSIZE for a line
 * that is too long; or another negative errno.
 */
int hil_child_line(struct hil_child *child, char **line, int milliseconds);

/* In words how a child that has ended did: "it ended with status 3". */
void hil_child_ended(struct hil_child *child, char *text, size_t size);

/* Closes the socket, at which a child is to end, gives it a moment to do so, and kills it. */
void hil_child_stop(struct hil_child *child);

#endif
