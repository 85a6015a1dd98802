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
 *      {"set": [{"name": "motor.resistance_ohm", "value": "400mOhm"}]}     with a unit
 *      {"set": [{"name": "reference", "value": 120, "ramp_s": 0.01}]}      only for sources
 *      {"control": "pause" | "resume" | "step" | "stop", "steps": 10}      "steps" defaults to 1
 *
 * All changes of one "set" take effect at the same time of the run, or none is tried. Answers:
 *
 *      {"applied": [{"name", "value", "node", "step", "time_s"}, ...]}     a source's: by each node
 *      {"waits": [{"name", "value"}, ...]}     the run is paused; done when it continues
 *      {"control": "pause", "paused": true, "time_s": 0.0012}
 *      {"refused": "controller.kp: 3 is out of range: 0 to 1"}     the reason, in one line
 */
#ifndef HIL_TUNE_CLIENT_H
#define HIL_TUNE_CLIENT_H

#include <jansson.h>

#include "../top/runs.h"

/* --- asking ---------------------------------------------------------------------------------- */

struct hil_asking;

/* Sends the request without waiting for the answer; it takes no longer than writing a line to a
 * socket. Returns 0; -ECONNREFUSED if the run has ended or is not tuned; -EPERM if it belongs to
 * another user; or another negative errno. */
int hil_asking_start(struct hil_asking **asking, const struct hil_run_entry *run,
                     const json_t *request);

/* Returns 1 with *answer, which the caller then owns; 0 if there is no answer yet; -ECONNRESET if
 * the run ended without an answer; or another negative errno. Never blocks. */
int hil_asking_finish(struct hil_asking *asking, json_t **answer);

/* NULL is allowed. The run carries out the request all the same. */
void hil_asking_close(struct hil_asking *asking);

/* Sends a request and waits for its answer. */
int hil_tune_ask(const struct hil_run_entry *run, const json_t *request, json_t **answer);

/* --- seeing ---------------------------------------------------------------------------------- */

/* A parameter of a component, or the value of a source. */
struct hil_tunable_shown {
    char name[HIL_TUNABLE_NAME]; /* its name for requests: "controller.kp" */
    char unit[HIL_TUNABLE_UNIT];
    char doc[HIL_TUNABLE_DOC];
    double min, max; /* infinite: no bound */
    bool is_source;  /* it may be given a ramp */
};

struct hil_tuned {
    unsigned tunable;
    unsigned node; /* the node that applied it */
    double value;  /* for a source: at the end of its ramp */
    uint64_t step; /* step of that node, from 0, as in the record */
    uint64_t time_ns;
};

/* Copies the table, with texts fit to be printed; free it with free(*list). *count is 0 if nothing
 * can be tuned. Returns 0 or a negative errno. */
int hil_tune_list(const struct hil_attached *run, struct hil_tunable_shown **list, unsigned *count);

/* The current value, or the target of its ramp; NAN: it is not in the table, or is a source that
 * follows its scenario. */
double hil_tune_value(const struct hil_attached *run, unsigned tunable);

/* The list with its values: [{"name", "unit", "value", "min", "max", "doc", "source"}, ...]. A
 * missing number is null; a source may be given a ramp. */
json_t *hil_tune_list_json(const struct hil_attached *run, const struct hil_tunable_shown *list,
                           unsigned count);

/* The change after the *seen ones that the caller has received (initially 0), whoever requested it.
 * A caller that is too late misses some changes. */
bool hil_tune_next(const struct hil_attached *run, uint64_t *seen, struct hil_tuned *change);

/* Whether the run was told to pause; only in virtual time. */
bool hil_tune_paused(const struct hil_attached *run);

#endif
