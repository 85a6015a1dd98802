#include "buck_plecs.h"

#include <math.h>
#include <stddef.h>

const char *const buck_plecs_checksum = "0";
const char *buck_plecs_errorStatus;
const double buck_plecs_sampleTime = 2e-5;

buck_plecs_ExternalInputs buck_plecs_U;
buck_plecs_ExternalOutputs buck_plecs_Y;

static double buck_plecs_X; /* the integral */

void buck_plecs_initialize(double time)
{
    (void)time;
    buck_plecs_errorStatus = NULL;
    buck_plecs_X = 0;
}

void buck_plecs_step(void)
{
    const double error = buck_plecs_U.meas[0] - buck_plecs_U.meas[1];
    const double integral = buck_plecs_X + 20. * 2e-5 * error;
    const double sum = 0.001 * error + integral;

    if (buck_plecs_errorStatus)
        return;
    if (!isfinite(error))
        buck_plecs_errorStatus = "The measurement is not a number.";
    if (!((sum > 0.95 && error > 0) || (sum < 0 && error < 0)))
        buck_plecs_X = integral;
    buck_plecs_Y.duty = !buck_plecs_U.Enable ? 0 : sum > 0.95 ? 0.95 : sum < 0 ? 0 : sum;
}

void buck_plecs_terminate(void)
{
}
