/*
 * How `hiloco set`, `hiloco control` and the page of `hiloco scope` see and change a run. The run
 * must allow changes (`tuning: true` in its scenario, or `hiloco run --allow-set`).
 *
 * The run's memory holds what can be tuned, the present values, and the changes that were made;
 * attached processes read it there. To make a change, they send a request to the launcher of the
 * run over a socket. The launcher answers only the run's user and root, once all the nodes
 * concerned have made the change.
 *
 * Requests:
 *
 *      {"set": [{"name": "controller.kp", "value": 0.2}, ...]}
 *      {"set": [{"name": "reference", "value": 120, "ramp_s": 0.01}]}      of sources only
 *      {"control": "pause" | "resume" | "step" | "stop", "steps": 10}      1, where it is not given
 *
 * All of one "set" takes force at one time of the run, or none of it is tried. Answers:
 *
 *      {"applied": [{"name", "value", "node", "step", "time_s"}, ...]}     a source's: by each node
 *      {"waits": [{"name", "value"}, ...]}     the run is paused, and does it when it goes on
 *      {"control": "pause", "paused": true, "time_s": 0.0012}
 *      {"refused": "controller.kp: 3 is out of range: 0 to 1"}     why, in one line; nothing is
 * done
 */
#ifndef HIL_TUNE_CLIENT_H
#define HIL_TUNE_CLIENT_H

#include <jansson.h>

#include "../top/runs.h"

/* --- asking ---------------------------------------------------------------------------------- */

struct hil_asking;

/* Sends the request, and does not wait: not for longer than it takes to write a line to a socket.
 * Returns 0; or -ECONNREFUSED, when the run has ended or is not tuned; -EPERM, when it is another
 * user's; or another negative errno. */
int hil_asking_start(struct hil_asking **asking, const struct hil_found *run,
                     const json_t *request);

/* To be polled for POLLIN. */
int hil_asking_file(const struct hil_asking *asking);

/* Whether the answer is here: 1, and *answer is the caller's; 0, not yet; or -ECONNRESET, when the
 * run ended before it answered; or another negative errno. Never blocks. */
int hil_asking_finish(struct hil_asking *asking, json_t **answer);

/* NULL is allowed. The request is carried out all the same. */
void hil_asking_close(struct hil_asking *asking);

/* The same, but waits for the answer. */
int hil_tune_ask(const struct hil_found *run, const json_t *request, json_t **answer);

/* --- seeing ---------------------------------------------------------------------------------- */

/* A parameter of a component, or the value of a source. */
struct hil_tunable_shown {
    char name[HIL_TUNABLE_NAME]; /* as it is set: "controller.kp" */
    char unit[HIL_TUNABLE_UNIT];
    char doc[HIL_TUNABLE_DOC];
    double min, max; /* infinite: there is no bound */
    bool is_source;  /* and may be given a ramp */
};

struct hil_tuned {
    unsigned tunable;
    unsigned node; /* that applied it */
    double value;  /* for a source: at the end of its ramp */
    uint64_t step; /* of that node, from 0 on, as in the record */
    uint64_t time_ns;
};

/* A copy of the table, fit to be printed; frees with free(*list). *count is 0 where nothing can be
 * tuned. Returns 0 or a negative errno. */
int hil_tune_list(const struct hil_attached *run, struct hil_tunable_shown **list, unsigned *count);

/* What it is now, or goes to on a ramp; NAN: it is not in the table, or a source that follows its
 * scenario. */
double hil_tune_value(const struct hil_attached *run, unsigned tunable);

/* The list with its values: [{"name", "unit", "value", "min", "max", "doc", "source"}, ...]. What
 * there is no number of is null; a source may be given a ramp. */
json_t *hil_tune_list_json(const struct hil_attached *run, const struct hil_tunable_shown *list,
                           unsigned count);

/* The change after the *seen ones that the caller has had (0 to begin with), whoever asked for it.
 * A caller that comes too late misses some. */
bool hil_tune_next(const struct hil_attached *run, uint64_t *seen, struct hil_tuned *change);

/* Whether it stands still, in virtual time, because it was told to. */
bool hil_tune_paused(const struct hil_attached *run);

#endif
