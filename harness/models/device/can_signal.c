#include "can_signal.h"

#include <math.h>

/* Numbers big-endian bits in the order of transmission: bit 7 of byte 0 is the first. */
static int can_wire(int bit)
{
    return bit / 8 * 8 + 7 - bit % 8;
}

int hil_can_bit(const struct hil_can_signal *s, unsigned i, unsigned bytes)
{
    const int bits = 8 * (int)bytes;

    if (!s->big_endian) {
        const int bit = (int)s->start + (int)i;
        return bit < bits ? bit : -1;
    }
    const int wire = can_wire((int)s->start) + (int)s->length - 1 - (int)i;
    return wire >= 0 && wire < bits ? can_wire(wire) : -1;
}

/* --- raw values ------------------------------------------------------------------------------ */

static uint64_t can_mask(unsigned length)
{
    return length < 64 ? (1ull << length) - 1 : UINT64_MAX;
}

/* The nearest whole number that fits, in two's complement. */
static uint64_t can_raw(const struct hil_can_signal *s, double value)
{
    const unsigned length = (unsigned)s->length;
    const double most = ldexp(1, s->is_signed ? (int)length - 1 : (int)length);
    const double least = s->is_signed ? -most : 0;

    value = value < s->min ? s->min : value > s->max ? s->max : value;
    const double raw = nearbyint((value - s->offset) / s->scale);
    if (!(raw > least))
        return (uint64_t)(int64_t)least & can_mask(length);
    if (raw >= most)
        return can_mask(s->is_signed ? length - 1 : length);
    return (s->is_signed ? (uint64_t)(int64_t)raw : (uint64_t)raw) & can_mask(length);
}

void hil_can_pack(const struct hil_can_signal *s, uint8_t *data, double value)
{
    const uint64_t raw = can_raw(s, value);

    for (unsigned i = 0; i < s->length; i++) {
        const int bit = hil_can_bit(s, i, 64);
        const uint8_t at = (uint8_t)(1u << bit % 8);
        data[bit / 8] = (uint8_t)(raw >> i & 1 ? data[bit / 8] | at : data[bit / 8] & ~at);
    }
}

double hil_can_unpack(const struct hil_can_signal *s, const uint8_t *data)
{
    uint64_t raw = 0;

    for (unsigned i = 0; i < s->length; i++) {
        const int bit = hil_can_bit(s, i, 64);
        raw |= (uint64_t)(data[bit / 8] >> bit % 8 & 1) << i;
    }
    const bool negative = s->is_signed && raw >> (s->length - 1) & 1;
    const double number =
        negative ? (double)(int64_t)(raw | ~can_mask((unsigned)s->length)) : (double)raw;
    return s->scale * number + s->offset;
}
