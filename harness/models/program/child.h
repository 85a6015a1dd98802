/*
 * A child process that computes for a component, and talks to us in lines of text over a socket. It
 * ends when our process ends, for whatever reason. Its standard output goes to our standard error.
 */
#ifndef HIL_CHILD_H
#define HIL_CHILD_H

#include <stddef.h>

struct hil_child;

/* The environment variable with the child's number of the socket. */
#define HIL_CHILD_SOCKET "HILOCO_FD"

/* Starts the program `argv[0]`, a path, with `folder` as its current folder. Returns 0 or a
 * negative errno. */
int hil_child_start(struct hil_child **child, char *const argv[], const char *folder);

/* Sends text that ends in '\n'. Returns 0 or a negative errno; -EPIPE: the child has ended. */
int hil_child_send(struct hil_child *child, const char *text, size_t length);

/*
 * Reads the next line, without its end; it is valid until the next call. Waits for at most this
 * many milliseconds, or forever (-1). Returns 0; -ETIMEDOUT; -EPIPE when the child has ended;
 * -EMSGSIZE when the line is too long; or another negative errno.
 */
int hil_child_line(struct hil_child *child, char **line, int milliseconds);

/* Describes how the child ended: "it ended with status 3". */
void hil_child_ended(struct hil_child *child, char *text, size_t size);

/* Closes the socket, which tells the child to end, waits briefly, and then kills it. */
void hil_child_stop(struct hil_child *child);

#endif
