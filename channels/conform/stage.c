#include <string.h>

#include "conform.h"

enum { SECOND = 1000000000 };

static const uint64_t PATIENCE_NS = 30ull * SECOND;

static void log_line(void *arg, enum loco_level level, const char *text)
{
    (void)arg;
    (void)level;
    fprintf(stderr, "loco-conform: %s\n", text);
}

/* Ends the program if `rc` is an error. */
static void demand(int rc, const char *what)
{
    if (rc < 0)
        conform_die("%s: %s", what, strerror(-rc));
}

void stage_open(struct stage *s, uint32_t node, struct loco_fabric *fabric)
{
    const struct loco_manager_config config = {.node = node,
                                               .node_count = NODES,
                                               .arena_size = 2 << 20,
                                               .block_count = 4,
                                               .log = log_line};
    struct end *e = &s->ends[node];

    demand(loco_manager_open(&e->manager, fabric, &config), "cannot open a node");
    demand(loco_shared_region_init(&e->shared, e->manager, NULL, "conform", LOCO_ALL, MEMORY_SIZE),
           "cannot get memory");
    e->memory = loco_shared_region_local(&e->shared);
    e->results = loco_mem_ref_take(e->manager);
}

void stage_meet(struct stage *s, uint32_t node, unsigned seconds)
{
    demand(loco_manager_ready(s->ends[node].manager, seconds * (uint64_t)SECOND),
           "the two sides do not meet");
}

/* The plan is over. No plan has so many trials. The target may close its node as soon as it sees
 * that, so the poster must not wait for anything of it. */
void stage_dismiss_target(struct stage *s)
{
    stage_put(s, ROAD_A, AT_PLAN, UINT64_MAX);
}

void stage_close(struct stage *s, uint32_t node)
{
    struct end *e = &s->ends[node];

    if (node == TARGET)
        stage_await(s, TARGET, AT_PLAN, UINT64_MAX);
    loco_mem_ref_put(e->manager, e->results);
    loco_shared_region_fini(&e->shared);
    loco_manager_close(e->manager);
}

uint64_t *stage_word(struct stage *s, uint32_t node, size_t at)
{
    return (uint64_t *)(void *)(s->ends[node].memory + at);
}

uint64_t stage_load(struct stage *s, uint32_t node, size_t at)
{
    return __atomic_load_n(stage_word(s, node, at), __ATOMIC_ACQUIRE);
}

void stage_await(struct stage *s, uint32_t node, size_t at, uint64_t value)
{
    const struct loco_manager *m = s->ends[node].manager;
    const uint32_t other = node == TARGET ? ROAD_A : TARGET;
    struct loco_wait wait = loco_wait_for(m, node == TARGET ? UINT64_MAX : PATIENCE_NS);

    while (stage_load(s, node, at) < value) {
        if (loco_relax(m, &wait))
            conform_die("the other side does not answer");
        if (loco_peer_lost(m, other) && stage_load(s, node, at) < value)
            conform_die("the other side is gone");
    }
}

static struct loco_ack posted(struct loco_ack ack)
{
    demand(ack.error, "an operation cannot be posted");
    return ack;
}

struct loco_ack stage_put(struct stage *s, uint32_t road, size_t at, uint64_t value)
{
    return posted(
        loco_shared_region_write(&s->ends[road].shared, TARGET, at, &value, sizeof value));
}

struct loco_ack stage_post_get(struct stage *s, uint32_t road, size_t at, size_t size, void *to)
{
    return posted(loco_shared_region_read(&s->ends[road].shared, TARGET, at, to, size));
}

static unsigned target_of(const struct end *e)
{
    return (unsigned)loco_channel_member(&e->shared.channel, TARGET);
}

struct loco_ack stage_post_add(struct stage *s, uint32_t road, size_t at, uint64_t value,
                               uint64_t *old)
{
    const struct end *e = &s->ends[road];

    return posted(loco_region_fetch_add(e->shared.region, target_of(e), at, value, old));
}

void stage_wait(struct stage *s, struct loco_ack ack)
{
    (void)s;
    demand(loco_ack_wait(&ack, PATIENCE_NS), "an operation failed");
}

void stage_fence(struct stage *s, uint32_t road)
{
    demand(loco_fence_pair_timed(s->ends[road].manager, TARGET, PATIENCE_NS), "a fence failed");
}

uint64_t stage_get(struct stage *s, uint32_t road, size_t at)
{
    uint64_t *result = s->ends[road].results;

    stage_wait(s, stage_post_get(s, road, at, sizeof *result, result));
    return *result;
}

uint64_t stage_add(struct stage *s, uint32_t road, size_t at, uint64_t value)
{
    uint64_t *old = s->ends[road].results;

    stage_wait(s, stage_post_add(s, road, at, value, old));
    return *old;
}

uint64_t stage_swap(struct stage *s, uint32_t road, size_t at, uint64_t expected, uint64_t desired)
{
    const struct end *e = &s->ends[road];
    uint64_t *old = e->results;

    stage_wait(
        s, loco_region_compare_swap(e->shared.region, target_of(e), at, expected, desired, old));
    return *old;
}

uint64_t stage_pattern(uint64_t round)
{
    return round << 32 | round;
}

struct loco_ack stage_put_block(struct stage *s, size_t size)
{
    struct end *e = &s->ends[ROAD_A];
    uint64_t *source = stage_word(s, ROAD_A, AT_BLOCK);

    stage_wait(s, s->block); /* the source may change from now on */
    for (size_t i = 0; i < size / sizeof *source; i++)
        source[i] = stage_pattern(s->round);
    s->block = posted(loco_shared_region_write(&e->shared, TARGET, AT_BLOCK, source, size));
    return s->block;
}

void stage_answer(struct stage *s)
{
    struct end *e = &s->ends[TARGET];

    __atomic_store_n(stage_word(s, TARGET, AT_COUNT), s->surprises, __ATOMIC_RELEASE);
    posted(loco_shared_region_write(&e->shared, ROAD_A, AT_SEEN, &s->round, sizeof s->round));
}
