/*
 * Start-up of a converter with a capacitor at its input: off, pre-charge through a resistor, run,
 * and fault. The state machine stays in fault until `enable` goes low.
 *
 *      off --enable--> precharge --voltage_v high enough--> run
 *       ^                  |  too long                       |
 *       |  not enabled     v     voltage_v too high, fault   |
 *       +---------------fault <------------------------------+
 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>

#include "../plants/instance.h"
#include "models.h"

enum { STARTUP_READY, STARTUP_OVERVOLTAGE, STARTUP_TIMEOUT };
enum { STARTUP_ENABLE, STARTUP_VOLTAGE, STARTUP_FAULT_INPUT };
enum { STARTUP_STATE, STARTUP_PRECHARGES, STARTUP_RUNS };

enum startup_state { STARTUP_OFF, STARTUP_PRECHARGE, STARTUP_RUN, STARTUP_FAULT };

struct startup {
    enum startup_state state;
    double charged_s; /* time spent in pre-charge so far */
    double ready_v, overvoltage_v, timeout_s, period_s;
};

static int startup_create(void **self, const struct hil_config *config)
{
    const double *p = config->parameters;

    if (!(p[STARTUP_READY] < p[STARTUP_OVERVOLTAGE])) {
        config->log(config->log_arg, "overvoltage_v is not above ready_v");
        return -EDOM;
    }
    int rc = instance_create(self, config, sizeof(struct startup));
    if (rc)
        return rc;
    *(struct startup *)*self = (struct startup){
        .ready_v = p[STARTUP_READY],
        .overvoltage_v = p[STARTUP_OVERVOLTAGE],
        .timeout_s = p[STARTUP_TIMEOUT],
        .period_s = config->period_s,
    };
    return 0;
}

static int startup_tune(void *self, uint32_t place, double value)
{
    struct startup *s = self;
    const double ready_v = place == STARTUP_READY ? value : s->ready_v;
    const double overvoltage_v = place == STARTUP_OVERVOLTAGE ? value : s->overvoltage_v;

    if (!(ready_v < overvoltage_v))
        return -EDOM;
    s->ready_v = ready_v;
    s->overvoltage_v = overvoltage_v;
    s->timeout_s = place == STARTUP_TIMEOUT ? value : s->timeout_s;
    return 0;
}

/* The next state. */
static enum startup_state startup_next(const struct startup *s, const double *in)
{
    const bool wrong = in[STARTUP_FAULT_INPUT] > 0.5 || !(in[STARTUP_VOLTAGE] < s->overvoltage_v);

    if (!(in[STARTUP_ENABLE] > 0.5))
        return STARTUP_OFF;
    if (wrong || s->state == STARTUP_FAULT)
        return STARTUP_FAULT;
    switch (s->state) {
    case STARTUP_OFF:
        return STARTUP_PRECHARGE;
    case STARTUP_PRECHARGE:
        if (in[STARTUP_VOLTAGE] >= s->ready_v)
            return STARTUP_RUN;
        return s->charged_s >= s->timeout_s ? STARTUP_FAULT : STARTUP_PRECHARGE;
    default:
        return s->state;
    }
}

static int startup_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    struct startup *s = self;
    const enum startup_state next = startup_next(s, in);

    (void)t_ns;
    s->charged_s = next == STARTUP_PRECHARGE ? s->charged_s + s->period_s : 0;
    s->state = next;
    out[STARTUP_STATE] = next;
    out[STARTUP_PRECHARGES] = next == STARTUP_PRECHARGE;
    out[STARTUP_RUNS] = next == STARTUP_RUN;
    return 0;
}

static const struct hil_quantity startup_parameters[] = {
    {"ready_v", "V", 40, 0, 1e6, HIL_TUNABLE, "voltage from which it runs"},
    {"overvoltage_v", "V", 60, 0, 1e6, HIL_TUNABLE, "voltage from which it is at fault"},
    {"timeout_s", "s", 0.1, 0, 1e6, HIL_TUNABLE, "how long the pre-charge may take"},
};

static const struct hil_quantity startup_inputs[] = {
    {"enable", "", 1, 0, 1, 0, "above 0.5 it is to run"},
    {"voltage_v", "V", 0, -INFINITY, INFINITY, HIL_REQUIRED, "of the capacitor"},
    {"fault", "", 0, 0, 1, 0, "above 0.5 something else is wrong"},
};

static const struct hil_quantity startup_outputs[] = {
    {"state", "", 0, 0, 3, 0, "0: off, 1: pre-charge, 2: run, 3: fault"},
    {"precharge", "", 0, 0, 1, 0, "1 while the capacitor is charged"},
    {"run", "", 0, 0, 1, 0, "1 while it runs"},
};

const struct hil_model model_startup = {
    .abi = HIL_MODEL_ABI,
    .size = sizeof(struct hil_model),
    .name = "startup",
    .doc = "State machine for start-up: off, pre-charge, run, fault",
    .kind = HIL_SAMPLED,
    .width_max = 1,
    .parameters = HIL_QUANTITIES(startup_parameters),
    .inputs = HIL_QUANTITIES(startup_inputs),
    .outputs = HIL_QUANTITIES(startup_outputs),
    .create = startup_create,
    .step = startup_step,
    .destroy = instance_destroy,
    .numbers = instance_no_numbers,
    .tune = startup_tune,
};
