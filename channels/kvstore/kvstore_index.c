#include "kvstore_index.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/*
 * The table is an array of cache lines, each with a head and seven words. A key has one word, which
 * holds the upper half of its hash and the number of its slot. The word is in the key's home line
 * or, if that was full, in the next line that had room. The home line's head says how far to
 * search. A head also has seven more bits of the hash of each word in its line, so that a look-up
 * compares all of them at once.
 *
 * Two keys may have the same upper half. So each slot has a record: the key that uses it, and the
 * counter of that use. A slot may get its next key before this node has applied the removal of the
 * previous one. The record then says that the previous key is not there, which is true.
 *
 * A look-up takes no lock. A word does not move while it is in the table, so a look-up finds every
 * key that is there from its beginning to its end. A change writes the word before the bytes of the
 * heads that lead to it.
 */

enum { LINE = 64, WORDS = 7, WORDS_FILLED = 5 /* in each line, when the table is full */ };

struct index_line {
    /* Byte i: 0x80 | bits of the hash of word i; 0: the word is free. Byte 7: words whose home line
     * this is are at most so many lines after it; FAR: they may be anywhere. */
    _Alignas(LINE) _Atomic uint64_t head;
    _Atomic uint64_t word[WORDS]; /* the hash's upper half << 32 | the slot's number */
};

enum { FAR = 255 };

_Static_assert(sizeof(struct index_line) == LINE, "a cache line");

struct index_use {
    _Atomic uint64_t hash;
    _Atomic uint64_t counter; /* 0: the slot is free */
};

struct kv_index {
    struct index_line *lines;
    struct index_use *uses; /* by slot */
    uint32_t line_count;
    uint32_t hosts, slots; /* slots: at each host */
    unsigned slot_bits;
    pthread_mutex_t lock; /* of changes */
    uint32_t *elsewhere;  /* by home line: how many of its words are in other lines */
};

/* --- setup -------------------------------------------------------------------------------- */

enum { HUGE_PAGE = 2 << 20 };

#ifndef MADV_COLLAPSE /* since Linux 6.1; older kernels refuse, and do it later */
#define MADV_COLLAPSE 25
#endif

/* Asks for huge pages. Look-ups are scattered, and on small pages each would begin with a TLB miss.
 * Without huge pages the index is slower, but works. */
static void index_ask_for_huge_pages(void *memory, size_t size)
{
    uintptr_t begin = ((uintptr_t)memory + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);
    uintptr_t end = ((uintptr_t)memory + size) & ~(uintptr_t)(HUGE_PAGE - 1);

    if (begin >= end)
        return;
    madvise((void *)begin, end - begin, MADV_HUGEPAGE);
    madvise((void *)begin, end - begin, MADV_COLLAPSE); /* for pages that exist already */
}

/* Zeroed memory whose pages are all present. */
static void *index_memory(size_t size)
{
    const size_t whole = (size + LINE - 1) / LINE * LINE;
    void *memory = aligned_alloc(LINE, whole);

    if (!memory)
        return NULL;
    index_ask_for_huge_pages(memory, whole);
    return memset(memory, 0, whole);
}

static unsigned index_bits(uint32_t count)
{
    unsigned bits = 0;

    while (UINT64_C(1) << bits < count)
        bits++;
    return bits;
}

int kv_index_open(struct kv_index **index, uint32_t hosts, uint32_t slots, size_t late)
{
    const size_t keys = (size_t)hosts * slots, lines = (keys + late) / WORDS_FILLED + 1;
    const unsigned bits = index_bits(slots);
    struct kv_index *x = calloc(1, sizeof *x);

    if (!x)
        return -ENOMEM;
    if ((uint64_t)hosts << bits > UINT32_MAX || lines > UINT32_MAX ||
        pthread_mutex_init(&x->lock, NULL)) {
        free(x);
        return -ENOMEM;
    }
    x->hosts = hosts;
    x->slots = slots;
    x->slot_bits = bits;
    x->line_count = (uint32_t)lines;
    x->lines = index_memory(lines * sizeof *x->lines);
    x->uses = index_memory(keys * sizeof *x->uses);
    x->elsewhere = calloc(lines, sizeof *x->elsewhere);
    if (!x->lines || !x->uses || !x->elsewhere) {
        kv_index_close(x);
        return -ENOMEM;
    }
    *index = x;
    return 0;
}

void kv_index_close(struct kv_index *x)
{
    if (!x)
        return;
    free(x->lines);
    free(x->uses);
    free(x->elsewhere);
    pthread_mutex_destroy(&x->lock);
    free(x);
}

/* --- words -------------------------------------------------------------------------------- */

static uint64_t index_word(const struct kv_index *x, uint64_t hash, struct kv_place place)
{
    const uint64_t number = (uint64_t)place.host << x->slot_bits | place.slot;

    return (hash & ~(uint64_t)UINT32_MAX) | number;
}

static struct kv_place index_place(const struct kv_index *x, uint64_t word)
{
    const uint32_t number = (uint32_t)word;

    return (struct kv_place){.host = number >> x->slot_bits,
                             .slot = number & (uint32_t)((UINT64_C(1) << x->slot_bits) - 1)};
}

static struct index_use *index_use(const struct kv_index *x, struct kv_place place)
{
    return &x->uses[(size_t)place.host * x->slots + place.slot];
}

/* --- lines -------------------------------------------------------------------------------- */

static uint32_t index_home(const struct kv_index *x, uint64_t hash)
{
    return (uint32_t)((hash & UINT32_MAX) * x->line_count >> 32);
}

/* The line that is `further` lines after the home line. After the last line comes the first. */
static struct index_line *index_line(const struct kv_index *x, uint32_t home, uint32_t further)
{
    const uint64_t at = (uint64_t)home + further;

    return &x->lines[at < x->line_count ? at : at - x->line_count];
}

/* The byte in the head for a word. Its bits of the hash are not in the word and, with fewer than
 * 2^25 lines, hardly influence the choice of the home line. */
static uint64_t index_mark(uint64_t hash)
{
    return 0x80 | (hash & 0x7f);
}

static uint64_t index_reach(uint64_t head)
{
    return head >> 56;
}

static uint32_t index_lines_to_look_at(const struct kv_index *x, uint64_t head)
{
    return index_reach(head) == FAR ? x->line_count : (uint32_t)index_reach(head) + 1;
}

/* Finds `byte` among bytes 0 to 6: sets the upper bit of each that equals it, and rarely of another
 * one. */
static uint64_t index_bytes(uint64_t head, uint64_t byte)
{
    const uint64_t each = UINT64_C(0x0001010101010101), x = head ^ byte * each;

    return (x - each) & ~x & each << 7;
}

/* --- look-ups ----------------------------------------------------------------------------- */

static const struct kv_place nowhere = {.host = KV_NOWHERE};

/* Returns the counter of the slot's use, if this very key uses it; else 0. */
static uint64_t index_counter(const struct kv_index *x, uint64_t hash, struct kv_place place)
{
    struct index_use *use = index_use(x, place);

    if (atomic_load_explicit(&use->hash, memory_order_relaxed) != hash)
        return 0;
    return atomic_load_explicit(&use->counter, memory_order_relaxed);
}

/* Looks in one line. Returns a guess, without a counter, unless `surely`. */
static inline struct kv_place index_look(const struct kv_index *x, const struct index_line *line,
                                         uint64_t head, uint64_t hash, bool surely)
{
    for (uint64_t found = index_bytes(head, index_mark(hash)); found; found &= found - 1) {
        const int i = __builtin_ctzll(found) / 8;
        uint64_t word = atomic_load_explicit(&line->word[i], memory_order_acquire);
        if ((word ^ hash) >> 32)
            continue;
        struct kv_place place = index_place(x, word);
        if (!surely)
            return place;
        place.counter = index_counter(x, hash, place);
        if (place.counter)
            return place;
    }
    return nowhere;
}

/* Looks in the lines after the home line. */
static struct kv_place index_look_further(const struct kv_index *x, uint64_t home_head,
                                          uint64_t hash, bool surely)
{
    const uint32_t home = index_home(x, hash), lines = index_lines_to_look_at(x, home_head);

    for (uint32_t further = 1; further < lines; further++) {
        const struct index_line *line = index_line(x, home, further);
        uint64_t head = atomic_load_explicit(&line->head, memory_order_acquire);
        struct kv_place place = index_look(x, line, head, hash, surely);
        if (place.host != KV_NOWHERE)
            return place;
    }
    return nowhere;
}

static inline struct kv_place index_look_everywhere(const struct kv_index *x, uint64_t hash,
                                                    bool surely)
{
    const struct index_line *home = &x->lines[index_home(x, hash)];
    const uint64_t head = atomic_load_explicit(&home->head, memory_order_acquire);
    const struct kv_place place = index_look(x, home, head, hash, surely);

    if (place.host != KV_NOWHERE || index_reach(head) == 0)
        return place;
    return index_look_further(x, head, hash, surely);
}

struct kv_place kv_index_find(const struct kv_index *x, uint64_t hash)
{
    return index_look_everywhere(x, hash, true);
}

struct kv_place kv_index_guess(const struct kv_index *x, uint64_t hash)
{
    return index_look_everywhere(x, hash, false);
}

bool kv_index_next(const struct kv_index *x, uint64_t *at, uint64_t *hash)
{
    for (const uint64_t end = (uint64_t)x->hosts * x->slots; *at < end;) {
        const struct index_use *use = &x->uses[(*at)++];
        *hash = atomic_load_explicit(&use->hash, memory_order_relaxed);
        if (atomic_load_explicit(&use->counter, memory_order_relaxed) > 0)
            return true;
    }
    return false;
}

void kv_index_prefetch(const struct kv_index *x, uint64_t hash)
{
    __builtin_prefetch(&x->lines[index_home(x, hash)]);
}

void kv_index_prefetch_use(const struct kv_index *x, struct kv_place place)
{
    __builtin_prefetch(index_use(x, place));
}

/* --- changes ------------------------------------------------------------------------------ */

/* The place of a word in the table. */
struct index_spot {
    struct index_line *line; /* NULL: none */
    uint32_t further;        /* how many lines after the home line */
    unsigned i;
};

static uint64_t index_head(const struct index_line *line)
{
    return atomic_load_explicit(&line->head, memory_order_relaxed);
}

static void index_set_byte(struct index_line *line, unsigned i, uint64_t byte)
{
    const uint64_t head = index_head(line) & ~(UINT64_C(0xff) << 8 * i);

    atomic_store_explicit(&line->head, head | byte << 8 * i, memory_order_release);
}

/* The first free word from the home line on. */
static struct index_spot index_free_spot(const struct kv_index *x, uint32_t home)
{
    for (uint32_t further = 0; further < x->line_count; further++) {
        struct index_line *line = index_line(x, home, further);
        for (unsigned i = 0; i < WORDS; i++)
            if ((index_head(line) >> 8 * i & 0xff) == 0)
                return (struct index_spot){line, further, i};
    }
    return (struct index_spot){0};
}

/* Finds this word. */
static struct index_spot index_spot_of(const struct kv_index *x, uint32_t home, uint64_t mark,
                                       uint64_t word)
{
    const uint32_t lines = index_lines_to_look_at(x, index_head(&x->lines[home]));

    for (uint32_t further = 0; further < lines; further++) {
        struct index_line *line = index_line(x, home, further);
        for (unsigned i = 0; i < WORDS; i++)
            if ((index_head(line) >> 8 * i & 0xff) == mark &&
                atomic_load_explicit(&line->word[i], memory_order_relaxed) == word)
                return (struct index_spot){line, further, i};
    }
    return (struct index_spot){0};
}

static void index_one_more_elsewhere(struct kv_index *x, uint32_t home, uint32_t further)
{
    struct index_line *line = &x->lines[home];

    x->elsewhere[home]++;
    if (further > index_reach(index_head(line)))
        index_set_byte(line, WORDS, further < FAR ? further : FAR);
}

static void index_one_less_elsewhere(struct kv_index *x, uint32_t home)
{
    if (--x->elsewhere[home] == 0)
        index_set_byte(&x->lines[home], WORDS, 0);
}

static int index_add(struct kv_index *x, uint64_t hash, struct kv_place place)
{
    const uint32_t home = index_home(x, hash);
    const struct index_spot at = index_free_spot(x, home);
    struct index_use *use = index_use(x, place);

    if (!at.line)
        return -ENOMEM;
    atomic_store_explicit(&use->hash, hash, memory_order_relaxed);
    atomic_store_explicit(&use->counter, place.counter, memory_order_relaxed);
    atomic_store_explicit(&at.line->word[at.i], index_word(x, hash, place), memory_order_release);
    index_set_byte(at.line, at.i, index_mark(hash));
    if (at.further > 0)
        index_one_more_elsewhere(x, home, at.further);
    return 0;
}

static bool index_remove(struct kv_index *x, uint64_t hash, struct kv_place place)
{
    const uint32_t home = index_home(x, hash);
    const struct index_spot at =
        index_spot_of(x, home, index_mark(hash), index_word(x, hash, place));
    struct index_use *use = index_use(x, place);

    if (!at.line)
        return false;
    index_set_byte(at.line, at.i, 0);
    if (at.further > 0)
        index_one_less_elsewhere(x, home);
    if (atomic_load_explicit(&use->counter, memory_order_relaxed) == place.counter)
        atomic_store_explicit(&use->counter, 0, memory_order_relaxed);
    return true;
}

int kv_index_add(struct kv_index *x, uint64_t hash, struct kv_place place)
{
    pthread_mutex_lock(&x->lock);
    int rc = index_add(x, hash, place);
    pthread_mutex_unlock(&x->lock);
    return rc;
}

bool kv_index_remove(struct kv_index *x, uint64_t hash, struct kv_place place)
{
    pthread_mutex_lock(&x->lock);
    bool removed = index_remove(x, hash, place);
    pthread_mutex_unlock(&x->lock);
    return removed;
}
