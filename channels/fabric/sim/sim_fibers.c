/* The fibers on which the threads of the simulated nodes run. */
#include <errno.h>
#include <stdlib.h>

#include "../../loco/fabric/context.h"
#include "sim_internal.h"

enum { STACK_SIZE = 8 << 20 }; /* as large as a thread's, since users' models run on it */

_Thread_local struct sim *sim_running;

void sim_switch(struct sim_fiber *from, struct sim_fiber *to)
{
    if (from == to)
        return;
    to->sim->current = to;
    loco_context.table = to->context;
    loco_fiber_switch(from->fiber, to->fiber);
}

static void fiber_body(void *arg)
{
    struct sim_fiber *f = arg;

    f->body(f->arg);
    f->ended = true;
    sim_drain(f);
    sim_asleep(f);
    f->sim->changes++;
    if (!f->control && --f->sim->alive == 0)
        sim_switch(f, &f->sim->main);
    f->sim->physics->pause(f); /* for ever: nothing refers to this fiber any more */
}

/* --- chaos: the fibers that may be chosen to run ---------------------------------------------- */

static int fiber_make_room(struct sim *s)
{
    if (++s->fiber_count <= s->crowd_room)
        return 0;
    unsigned room = s->crowd_room ? 2 * s->crowd_room : 16;
    void *more = realloc(s->crowd, room * sizeof(struct sim_fiber *));
    if (!more)
        return -ENOMEM;
    s->crowd = more;
    s->crowd_room = room;
    return 0;
}

void sim_awake(struct sim_fiber *f)
{
    struct sim *s = f->sim;

    if (f->place)
        return;
    s->crowd[s->crowd_count++] = f;
    f->place = s->crowd_count;
}

void sim_asleep(struct sim_fiber *f)
{
    struct sim *s = f->sim;

    if (!f->place)
        return;
    struct sim_fiber *last = s->crowd[--s->crowd_count];
    s->crowd[f->place - 1] = last;
    last->place = f->place;
    f->place = 0;
}

struct sim_fiber *sim_spawn(struct sim *s, void (*body)(void *arg), void *arg, bool control)
{
    struct sim_fiber *f = calloc(1, sizeof *f);

    if (!f)
        return NULL;
    *f = (struct sim_fiber){.kind = FIBER,
                            .sim = s,
                            .body = body,
                            .arg = arg,
                            .control = control,
                            .alarm_at = UINT64_MAX};
    f->rank = sim_rank(s, SIM_FIBERS);
    f->alarm = (struct alarm){.kind = ALARM, .fiber = f};
    f->context = calloc(LOCO_MANAGERS_MAX, sizeof(void *));
    f->fiber = f->context ? loco_fiber_new(fiber_body, f, STACK_SIZE) : NULL;
    if (!f->fiber || fiber_make_room(s) ||
        loco_timeline_add(&s->timeline, s->now, LOCO_SIM_FIRST, f)) {
        loco_fiber_free(f->fiber);
        free(f->context);
        free(f);
        return NULL;
    }
    f->number = s->fiber_count;
    f->next = s->fibers;
    s->fibers = f;
    s->alive += !control;
    return f;
}

int loco_sim_spawn(struct loco_fabric *fabric, void (*body)(void *arg), void *arg)
{
    return sim_spawn((struct sim *)fabric, body, arg, false) ? 0 : -ENOMEM;
}

int loco_sim_run(struct loco_fabric *fabric)
{
    struct sim *s = (struct sim *)fabric;

    s->result = 0;
    s->main.context = loco_context.table;
    s->current = &s->main;
    if (s->config.chaos >= LOCO_SIM_DEFERRED) {
        sim_running = s;
        sim_preempt(s, NULL, 0, false);
    }
    if (s->alive)
        s->physics->pause(&s->main);
    sim_running = NULL;
    return s->result;
}

uint64_t loco_sim_now(const struct loco_fabric *fabric)
{
    return ((const struct sim *)fabric)->now;
}

void loco_sim_sleep(struct loco_fabric *fabric, uint64_t time, unsigned class)
{
    struct sim *s = (struct sim *)fabric;

    s->physics->sleep(s, time > s->now ? time : s->now, class);
}

void sim_fibers_free(struct sim *s)
{
    while (s->fibers) {
        struct sim_fiber *f = s->fibers;
        s->fibers = f->next;
        loco_fiber_free(f->fiber);
        free(f->context);
        free(f);
    }
    loco_fiber_free(s->main.fiber);
    free(s->crowd);
}
