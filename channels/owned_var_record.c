/* What is done to the record of an owned_var now and then. */
#include "owned_var_record.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static enum check var_check_of(const struct loco_manager *m, size_t size)
{
    const unsigned fabric = m->fabric->capabilities;

    if (size == 1 || size == 2 || size == 4 || size == 8 || fabric & LOCO_WHOLE)
        return NO_CHECK;
    return fabric & LOCO_COHERENT ? COUNT : CHECKSUM;
}

static size_t var_record_size(size_t size, enum check check)
{
    return check == NO_CHECK ? size : var_whole_words(size) + WORD;
}

void loco_var_lay_out(struct loco_owned_var *v, const struct loco_manager *m)
{
    const enum check check = var_check_of(m, v->size);

    v->record = var_record_size(v->size, check);
    v->check = (uint8_t)check;
}

/* Values of different sizes must give regions of different sizes, so that endpoints that disagree
 * about the size refuse each other. The record is rounded up to whole words, so the bytes that the
 * rounding added to the value are added once more. */
size_t loco_var_region_size(const struct loco_owned_var *v)
{
    const size_t claims = 2 * WORD, record = var_whole_words(v->record);

    return record + (record > claims ? record : claims) + var_whole_words(v->size) - v->size;
}

uint64_t loco_var_checksum(const void *value, size_t size)
{
    return XXH3_64bits(value, size);
}

enum { PART = 256 };

void loco_var_store_zero(const struct loco_owned_var *v)
{
    XXH3_state_t state;
    static const unsigned char zeros[PART];

    if (v->check != CHECKSUM)
        return;
    XXH3_64bits_reset(&state);
    for (size_t left = v->size; left > 0;) {
        size_t part = left < sizeof zeros ? left : sizeof zeros;
        XXH3_64bits_update(&state, zeros, part);
        left -= part;
    }
    uint64_t sum = XXH3_64bits_digest(&state);
    memcpy(var_check_word(v, v->copy), &sum, sizeof sum);
}

static bool var_is_whole(const struct loco_owned_var *v)
{
    if (v->check == NO_CHECK)
        return true;
    const uint64_t told = __atomic_load_n(var_check_word(v, v->copy), __ATOMIC_ACQUIRE);
    return v->check == COUNT ? told % 2 == 0 : told == loco_var_checksum(v->copy, v->size);
}

static void var_make_zero(const struct loco_owned_var *v)
{
    memset(v->copy, 0, v->size);
    if (v->check == COUNT)
        var_end_counted(var_check_word(v, v->copy), *var_check_word(v, v->copy));
    else
        loco_var_store_zero(v);
}

void loco_var_mend(const struct loco_owned_var *v)
{
    if (!var_is_whole(v))
        var_make_zero(v);
}
