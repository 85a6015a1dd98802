/* A workload of the kvstore's index at one node. All keys have the same home line, which does not
 * have room for all of them. Some keys come and go while other threads look them up, and some stay.
 */
#include "channels/kvstore/kvstore_index.h"
#include "tests/sim/workloads.h"

enum { STAYING = 7, CHANGING = 4, SLOTS = 16, CHANGES = 40, LOOKUPS = 80 };

struct shared_index {
    struct kv_index *index;
};

static struct loco_sim_model no_model(void)
{
    return loco_sim_model_word(0);
}

/* The lower half of a hash gives the home line, and the lowest bits give the word in it to look at.
 * These are the same for all keys. */
static uint64_t hash_of(uint64_t key)
{
    return (key + 1) << 32;
}

/* Returns a place for the key that no other key has. */
static struct kv_place place_of(uint64_t key)
{
    return (struct kv_place){.host = 1, .slot = (uint32_t)key, .counter = key + 1};
}

/* The keys from 0 change. At first one of them is in the home line, and one that stays is
 * elsewhere. */
static int index_open(struct loco_manager *m, void *object)
{
    struct shared_index *s = object;
    const uint64_t count = CHANGING + STAYING, first = CHANGING - 1;

    (void)m;
    int rc = kv_index_open(&s->index, 2, SLOTS, 0);
    for (uint64_t i = 0; !rc && i < count; i++) {
        uint64_t key = (first + i) % count;
        rc = kv_index_add(s->index, hash_of(key), place_of(key));
    }
    return rc;
}

static void index_close(void *object)
{
    kv_index_close(((struct shared_index *)object)->index);
}

/* Each of the two threads has keys of its own. */
static void change(struct loco_sim_actor *a, struct kv_index *index)
{
    for (uint64_t i = 0; i < CHANGES; i++) {
        uint64_t key = 2 * loco_sim_actor_draw(a, CHANGING / 2) + a->index;
        LOCO_SIM_EXPECT(a, kv_index_remove(index, hash_of(key), place_of(key)));
        LOCO_SIM_EXPECT(a, !kv_index_remove(index, hash_of(key), place_of(key)));
        LOCO_SIM_EXPECT(a, kv_index_add(index, hash_of(key), place_of(key)) == 0);
    }
}

static void look_up(struct loco_sim_actor *a, const struct kv_index *index, uint64_t key)
{
    const struct kv_place found = kv_index_find(index, hash_of(key));
    const struct kv_place guessed = kv_index_guess(index, hash_of(key));
    const bool is_found = found.host != KV_NOWHERE, is_guessed = guessed.host != KV_NOWHERE;

    LOCO_SIM_EXPECT(a, !is_found ||
                           (found.host == 1 && found.slot == key && found.counter == key + 1));
    LOCO_SIM_EXPECT(a, !is_guessed ||
                           (guessed.host == 1 && guessed.slot == key && guessed.counter == 0));
    LOCO_SIM_EXPECT(a, key < CHANGING || key >= CHANGING + STAYING || (is_found && is_guessed));
    LOCO_SIM_EXPECT(a, key < CHANGING + STAYING || (!is_found && !is_guessed));
}

static void index_act(struct loco_sim_actor *a)
{
    const struct shared_index *s = a->object;

    if (a->index < 2)
        change(a, s->index);
    for (int i = 0; a->index >= 2 && i < LOOKUPS; i++) {
        struct loco_wait wait = loco_wait_for(a->mgr, 5);
        look_up(a, s->index, loco_sim_actor_draw(a, CHANGING + STAYING + 1));
        loco_relax(a->mgr, &wait);
    }
}

const struct loco_sim_workload workload_index = {
    .name = "index",
    .nodes = 1,
    .threads = 4,
    .model = no_model,
    .object_size = sizeof(struct shared_index),
    .open = index_open,
    .close = index_close,
    .act = index_act,
};
