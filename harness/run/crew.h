/*
 * A crew: threads that share an executor's work. In each step the executor calls them. Each member
 * does its share, the executor does share 0, and the executor goes on when all are done.
 *
 *      executor    ... wait ... call | share 0 | meet | ...
 *      member 1    ... wait .......... | share 1 | wait ...
 *
 * A call is one cache line that all members poll. Each member's answer has a line of its own. Both
 * sides wait in a busy loop, because each thread has a core of its own. If the scenario does not
 * pin each thread to its own core, a waiting thread yields now and then, so that the thread it
 * waits for can run.
 *
 * A member that dies takes the process with it. While a member hangs, the executor waits for it and
 * its heartbeat stops, so the launcher ends the run as for any executor that hangs.
 */
#ifndef HIL_CREW_H
#define HIL_CREW_H

#include "../../channels/loco/manager.h"
#include "clock.h"
#include "state.h"

struct hil_crew;

/* A share of the work: 0 is the executor's own. */
typedef void hil_crew_work(void *arg, unsigned share);

/* Starts a thread for each shard of the executor's node after the first. Each thread attaches to
 * the manager, sets up its core, its memory and its scheduler as the scenario says, and sleeps.
 * Refusals of the kernel go to the executor's state. Returns 0 or a negative errno. In both cases
 * hil_crew_close ends the threads that were started; it accepts NULL. */
int hil_crew_open(struct hil_crew **crew, const struct hil_scenario *scenario,
                  const struct hil_executor_config *executor, struct loco_manager *manager,
                  struct hil_executor_state *state);

/* The number of its threads, including the executor's. */
unsigned hil_crew_count(const struct hil_crew *crew);

/* Wakes the members, right before the loops: from now on they wait for calls. The clock is the
 * executor's. */
void hil_crew_wake(struct hil_crew *crew, const struct hil_clock *clock);

/* Starts counting the members' page faults and switches. Called by the executor's thread. */
void hil_crew_measure(struct hil_crew *crew);

/* Promises that no call comes before this time of the clock, so members may sleep, as the executor
 * does. */
void hil_crew_rest(struct hil_crew *crew, uint64_t until_ns);

/* Does all shares of the work, and returns when they are done. Called by the executor's thread. */
void hil_crew_call(struct hil_crew *crew, hil_crew_work *work, void *arg);

/* Ends the threads, and adds their counts to the executor's state. */
void hil_crew_close(struct hil_crew *crew);

#endif
