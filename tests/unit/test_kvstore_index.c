/* Tests the key-value store's index at one node, on its own: colliding hashes and full tables. A
 * workload of tests/sim tests look-ups during changes. */
#include <criterion/criterion.h>
#include <errno.h>

#include "channels/kvstore/kvstore_index.h"

static struct kv_index *idx;

static struct kv_place place_at(uint32_t host, uint32_t slot, uint64_t counter)
{
    return (struct kv_place){.host = host, .slot = slot, .counter = counter};
}

static bool has(uint64_t hash, struct kv_place place)
{
    const struct kv_place found = kv_index_find(idx, hash);

    return kv_index_guess(idx, hash).host != KV_NOWHERE && found.host == place.host &&
           found.slot == place.slot && found.counter == place.counter;
}

static bool misses(uint64_t hash)
{
    return kv_index_find(idx, hash).host == KV_NOWHERE;
}

static void add(uint64_t hash, struct kv_place place)
{
    cr_assert_eq(kv_index_add(idx, hash, place), 0);
}

static void take_out(uint64_t hash, struct kv_place place)
{
    cr_assert(kv_index_remove(idx, hash, place));
}

Test(kvstore_index, a_key_is_where_it_was_put)
{
    enum { HOSTS = 3, SLOTS = 5 };

    cr_assert_eq(kv_index_open(&idx, HOSTS, SLOTS, 0), 0);
    for (uint32_t host = 0; host < HOSTS; host++)
        for (uint32_t slot = 0; slot < SLOTS; slot++)
            add(kv_hash(SLOTS * host + slot), place_at(host, slot, slot + 1));
    for (uint32_t host = 0; host < HOSTS; host++)
        for (uint32_t slot = 0; slot < SLOTS; slot++)
            cr_assert(has(kv_hash(SLOTS * host + slot), place_at(host, slot, slot + 1)));
    cr_assert(misses(kv_hash(HOSTS * SLOTS)));
    kv_index_close(idx);
}

Test(kvstore_index, any_hash_may_be_a_key)
{
    const uint64_t hashes[] = {0, UINT64_MAX, UINT32_MAX, UINT64_C(1) << 32, UINT64_C(1) << 63};

    cr_assert_eq(kv_index_open(&idx, 1, 8, 0), 0);
    for (uint32_t i = 0; i < 5; i++) {
        cr_assert(misses(hashes[i]));
        add(hashes[i], place_at(0, i, 1));
    }
    for (uint32_t i = 0; i < 5; i++)
        cr_assert(has(hashes[i], place_at(0, i, 1)));
    for (uint32_t i = 0; i < 5; i++) {
        take_out(hashes[i], place_at(0, i, 1));
        cr_assert(misses(hashes[i]));
    }
    kv_index_close(idx);
}

/* The table keeps the same part of these keys' hashes. */
Test(kvstore_index, keys_with_the_same_half_are_told_apart)
{
    const uint64_t a = UINT64_C(7) << 32, b = a | 0x80, absent = a | 0x100;

    cr_assert_eq(kv_index_open(&idx, 1, 8, 0), 0);
    add(a, place_at(0, 3, 1));
    cr_assert(misses(b));
    cr_assert_eq(kv_index_guess(idx, b).host, 0);
    cr_assert_eq(kv_index_guess(idx, b).slot, 3);
    add(b, place_at(0, 4, 1));
    cr_assert(has(a, place_at(0, 3, 1)) && has(b, place_at(0, 4, 1)) && misses(absent));
    take_out(a, place_at(0, 3, 1));
    cr_assert(misses(a) && has(b, place_at(0, 4, 1)));
    kv_index_close(idx);
}

/* This node is the last to learn that `a` was removed. */
static void use_again(uint64_t a, uint64_t b, bool late_first)
{
    cr_assert_eq(kv_index_open(&idx, 1, 8, 8), 0);
    add(a, place_at(0, 3, 1));
    add(b, place_at(0, 3, 2));
    cr_assert(misses(a) && has(b, place_at(0, 3, 2)));
    if (late_first)
        take_out(a, place_at(0, 3, 1));
    cr_assert(misses(a) && has(b, place_at(0, 3, 2)));
    take_out(b, place_at(0, 3, 2));
    cr_assert(misses(a) && misses(b));
    if (!late_first)
        take_out(a, place_at(0, 3, 1));
    cr_assert(misses(a) && misses(b));
    kv_index_close(idx);
}

Test(kvstore_index, a_slot_has_its_next_key_before_the_last_is_gone)
{
    use_again(kv_hash(1), kv_hash(2), false);
    use_again(kv_hash(1), kv_hash(2), true);
    use_again(UINT64_C(7) << 32, UINT64_C(7) << 32 | 0x80, false);
    use_again(UINT64_C(7) << 32, UINT64_C(7) << 32 | 0x80, true);
}

/* The keys of one home fill more lines than its head can count. */
Test(kvstore_index, one_line_is_the_home_of_all_keys)
{
    enum { SLOTS = 3000 };

    cr_assert_eq(kv_index_open(&idx, 1, SLOTS, 0), 0);
    for (uint32_t i = 0; i < SLOTS; i++)
        add((uint64_t)i << 32, place_at(0, i, 1));
    for (uint32_t i = 0; i < SLOTS; i++)
        cr_assert(has((uint64_t)i << 32, place_at(0, i, 1)));
    cr_assert_eq(kv_index_guess(idx, (uint64_t)SLOTS << 32).host, KV_NOWHERE);
    for (uint32_t i = 0; i < SLOTS; i += 2)
        take_out((uint64_t)i << 32, place_at(0, i, 1));
    for (uint32_t i = 0; i < SLOTS; i++)
        cr_assert(i % 2 ? has((uint64_t)i << 32, place_at(0, i, 1)) : misses((uint64_t)i << 32));
    for (uint32_t i = 1; i < SLOTS; i += 2)
        take_out((uint64_t)i << 32, place_at(0, i, 1));
    kv_index_close(idx);
}

/* The index takes as many keys as it was opened for, and no key when no word is free. */
Test(kvstore_index, full)
{
    enum { SLOTS = 60, LATE = 40, SOME = 1000 };
    uint32_t i = 0;

    cr_assert_eq(kv_index_open(&idx, 1, SLOTS, LATE), 0);
    while (i < SOME && kv_index_add(idx, kv_hash(i), place_at(0, i % SLOTS, 1 + i / SLOTS)) == 0)
        i++;
    cr_assert(i >= SLOTS + LATE && i < SOME, "%u keys", i);
    cr_assert_eq(kv_index_add(idx, kv_hash(SOME), place_at(0, 0, SOME)), -ENOMEM);
    while (i-- > 0)
        take_out(kv_hash(i), place_at(0, i % SLOTS, 1 + i / SLOTS));
    for (i = 0; i < SOME; i++)
        cr_assert(misses(kv_hash(i)));
    kv_index_close(idx);
}

Test(kvstore_index, more_slots_than_a_word_can_name_are_refused)
{
    cr_assert_eq(kv_index_open(&idx, 1 << 16, 1 << 16, 0), -ENOMEM);
}
