/* loco-conform's litmus programs on the simulator: under full chaos each outcome that the memory
 * model allows is seen, and none that it excludes. So the programs find what they look for. */
#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "channels/conform/conform.h"

enum { SEEDS = 100, TRIALS = 4 };

struct play {
    const struct litmus *program;
    struct loco_fabric *sim;
    struct stage poster, target;
    uint64_t seen;
};

static void act_poster(void *arg)
{
    struct play *p = arg;

    stage_open(&p->poster, ROAD_A, p->sim);
    stage_open(&p->poster, ROAD_B, p->sim);
    stage_meet(&p->poster, ROAD_A, 60);
    stage_meet(&p->poster, ROAD_B, 60);
    p->seen = litmus_post(&p->poster, p->program);
    stage_dismiss_target(&p->poster);
    stage_close(&p->poster, ROAD_B);
    stage_close(&p->poster, ROAD_A);
}

static void act_target(void *arg)
{
    struct play *p = arg;

    stage_open(&p->target, TARGET, p->sim);
    stage_meet(&p->target, TARGET, 60);
    litmus_look(&p->target, p->program);
    stage_close(&p->target, TARGET);
}

static uint64_t play(const struct litmus *program, uint64_t seed)
{
    const struct loco_sim_config config = {.seed = seed, .chaos = LOCO_SIM_DEFERRED};
    struct play p = {.program = program,
                     .sim = loco_sim_open(&config),
                     .poster = {.trials = TRIALS, .atomics = true},
                     .target = {.trials = TRIALS, .atomics = true}};

    cr_assert_eq(loco_sim_spawn(p.sim, act_poster, &p), 0);
    cr_assert_eq(loco_sim_spawn(p.sim, act_target, &p), 0);
    cr_assert_eq(loco_sim_run(p.sim), 0, "%s, seed %llu", program->name, (unsigned long long)seed);
    loco_sim_close(p.sim);
    return p.seen;
}

Test(conform, outcomes_are_seen_as_the_memory_model_says)
{
    for (const struct litmus *l = litmus_programs; l->name; l++) {
        uint64_t seen = 0;
        for (uint64_t seed = 1; seed <= SEEDS && !seen; seed++)
            seen = play(l, seed);
        /* The simulator places the puts before a read of no bytes, as before any read. */
        if (l->rule == MUST_NOT || strcmp(l->name, "read_of_nothing") == 0)
            cr_expect_eq(seen, 0, "%s: must not be seen", l->name);
        else
            cr_expect_gt(seen, 0, "%s: not seen with %d seeds", l->name, SEEDS);
    }
}

_Noreturn void conform_die(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    abort();
}
