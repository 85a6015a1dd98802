#include "round_trip.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const hil_part_names[HIL_PARTS] = {
    "converter wait", "converter push", "controller wait", "controller step", "push back",
};

/* How many steps back are remembered, and of how many converters. */
enum { BACK = 256, CONVERTERS = 10000 };

/* Something that happened in a step. */
struct moment {
    uint64_t step, time_ns;
};

/* An answer that the controller's step has seen: it waits for the next step, by when all that it
 * is made of has come. */
struct pending {
    uint32_t converter; /* node */
    uint64_t acted_on, answer;
};

struct link {
    struct moment duty[BACK];    /* pushed, by the controller's step */
    struct moment loaded[BACK];  /* by the controller's step: when the step that loaded it began */
    struct moment voltage[BACK]; /* pushed, by the converter's step */
    uint64_t duty_now, voltage_now; /* pushed in the step that is going on; 0: not yet */
};

struct hil_round_state {
    struct link *links[CONVERTERS]; /* by converter */
    unsigned link_count;
    struct pending *answers;        /* of the controller's last step */
    unsigned answer_count, waiting; /* all; and those of the steps before the one going on */
    unsigned answer_room;
    uint64_t first_push_ns;      /* of the controller's step that is going on; 0: none */
    bool pushes_last;            /* it pushed after it had read: no computation delay */
    uint64_t begin_ns, end_ns;   /* of the controller's last step */
    uint64_t last_first_push_ns; /* the same */
    bool last_pushes_last;
    uint64_t last_step;
};

int hil_rounds_init(struct hil_rounds *rounds)
{
    *rounds = (struct hil_rounds){.state = calloc(1, sizeof *rounds->state)};
    return rounds->state ? 0 : -ENOMEM;
}

void hil_rounds_fini(struct hil_rounds *rounds)
{
    for (int i = 0; rounds->state && i < CONVERTERS; i++)
        free(rounds->state->links[i]);
    if (rounds->state)
        free(rounds->state->answers);
    free(rounds->state);
    rounds->state = NULL;
}

/* --- what is remembered ----------------------------------------------------------------------- */

static struct link *link_of(struct hil_rounds *rounds, uint64_t converter)
{
    if (converter >= CONVERTERS)
        return NULL;
    struct link **link = &rounds->state->links[converter];
    if (!*link)
        *link = calloc(1, sizeof **link);
    if (converter >= rounds->state->link_count)
        rounds->state->link_count = (unsigned)converter + 1;
    return *link;
}

static void remember(struct moment moments[BACK], uint64_t step, uint64_t time_ns)
{
    moments[step % BACK] = (struct moment){step, time_ns};
}

/* 0: not known, or not any more. */
static uint64_t time_of(const struct moment moments[BACK], uint64_t step)
{
    return moments[step % BACK].step == step ? moments[step % BACK].time_ns : 0;
}

void hil_rounds_push(struct hil_rounds *rounds, uint32_t node, const char *channel,
                     uint64_t time_ns)
{
    struct hil_round_state *s = rounds->state;
    unsigned converter;
    struct link *link;

    if (sscanf(channel, "power_controller/duty%u", &converter) == 1 && node == 0) {
        link = link_of(rounds, converter);
        if (link)
            link->duty_now = time_ns;
        if (!s->first_push_ns) {
            s->first_push_ns = time_ns;
            s->pushes_last = s->answer_count > s->waiting;
        }
    } else if (sscanf(channel, "power_controller/voltage%u", &converter) == 1 &&
               node == converter + 1) {
        link = link_of(rounds, converter);
        if (link)
            link->voltage_now = time_ns;
    }
}

void hil_rounds_answer(struct hil_rounds *rounds, uint32_t converter, uint64_t acted_on,
                       uint64_t answer, uint64_t round_trip_ns)
{
    struct hil_round_state *s = rounds->state;

    hil_histogram_add(&rounds->whole, round_trip_ns);
    if (s->answer_count == s->answer_room) {
        unsigned room = s->answer_room ? 2 * s->answer_room : 64;
        struct pending *answers = realloc(s->answers, room * sizeof *answers);
        if (!answers) {
            rounds->incomplete++;
            return;
        }
        s->answers = answers;
        s->answer_room = room;
    }
    s->answers[s->answer_count++] = (struct pending){converter, acted_on, answer};
}

/* --- the parts -------------------------------------------------------------------------------- */

/* An event's time stands for a store some ns before it, so two may seem the other way round. */
static uint64_t between(uint64_t from, uint64_t to)
{
    return to > from ? to - from : 0;
}

/* The round that the controller's last step has closed; its duty went out in the same step, or
 * in the one that is just over. */
static bool close_round(struct hil_rounds *rounds, const struct pending *p, uint64_t step)
{
    const struct hil_round_state *s = rounds->state;
    const struct link *link = link_of(rounds, p->converter - 1);

    if (!link)
        return false;
    uint64_t pushed = time_of(link->duty, p->acted_on), loaded = time_of(link->loaded, p->acted_on),
             answered = time_of(link->voltage, p->answer),
             back = time_of(link->duty, s->last_pushes_last ? s->last_step : step),
             computed = s->last_pushes_last ? s->last_first_push_ns : s->end_ns;
    if (!pushed || !loaded || !answered || !back || !s->begin_ns)
        return false;
    hil_histogram_add(&rounds->parts[HIL_CONVERTER_WAIT], between(pushed, loaded));
    hil_histogram_add(&rounds->parts[HIL_CONVERTER_PUSH], between(loaded, answered));
    hil_histogram_add(&rounds->parts[HIL_CONTROLLER_WAIT], between(answered, s->begin_ns));
    hil_histogram_add(&rounds->parts[HIL_CONTROLLER_STEP], between(s->begin_ns, computed));
    hil_histogram_add(&rounds->parts[HIL_PUSH_BACK], between(computed, back));
    return true;
}

static void close_rounds(struct hil_rounds *rounds, uint64_t step)
{
    struct hil_round_state *s = rounds->state;

    for (unsigned i = 0; i < s->waiting; i++)
        if (close_round(rounds, &s->answers[i], step))
            rounds->complete++;
        else
            rounds->incomplete++;
    s->answer_count -= s->waiting;
    memmove(s->answers, s->answers + s->waiting, s->answer_count * sizeof *s->answers);
    s->waiting = s->answer_count; /* those of the step that is just over */
}

static void controller_step(struct hil_rounds *rounds, uint64_t step, uint64_t begin_ns,
                            uint64_t end_ns)
{
    struct hil_round_state *s = rounds->state;

    for (unsigned i = 0; i < s->link_count; i++) {
        struct link *link = s->links[i];
        if (link && link->duty_now)
            remember(link->duty, step, link->duty_now);
        if (link)
            link->duty_now = 0;
    }
    if (s->answers)
        close_rounds(rounds, step);
    s->begin_ns = begin_ns;
    s->end_ns = end_ns;
    s->last_step = step;
    s->last_first_push_ns = s->first_push_ns;
    s->last_pushes_last = s->pushes_last;
    s->first_push_ns = 0;
}

void hil_rounds_step(struct hil_rounds *rounds, uint32_t node, uint64_t step, uint64_t begin_ns,
                     uint64_t end_ns, uint64_t acted_on)
{
    if (node == 0) {
        controller_step(rounds, step, begin_ns, end_ns);
        return;
    }
    struct link *link = link_of(rounds, node - 1);
    if (!link)
        return;
    if (link->voltage_now)
        remember(link->voltage, step, link->voltage_now);
    link->voltage_now = 0;
    if (acted_on && !time_of(link->loaded, acted_on))
        remember(link->loaded, acted_on, begin_ns);
}
