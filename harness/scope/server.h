/*
 * The server of the scope: one page, and a WebSocket for each that is open. One thread that never
 * waits for a client.
 */
#ifndef HIL_SCOPE_SERVER_H
#define HIL_SCOPE_SERVER_H

#include <stdio.h>

#include "../top/runs.h"

struct hil_scope {
    const char *listen; /* "ADDRESS:PORT"; NULL: a free port on loopback */
    bool allow_set;     /* pages may change the run */
    bool quiet;         /* says its address only */
    FILE *to;           /* says it there */
};

/* Prints the page's address, and serves it until the run has ended or a signal comes. Returns an
 * exit status, after a message on stderr. */
int hil_scope_serve(const struct hil_scope *scope, const struct hil_found *run);

/* The same in a process of its own, for the run that this process is about to launch. Returns what
 * hil_scope_end takes: 0 where there is none, after a message. */
pid_t hil_scope_beside(const struct hil_scope *scope);

/* Waits until it has told its pages of the run's end. */
void hil_scope_end(pid_t process);

#endif
