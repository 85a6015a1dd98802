/* output(n) = input(n - steps), like an analogue-to-digital converter with latency. */
#include <errno.h>
#include <math.h>

#include "../plants/instance.h"
#include "models.h"

enum { DELAY_STEPS, DELAY_INITIAL };
enum { DELAY_STEPS_MAX = 10000 };

struct delay {
    unsigned steps, next;
    double values[]; /* a ring; values[next] is the oldest */
};

static int delay_create(void **self, const struct hil_config *config)
{
    const unsigned steps = (unsigned)config->parameters[DELAY_STEPS];
    int rc = instance_create(self, config, sizeof(struct delay) + steps * sizeof(double));

    if (rc)
        return rc;
    struct delay *d = *self;
    d->steps = steps;
    for (unsigned i = 0; i < steps; i++)
        d->values[i] = config->parameters[DELAY_INITIAL];
    return 0;
}

static int delay_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    struct delay *d = self;

    (void)t_ns;
    if (d->steps == 0) {
        out[0] = in[0];
        return 0;
    }
    const double now = in[0];
    out[0] = d->values[d->next];
    d->values[d->next] = now;
    d->next = (d->next + 1) % d->steps;
    return 0;
}

static void delay_numbers(void *self, hil_numbers_fn *each, void *arg)
{
    struct delay *p = self;

    each(arg, p->values, p->steps);
}

static const struct hil_quantity delay_parameters[] = {
    {"steps", "", 1, 0, DELAY_STEPS_MAX, HIL_WHOLE, "how many steps before"},
    {"initial", "", 0, -1e12, 1e12, 0, "the output until then"},
};

static const struct hil_quantity delay_inputs[] = {
    {"input", "", 0, -INFINITY, INFINITY, HIL_REQUIRED, "what is delayed"},
};

static const struct hil_quantity delay_outputs[] = {
    {"output", "", 0, -INFINITY, INFINITY, 0, "the input of then"},
};

const struct hil_model model_delay = {
    .abi = HIL_MODEL_ABI,
    .size = sizeof(struct hil_model),
    .name = "delay",
    .doc = "Delay of whole steps",
    .kind = HIL_SAMPLED,
    .width_max = 1,
    .parameters = HIL_QUANTITIES(delay_parameters),
    .inputs = HIL_QUANTITIES(delay_inputs),
    .outputs = HIL_QUANTITIES(delay_outputs),
    .create = delay_create,
    .step = delay_step,
    .destroy = instance_destroy,
    .numbers = delay_numbers,
};
