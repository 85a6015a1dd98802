#include "profile.h"

double hil_profile_at(const struct hil_profile *profile, uint64_t t_ns)
{
    double value = profile->initial;

    for (unsigned i = 0; i < profile->count; i++) {
        const struct hil_change *change = &profile->changes[i];
        if (t_ns < change->start_ns)
            break;
        uint64_t into_ns = t_ns - change->start_ns;
        if (into_ns < change->ramp_ns)
            return value + (change->value - value) * ((double)into_ns / (double)change->ramp_ns);
        value = change->value;
    }
    return value;
}
