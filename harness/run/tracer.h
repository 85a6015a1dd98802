/*
 * Where the loops tell a tracer what they do, as channels/trace.h does for the channels. While
 * there is none an event costs a load and a branch.
 *
 * Steps are numbered from 1, as the nodes tell them each other; times are in ns.
 */
#ifndef HIL_TRACER_H
#define HIL_TRACER_H

#include <stddef.h>
#include <stdint.h>

#include "state.h"

struct hil_traced_step {
    uint32_t node; /* 0: the controller; 1 + i: converter i */
    uint64_t step;
    uint64_t late_ns;      /* from its time to its beginning */
    uint64_t duration_ns;  /* from its beginning to its end, which is now */
    uint64_t input_age_ns; /* the controller's: of the oldest voltage */
    uint64_t acted_on;     /* the controller's step whose duty a converter holds; 0: none yet */
};

struct hil_traced_miss {
    uint32_t node;
    uint64_t step;
    uint64_t over_ns; /* from its deadline to its end */
};

/* Steps that are not run, which is decided now. */
struct hil_traced_left_out {
    uint32_t node;
    uint64_t step, count; /* the first, and how many */
    uint64_t late_ns;     /* the last of them; the one before it a period more */
    uint64_t period_ns;
};

/* The controller has seen, in its `step`, the first voltage that its step `acted_on` made:
 * what the converter pushed in its own step `answer`. */
struct hil_traced_answer {
    uint32_t converter;
    uint64_t step, acted_on, answer;
    uint64_t round_trip_ns;
};

struct hil_tracer {
    void (*step)(const struct hil_traced_step *step);
    void (*miss)(const struct hil_traced_miss *miss);
    void (*left_out)(const struct hil_traced_left_out *left_out);
    void (*answer)(const struct hil_traced_answer *answer);
    void (*state)(uint32_t node, enum hil_stage stage);
};

/* This process's; NULL: none. Set before its loops start. */
extern const struct hil_tracer *hil_tracer;

#define HIL_TRACE(event, ...)                                                                      \
    do {                                                                                           \
        if (__builtin_expect(hil_tracer != NULL, 0))                                               \
            hil_tracer->event(__VA_ARGS__);                                                        \
    } while (0)

#endif
