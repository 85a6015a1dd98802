/*
 * A sine whose frequency grows, to find how a loop answers at each frequency:
 *
 *      output = amplitude sin(2 pi integral of f dt)
 *      f = from + (to - from) t / duration     or, logarithmic,     from (to / from)^(t / duration)
 *
 * After the duration the frequency stays.
 */
#include <math.h>
#include <stdbool.h>

#include "../plants/instance.h"
#include "models.h"

static const double TURN = 6.28318530717958647693;

enum { CHIRP_AMPLITUDE, CHIRP_FROM, CHIRP_TO, CHIRP_DURATION, CHIRP_LOGARITHMIC };

struct chirp {
    double amplitude, from_hz, to_hz, duration_s;
    bool logarithmic;
};

static int chirp_create(void **self, const struct hil_config *config)
{
    const double *p = config->parameters;
    int rc = instance_create(self, config, sizeof(struct chirp));

    if (rc)
        return rc;
    *(struct chirp *)*self =
        (struct chirp){p[CHIRP_AMPLITUDE], p[CHIRP_FROM], p[CHIRP_TO], p[CHIRP_DURATION],
                       p[CHIRP_LOGARITHMIC] != 0 && p[CHIRP_FROM] != p[CHIRP_TO]};
    return 0;
}

/* The integral of the frequency from 0 to a time within the duration. */
static double chirp_turns(const struct chirp *c, double t_s)
{
    const double share = t_s / c->duration_s, ratio = c->to_hz / c->from_hz;

    return c->logarithmic ? c->from_hz * c->duration_s / log(ratio) * (pow(ratio, share) - 1)
                          : t_s * (c->from_hz + (c->to_hz - c->from_hz) * share / 2);
}

/* After the duration the frequency stays. */
static int chirp_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    const struct chirp *c = self;
    const double t_s = (double)t_ns / 1e9, beyond_s = fmax(t_s - c->duration_s, 0);

    (void)in;
    out[0] = c->amplitude * sin(TURN * (chirp_turns(c, t_s - beyond_s) + c->to_hz * beyond_s));
    return 0;
}

static const struct hil_quantity chirp_parameters[] = {
    {"amplitude", "", 1, -1e12, 1e12, 0, "of the sine"},
    {"from_hz", "Hz", 10, 1e-9, 1e9, 0, "frequency at the start"},
    {"to_hz", "Hz", 1000, 1e-9, 1e9, 0, "frequency at the end"},
    {"duration_s", "s", 1, 1e-9, 1e9, 0, "from the start to the end"},
    {"logarithmic", "", 0, 0, 1, HIL_WHOLE, "1: the frequency grows by equal factors; 0: by steps"},
};

static const struct hil_quantity chirp_outputs[] = {
    {"output", "", 0, -INFINITY, INFINITY, 0, "the signal"},
};

const struct hil_model model_chirp = {
    .abi = HIL_MODEL_ABI,
    .size = sizeof(struct hil_model),
    .name = "chirp",
    .doc = "Sine of a growing frequency",
    .kind = HIL_SAMPLED,
    .width_max = 1,
    .parameters = HIL_QUANTITIES(chirp_parameters),
    .outputs = HIL_QUANTITIES(chirp_outputs),
    .create = chirp_create,
    .step = chirp_step,
    .destroy = instance_destroy,
    .numbers = instance_no_numbers,
};
