/*
 * Whether a node's inputs can be used, link by link: how old they are, and whether they are
 * numbers. A peer that hangs keeps its connections, and what it sent last stays in memory, so only
 * the age shows that it hangs. An input that is older than its link's limit is stale until a newer
 * one arrives.
 */
#ifndef HIL_INPUT_AGE_H
#define HIL_INPUT_AGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../scenario/system.h"

/* A period in which an input was stale, by the run's time. If `from` equals `to`, the input is a
 * device's of that node; its age and the time when it was fresh again are then unknown. */
struct hil_stale {
    uint32_t from, to;
    uint64_t limit_ns;
    uint64_t found_ns;  /* when a step of the receiver found it */
    uint64_t fresh_ns;  /* when it was fresh again; 0: never */
    uint64_t oldest_ns; /* its greatest age */
};

enum { HIL_STALE_LISTED = 256 };

/* The stale inputs that an executor found: all are counted, and the first ones are listed. One
 * writer. */
struct hil_stale_log {
    _Atomic uint64_t count; /* shown to programs that watch */
    uint64_t oldest_ns;     /* the greatest age of all of them */
    struct hil_stale at[HIL_STALE_LISTED];
};

/* The state of a link, as its receiver judges it. */
struct hil_input {
    uint64_t limit_ns;
    uint64_t phase_ns, period_ns; /* of its sender */
    bool stale;
    uint64_t found_ns;       /* when it was last found stale */
    unsigned bad, bad_limit; /* messages in a row with a bad value; the limit */
    uint32_t from, to;
    struct hil_stale *listed; /* its entry in the log; NULL: it has none */
};

/* Sets up a link with its limit: the scenario's, or ten periods of both ends plus the delay of the
 * simulated network, but at least 1 ms. */
void hil_input_init(struct hil_input *input, const struct hil_scenario *scenario,
                    const struct hil_link *link);

/* When a peer's step (numbered from 1) was due. */
static inline uint64_t hil_due(const struct hil_timing *peer, uint64_t step)
{
    return peer->phase_ns + (step - 1) * peer->period_ns;
}

/* When the sender's step was due; 0 if there was none yet. */
static inline uint64_t hil_input_due(const struct hil_input *input, uint64_t step)
{
    return step ? input->phase_ns + (step - 1) * input->period_ns : 0;
}

/* The age of what the sender did in its step, by the loops' common start, and as exact as that
 * start. Values from before the first step (step 0) are as old as the run. */
static inline uint64_t hil_input_age(const struct hil_input *input, uint64_t step, uint64_t now_ns)
{
    const uint64_t sent = hil_input_due(input, step);

    return now_ns > sent ? now_ns - sent : 0;
}

/* The slow path of hil_input_is_stale. */
bool hil_input_judge(struct hil_input *input, struct hil_stale_log *log, uint64_t age_ns,
                     uint64_t now_ns);

/* Whether the input is stale at this step of its receiver. */
static inline bool hil_input_is_stale(struct hil_input *input, struct hil_stale_log *log,
                                      uint64_t age_ns, uint64_t now_ns)
{
    if (__builtin_expect(age_ns <= input->limit_ns && !input->stale, 1))
        return false;
    return hil_input_judge(input, log, age_ns, now_ns);
}

/* Whether so many messages in a row were bad that the component that takes the input must be
 * safe. */
static inline bool hil_input_is_bad(const struct hil_input *input)
{
    return __builtin_expect(input->bad >= input->bad_limit, 0);
}

/* Describes in words the log entry of the stale input that ended a run. */
void hil_stale_describe(const struct hil_stale_log *log, const struct hil_system *system,
                        char *text, size_t size);

#endif
