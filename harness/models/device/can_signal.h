/*
 * A signal in the bits of a CAN frame, as DBC files count them: bit b is bit b % 8 of byte b / 8,
 * the least one first. A little-endian signal begins with its least bit at `start` and goes up; a
 * big-endian one begins with its greatest bit at `start`, goes down to bit 0 of that byte and on
 * with bit 7 of the next.
 */
#ifndef HIL_CAN_SIGNAL_H
#define HIL_CAN_SIGNAL_H

#include <stdbool.h>
#include <stdint.h>

struct hil_can_signal {
    const char *name, *unit;
    int64_t start, length; /* bits; up to 64 of them */
    int big_endian, is_signed;
    double scale, offset; /* value = scale raw + offset */
    double min, max;      /* of one that is sent: it is kept within them */
    double initial;       /* until it is received, or is given */
    double safe;          /* of one that is sent; NAN: none */
};

/* The number of the bit i steps after the least one; -1: beyond a frame of so many bytes. */
int hil_can_bit(const struct hil_can_signal *signal, unsigned i, unsigned bytes);

/* Puts the nearest value that there is into a frame; takes the value that it has. The signal must
 * lie within the frame. */
void hil_can_pack(const struct hil_can_signal *signal, uint8_t *data, double value);
double hil_can_unpack(const struct hil_can_signal *signal, const uint8_t *data);

#endif
