/* The control interrupt of a converter, as it runs on a microcontroller. */
#include "device.h"

#define PERIOD 4000           /* counts of the timer */
#define VOLTS  (64.0f / 4096) /* of the divider and the converter, a count */

static float integral;

void control_setup(void)
{
    TIM1->ARR = PERIOD;
    TIM1->CCR1 = 0;
}

__interrupt void ADC1_IRQHandler(void)
{
    const float error = (float)ADC1->JDR2 * VOLTS - (float)ADC1->JDR1 * VOLTS;
    const float value = integral + 20.0f * 20e-6f * error;
    const float sum = 0.001f * error + value;

    if (!((sum > 0.95f && error > 0) || (sum < 0 && error < 0)))
        integral = value;
    TIM1->CCR1 = (uint32_t)((sum > 0.95f ? 0.95f : sum < 0 ? 0 : sum) * PERIOD);
    ADC1->ISR = ADC_ISR_JEOS; /* clears the flag */
}
