/*
 * The LTTng session of a run. It is created before the run, with the events that the scenario
 * selects, and destroyed after it. DIR/ctf then has the trace.
 *
 * LTTng's own programs do this, so they are needed only if a run is traced. If no session daemon
 * runs, one is started, if possible off the loops' cores, and stopped afterwards.
 */
#ifndef HIL_SESSION_H
#define HIL_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "../scenario/scenario.h"

/* Processes that write the trace get a tenth of a core that they share with loops at nice -20. They
 * need it seldom or take less, but at nice 0 they get a hundredth. */
enum { HIL_TRACING_NICE = -10 };

struct hil_session;

/* The results of tracing. */
struct hil_traced {
    bool recent; /* only the newest events were kept, and saved so often */
    unsigned saved;
    uint64_t lost;        /* events for which there was no room */
    uint64_t kernel_lost; /* the same for the kernel's events */
    char kernel[160];     /* the origin of the kernel's events, or why there are none */
};

/* The number of the run whose nodes meet at `place`, by which events are selected. */
uint32_t hil_session_run(const char *place);

/* The size of each core's buffer: `asked` KiB; or if that is 0, a power of two, so that those of
 * all cores have at most `all` KiB, and each at most `most`. */
unsigned hil_session_buffer_kib(unsigned asked, unsigned most, unsigned all, unsigned cores);

/* Creates the session. If processes join that this one does not start, `place` is where the nodes
 * meet; else NULL. Returns 0, or a negative errno after a message on stderr. Call it before the
 * run's processes are made, because it starts a process that they should not inherit. */
int hil_session_open(struct hil_session **session, const struct hil_scenario *scenario,
                     const char *out, const char *place);

/* Whether the scenario asks for a trace and there is something to trace. Steps in virtual time take
 * no time. */
bool hil_session_wanted(const struct hil_scenario *scenario);

/* Begins to trace these processes (0 entries are ignored); or if count is 0 all of this user's, or
 * those of the run at `place`. Errors as above. */
int hil_session_start(struct hil_session *session, const pid_t *processes, unsigned count);

/* Also traces a process that has replaced another. Errors as above. */
int hil_session_track(const struct hil_session *session, pid_t process);

/* Saves the newest events, of which only so many are kept, in a folder whose name begins with
 * `name`. Errors as above. */
int hil_session_save(const struct hil_session *session, const char *name);

/* Stops, saves them, and waits until everything is written. Errors as above. */
int hil_session_stop(struct hil_session *session, struct hil_traced *traced);

/* Destroys the session; safe on NULL. */
void hil_session_close(struct hil_session *session);

#endif
