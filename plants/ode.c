#include "ode.h"

#include <math.h>
#include <stdio.h>

unsigned ode_parts(double period_s, double fastest_per_s)
{
    const double parts = ceil(ODE_PARTS_PER_TIME * period_s * fastest_per_s);

    if (!(parts <= ODE_PARTS_MAX))
        return 0;
    return parts > 1 ? (unsigned)parts : 1;
}

void ode_say_fast(const struct hil_config *config, double fastest_per_s)
{
    char line[160];

    snprintf(line, sizeof line,
             "it changes within %.3g s; allowed: a period of at most %d times that",
             1 / fastest_per_s, ODE_PARTS_MAX / ODE_PARTS_PER_TIME);
    config->log(config->log_arg, line);
}

void ode_advance(ode_slope_fn *slope, const void *plant, unsigned count, double *x,
                 const double *in, double period_s, unsigned parts)
{
    static const double nodes[4] = {0, 0.5, 0.5, 1}, weights[4] = {1, 2, 2, 1};
    const double part_s = period_s / parts;
    double k[ODE_STATES_MAX] = {0}, there[ODE_STATES_MAX], sum[ODE_STATES_MAX];

    for (unsigned part = 0; part < parts; part++) {
        for (unsigned i = 0; i < count; i++)
            sum[i] = 0;
        for (unsigned stage = 0; stage < 4; stage++) {
            for (unsigned i = 0; i < count; i++)
                there[i] = x[i] + nodes[stage] * part_s * k[i];
            slope(plant, there, in, k);
            for (unsigned i = 0; i < count; i++)
                sum[i] += weights[stage] * k[i];
        }
        for (unsigned i = 0; i < count; i++) {
            x[i] += part_s / 6 * sum[i];
            k[i] = 0;
        }
    }
}
