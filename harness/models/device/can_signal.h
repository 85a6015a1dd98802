/*
 * A signal in the bits of a CAN frame, numbered as in DBC files: bit b is bit b % 8 of byte b / 8,
 * where bit 0 is the least significant. A little-endian signal has its least significant bit at
 * `start` and goes up. A big-endian signal has its most significant bit at `start`, goes down to
 * bit 0 of that byte, and continues with bit 7 of the next byte.
 */
#ifndef HIL_CAN_SIGNAL_H
#define HIL_CAN_SIGNAL_H

#include <stdbool.h>
#include <stdint.h>

struct hil_can_signal {
    const char *name, *unit;
    int64_t start, length; /* in bits; up to 64 */
    int big_endian, is_signed;
    double scale, offset; /* value = scale raw + offset */
    double min, max;      /* range to which a sent signal is limited */
    double initial;       /* value until the first one is received or given */
    double safe;          /* for a sent signal; NAN: none */
};

/* The number of the bit that is i steps above the least significant one; -1: outside a frame of so
 * many bytes. */
int hil_can_bit(const struct hil_can_signal *signal, unsigned i, unsigned bytes);

/* hil_can_pack writes the nearest representable value into a frame; hil_can_take reads the value.
 * The signal must lie within the frame. */
void hil_can_pack(const struct hil_can_signal *signal, uint8_t *data, double value);
double hil_can_unpack(const struct hil_can_signal *signal, const uint8_t *data);

#endif
