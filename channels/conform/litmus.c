/*
 * The litmus programs. A round of each is a few operations of the poster and a look of the target.
 * What a program looks for is in its row of the table at the end.
 */
#include "conform.h"

enum {
    ADDS = 16,     /* of the network, in a round */
    CPU_ADDS = 64, /* of the target's CPU */
    GETS = 8,
};

/* --- parts of programs ------------------------------------------------------------------------ */

static uint64_t block_word(struct stage *s, size_t i)
{
    return stage_load(s, TARGET, AT_BLOCK + i * sizeof(uint64_t));
}

/* Whether a word of the block is not of this round, though the flag says that all are there. */
static bool look_block(struct stage *s, size_t size)
{
    bool missing = false;

    stage_await(s, TARGET, AT_FLAG, s->round);
    for (size_t i = 0; i < size / sizeof(uint64_t); i++)
        missing |= block_word(s, i) != stage_pattern(s->round);
    return missing;
}

static void raise_flag(struct stage *s, uint32_t road)
{
    stage_put(s, road, AT_FLAG, s->round);
}

/* --- puts ------------------------------------------------------------------------------------- */

static bool put_two(struct stage *s, size_t size)
{
    stage_put_block(s, size);
    raise_flag(s, ROAD_A);
    return false;
}

/* The last word of a put was placed: are those before it? */
static bool look_before_last(struct stage *s, size_t size)
{
    const size_t last = size / sizeof(uint64_t) - 1;
    bool missing = false;

    stage_await(s, TARGET, AT_BLOCK + last * sizeof(uint64_t), stage_pattern(s->round));
    for (size_t i = 0; i < last; i++)
        missing |= block_word(s, i) != stage_pattern(s->round);
    return missing;
}

static bool put_alone(struct stage *s, size_t size)
{
    stage_wait(s, stage_put_block(s, size));
    return false;
}

/* Reads the words one after the other, up or down. If an old word is read after a new one, or if a
 * word's halves differ, the put was seen in parts. *whole: all words are new. */
static bool look_once(struct stage *s, size_t count, bool down, bool *whole)
{
    bool parts = false, any = false;

    *whole = true;
    for (size_t i = 0; i < count; i++) {
        const uint64_t word = block_word(s, down ? count - 1 - i : i);
        const bool is_new = word == stage_pattern(s->round);
        parts |= (any && !is_new) || word >> 32 != (uint32_t)word;
        any |= is_new;
        *whole &= is_new;
    }
    return parts;
}

static bool look_for_parts(struct stage *s, size_t size)
{
    const struct loco_manager *m = s->ends[TARGET].manager;
    struct loco_wait wait = loco_wait_for(m, UINT64_MAX);
    bool parts = false, whole = false;

    while (!whole) {
        parts |= look_once(s, size / sizeof(uint64_t), s->round & 1, &whole);
        loco_relax(m, &wait);
        if (loco_peer_lost(m, ROAD_A))
            conform_die("the other side is gone");
    }
    return parts;
}

/* --- what makes sure that a put is placed: the flag goes by the other link ---------------------
 */

static bool put_acknowledged(struct stage *s, size_t size)
{
    stage_wait(s, stage_put_block(s, size));
    raise_flag(s, ROAD_B);
    return false;
}

static bool put_read_nothing(struct stage *s, size_t size)
{
    stage_put_block(s, size);
    stage_wait(s, stage_post_get(s, ROAD_A, AT_X, 0, s->ends[ROAD_A].results));
    raise_flag(s, ROAD_B);
    return false;
}

static bool put_fence(struct stage *s, size_t size)
{
    stage_put_block(s, size);
    stage_fence(s, ROAD_A);
    raise_flag(s, ROAD_B);
    return false;
}

/* --- gets ------------------------------------------------------------------------------------- */

static bool put_then_get(struct stage *s, size_t size)
{
    (void)size;
    stage_put(s, ROAD_A, AT_X, s->round);
    return stage_get(s, ROAD_A, AT_X) != s->round;
}

static bool get_then_put(struct stage *s, size_t size)
{
    uint64_t *result = s->ends[ROAD_A].results;

    (void)size;
    struct loco_ack ack = stage_post_get(s, ROAD_A, AT_X, sizeof *result, result);
    stage_put(s, ROAD_A, AT_X, s->round);
    stage_wait(s, ack);
    stage_fence(s, ROAD_A);
    return *result == s->round;
}

/* X and then Y are read, while the target stores Y and then X. */
static bool get_pairs(struct stage *s, size_t size)
{
    uint64_t *results = s->ends[ROAD_A].results;
    struct loco_ack ack = {0};
    bool seen = false;

    (void)size;
    raise_flag(s, ROAD_A);
    for (size_t i = 0; i < GETS; i++)
        ack = loco_ack_union(
            ack, stage_post_get(s, ROAD_A, i & 1 ? AT_Y : AT_X, sizeof *results, &results[i]));
    stage_wait(s, ack);
    for (size_t i = 0; i < GETS; i += 2)
        seen |= results[i] == s->round && results[i + 1] != s->round;
    return seen;
}

static bool store_pair(struct stage *s, size_t size)
{
    (void)size;
    stage_await(s, TARGET, AT_FLAG, s->round);
    __atomic_store_n(stage_word(s, TARGET, AT_Y), s->round, __ATOMIC_RELEASE);
    __atomic_store_n(stage_word(s, TARGET, AT_X), s->round, __ATOMIC_RELEASE);
    return false;
}

/* --- atomics ---------------------------------------------------------------------------------- */

static bool put_then_add(struct stage *s, size_t size)
{
    (void)size;
    stage_put(s, ROAD_A, AT_X, s->round);
    return stage_add(s, ROAD_A, AT_X, 0) != s->round;
}

/* Posts adds of 1, in turn on `roads` links, and waits for them. */
static void add_many(struct stage *s, uint32_t roads)
{
    struct loco_ack acks[2] = {0};

    for (uint32_t i = 0; i < ADDS; i++) {
        const uint32_t road = i % roads;
        acks[road] = loco_ack_union(
            acks[road], stage_post_add(s, road, AT_SUM, 1, &s->ends[road].results[1 + i / roads]));
    }
    for (uint32_t road = 0; road < roads; road++)
        stage_wait(s, acks[road]);
}

static bool add_by_both(struct stage *s, size_t size)
{
    const uint64_t before = stage_add(s, ROAD_A, AT_SUM, 0);

    (void)size;
    add_many(s, 2);
    return stage_add(s, ROAD_A, AT_SUM, 0) != before + ADDS;
}

static bool add_beside_cpu(struct stage *s, size_t size)
{
    (void)size;
    stage_wait(s, stage_put(s, ROAD_A, AT_SUM, 0));
    raise_flag(s, ROAD_A);
    add_many(s, 1);
    return false;
}

static bool add_by_cpu(struct stage *s, size_t size)
{
    (void)size;
    stage_await(s, TARGET, AT_FLAG, s->round);
    for (unsigned i = 0; i < CPU_ADDS; i++)
        __atomic_fetch_add(stage_word(s, TARGET, AT_SUM), 1, __ATOMIC_SEQ_CST);
    return false;
}

static bool sum_is_short(struct stage *s)
{
    return stage_add(s, ROAD_A, AT_SUM, 0) != ADDS + CPU_ADDS;
}

static bool add_beside_put(struct stage *s, size_t size)
{
    const uint64_t before = stage_get(s, ROAD_A, AT_X), put_value = s->round << 8;

    (void)size;
    struct loco_ack sum = stage_post_add(s, ROAD_A, AT_X, 1, s->ends[ROAD_A].results);
    stage_put(s, ROAD_B, AT_X, put_value);
    stage_wait(s, sum);
    stage_fence(s, ROAD_B);
    stage_fence(s, ROAD_A);
    return stage_get(s, ROAD_A, AT_X) == before + 1;
}

static bool add_then_get_by_other(struct stage *s, size_t size)
{
    const uint64_t old = stage_add(s, ROAD_A, AT_SUM, 1);

    (void)size;
    return stage_get(s, ROAD_B, AT_SUM) == old;
}

static bool add_fence_get_by_other(struct stage *s, size_t size)
{
    const uint64_t old = stage_add(s, ROAD_A, AT_SUM, 1);

    (void)size;
    stage_fence(s, ROAD_A);
    return stage_get(s, ROAD_B, AT_SUM) == old;
}

static bool swap_then_put(struct stage *s, uint32_t road)
{
    const uint64_t swapped = 2 * s->round, last = swapped + 1;

    stage_swap(s, ROAD_A, AT_X, stage_get(s, ROAD_A, AT_X), swapped);
    stage_put(s, road, AT_X, last);
    stage_fence(s, ROAD_B);
    stage_fence(s, ROAD_A);
    return stage_get(s, ROAD_A, AT_X) != last;
}

static bool swap_then_put_by_same(struct stage *s, size_t size)
{
    (void)size;
    return swap_then_put(s, ROAD_A);
}

static bool swap_then_put_by_other(struct stage *s, size_t size)
{
    (void)size;
    return swap_then_put(s, ROAD_B);
}

/* The target stores a word while a compare-swap on it fails. */
static bool swap_in_vain(struct stage *s, size_t size)
{
    (void)size;
    raise_flag(s, ROAD_A);
    for (unsigned i = 0; i < GETS; i++)
        stage_swap(s, ROAD_A, AT_X, UINT64_MAX, 0);
    return false;
}

static bool store_is_lost(struct stage *s)
{
    return stage_get(s, ROAD_A, AT_X) != s->round;
}

/* --- the table -------------------------------------------------------------------------------- */

#define PARTS(bytes, rule)                                                                         \
    {                                                                                              \
        "parts_" #bytes, "a put of " #bytes " bytes is seen in parts", rule, false, 0, bytes,      \
            put_alone, look_for_parts, NULL                                                        \
    }

const struct litmus litmus_programs[] = {
    {"put_order_8", "a later put of the link is seen first", MUST_NOT, false, 0, 8, put_two,
     look_block, NULL},
    {"put_order_16384", "the same, and the earlier put has 16384 bytes", MUST_NOT, false, 0,
     LONGEST_PUT, put_two, look_block, NULL},
    PARTS(8, MUST_NOT),
    {"fence", "after a fence (a read of 8 bytes), the put is not placed", MUST_NOT, false, 0,
     LONGEST_PUT, put_fence, look_block, NULL},
    {"get_after_put", "a get misses an earlier put of its link", MUST_NOT, false, 0, 0,
     put_then_get, NULL, NULL},
    {"atomic_after_put", "an atomic misses an earlier put of its link", MUST_NOT, true, 0, 0,
     put_then_add, NULL, NULL},
    {"adds_of_links", "of the atomic adds of two links, one is lost", MUST_NOT, true, 0, 0,
     add_by_both, NULL, NULL},
    {"atomic_fence", "after an atomic and a fence, a get of another link misses it", MUST_NOT, true,
     0, 0, add_fence_get_by_other, NULL, NULL},
    {"put_after_atomic", "an atomic that is done undoes a later put of its link", MUST_NOT, true, 0,
     0, swap_then_put_by_same, NULL, NULL},
    {"failed_swap", "a compare-swap that fails undoes the CPU's store", MUST_NOT, true, 0, 0,
     swap_in_vain, store_pair, store_is_lost},
    {"acknowledged", "after its acknowledgement, a put is not placed", MAY, false, 0, LONGEST_PUT,
     put_acknowledged, look_block, NULL},
    {"read_of_nothing", "after a read of 0 bytes, the put is not placed", MAY, false, 0,
     LONGEST_PUT, put_read_nothing, look_block, NULL},
    {"order_in_put", "a put's last word is seen before an earlier one", MAY, false, 0, 4096,
     put_alone, look_before_last, NULL},
    PARTS(16, MAY),
    PARTS(32, MAY),
    PARTS(64, MAY),
    PARTS(128, MAY),
    PARTS(256, MAY),
    PARTS(512, MAY),
    PARTS(4096, MAY),
    {"get_overtaken", "a get sees a later put of its link", MAY, false, 0, 0, get_then_put, NULL,
     NULL},
    {"get_order", "the later of two gets sees an older state", MAY, false, 0, 0, get_pairs,
     store_pair, NULL},
    {"atomic_late", "after an atomic is done, a get of another link misses it", MAY, true,
     LOCO_ATOMICS_PLACED, 0, add_then_get_by_other, NULL, NULL},
    {"atomic_overwrites", "after an atomic is done, it undoes a put of another link", MAY, true,
     LOCO_ATOMICS_PLACED, 0, swap_then_put_by_other, NULL, NULL},
    {"cpu_adds", "of adds of the network and of the CPU, one is lost", MAY, true, LOCO_CPU_ATOMICS,
     0, add_beside_cpu, add_by_cpu, sum_is_short},
    {"put_beside_add", "an atomic add undoes a put of another link", MAY, true, 0, 0,
     add_beside_put, NULL, NULL},
    {0},
};

/* --- rounds ----------------------------------------------------------------------------------- */

bool litmus_is_excluded(const struct stage *s, const struct litmus *l)
{
    return l->rule == MUST_NOT || (s->ends[ROAD_A].manager->fabric->capabilities & l->unless);
}

bool litmus_is_run(const struct stage *s, const struct litmus *l)
{
    return s->atomics || !l->atomics;
}

uint64_t litmus_post(struct stage *s, const struct litmus *l)
{
    const uint64_t before = stage_get(s, ROAD_A, AT_COUNT);
    uint64_t seen = 0;

    stage_fence(s, ROAD_A); /* nothing of the program before arrives in this one */
    stage_fence(s, ROAD_B);
    for (uint64_t i = 0; i < s->trials; i++) {
        s->round++;
        bool now = l->act(s, l->size);
        if (l->look)
            stage_await(s, ROAD_A, AT_SEEN, s->round);
        now |= l->check && l->check(s);
        seen += now;
    }
    return seen + stage_get(s, ROAD_A, AT_COUNT) - before;
}

void litmus_look(struct stage *s, const struct litmus *l)
{
    if (!l->look)
        s->round += s->trials;
    for (uint64_t i = 0; l->look && i < s->trials; i++) {
        s->round++;
        s->surprises += l->look(s, l->size);
        stage_answer(s);
    }
}
