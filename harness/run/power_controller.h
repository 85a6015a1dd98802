/*
 * power_controller: the channel between one controller and its converters (the paper's
 * appendix "Distributed DC/DC Converter System").
 *
 *      controller  --duty i-->  converter i        an owned_var each, the controller's
 *      controller  <--voltage i--  converter i     an owned_var each, the converter's
 *
 * beside them an SST in which each node says how it is (live.h), and a barrier for a common
 * start. A converter that restarts is taken back, but for the barrier: it learns of the start from
 * the controller's row, so it asks for that before it adds the barrier. All are stars: a converter
 * knows only the controller, so that a step costs the same however many converters there are.
 *
 * Both directions carry the sender's step number, and a converter's also the last controller
 * step that it acted on. So every node knows how old its inputs are, and the controller the
 * closed loop's round trip, without synchronised clocks: both loops count their steps from
 * the common start, which each puts on its own clock.
 *
 * Node 0 is the controller, node 1 + i converter i. One thread of each node.
 */
#ifndef HIL_POWER_CONTROLLER_H
#define HIL_POWER_CONTROLLER_H

#include "../../channels/loco.h"
#include "../scenario/scenario.h"
#include "live.h"

/* Steps are numbered from 1; 0 says that nothing came yet. */

/* What a converter pushes each step. */
struct hil_measurement {
    double voltage_v;
    double current_a;
    uint64_t step;
    uint64_t acted_on; /* the controller's step whose duty made this voltage */
};

/* What the controller pushes to each converter. */
struct hil_command {
    double duty;
    uint64_t step;
};

_Static_assert(sizeof(struct hil_measurement) == 32, "crosses the network");
_Static_assert(sizeof(struct hil_command) == 16, "crosses the network");

enum { HIL_DISAGREEMENT_BYTES = 300 };

struct hil_power_controller {
    struct loco_channel channel;
    uint32_t *members;
    unsigned count;                  /* of links: all converters', or a converter's one */
    struct loco_owned_var *duties;   /* by link */
    struct loco_owned_var *voltages; /* by link */
    struct loco_sst progress;
    struct loco_barrier barrier;
    _Atomic bool lost;                         /* a member was, at some time */
    char disagreement[HIL_DISAGREEMENT_BYTES]; /* with the first who has another scenario */
};

/* Constructs and joins this node's endpoint, called "power_controller", for nodes with the same
 * listing of their scenario. The manager's node count is 1 + the number of converters. Errors as
 * of loco_channel_init. */
int hil_power_controller_init(struct hil_power_controller *pc, struct loco_manager *manager,
                              const struct hil_listing *listing);

/* Adds the barrier, for who is there from the start. */
int hil_power_controller_add_barrier(struct hil_power_controller *pc);

void hil_power_controller_fini(struct hil_power_controller *pc);

#endif
