/* Arithmetic of signals: product, quotient, absolute value, and the least and greatest of several.
 */
#include "block.h"

static const struct hil_quantity one_input[] = {BLOCK_INPUT("input", "what is taken")};

static const struct hil_quantity inputs[] = {
    {"input", "", 0, -INFINITY, INFINITY, HIL_REQUIRED | HIL_WIDE, "what is taken"},
};

static const struct hil_quantity output[] = {BLOCK_OUTPUT("output", "the result")};

/* output = input[0] input[1] ... */
static int product_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    const struct block *b = self;

    (void)t_ns;
    out[0] = 1;
    for (uint32_t i = 0; i < b->width; i++)
        out[0] *= in[i];
    return 0;
}

BLOCK_MODEL(product, "Product of inputs", BLOCK_WIDTH_MAX, inputs, output);

/* output = dividend / divisor. A divisor that is nearly 0 counts as the least one, with its sign.
 */
static int quotient_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    const double least = ((const struct block *)self)->parameters[0];

    (void)t_ns;
    out[0] = in[0] / (fabs(in[1]) < least ? copysign(least, in[1]) : in[1]);
    return 0;
}

static const struct hil_quantity quotient_parameters[] = {
    {"least_divisor", "", 1e-12, 1e-300, 1e12, HIL_TUNABLE, "a divisor nearer to 0 counts as this"},
};

static const struct hil_quantity quotient_inputs[] = {
    BLOCK_INPUT("dividend", "what is divided"),
    BLOCK_INPUT("divisor", "what it is divided by"),
};

BLOCK_MODEL(quotient, "Quotient of two inputs", 1, quotient_inputs, output,
            BLOCK_TUNABLE(quotient_parameters));

/* output = |input| */
static int absolute_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    (void)self, (void)t_ns;
    out[0] = fabs(in[0]);
    return 0;
}

BLOCK_MODEL(absolute, "Absolute value", 1, one_input, output);

/* output = min(input[0], input[1], ...) */
static int minimum_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    const struct block *b = self;

    (void)t_ns;
    out[0] = in[0];
    for (uint32_t i = 1; i < b->width; i++)
        out[0] = least_of(out[0], in[i]);
    return 0;
}

BLOCK_MODEL(minimum, "Least of inputs", BLOCK_WIDTH_MAX, inputs, output);

/* output = max(input[0], input[1], ...) */
static int maximum_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    const struct block *b = self;

    (void)t_ns;
    out[0] = in[0];
    for (uint32_t i = 1; i < b->width; i++)
        out[0] = greatest_of(out[0], in[i]);
    return 0;
}

BLOCK_MODEL(maximum, "Greatest of inputs", BLOCK_WIDTH_MAX, inputs, output);
