/* Rare cases of receiving: senders that die and come back, messages that stay torn, and inputs that
 * are too old or not numbers. */
#include <errno.h>
#include <string.h>

#include "note.h"
#include "shards.h"
#include "step_links.h"

/* Notes an event of the sender. */
static void judge_note(const struct hil_step *s, const struct step_arrival *a, uint64_t n,
                       uint64_t now, enum hil_event_kind kind, uint64_t ns)
{
    const struct hil_system *system = s->node->run->scenario->system;

    hil_note_ns(s->node, n, now, kind, hil_event_of_node(system, a->input.from), ns);
}

static void judge_lose(const struct hil_step *s, struct step_arrival *a, uint64_t n, uint64_t now)
{
    struct hil_loss_log *log = &s->executor->losses;

    hil_shards_begin_rare(s);
    /* A message that this node has not seen yet belongs to the sender's old life, so skip it. */
    if (loco_owned_var_load(a->var, s->message) == 0 && s->message->step > a->step)
        a->step = s->message->step;
    a->away = a->suspect = true;
    a->there = a->fresh = false;
    memcpy(s->values + a->at, s->beginning + a->at, a->count * sizeof *s->values);
    hil_step_forget_partial(s, a);
    hil_step_begin_again(s, a->early);
    hil_step_begin_again(s, a->late);
    a->loss = log->count < HIL_LOSSES_MAX ? &log->at[log->count] : NULL;
    if (a->loss)
        *a->loss = (struct hil_loss){.from = a->input.from, .to = a->input.to, .lost_ns = now};
    log->count++;
    a->lost_ns = now;
    judge_note(s, a, n, now, HIL_EVENT_LOST, 0);
    hil_shards_end_rare(s);
}

static void judge_take_back(const struct hil_step *s, struct step_arrival *a, uint64_t n,
                            uint64_t now)
{
    a->away = false;
    hil_shards_begin_rare(s);
    judge_note(s, a, n, now, HIL_EVENT_BACK, now - a->lost_ns);
    if (a->loss)
        a->loss->back_ns = now;
    s->executor->losses.back_count++;
    hil_shards_end_rare(s);
}

/* Whether the sender is lost, or was lost since the last step and is back. */
static bool judge_was_lost(struct step_arrival *a)
{
    const struct loco_channel *c = &a->var->channel;
    const uint32_t life = atomic_load_explicit(
        &c->members[loco_channel_member(c, a->input.from)].incarnation, memory_order_acquire);
    const bool lost = a->life && life != a->life;

    a->life = life;
    return lost;
}

bool hil_step_is_away(const struct hil_step *s, struct step_arrival *a, uint64_t n, uint64_t now)
{
    if (judge_was_lost(a) && !a->away && !hil_step_ends(s))
        judge_lose(s, a, n, now);
    if (loco_channel_check(&a->var->channel)) {
        if (!a->away && !hil_step_ends(s))
            judge_lose(s, a, n, now);
    } else if (a->away && loco_owned_var_load(a->var, s->message) == 0 &&
               s->message->step > a->step) {
        judge_take_back(s, a, n, now);
    }
    return a->away;
}

void hil_step_torn(const struct hil_step *s)
{
    hil_shards_begin_rare(s);
    s->node->state->torn++;
    hil_shards_end_rare(s);
}

int hil_step_judge(struct hil_step *s, struct step_arrival *a, uint64_t n, uint64_t age,
                   uint64_t now)
{
    const enum hil_on_stale on_stale = s->node->config->stale.action;
    const bool lost = a->away || loco_channel_check(&a->var->channel);
    const bool was_stale = a->input.stale;

    if (hil_step_ends(s)) {
        s->unfit += a->unfit || a->input.bad || a->away;
        return 0;
    }
    hil_shards_begin_rare(s);
    const bool stale = hil_input_is_stale(&a->input, &s->executor->stale, lost ? 0 : age, now);

    if (stale && !was_stale)
        judge_note(s, a, n, now, HIL_EVENT_STALE, age);
    else if (was_stale && !stale)
        judge_note(s, a, n, now, HIL_EVENT_FRESH, now - a->input.found_ns);
    hil_shards_end_rare(s);
    a->unfit = stale && on_stale == HIL_STALE_SAFE;
    a->suspect = stale || a->input.bad || a->away;
    s->unfit += a->unfit || a->input.bad || a->away;
    return stale && on_stale == HIL_STALE_END ? -ESTALE : 0;
}
