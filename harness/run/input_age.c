#include "input_age.h"

#include <stdio.h>

#include "node_name.h"

static uint64_t longest(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t default_limit_ns(const struct hil_scenario *s, const struct hil_link *link)
{
    const struct hil_node_config *nodes = s->system->nodes;
    const uint64_t periods = nodes[link->from].timing.period_ns + nodes[link->to].timing.period_ns;
    const uint64_t network_ns = s->network.jitter_ns + link->latency_ns; /* upper bound */

    return longest(10 * periods + (s->mode == HIL_REALTIME ? 0 : network_ns), 1000000);
}

void hil_input_init(struct hil_input *input, const struct hil_scenario *s,
                    const struct hil_link *link)
{
    const struct hil_stale_config *config = &s->system->nodes[link->to].stale;
    const struct hil_timing *sender = &s->system->nodes[link->from].timing;
    const uint64_t limit = config->limit_ns;

    *input = (struct hil_input){.limit_ns = limit ? limit : default_limit_ns(s, link),
                                .bad_limit = config->bad_limit,
                                .phase_ns = sender->phase_ns,
                                .period_ns = sender->period_ns,
                                .from = link->from,
                                .to = link->to};
}

static void found_stale(struct hil_input *in, struct hil_stale_log *log, uint64_t now)
{
    uint64_t count = atomic_load_explicit(&log->count, memory_order_relaxed);

    in->stale = true;
    in->found_ns = now;
    in->listed = count < HIL_STALE_LISTED ? &log->at[count] : NULL;
    if (in->listed)
        *in->listed = (struct hil_stale){
            .from = in->from, .to = in->to, .limit_ns = in->limit_ns, .found_ns = now};
    atomic_store_explicit(&log->count, count + 1, memory_order_release);
}

static void found_fresh(struct hil_input *in, uint64_t now)
{
    in->stale = false;
    if (in->listed)
        in->listed->fresh_ns = now;
}

bool hil_input_judge(struct hil_input *in, struct hil_stale_log *log, uint64_t age, uint64_t now)
{
    if (age <= in->limit_ns) {
        found_fresh(in, now);
        return false;
    }
    if (!in->stale)
        found_stale(in, log, now);
    if (in->listed)
        in->listed->oldest_ns = longest(in->listed->oldest_ns, age);
    log->oldest_ns = longest(log->oldest_ns, age);
    return true;
}

void hil_stale_describe(const struct hil_stale_log *log, const struct hil_system *system,
                        char *text, size_t size)
{
    const uint64_t count = log->count;
    const struct hil_stale *s = &log->at[count < HIL_STALE_LISTED ? count - 1 : 0];
    char link[HIL_LINK_NAME_BYTES];

    if (count == 0)
        return;
    hil_link_name(system, s->from, s->to, link);
    if (s->from == s->to) {
        snprintf(text, size, "a stale input ends it: %s, at %.6f s", link,
                 (double)s->found_ns * 1e-9);
        return;
    }
    snprintf(text, size,
             "a stale input ends it: %s was %.6g ms old at %.6f s; allowed: at most %.6g ms", link,
             (double)s->oldest_ns * 1e-6, (double)s->found_ns * 1e-9, (double)s->limit_ns * 1e-6);
}
