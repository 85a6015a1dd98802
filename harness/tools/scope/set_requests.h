/*
 * The changes of a run that a page may make, by harness/tools/tune.
 */
#ifndef HIL_SET_REQUESTS_H
#define HIL_SET_REQUESTS_H

#include "../../run/node_name.h"
#include "../tune/client.h"

enum { HIL_KNOBS_ASKED_MAX = 8 };

struct hil_set_requests {
    const struct hil_run_entry *run;
    struct hil_tunable_shown *list;
    unsigned count;
    uint64_t seen;                                 /* number of changes already reported */
    struct hil_asking *asked[HIL_KNOBS_ASKED_MAX]; /* requests without an answer yet; NULL: none */
};

/* Changes made before are not reported. Returns 0 or a negative errno. */
int hil_set_requests_open(struct hil_set_requests *requests, const struct hil_run_entry *run);
void hil_set_requests_close(struct hil_set_requests *requests);

/* The "parameters" for the page. */
json_t *hil_set_requests_json(const struct hil_set_requests *requests);

/* Sends a request of the page, "set" or "control". Returns NULL, or the reason why it cannot be
 * sent. */
const char *hil_set_requests_ask(struct hil_set_requests *requests, const json_t *request);

/* Receives answers that have come. If the run refused a request, `why` gets the reason. */
void hil_set_requests_hear(struct hil_set_requests *requests, char *why, size_t size);

/* The page's message about the next change; NULL: there is none. */
json_t *hil_set_requests_next(struct hil_set_requests *requests,
                              char (*nodes)[HIL_NODE_NAME_BYTES]);

#endif
