#include "switching.h"

#include <errno.h>
#include <math.h>

/* More slots would make a step take milliseconds. So many are probably a wrong unit. */
static const double slots_max = 1e6;

/* Returns the whole number that `ratio` equals except for rounding, or 0 if there is none. */
static unsigned switching_whole(double ratio)
{
    const double nearest = round(ratio);

    if (!(nearest >= 1 && nearest <= slots_max) || fabs(ratio - nearest) > 1e-9 * nearest)
        return 0;
    return (unsigned)nearest;
}

int switching_init(struct switching *switching, double frequency_hz,
                   const struct hil_config *config)
{
    const double cycles_per_step = frequency_hz * config->period_s;
    const unsigned slots_per_step = cycles_per_step < 1 ? 1 : switching_whole(cycles_per_step);
    const unsigned slots_per_cycle = cycles_per_step < 1 ? switching_whole(1 / cycles_per_step) : 1;

    /* With any other ratio, steps would end at varying points of the ripple, which would appear as
     * a beat. */
    if (!slots_per_step || !slots_per_cycle) {
        config->log(config->log_arg,
                    "the switching period and the component's period do not divide one another");
        return -EDOM;
    }
    *switching = (struct switching){
        .slots_per_step = slots_per_step,
        .slots_per_cycle = slots_per_cycle,
        .slot_s = config->period_s / slots_per_step,
    };
    return 0;
}
