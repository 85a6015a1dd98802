/*
 * The control interrupt of a microcontroller as a model (code.h, docs/generated-code.md): rows for
 * the results of analogue-to-digital converters and for the compare registers of pulse-width
 * modulators, and an entry for the interrupt routine. The registers are variables. They are
 * declared by a small header that stands in for that of the device, so that the routine itself
 * compiles unchanged.
 */
#ifndef HILOCO_FIRMWARE_H
#define HILOCO_FIRMWARE_H

#include <hiloco/code.h>

/* What compilers for microcontrollers add to C, and what has no meaning here. */
#ifndef HIL_FIRMWARE_KEEPS_WORDS
#define interrupt
#define __interrupt
#define __irq
#define __disable_irq()
#define __enable_irq()
#define __DSB()
#define __NOP()
#define EINT
#define DINT
#define EALLOW
#define EDIS
#endif

/* The result register of a converter with so many bits: 0 for `low`, and its greatest number less
 * than one step below `high`. It rounds down, and stops at its ends. */
#define HIL_ADC(result, bits, low, high)                                                           \
    HIL_STORED(result), ((high) - (low)) / (double)(1u << (bits)), (low), (bits),                  \
    {                                                                                              \
        0                                                                                          \
    }

/* The duty cycle of a compare register: its share of the period register, or of what is not. */
#define HIL_PWM(compare, period)          HIL_STORED(compare), 1, 0, 0, HIL_STORED(period)
#define HIL_PWM_INVERTED(compare, period) HIL_STORED(compare), -1, 1, 0, HIL_STORED(period)

/* Rows of the parameters, with which a scenario sets the time between two interrupts, and the time
 * from an interrupt to the one at which its compare values take force. */
#define HIL_ISR_ROWS(code)                                                                         \
    {{"isr_period_us", "us", 0, 0, 1e6, 0, "time between two interrupts; 0: the node's period"},   \
     HIL_SCALED((code).period_s, 1e6, 0)},                                                         \
    {                                                                                              \
        {"isr_delay_us",                                                                           \
         "us",                                                                                     \
         0,                                                                                        \
         0,                                                                                        \
         1e6,                                                                                      \
         0,                                                                                        \
         "time from an interrupt until what it computed takes force"},                             \
            HIL_SCALED((code).delay_s, 1e6, 0)                                                     \
    }

#endif
