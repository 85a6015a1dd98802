/* Plain C as a model: the list is written by hand. */
#include "pi.h"

#include <hiloco/code.h>

static struct pi pi;
static float reference, voltage, duty;

static struct hil_variable parameters[] = {
    {{"kp_per_v", "1/V", 0.001, 0, 1, HIL_TUNABLE, "proportional gain"}, HIL_REAL(pi.kp)},
    {{"ki_per_v", "1/V", 0.0004, 0, 1, HIL_TUNABLE, "integral gain, in a period"}, HIL_REAL(pi.ki)},
};
static struct hil_variable inputs[] = {
    {{"reference_v", "V", 0, 0, 0, HIL_REQUIRED, "what the voltage is to be"}, HIL_REAL(reference)},
    {{"voltage_v", "V", 0, 0, 0, HIL_REQUIRED, "what it is"}, HIL_REAL(voltage)},
};
static struct hil_variable outputs[] = {{{"duty", "", .doc = "duty cycle"}, HIL_REAL(duty)}};

static void step(void)
{
    duty = pi_update(&pi, reference, voltage);
}

static struct hil_code code = {.step = step};

HIL_CODE_MODEL(code, HIL_SAMPLED, "plain_pi", "PI in plain C")
