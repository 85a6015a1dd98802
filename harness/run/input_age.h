/*
 * Whether a node's inputs can be used, link by link: how old they are, and whether they are
 * numbers. A peer that stands still keeps its connections, and what it sent last stays in memory:
 * only its age tells. An input that is older than its link's limit is stale, until a newer one is
 * there.
 */
#ifndef HIL_INPUT_AGE_H
#define HIL_INPUT_AGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../scenario/system.h"

/* A time for which an input was stale, by the run's time. Nodes are numbered as everywhere; what a
 * node's own device received is from that node, and says neither how old it was nor when it was
 * fresh. */
struct hil_stale {
    uint32_t from, to;
    uint64_t limit_ns;
    uint64_t found_ns;  /* at a step of the receiver */
    uint64_t fresh_ns;  /* 0: it stayed stale */
    uint64_t oldest_ns; /* its greatest age */
};

enum { HIL_STALE_LISTED = 256 };

/* Those that an executor found, the first ones in full. One writer, as a histogram. */
struct hil_stale_log {
    _Atomic uint64_t count; /* shown to programs that watch */
    uint64_t oldest_ns;     /* of them all */
    struct hil_stale at[HIL_STALE_LISTED];
};

/* A link, as its receiver judges it. */
struct hil_input {
    uint64_t limit_ns;
    uint64_t phase_ns, period_ns; /* of its sender */
    bool stale;
    uint64_t found_ns;       /* stale, last */
    unsigned bad, bad_limit; /* in a row that had what is no number, and how many are too many */
    uint32_t from, to;
    struct hil_stale *listed; /* where that is written down; NULL: nowhere */
};

/* A link with its limit: what the scenario says, or ten periods of both ends and what the simulated
 * network takes, but no less than 1 ms. */
void hil_input_init(struct hil_input *input, const struct hil_scenario *scenario,
                    const struct hil_link *link);

/* When a peer's step (numbered from 1) was due. */
static inline uint64_t hil_due(const struct hil_timing *peer, uint64_t step)
{
    return peer->phase_ns + (step - 1) * peer->period_ns;
}

/* When the sender's step was due; 0, where there was none yet. */
static inline uint64_t hil_input_due(const struct hil_input *input, uint64_t step)
{
    return step ? input->phase_ns + (step - 1) * input->period_ns : 0;
}

/* How old what the sender did in its step is, by the loops' common start: as exact as the start
 * is. What there is before the first (step 0) is as old as the run. */
static inline uint64_t hil_input_age(const struct hil_input *input, uint64_t step, uint64_t now_ns)
{
    const uint64_t sent = hil_input_due(input, step);

    return now_ns > sent ? now_ns - sent : 0;
}

/* The slow part of hil_input_is_stale. */
bool hil_input_judge(struct hil_input *input, struct hil_stale_log *log, uint64_t age_ns,
                     uint64_t now_ns);

/* Whether the input is stale at this step of its receiver. Both are numbers of ns. */
static inline bool hil_input_is_stale(struct hil_input *input, struct hil_stale_log *log,
                                      uint64_t age_ns, uint64_t now_ns)
{
    if (__builtin_expect(age_ns <= input->limit_ns && !input->stale, 1))
        return false;
    return hil_input_judge(input, log, age_ns, now_ns);
}

/* Whether so many in a row were not numbers that the component that takes them must be safe. */
static inline bool hil_input_is_bad(const struct hil_input *input)
{
    return __builtin_expect(input->bad >= input->bad_limit, 0);
}

/* What the log's newest entry is, in words: for a run that it ended. */
void hil_stale_describe(const struct hil_stale_log *log, const struct hil_system *system,
                        char *text, size_t size);

#endif
