/*
 * A quantity over time: a constant, then steps and ramps. Sources of the kind `steps` are profiles.
 */
#ifndef HIL_PROFILE_H
#define HIL_PROFILE_H

#include <stddef.h>
#include <stdint.h>

/* At `start_ns` the value begins to move to `value`, and gets there `ramp_ns` later. */
struct hil_change {
    uint64_t start_ns;
    uint64_t ramp_ns; /* 0 for a step */
    double value;
};

struct hil_profile {
    double initial;
    struct hil_change *changes; /* in the order of time; a change starts after the last ended */
    unsigned count;
};

/* The value at `t_ns` after the start of the run. Costs O(changes), allocates nothing. */
double hil_profile_at(const struct hil_profile *profile, uint64_t t_ns);

/* Says it in words: "12, 5 from 0.01 s, 12 in 0.002 s from 0.02 s". Where there is no room for all
 * changes, it ends in "...". */
void hil_profile_say(const struct hil_profile *profile, char *text, size_t size);

#endif
