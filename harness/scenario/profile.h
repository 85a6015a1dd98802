/*
 * A quantity over time: a constant, then steps and ramps. Sources of the kind `steps` are profiles.
 */
#ifndef HIL_PROFILE_H
#define HIL_PROFILE_H

#include <stddef.h>
#include <stdint.h>

/* At `start_ns` the value begins to change to `value`, which it reaches `ramp_ns` later. */
struct hil_change {
    uint64_t start_ns;
    uint64_t ramp_ns; /* 0 for a step */
    double value;
};

struct hil_profile {
    double initial;
    struct hil_change *changes; /* in order of time; each starts after the end of the one before */
    unsigned count;
};

/* The value at `t_ns` after the start of the run. Takes O(changes) time, and allocates nothing. */
double hil_profile_at(const struct hil_profile *profile, uint64_t t_ns);

/* Describes it in words: "12, 5 from 0.01 s, 12 in 0.002 s from 0.02 s". Ends in "..." if there is
 * no room for all changes. */
void hil_profile_say(const struct hil_profile *profile, char *text, size_t size);

#endif
