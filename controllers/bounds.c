/* Blocks that bend a signal: dead band, hysteresis, and a limit of its slope. */
#include "block.h"

static const struct hil_quantity input[] = {BLOCK_INPUT("input", "what is taken")};
static const struct hil_quantity output[] = {BLOCK_OUTPUT("output", "the result")};

/* output = 0 inside the band, and input - the edge that is next to it outside. */
static int dead_band_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    const double *p = ((const struct block *)self)->parameters;

    (void)t_ns;
    out[0] = in[0] - least_within(in[0], p[0], p[1]);
    return 0;
}

static const struct hil_quantity dead_band_parameters[] = {
    {"lower_edge", "", -1, -1e12, 1e12, HIL_TUNABLE, "where the band begins"},
    {"upper_edge", "", 1, -1e12, 1e12, HIL_TUNABLE, "where it ends"},
};

BLOCK_MODEL(dead_band, "Dead band", 1, input, output, BLOCK_TUNABLE(dead_band_parameters));

/* The output is high from the upper threshold on, until the input falls to the lower one. */
static int hysteresis_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    struct block *b = self;
    const double *p = b->parameters;

    (void)t_ns;
    if (in[0] >= p[1])
        b->memory[0] = 1;
    else if (in[0] <= p[0])
        b->memory[0] = 0;
    out[0] = b->memory[0] != 0 ? p[3] : p[2];
    return 0;
}

static const struct hil_quantity hysteresis_parameters[] = {
    {"lower_threshold", "", -1, -1e12, 1e12, HIL_TUNABLE, "the output is low from here down"},
    {"upper_threshold", "", 1, -1e12, 1e12, HIL_TUNABLE, "the output is high from here up"},
    {"output_low", "", 0, -1e12, 1e12, HIL_TUNABLE, "the low output, which is also the first one"},
    {"output_high", "", 1, -1e12, 1e12, HIL_TUNABLE, "the high output"},
};

BLOCK_MODEL(hysteresis, "Hysteresis", 1, input, output, BLOCK_TUNABLE(hysteresis_parameters));

/* output(n) = input(n), but from output(n - 1) - fall T to output(n - 1) + rise T, with the period
 * T. It begins with the input. */
static int rate_limiter_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    struct block *b = self;
    const double rise = b->parameters[0] * b->period_s, fall = b->parameters[1] * b->period_s;
    const double before = b->begun ? b->held : in[0];

    (void)t_ns;
    out[0] = least_within(in[0], before - fall, before + rise);
    b->held = out[0];
    b->begun = true;
    return 0;
}

static const struct hil_quantity rate_limiter_parameters[] = {
    {"rise_per_s", "1/s", 1, 0, 1e15, HIL_TUNABLE, "greatest increase in a second"},
    {"fall_per_s", "1/s", 1, 0, 1e15, HIL_TUNABLE, "greatest decrease in a second"},
};

BLOCK_MODEL(rate_limiter, "Limit of the slope", 1, input, output,
            BLOCK_TUNABLE(rate_limiter_parameters));
