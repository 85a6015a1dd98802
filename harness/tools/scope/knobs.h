/*
 * The changes of a run that a page may make, by harness/tools/tune.
 */
#ifndef HIL_KNOBS_H
#define HIL_KNOBS_H

#include "../../run/node_name.h"
#include "../tune/client.h"

enum { HIL_KNOBS_ASKED_MAX = 8 };

struct hil_knobs {
    const struct hil_found *run;
    struct hil_tunable_shown *list;
    unsigned count;
    uint64_t seen;                                 /* number of changes already reported */
    struct hil_asking *asked[HIL_KNOBS_ASKED_MAX]; /* requests without an answer yet; NULL: none */
};

/* Changes made before are not reported. Returns 0 or a negative errno. */
int hil_knobs_open(struct hil_knobs *knobs, const struct hil_found *run);
void hil_knobs_close(struct hil_knobs *knobs);

/* The "parameters" for the page. */
json_t *hil_knobs_json(const struct hil_knobs *knobs);

/* Sends a request of the page, "set" or "control". Returns NULL, or the reason why it cannot be
 * sent. */
const char *hil_knobs_ask(struct hil_knobs *knobs, const json_t *request);

/* Receives answers that have come. If the run refused a request, `why` gets the reason. */
void hil_knobs_hear(struct hil_knobs *knobs, char *why, size_t size);

/* The page's message about the next change; NULL: there is none. */
json_t *hil_knobs_next(struct hil_knobs *knobs, char (*nodes)[HIL_NODE_NAME_BYTES]);

#endif
