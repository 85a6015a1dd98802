/* A binary sequence that looks random but repeats, and has all frequencies: of a shift register
 * whose feedback makes the longest one. */
#include <errno.h>
#include <math.h>

#include "../plants/instance.h"
#include "models.h"

enum { PRBS_AMPLITUDE, PRBS_BIT, PRBS_ORDER };
enum { PRBS_ORDER_MIN = 3, PRBS_ORDER_MAX = 20 };

struct prbs {
    double amplitude, bit_s;
    uint64_t bits; /* made so far */
    uint32_t state, order;
};

static int prbs_create(void **self, const struct hil_config *config)
{
    const double *p = config->parameters;

    if (p[PRBS_BIT] < config->period_s) {
        config->log(config->log_arg, "bit_s is shorter than a step");
        return -EDOM;
    }
    int rc = instance_create(self, config, sizeof(struct prbs));
    if (rc)
        return rc;
    *(struct prbs *)*self = (struct prbs){.amplitude = p[PRBS_AMPLITUDE],
                                          .bit_s = p[PRBS_BIT],
                                          .state = 1,
                                          .order = (uint32_t)p[PRBS_ORDER]};
    return 0;
}

static uint32_t prbs_next(uint32_t state, uint32_t order)
{
    /* The polynomials' bits below the highest one, by order. */
    static const uint32_t taps[] = {0x6,    0xc,    0x14,    0x30,    0x60,    0xb8,
                                    0x110,  0x240,  0x500,   0xe08,   0x1c80,  0x3802,
                                    0x6000, 0xd008, 0x12000, 0x20400, 0x72000, 0x90000};
    const uint32_t fed = state & taps[order - PRBS_ORDER_MIN];

    return (state << 1 | (uint32_t)__builtin_parity(fed)) & ((1u << order) - 1);
}

static int prbs_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    struct prbs *s = self;
    const uint64_t due = (uint64_t)((double)t_ns / 1e9 / s->bit_s + 1e-9);

    (void)in;
    for (; s->bits < due; s->bits++)
        s->state = prbs_next(s->state, s->order);
    out[0] = s->state & 1 ? s->amplitude : -s->amplitude;
    return 0;
}

static const struct hil_quantity prbs_parameters[] = {
    {"amplitude", "", 1, -1e12, 1e12, 0, "the signal is this or its opposite"},
    {"bit_s", "s", 1e-3, 1e-9, 1e6, 0, "for so long each value stays"},
    {"order", "", 10, PRBS_ORDER_MIN, PRBS_ORDER_MAX, HIL_WHOLE,
     "it repeats after 2^order - 1 values"},
};

static const struct hil_quantity prbs_outputs[] = {
    {"output", "", 0, -INFINITY, INFINITY, 0, "the signal"},
};

const struct hil_model model_prbs = {
    .abi = HIL_MODEL_ABI,
    .size = sizeof(struct hil_model),
    .name = "prbs",
    .doc = "Binary sequence of the greatest length",
    .kind = HIL_SAMPLED,
    .width_max = 1,
    .parameters = HIL_QUANTITIES(prbs_parameters),
    .outputs = HIL_QUANTITIES(prbs_outputs),
    .create = prbs_create,
    .step = prbs_step,
    .destroy = instance_destroy,
    .numbers = instance_no_numbers,
};
