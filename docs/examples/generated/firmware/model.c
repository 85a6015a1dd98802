/* The interrupt as a model: what the registers are for the loop. */
#include "device.h"

struct adc adc1;
struct timer tim1;

void control_setup(void);
void ADC1_IRQHandler(void);

static struct hil_code code = {.initialize = control_setup, .step = ADC1_IRQHandler};

static struct hil_variable parameters[] = {HIL_ISR_ROWS(code)};
static struct hil_variable inputs[] = {
    {{"voltage_v", "V", 0, -100, 100, HIL_REQUIRED, "output"}, HIL_ADC(adc1.JDR1, 12, 0.0, 64.0)},
    {{"reference_v", "V", 0, -100, 100, HIL_REQUIRED, "potentiometer"},
     HIL_ADC(adc1.JDR2, 12, 0.0, 64.0)},
};
static struct hil_variable outputs[] = {
    {{"duty", "", .doc = "of channel 1"}, HIL_PWM(tim1.CCR1, tim1.ARR)},
};

HIL_CODE_MODEL(code, HIL_SAMPLED, "isr", "control interrupt of a microcontroller")
