/*
 * Where a round trip's time goes. One round goes from the push of a duty to that of the next
 * one that answers it, and has five parts:
 *
 *      duty pushed --converter wait--> the converter's step that loads it begins
 *          --converter push--> its voltage is pushed (a step later: what the duty made of the
 * plant)
 *          --controller wait--> the controller's step that loads it begins
 *          --controller step--> the new duty is computed
 *          --push back--> the new duty is pushed (with computation_delay: in the next step)
 *
 * The first three together are what the summary calls the round trip.
 */
#ifndef HIL_ROUND_TRIP_H
#define HIL_ROUND_TRIP_H

#include <stdbool.h>
#include <stdint.h>

#include "../record/histogram.h"

enum hil_part {
    HIL_CONVERTER_WAIT,
    HIL_CONVERTER_PUSH,
    HIL_CONTROLLER_WAIT,
    HIL_CONTROLLER_STEP,
    HIL_PUSH_BACK,
    HIL_PARTS,
};

extern const char *const hil_part_names[HIL_PARTS];

struct hil_rounds {
    struct hil_histogram parts[HIL_PARTS];
    struct hil_histogram whole;    /* as the controller measured it: the first three */
    uint64_t complete, incomplete; /* rounds; of the incomplete ones an event is missing */
    struct hil_round_state *state;
};

/* Returns 0 or -ENOMEM. */
int hil_rounds_init(struct hil_rounds *rounds);
void hil_rounds_fini(struct hil_rounds *rounds);

/* The events, in the order of time. Nodes as everywhere: 0 is the controller. */
void hil_rounds_push(struct hil_rounds *rounds, uint32_t node, const char *channel,
                     uint64_t time_ns);
void hil_rounds_answer(struct hil_rounds *rounds, uint32_t converter, uint64_t acted_on,
                       uint64_t answer, uint64_t round_trip_ns);
void hil_rounds_step(struct hil_rounds *rounds, uint32_t node, uint64_t step, uint64_t begin_ns,
                     uint64_t end_ns, uint64_t acted_on);

#endif
