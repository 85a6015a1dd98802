#include "tuning_coordinator.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../scenario/tunables.h"
#include "note.h"

/* How many nodes the coordinator tells or asks in one step. */
enum { DESK_NODES = 8 };

/* How long news takes to reach a node in real time. That is many times what a network takes, and
 * too short for a person at a knob to notice. */
static const uint64_t NEWS_NS = 5000000;

/* The signal that a source gives since it was tuned. */
struct coordinator_source {
    bool tuned;
    struct hil_change ramp;
    double from;
};

struct hil_tuning_coordinator {
    struct hil_node *node;
    const struct hil_replayed_request *replay,
        *replay_end; /* the replayed requests still to come */
    bool waits;      /* for all answers, before the next replayed request */
    uint64_t news_ns;
    uint64_t asked; /* the launcher's newest request that was taken up */
    bool busy;
    struct hil_tuning_message message;
    unsigned *to; /* nodes that it concerns; the first `told` of them have yet to answer */
    unsigned to_count, told, looked_at;
    bool *concerned; /* by node */
    struct coordinator_source *sources;
};

static struct hil_tuning *coordinator_memory(const struct hil_tuning_coordinator *d)
{
    return d->node->run->state->tuning;
}

static const struct hil_system *coordinator_system(const struct hil_tuning_coordinator *d)
{
    return d->node->run->scenario->system;
}

/* --- the outcome of a request ----------------------------------------------------------------- */

static void coordinator_log(const struct hil_tuning_coordinator *d,
                            const struct hil_tuned_here *one)
{
    struct hil_tuning *memory = coordinator_memory(d);
    const uint64_t count = atomic_load_explicit(&memory->logged, memory_order_relaxed);

    hil_tuning_log(memory)[count % memory->log_size] = *one;
    atomic_store_explicit(&memory->logged, count + 1, memory_order_release);
}

static void coordinator_log_all(const struct hil_tuning_coordinator *d, unsigned node,
                                const struct hil_tuning_answer *answer)
{
    for (unsigned i = 0; i < d->message.count; i++) {
        const struct hil_change_told *c = &d->message.changes[i];
        if (!hil_tunable_concerns(&coordinator_system(d)->tunables[c->tunable], node))
            continue;
        struct hil_tuned_here one = {.tunable = (uint32_t)c->tunable,
                                     .node = node,
                                     .value = c->value,
                                     .request = (uint32_t)d->asked};
        one.how = !answer                     ? HIL_TUNING_LOST
                  : answer->refused & 1u << i ? HIL_TUNING_REFUSED
                                              : HIL_TUNED;
        one.step = answer ? answer->step : 0;
        one.time_ns = answer ? answer->time_ns : 0;
        coordinator_log(d, &one);
    }
}

/* Handles a node's answer. NULL: there will be none. */
static void coordinator_settle(struct hil_tuning_coordinator *d, unsigned i,
                               const struct hil_tuning_answer *answer)
{
    coordinator_log_all(d, d->to[i], answer);
    d->to[i] = d->to[--d->to_count];
    d->told--;
}

static void coordinator_close_request(struct hil_tuning_coordinator *d)
{
    d->busy = false;
    atomic_store_explicit(&coordinator_memory(d)->answered, d->asked, memory_order_release);
}

void hil_tuning_coordinator_answer(struct hil_tuning_coordinator *d, unsigned node,
                                   const struct hil_tuning_answer *answer)
{
    for (unsigned i = 0; i < d->told; i++)
        if (d->to[i] == node && answer->number == d->message.number) {
            coordinator_settle(d, i, answer);
            return;
        }
}

/* --- taking up a request ---------------------------------------------------------------------- */

static double coordinator_source_at(const struct hil_tuning_coordinator *d, unsigned source,
                                    uint64_t t_ns)
{
    const struct coordinator_source *own = &d->sources[source];
    const struct hil_profile profile = {own->from, (struct hil_change *)&own->ramp, 1};

    return own->tuned ? hil_profile_at(&profile, t_ns)
                      : hil_source_at(&coordinator_system(d)->sources[source], t_ns);
}

/* The source's value when the change takes force. All nodes begin their ramps at that value. */
static void coordinator_take_source(struct hil_tuning_coordinator *d, unsigned source,
                                    struct hil_change_told *change)
{
    struct coordinator_source *own = &d->sources[source];

    change->from = coordinator_source_at(d, source, d->message.at_ns);
    *own = (struct coordinator_source){.tuned = true,
                                       .ramp = {d->message.at_ns, change->ramp_ns, change->value},
                                       .from = change->from};
}

static void coordinator_note(const struct hil_tuning_coordinator *d, uint64_t n, uint64_t now_ns,
                             const struct hil_change_wanted *wanted)
{
    const struct hil_event_of of = hil_event_of_tunable(coordinator_system(d), wanted->tunable);

    hil_note(d->node, n, now_ns, HIL_EVENT_ASKED, of, wanted->value);
    if (wanted->ramp_ns)
        hil_note_ns(d->node, n, now_ns, HIL_EVENT_RAMP, of, wanted->ramp_ns);
}

static void coordinator_find_nodes(struct hil_tuning_coordinator *d,
                                   const struct hil_request *request)
{
    d->to_count = d->told = d->looked_at = 0;
    memset(d->concerned, 0, coordinator_system(d)->node_count * sizeof *d->concerned);
    for (unsigned i = 0; i < request->count; i++) {
        const struct hil_tunable *t = &coordinator_system(d)->tunables[request->changes[i].tunable];
        for (unsigned k = 0; k < t->node_count; k++) {
            if (!d->concerned[t->nodes[k]])
                d->to[d->to_count++] = t->nodes[k];
            d->concerned[t->nodes[k]] = true;
        }
    }
}

__attribute__((cold, noinline)) static void coordinator_take(struct hil_tuning_coordinator *d,
                                                             uint64_t n, uint64_t now_ns,
                                                             const struct hil_request *request)
{
    struct hil_tuning_message *m = &d->message;

    d->busy = true;
    coordinator_find_nodes(d, request);
    m->number++;
    m->count = request->count;
    m->at_ns = now_ns + d->news_ns + d->to_count / DESK_NODES * d->node->loop.timing.period_ns;
    for (unsigned i = 0; i < request->count; i++) {
        const struct hil_change_wanted *wanted = &request->changes[i];
        const struct hil_tunable *t = &coordinator_system(d)->tunables[wanted->tunable];
        m->changes[i] = (struct hil_change_told){
            .tunable = wanted->tunable, .value = wanted->value, .ramp_ns = wanted->ramp_ns};
        if (t->is_source)
            coordinator_take_source(d, t->source, &m->changes[i]);
        coordinator_note(d, n, now_ns, wanted);
    }
}

/* --- telling nodes, and asking for answers ---------------------------------------------------- */

static void coordinator_tell(struct hil_tuning_coordinator *d, unsigned node)
{
    struct hil_tuning_var *var = &d->node->links.tuning.at[node];

    loco_owned_var_store(&var->request, &d->message);
    loco_owned_var_push(&var->request);
    loco_owned_var_store(&var->notice, &d->message.number);
    loco_owned_var_push(&var->notice);
}

/* Returns whether node 0 is among the nodes that were told. */
static bool coordinator_tell_some(struct hil_tuning_coordinator *d)
{
    bool own = false;

    for (unsigned i = 0; i < DESK_NODES && d->told < d->to_count; i++) {
        const unsigned node = d->to[d->told++];
        own |= node == 0;
        if (node != 0)
            coordinator_tell(d, node);
    }
    return own;
}

/* Node 0 hands in its own answer, so the coordinator does not ask it. */
static void coordinator_ask(struct hil_tuning_coordinator *d, unsigned i)
{
    const unsigned node = d->to[i];
    struct hil_tuning_answer answer;

    if (node == 0)
        return;
    if (loco_owned_var_load(&d->node->links.tuning.at[node].answer, &answer) == 0 &&
        answer.number == d->message.number)
        coordinator_settle(d, i, &answer);
    else if (loco_peer_lost(d->node->mgr, node))
        coordinator_settle(d, i, NULL);
}

static void coordinator_ask_some(struct hil_tuning_coordinator *d)
{
    for (unsigned i = 0; i < DESK_NODES && d->told > 0; i++)
        coordinator_ask(d, ++d->looked_at % d->told);
    if (d->told == 0)
        coordinator_close_request(d);
}

/* Stops waiting for nodes that have not answered yet. */
static void coordinator_give_up(struct hil_tuning_coordinator *d)
{
    while (d->told > 0)
        coordinator_settle(d, 0, NULL);
    coordinator_close_request(d);
}

__attribute__((cold, noinline)) static bool coordinator_go_on(struct hil_tuning_coordinator *d)
{
    if (d->told < d->to_count)
        return coordinator_tell_some(d);
    coordinator_ask_some(d);
    return false;
}

/* --- a step of the coordinator
 * ----------------------------------------------------------------------- */

/* The launcher makes a new request only if it no longer waits for the old one. */
static void coordinator_look(struct hil_tuning_coordinator *d, uint64_t n, uint64_t now_ns)
{
    const struct hil_tuning *memory = coordinator_memory(d);
    const uint64_t asked = atomic_load_explicit(&memory->asked, memory_order_acquire);

    if (asked == d->asked)
        return;
    if (d->busy)
        coordinator_give_up(d);
    d->asked = asked;
    coordinator_take(d, n, now_ns, &memory->requests[asked % 2]);
}

/* Takes up a replayed request. In virtual time, a request that was given up in the original run is
 * given up again, so the run is the same. In real time the coordinator waits for all answers,
 * because a node may be late. */
static void coordinator_look_again(struct hil_tuning_coordinator *d, uint64_t n, uint64_t now_ns)
{
    if (d->replay == d->replay_end || d->replay->step > n || (d->busy && d->waits))
        return;
    if (d->busy)
        coordinator_give_up(d);
    coordinator_take(d, n, now_ns, &d->replay++->request);
}

bool hil_tuning_coordinator_step(struct hil_tuning_coordinator *d, uint64_t n, uint64_t now_ns,
                                 struct hil_tuning_message *own)
{
    if (d->node->rehearsed)
        return false;
    if (d->replay)
        coordinator_look_again(d, n, now_ns);
    else
        coordinator_look(d, n, now_ns);
    if (!d->busy || !coordinator_go_on(d))
        return false;
    *own = d->message;
    return true;
}

bool hil_tuning_coordinator_is_busy(const struct hil_tuning_coordinator *d, uint64_t *asked)
{
    *asked = d->asked;
    return d->busy || d->replay != d->replay_end;
}

/* --- opening and closing ---------------------------------------------------------------------- */

/* In virtual time news takes exactly as long as the network says. One ns more, so that it is there
 * before the instant at which the change takes force. */
static uint64_t coordinator_news_ns(const struct hil_scenario *s)
{
    uint64_t longest = 0;

    if (s->mode == HIL_REALTIME)
        return NEWS_NS;
    for (unsigned i = 0; i < s->system->link_count; i++) {
        const struct hil_link *l = &s->system->links[i];
        longest = l->from == 0 && l->latency_ns > longest ? l->latency_ns : longest;
    }
    return longest + s->network.jitter_ns + 1;
}

uint64_t hil_tuning_coordinator_round_ns(const struct hil_scenario *s)
{
    const struct hil_system *system = s->system;

    return coordinator_news_ns(s) +
           (system->node_count / DESK_NODES + 1) * system->nodes[0].timing.period_ns;
}

int hil_tuning_coordinator_open(struct hil_tuning_coordinator **coordinator, struct hil_node *node)
{
    const struct hil_scenario *s = node->run->scenario;
    struct hil_tuning_coordinator *d = *coordinator = calloc(1, sizeof *d);

    if (!d)
        return -ENOMEM;
    *d = (struct hil_tuning_coordinator){.node = node, .news_ns = coordinator_news_ns(s)};
    d->replay = s->replay;
    d->replay_end = d->replay ? d->replay + s->replay_count : NULL;
    d->waits = s->mode == HIL_REALTIME;
    d->to = calloc(s->system->node_count, sizeof *d->to);
    d->concerned = calloc(s->system->node_count, sizeof *d->concerned);
    d->sources = calloc(s->system->source_count + 1, sizeof *d->sources);
    return d->to && d->concerned && d->sources ? 0 : -ENOMEM;
}

void hil_tuning_coordinator_close(struct hil_tuning_coordinator *d)
{
    if (!d)
        return;
    free(d->to);
    free(d->concerned);
    free(d->sources);
    free(d);
}
