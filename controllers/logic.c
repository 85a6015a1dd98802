/* Blocks that decide: a switch, sample and hold, edges, and a counter of them. A signal of 0.5 and
 * above is on. */
#include "block.h"

static const struct hil_quantity input[] = {BLOCK_INPUT("input", "a signal that is on or off")};
static const struct hil_quantity output[] = {BLOCK_OUTPUT("output", "the result")};

static bool is_on(double value)
{
    return value >= 0.5;
}

/* output = on_input while control is on, and off_input while it is off */
static int switch_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    (void)self, (void)t_ns;
    out[0] = is_on(in[2]) ? in[1] : in[0];
    return 0;
}

static const struct hil_quantity switch_inputs[] = {
    BLOCK_INPUT("off_input", "what is passed while control is off"),
    BLOCK_INPUT("on_input", "what is passed while it is on"),
    BLOCK_INPUT("control", "0.5 and above is on"),
};

BLOCK_MODEL(switch, "Switch between two inputs", 1, switch_inputs, output);

/* output = input while hold is off, and then the last one. The first step always samples. */
static int sample_and_hold_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    struct block *b = self;

    (void)t_ns;
    if (!b->begun || !is_on(in[1]))
        b->held = in[0];
    b->begun = true;
    out[0] = b->held;
    return 0;
}

static const struct hil_quantity sample_and_hold_inputs[] = {
    BLOCK_INPUT("input", "what is sampled in each step"),
    BLOCK_INPUT("hold", "0.5 and above holds the last sample"),
};

BLOCK_MODEL(sample_and_hold, "Sample and hold", 1, sample_and_hold_inputs, output);

/* 1 where the signal goes on after it was off, -1 the other way, 0 elsewhere. */
static double edge(struct block *b, double value)
{
    const double before = b->begun ? b->memory[0] : is_on(value), now = is_on(value);

    b->memory[0] = now;
    b->begun = true;
    return now - before;
}

/* rising = 1 in the step in which the input turns on, falling = 1 in that in which it turns off */
static int edge_detector_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    const double change = edge(self, in[0]);

    (void)t_ns;
    out[0] = change > 0;
    out[1] = change < 0;
    return 0;
}

static const struct hil_quantity edge_detector_outputs[] = {
    BLOCK_OUTPUT("rising", "1 in a step in which the input is on after it was off"),
    BLOCK_OUTPUT("falling", "1 in a step in which the input is off after it was on"),
};

BLOCK_MODEL(edge_detector, "Edges of a signal", 1, input, edge_detector_outputs);

/* The count of rising edges. With a modulus it goes back to 0 when it gets there. */
static int counter_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    struct block *b = self;
    const double modulus = b->parameters[0];

    (void)t_ns;
    if (edge(b, in[0]) > 0)
        b->memory[1]++;
    if (is_on(in[1]) || (modulus > 0 && b->memory[1] >= modulus))
        b->memory[1] = 0;
    out[0] = b->memory[1];
    return 0;
}

static const struct hil_quantity counter_parameters[] = {
    {"modulus", "", 0, 0, 1e15, HIL_WHOLE | HIL_TUNABLE,
     "the count goes from 0 to one less; 0: without an end"},
};

static const struct hil_quantity counter_inputs[] = {
    BLOCK_INPUT("input", "each time that it goes on counts"),
    {"reset", "", 0, -INFINITY, INFINITY, 0, "0.5 and above sets the count to 0"},
};

BLOCK_MODEL(counter, "Counter of rising edges", 1, counter_inputs, output,
            BLOCK_TUNABLE(counter_parameters));
