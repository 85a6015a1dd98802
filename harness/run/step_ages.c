/*
 * Inputs with an age limit. They are judged at the beginning of each step, before anything is sent.
 * So the safe answer to a value that is too old is sent, or applied, in the same step that found
 * it, even if a component has a computation delay. That is at most one period after the limit.
 *
 * A value's age is that of the last message in which it was a number. If the newest message that
 * this node has taken is too old, the node looks in memory for a newer one.
 */
#include <errno.h>

#include "note.h"
#include "step_parts.h"

/* When the newest available value was sent. */
static uint64_t ages_sent_ns(const struct hil_step *s, const struct step_age *age, uint64_t now)
{
    const struct step_arrival *a = &s->arrivals[age->arrival];
    const uint64_t held = s->came[age->from - s->arrived].bad * a->input.period_ns;
    const uint64_t step = a->step;
    uint64_t sent = hil_input_due(&a->input, step);

    sent -= held < sent ? held : sent;
    if (now <= sent + age->limit->limit_ns)
        return sent;
    if (loco_owned_var_load(a->var, s->message) || s->message->step <= step ||
        !isfinite(s->message->values[age->from - a->at]))
        return sent;
    return hil_input_due(&a->input, s->message->step);
}

static void ages_answer(struct hil_step *s, struct step_age *age)
{
    age->part->old += age->limit->action == HIL_OLD_SAFE;
    age->part->aged = age->part->old > 0;
    s->old += age->limit->action == HIL_OLD_SAFE;
    s->replaced += age->limit->action == HIL_OLD_VALUE;
    if (age->limit->action == HIL_OLD_SAFE && age->part->model->kind == HIL_SAMPLED)
        hil_step_make_safe(age->part);
}

static void ages_take_back(struct hil_step *s, struct step_age *age)
{
    age->part->old -= age->limit->action == HIL_OLD_SAFE;
    age->part->aged = age->part->old > 0;
    s->old -= age->limit->action == HIL_OLD_SAFE;
    s->replaced -= age->limit->action == HIL_OLD_VALUE;
}

static void ages_trip(struct hil_step *s, struct step_age *age, uint64_t n, uint64_t now,
                      uint64_t sent)
{
    struct hil_age_state *state = age->state;
    const uint64_t trips = atomic_load_explicit(&state->trips, memory_order_relaxed);

    age->old = true;
    age->found_ns = now;
    state->found_ns = now;
    state->first_ns = trips ? state->first_ns : now;
    state->answer_ns = now - sent > state->answer_ns ? now - sent : state->answer_ns;
    atomic_store_explicit(&state->trips, trips + 1, memory_order_release);
    hil_note_ns(s->node, n, now, HIL_EVENT_OLD, age->of, now - sent);
    ages_answer(s, age);
}

static void ages_recover(struct hil_step *s, struct step_age *age, uint64_t n, uint64_t now)
{
    const uint64_t out = now - age->found_ns;

    age->old = false;
    age->state->recoveries++;
    age->state->out_ns = out > age->state->out_ns ? out : age->state->out_ns;
    hil_note_ns(s->node, n, now, HIL_EVENT_NEW, age->of, out);
    ages_take_back(s, age);
}

int hil_step_judge_ages(struct hil_step *s, uint64_t n, uint64_t now)
{
    int rc = 0;

    if (hil_step_ends(s))
        return 0;
    for (unsigned i = 0; i < s->age_count; i++) {
        struct step_age *age = &s->ages[i];
        const uint64_t sent = ages_sent_ns(s, age, now);
        const bool old = now > sent + age->limit->limit_ns;
        if (old && !age->old)
            ages_trip(s, age, n, now, sent);
        else if (age->old && !old)
            ages_recover(s, age, n, now);
        if (old && age->limit->action == HIL_OLD_END)
            rc = -ESTALE;
    }
    return rc;
}

void hil_step_replace_old(const struct hil_step *s, bool late)
{
    for (unsigned i = 0; i < s->age_count; i++) {
        const struct step_age *age = &s->ages[i];
        if (age->old && age->limit->action == HIL_OLD_VALUE &&
            (age->part->model->kind == HIL_CONTINUOUS) == late)
            s->values[age->to] = age->limit->value;
    }
}

void hil_step_forget_ages(struct hil_step *s)
{
    for (unsigned i = 0; i < s->age_count; i++)
        s->ages[i].old = false;
    for (unsigned i = 0; i < s->part_count; i++) {
        s->parts[i].old = 0;
        s->parts[i].aged = false;
    }
    s->old = s->replaced = 0;
}

/* --- finding the limits ----------------------------------------------------------------------- */

/* All limits of this node's components. Inputs that come from the node itself never get old, so
 * this is an upper bound. */
unsigned hil_step_count_ages(const struct hil_node *node)
{
    const struct hil_system *system = node->run->scenario->system;
    unsigned count = 0;

    for (unsigned i = 0; i < system->age_count; i++)
        count += system->components[system->ages[i].component].node == node->id;
    return count;
}

static struct step_part *ages_part(const struct hil_step *s, unsigned component)
{
    unsigned i = 0;

    while (s->parts[i].number != component)
        i++;
    return &s->parts[i];
}

static void ages_add(struct hil_step *s, unsigned number, unsigned arrival)
{
    const struct hil_system *system = s->node->run->scenario->system;
    const struct hil_age_limit *limit = &system->ages[number];
    const struct hil_component *c = &system->components[limit->component];
    const struct hil_feed *feed = &s->node->config->feeds[c->in + limit->number];

    s->has_ages = true;
    s->ages[s->age_count++] = (struct step_age){
        .limit = limit,
        .part = ages_part(s, limit->component),
        .arrival = arrival,
        .from = s->arrivals[arrival].at + feed->at,
        .to = c->in + limit->number,
        .number = number,
        .of = hil_event_of_signal(system, limit->component, false, limit->number),
    };
}

void hil_step_make_ages(struct hil_step *s)
{
    const struct hil_system *system = s->node->run->scenario->system;

    for (unsigned i = 0; i < system->age_count; i++) {
        const struct hil_component *c = &system->components[system->ages[i].component];
        if (c->node != s->node->id)
            continue;
        const struct hil_feed *feed = &s->node->config->feeds[c->in + system->ages[i].number];
        for (unsigned a = 0; feed->kind == HIL_FEED_LINK && a < s->arrival_count; a++)
            if (s->arrivals[a].link == feed->from)
                ages_add(s, i, a);
    }
}
