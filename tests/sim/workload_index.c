/* What is done to the kvstore's index at one node: its entries are used again at once, under the
 * look-ups of other threads. */
#include "channels/kvstore_index.h"
#include "tests/sim/workloads.h"

enum { KEYS = 4, CHANGES = 40, LOOKUPS = 80, TAKEN_MAX = 1024 };

struct shared_index {
    struct kv_index *index;
};

static struct model no_model(void)
{
    return model_word(0);
}

/* A key's place, with which other places cannot be confused. */
static struct kv_place place_of(uint64_t key)
{
    return (struct kv_place){.host = 1, .slot = (uint32_t)key, .counter = key};
}

/* All entries but one are taken by other keys, so that each key to come uses that one. */
static int index_open(struct loco_manager *m, void *object)
{
    struct shared_index *s = object;
    uint64_t taken = TAKEN_MAX;

    (void)m;
    int rc = kv_index_open(&s->index, KEYS, 0);
    while (!rc && kv_index_add(s->index, kv_hash(taken), place_of(taken)) == 0)
        taken++;
    if (!rc)
        kv_index_remove(s->index, kv_hash(TAKEN_MAX));
    return rc;
}

static void index_close(void *object)
{
    kv_index_close(((struct shared_index *)object)->index);
}

static void change(struct actor *a, struct kv_index *index)
{
    for (uint64_t i = 0; i < CHANGES; i++) {
        uint64_t key = i % KEYS;
        EXPECT(a, kv_index_add(index, kv_hash(key), place_of(key)) == 0);
        EXPECT(a, kv_index_remove(index, kv_hash(key)));
    }
}

static void look_up(struct actor *a, const struct kv_index *index, uint64_t key)
{
    struct kv_place place = {0};

    kv_index_enter();
    bool found = kv_index_find(index, kv_hash(key), &place);
    kv_index_leave();
    EXPECT(a, !found || (place.slot == key && place.counter == key));
    EXPECT(a, found || key <= TAKEN_MAX);
}

static void index_act(struct actor *a)
{
    const struct shared_index *s = a->object;

    if (a->index == 0)
        change(a, s->index);
    for (int i = 0; a->index != 0 && i < LOOKUPS; i++) {
        struct loco_wait wait = loco_wait_for(a->mgr, 5);
        look_up(a, s->index, actor_draw(a, 8) ? actor_draw(a, KEYS) : TAKEN_MAX + 1);
        loco_relax(a->mgr, &wait);
    }
}

const struct workload workload_index = {
    .name = "index",
    .nodes = 1,
    .threads = 4,
    .model = no_model,
    .object_size = sizeof(struct shared_index),
    .open = index_open,
    .close = index_close,
    .act = index_act,
};
