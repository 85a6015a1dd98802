/*
 * Chaos: the store buffers of processors. Each fiber has one: its stores to network memory wait
 * there, in their order, and reach memory some turns later. The fiber itself sees them at once;
 * other fibers and the network do not. That is all that an x86 processor reorders: a store, and a
 * later load of another place.
 *
 * What empties the buffer: a full fence, an atomic instruction, a lock, a post (the network card
 * reads what was stored before it), a turn of a wait, and the fiber's end. So does a store to
 * memory that is not the network's, which is made at once: else it would come before those that
 * wait.
 *
 * tests/sim/preempt.c calls these functions in place of the accesses that the channels' code makes.
 */
#include "sim_internal.h"

/* How many turns a store may wait: mostly few, sometimes as many as operations take. */
enum { FEW = 8, MANY = 150 };

static unsigned stores_draw_patience(struct sim *s)
{
    s->subject = NULL;
    const uint64_t number = sim_draw(&s->random);
    const uint64_t drawn = number % (sim_draw(&s->random) % 4 ? FEW : MANY);

    return (unsigned)sim_ask(s, LOCO_CHOICE_STORE, MANY, 0, drawn);
}

static struct sim_store *stores_at(struct sim_fiber *f, unsigned i)
{
    return &f->stores[(f->store_first + i) % SIM_STORES];
}

static void stores_let_go(struct sim_fiber *f)
{
    const struct sim_store *store = stores_at(f, 0);

    switch (store->size) {
    case 1:
        __atomic_store_n(store->to, (uint8_t)store->value, __ATOMIC_RELAXED);
        break;
    case 2:
        __atomic_store_n((uint16_t *)(void *)store->to, (uint16_t)store->value, __ATOMIC_RELAXED);
        break;
    case 4:
        __atomic_store_n((uint32_t *)(void *)store->to, (uint32_t)store->value, __ATOMIC_RELAXED);
        break;
    default:
        __atomic_store_n((uint64_t *)(void *)store->to, store->value, __ATOMIC_RELAXED);
    }
    sim_note_words(f->sim, f->number, LOCO_SIM_WRITES, store->to, store->size);
    f->store_first++;
    f->store_count--;
    f->sim->stores--;
    f->sim->changes++;
}

void sim_drain(struct sim_fiber *f)
{
    while (f->store_count > 0)
        stores_let_go(f);
}

void sim_drain_late(struct sim_fiber *f)
{
    if (f->store_count > 0)
        f->sim->physics->interrupt(f->sim);
    sim_drain(f);
}

bool sim_store(struct sim_fiber *f, void *to, uint64_t value, unsigned size)
{
    if (!sim_is_network_memory(f->sim, to)) {
        sim_drain_late(f);
        return false;
    }
    if (f->store_count == SIM_STORES)
        stores_let_go(f);
    if (f->store_count == 0)
        f->store_patience = stores_draw_patience(f->sim);
    *stores_at(f, f->store_count++) = (struct sim_store){to, value, size};
    f->sim->stores++;
    return true;
}

/* Whether the store and the bytes from `at` have any byte in common. */
static bool store_meets(const struct sim_store *store, const unsigned char *at, size_t size)
{
    return at < store->to + store->size && store->to < at + size;
}

bool sim_load(struct sim_fiber *f, const void *from, uint64_t *value, size_t size)
{
    for (unsigned i = f->store_count; i-- > 0;) {
        const struct sim_store *store = stores_at(f, i);
        if (!store_meets(store, from, size))
            continue;
        if (value && store->to == from && store->size == size) {
            *value = store->value;
            return true;
        }
        sim_drain(f);
    }
    return false;
}

void sim_let_stores_go(struct sim *s)
{
    for (unsigned i = 0; i < s->crowd_count && s->stores > 0; i++) {
        struct sim_fiber *f = s->crowd[i];
        if (f->store_count == 0 || f->store_patience-- > 0)
            continue;
        stores_let_go(f);
        f->store_patience = stores_draw_patience(s);
    }
}
