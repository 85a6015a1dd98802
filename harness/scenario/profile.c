#include "profile.h"

#include <stdio.h>
#include <string.h>

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

static void profile_say_change(const struct hil_change *c, char text[96])
{
    char ramp[32] = "";

    if (c->ramp_ns)
        snprintf(ramp, sizeof ramp, " in %g s", (double)c->ramp_ns * 1e-9);
    snprintf(text, 96, ", %g%s from %g s", c->value, ramp, (double)c->start_ns * 1e-9);
}

void hil_profile_say(const struct hil_profile *p, char *text, size_t size)
{
    static const char more[] = ", ...";
    size_t length = (size_t)snprintf(text, size, "%g", p->initial);
    char change[96];

    for (unsigned i = 0; i < p->count; i++) {
        profile_say_change(&p->changes[i], change);
        const size_t after = i + 1 < p->count ? sizeof more - 1 : 0;
        if (length + strlen(change) + after >= size) {
            snprintf(text + length, size - length, "%s", more);
            return;
        }
        length += (size_t)snprintf(text + length, size - length, "%s", change);
    }
}
