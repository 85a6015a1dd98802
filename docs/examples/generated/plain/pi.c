#include "pi.h"

float pi_update(struct pi *pi, float reference, float voltage)
{
    const float error = reference - voltage, integral = pi->integral + pi->ki * error;
    const float sum = pi->kp * error + integral;

    if (!((sum > 0.95f && error > 0) || (sum < 0 && error < 0)))
        pi->integral = integral;
    return sum > 0.95f ? 0.95f : sum < 0 ? 0 : sum;
}
