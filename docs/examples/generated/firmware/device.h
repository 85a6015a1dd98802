/* Stands in for the header of the device: the registers that the interrupt uses are variables. */
#include <stdint.h>

#include <hiloco/firmware.h>

#define ADC_ISR_JEOS (1u << 6)

struct adc {
    volatile uint32_t ISR, JDR1, JDR2;
};
struct timer {
    volatile uint32_t ARR, CCR1;
};

extern struct adc adc1;
extern struct timer tim1;

#define ADC1 (&adc1)
#define TIM1 (&tim1)
