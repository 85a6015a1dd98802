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

/* How many steps a second the input has. The sine is sampled, so its frequency must be below this
 * share of it. */
double hil_loop_place_rate_hz(const struct hil_loop_place *place, const struct hil_system *s);
#define HIL_LOOP_HIGHEST 0.45

/* The first and the last frequency, given or not, at so many steps a second. */
double hil_loop_response_from_hz(const struct hil_loop_response *response, double rate_hz);
double hil_loop_response_to_hz(const struct hil_loop_response *response, double rate_hz);

#endif
