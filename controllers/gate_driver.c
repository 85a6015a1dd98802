/*
 * A gate driver: its output follows the gate once that has been on for the delay of turning on, or
 * off for the delay of turning off. So a pulse that is shorter than the delay is lost. A delay is
 * up to a step longer than asked for, as it ends with a step.
 */
#include "block.h"

/* memory[0] is the output, memory[1] is since when the input differs from it; below 0: it does not.
 */
static int gate_driver_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    struct block *b = self;
    const bool on = in[0] >= 0.5, differs = on != (b->memory[0] != 0);
    const double t_s = (double)t_ns * 1e-9, delay_s = b->parameters[on ? 0 : 1];

    if (differs && (!b->begun || b->memory[1] < 0))
        b->memory[1] = t_s;
    b->begun = true;
    /* Half a nanosecond less is enough, as the times are whole ones. */
    if (differs && t_s - b->memory[1] >= delay_s - 0.5e-9) {
        b->memory[0] = on;
        b->memory[1] = -1;
    } else if (!differs) {
        b->memory[1] = -1;
    }
    out[0] = b->memory[0];
    return 0;
}

static const struct hil_quantity gate_parameters[] = {
    {"turn_on_s", "s", 0, 0, 1, HIL_TUNABLE | HIL_SPREAD, "from the gate's on to the output's"},
    {"turn_off_s", "s", 0, 0, 1, HIL_TUNABLE | HIL_SPREAD, "from the gate's off to the output's"},
};

static const struct hil_quantity gate_inputs[] = {BLOCK_INPUT("gate", "0.5 and above is on")};
static const struct hil_quantity gate_outputs[] = {BLOCK_OUTPUT("output", "1: on")};

BLOCK_MODEL(gate_driver, "Gate driver with its delays", 1, gate_inputs, gate_outputs,
            BLOCK_TUNABLE(gate_parameters));
