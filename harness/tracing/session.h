/*
 * The LTTng session of a run: made before it, with the events that the scenario chooses, and
 * taken down after it. What was traced is then in DIR/ctf.
 *
 * It is LTTng's own programs that do it, so they are needed only where a run is traced. A session
 * daemon is started where none runs, off the loops' cores if there are others, and ended again.
 */
#ifndef HIL_SESSION_H
#define HIL_SESSION_H

#include <stdint.h>
#include <sys/types.h>

#include "../scenario/scenario.h"

struct hil_session;

/* What came of it. */
struct hil_traced {
    uint64_t lost;        /* events for which there was no room */
    uint64_t kernel_lost; /* the same of the kernel's */
    char kernel[160];     /* where the kernel's events are from, or why there are none */
};

/* Makes the session. Returns 0, or a negative errno after a message on stderr. Before the run's
 * processes are made: it starts a process that should not be theirs. */
int hil_session_open(struct hil_session **session, const struct hil_scenario *scenario,
                     const char *out);

/* Whether the scenario asks for a trace, and has something to trace: steps in virtual time take no
 * time. */
bool hil_session_wanted(const struct hil_scenario *scenario);

/* Begins to trace: these processes (0: none), or with count 0 all of this user's. The same
 * errors. */
int hil_session_start(struct hil_session *session, const pid_t *processes, unsigned count);

/* Traces one more, which has taken the place of another. The same errors. */
int hil_session_track(const struct hil_session *session, pid_t process);

/* Stops, and waits until all is written. The same errors. */
int hil_session_stop(struct hil_session *session, struct hil_traced *traced);

/* Takes it down; safe on NULL. */
void hil_session_close(struct hil_session *session);

#endif
