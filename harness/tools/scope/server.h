/*
 * The scope's server: one page, and a WebSocket for each open copy of it. It has one thread, which
 * never waits for a client.
 */
#ifndef HIL_SCOPE_SERVER_H
#define HIL_SCOPE_SERVER_H

#include <stdio.h>

#include "../top/runs.h"

struct hil_scope {
    const char *listen; /* "ADDRESS:PORT"; NULL: a free port on loopback */
    bool allow_set;     /* pages may change the run */
    bool quiet;         /* print only the address */
    FILE *to;           /* where to print it */
};

/* Prints the page's address, and serves the page until the run has ended or a signal comes. Returns
 * an exit status, after a message on stderr. */
int hil_scope_serve(const struct hil_scope *scope, const struct hil_run_entry *run);

/* The same in a separate process, for the run that this process is about to launch. Returns the
 * value to pass to hil_scope_end, which is 0 after a message if there is no process. */
pid_t hil_scope_beside(const struct hil_scope *scope);

/* Waits until the process has told its pages that the run has ended. */
void hil_scope_end(pid_t process);

#endif
