/*
 * Parses and checks a request to a run from another process. tune/client.h describes the requests.
 */
#ifndef HIL_TUNING_REQUEST_H
#define HIL_TUNING_REQUEST_H

#include <jansson.h>

#include "../run/state.h"

enum { HIL_REFUSAL_BYTES = 1600 };

enum hil_asked { HIL_ASKED_SET, HIL_ASKED_PAUSE, HIL_ASKED_RESUME, HIL_ASKED_STEP, HIL_ASKED_STOP };

struct hil_asked_for {
    enum hil_asked what;
    struct hil_request request; /* for HIL_ASKED_SET */
    uint64_t steps;             /* for HIL_ASKED_STEP */
};

/* "pause" */
const char *hil_asked_name(enum hil_asked what);

/* Returns 0, or -EINVAL with the reason as one line in `refusal`. */
int hil_tuning_request_read(struct hil_asked_for *asked, const char *text, size_t length,
                            const struct hil_scenario *scenario, const struct hil_tuning *tuning,
                            char refusal[HIL_REFUSAL_BYTES]);

#endif
