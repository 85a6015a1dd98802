/*
 * What a page may change of a run, by harness/tune.
 */
#ifndef HIL_KNOBS_H
#define HIL_KNOBS_H

#include "../run/node_name.h"
#include "../tune/client.h"

enum { HIL_KNOBS_ASKED_MAX = 8 };

struct hil_knobs {
    const struct hil_found *run;
    struct hil_tunable_shown *list;
    unsigned count;
    uint64_t seen;                                 /* changes that were told */
    struct hil_asking *asked[HIL_KNOBS_ASKED_MAX]; /* and not answered yet; NULL: none */
};

/* Changes that were made before are not told. Returns 0 or a negative errno. */
int hil_knobs_open(struct hil_knobs *knobs, const struct hil_found *run);
void hil_knobs_close(struct hil_knobs *knobs);

/* The page's "parameters". */
json_t *hil_knobs_json(const struct hil_knobs *knobs);

/* Sends a request of the page, "set" or "control". NULL; or why it cannot be. */
const char *hil_knobs_ask(struct hil_knobs *knobs, const json_t *request);

/* Takes answers that are here. Where the run refused something, `why` says it. */
void hil_knobs_hear(struct hil_knobs *knobs, char *why, size_t size);

/* The page's message of the next change that was made; NULL: none was. */
json_t *hil_knobs_next(struct hil_knobs *knobs, char (*nodes)[HIL_NODE_NAME_BYTES]);

#endif
