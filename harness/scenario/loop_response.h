/*
 * The frequency response of a loop: the scenario's `bode`, which says how `hiloco bode` measures it
 * and what it must be.
 */
#ifndef HIL_LOOP_RESPONSE_H
#define HIL_LOOP_RESPONSE_H

#include <stdbool.h>

/* Frequencies, amplitudes and times that are negative, and margins that are NAN, are not given. */
struct hil_loop_response {
    const char *inject, *response; /* signals; a response that is NULL is what feeds the input */
    double from_hz, to_hz, amplitude, start_s;
    unsigned points;
    bool multisine;                          /* all frequencies at once */
    double phase_margin_deg, gain_margin_db; /* the least that are allowed */
};

#endif
