/*
 * The flight recorder. A trace of which only the newest events are kept is saved when they may
 * explain something: at the first misses, when a fault begins or a component fails, and when
 * somebody asks. Another process does it, so that the launcher goes on meanwhile.
 *
 * Saving takes time from loops that share their cores, and so may make them miss. So after a miss
 * it is done again only after a pause, each of which is twice as long as the one before.
 */
#ifndef HIL_FLIGHT_H
#define HIL_FLIGHT_H

#include "../run/state.h"
#include "session.h"

struct hil_flight_seen {
    uint64_t missed, faults, failures;
    unsigned asked;
};

struct hil_flight {
    const struct hil_session *session; /* NULL: it records nothing */
    const struct hil_scenario *scenario;
    struct hil_state *state;
    struct hil_flight_seen seen;
    uint64_t save_ns;        /* when it is saved next; 0: there is no reason yet */
    const char *why;         /* that reason */
    uint64_t no_miss_ns;     /* misses before this are no reason */
    uint64_t pause_ns;       /* the last pause */
    pid_t saver;             /* 0: none */
    unsigned asked_by_saver; /* how often it was asked when that one began */
    unsigned untold;         /* savers that are done, which the state does not count yet */
};

/* Looks whether there is a reason, and whether what was begun is done. `asked`: how often somebody
 * has asked. */
void hil_flight_look(struct hil_flight *flight, unsigned asked);

/* Waits until what was begun is done. */
void hil_flight_end(struct hil_flight *flight);

#endif
