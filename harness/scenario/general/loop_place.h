/*
 * Where a frequency response is measured.
 */
#ifndef HIL_LOOP_PLACE_H
#define HIL_LOOP_PLACE_H

#include "../loop_response.h"
#include "../system.h"

struct hil_loop_place {
    struct hil_signal input;    /* the sine is added to it */
    struct hil_signal response; /* the output that is read */
    bool of_loop;               /* the response is what feeds the input */
};

/* What is wrong with a name. */
struct hil_loop_mistake {
    bool response; /* with that of the response; otherwise with that of the input */
    char said[HIL_REFERENCE_BYTES];
};

/* Finds the signals. `inject` is an input, or an output that feeds one input. Returns 0 or -EINVAL
 * with the mistake. */
int hil_loop_place_find(struct hil_loop_place *place, const struct hil_system *s,
                        const char *inject, const char *response, struct hil_loop_mistake *mistake);

#endif
