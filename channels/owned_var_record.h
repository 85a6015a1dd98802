/*
 * The record of an owned_var.
 *
 * The region, at the owner and at each reader:
 *
 *      record      the value. Pushes and pulls copy the record. A value that is not one machine
 *                  word is followed by a check word, which says whether the value is whole (except
 *                  on a LOCO_WHOLE fabric)
 *      claims      at the owner two words: `pushes`, which the owner sets, and `pulls`, which
 *                  readers write
 *      landing     in their place at a reader, room for one more record: reads that must not touch
 *                  its copy land here
 *
 * So a value of three words is one cache line with all that belongs to it.
 *
 * Whole or torn. In general the words of a write arrive in any order, and the check word is a
 * checksum of the value. On a LOCO_COHERENT fabric the CPU writes the members' memory itself, by
 * stores that are seen in order; there the check word is a count, as of a seqlock. It is odd from
 * before the first word of a value is stored until after the last, and then even and two higher. A
 * value that was read between two equal even counts is whole. A pushed copy gets the count of the
 * owner's copy, so that the owner need not read the reader's. The count starts at the time in ns,
 * so an owner that restarts counts on from above its former counts, and a reader that is in the
 * middle of a load meanwhile sees the count change.
 */
#ifndef LOCO_OWNED_VAR_RECORD_H
#define LOCO_OWNED_VAR_RECORD_H

#include "core.h"
#include "loco/fabric/atomic_copy.h"
#include "loco/owned_var.h"

enum { WORD = sizeof(uint64_t) };

/* What the check word is. */
enum check { NO_CHECK, COUNT, CHECKSUM };

static inline size_t var_whole_words(size_t size)
{
    return (size + WORD - 1) / WORD * WORD;
}

static inline size_t var_pushes_at(const struct loco_owned_var *v)
{
    return var_whole_words(v->record);
}

static inline size_t var_pulls_at(const struct loco_owned_var *v)
{
    return var_pushes_at(v) + WORD;
}

static inline size_t var_landing_at(const struct loco_owned_var *v)
{
    return var_pushes_at(v);
}

static inline void *var_here(const struct loco_owned_var *v, size_t offset)
{
    return (unsigned char *)v->region->memory + offset;
}

/* A value of 4 bytes has a short way of its own. It is for a barrier's count, which waiting threads
 * load all the time. */
static inline void var_copy_value(const struct loco_owned_var *v, void *to, const void *from)
{
    if (v->size != sizeof(uint32_t) || ((uintptr_t)to | (uintptr_t)from) % sizeof(uint32_t)) {
        loco_copy(to, from, v->size);
        return;
    }
    const uint32_t value = __atomic_load_n((const uint32_t *)from, __ATOMIC_RELAXED);
    __atomic_store_n((uint32_t *)to, value, __ATOMIC_RELAXED);
}

/* Whether the value is a few whole words, as most are. There is a short way for these. */
static inline bool var_is_words(const struct loco_owned_var *v, const void *value)
{
    return v->size < LOCO_CACHE_LINE && (v->size | (uintptr_t)value) % WORD == 0;
}

static inline void var_copy_words(uint64_t *to, const uint64_t *from, size_t size)
{
    size_t i = 0;

    do
        __atomic_store_n(&to[i], __atomic_load_n(&from[i], __ATOMIC_RELAXED), __ATOMIC_RELAXED);
    while (++i < size / WORD);
}

/* The check word of a copy. */
static inline uint64_t *var_check_word(const struct loco_owned_var *v, const unsigned char *copy)
{
    return (uint64_t *)(void *)(copy + v->record - WORD);
}

static inline void var_begin_counted(uint64_t *count, uint64_t odd)
{
    __atomic_store_n(count, odd, __ATOMIC_RELAXED);
    atomic_thread_fence(memory_order_release);
}

static inline void var_end_counted(uint64_t *count, uint64_t odd)
{
    __atomic_store_n(count, odd + 1, __ATOMIC_RELEASE);
}

static inline bool var_is_coherent(const struct loco_owned_var *v)
{
    return v->channel.mgr->fabric->capabilities & LOCO_COHERENT;
}

/* --- owned_var_record.c ----------------------------------------------------------------------- */

/* Sets what the check word is, and the record's size. */
void loco_var_lay_out(struct loco_owned_var *var, const struct loco_manager *manager);

size_t loco_var_region_size(const struct loco_owned_var *var);

uint64_t loco_var_checksum(const void *value, size_t size);

/* Stores the checksum of a value of zeros, so that a load before the first push succeeds. */
void loco_var_store_zero(const struct loco_owned_var *var);

/* A value that was left half-written becomes zero. */
void loco_var_mend(const struct loco_owned_var *var);

/* --- owned_var_read.c ------------------------------------------------------------------------- */

/* One thread of a reader at a time reads from the owner. Returns 0 or -ETIMEDOUT. */
int loco_var_begin_reading(struct loco_owned_var *var, struct loco_wait *wait);
void loco_var_end_reading(struct loco_owned_var *var);

/* --- owned_var.c ------------------------------------------------------------------------------ */

/* Says once why one side is refused. Returns -EOPNOTSUPP. */
int loco_var_refuse(struct loco_owned_var *var, const char *why);

#endif
