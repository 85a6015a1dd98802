/* What operations cost, from the call until it returns with the operation done. */
#include <stdlib.h>

#include "conform.h"

static void put_8(struct stage *s)
{
    stage_wait(s, stage_put(s, ROAD_A, AT_X, s->round));
}

static void put_64(struct stage *s)
{
    stage_wait(s, stage_put_block(s, 64));
}

static void put_4096(struct stage *s)
{
    stage_wait(s, stage_put_block(s, 4096));
}

static void put_8_fence(struct stage *s)
{
    stage_put(s, ROAD_A, AT_X, s->round);
    stage_fence(s, ROAD_A);
}

static void get_8(struct stage *s)
{
    stage_get(s, ROAD_A, AT_X);
}

static void get_4096(struct stage *s)
{
    stage_wait(s, stage_post_get(s, ROAD_A, AT_BLOCK, 4096, s->ends[ROAD_A].results));
}

static void fetch_add(struct stage *s)
{
    stage_add(s, ROAD_A, AT_SUM, 1);
}

static void compare_swap(struct stage *s)
{
    stage_swap(s, ROAD_A, AT_SUM, s->round, s->round);
}

static void ask(struct stage *s)
{
    stage_put(s, ROAD_A, AT_FLAG, s->round);
    stage_await(s, ROAD_A, AT_SEEN, s->round);
}

const struct cost cost_operations[] = {
    {"put_8", "a put of 8 bytes, done", false, false, put_8},
    {"put_64", "a put of 64 bytes, done", false, false, put_64},
    {"put_4096", "a put of 4096 bytes, done", false, false, put_4096},
    {"put_8_fence", "a put of 8 bytes and a fence", false, false, put_8_fence},
    {"get_8", "a get of 8 bytes", false, false, get_8},
    {"get_4096", "a get of 4096 bytes", false, false, get_4096},
    {"fetch_add", "a fetch-add", true, false, fetch_add},
    {"compare_swap", "a compare-swap", true, false, compare_swap},
    {"one_way", "half of a round trip from CPU to CPU", false, true, ask},
    {0},
};

bool cost_is_run(const struct stage *s, const struct cost *c)
{
    return s->atomics || !c->atomics;
}

static int ascending(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

struct price cost_post(struct stage *s, const struct cost *c)
{
    const struct loco_manager *m = s->ends[ROAD_A].manager;
    uint64_t *samples = malloc(s->trials * sizeof *samples);

    if (!samples)
        conform_die("there is no memory for %llu samples", (unsigned long long)s->trials);
    for (uint64_t i = 0; i < s->trials; i++) {
        s->round++;
        const uint64_t begun = loco_clock(m);
        c->act(s);
        samples[i] = (loco_clock(m) - begun) / (c->answered ? 2 : 1);
    }
    qsort(samples, s->trials, sizeof *samples, ascending);
    const struct price price = {samples[s->trials / 2], samples[s->trials * 99 / 100]};
    free(samples);
    return price;
}

void cost_look(struct stage *s, const struct cost *c)
{
    if (!c->answered)
        s->round += s->trials;
    for (uint64_t i = 0; c->answered && i < s->trials; i++) {
        s->round++;
        stage_await(s, TARGET, AT_FLAG, s->round);
        stage_answer(s);
    }
}
