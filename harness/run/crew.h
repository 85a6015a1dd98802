/*
 * A crew: threads that share an executor's work with it. In each step the executor calls them; each
 * does its share, the executor the first one, and the executor goes on when all are done.
 *
 *      executor    ... wait ... call | share 0 | meet | ...
 *      member 1    ... wait .......... | share 1 | wait ...
 *
 * A call is one line of memory that all members look at, and a member's answer is one of its own.
 * Both sides wait in a busy loop: they have cores of their own. Where that is not sure, they give
 * way to other threads now and then, so that one never keeps another from coming.
 */
#ifndef HIL_CREW_H
#define HIL_CREW_H

#include "../../channels/loco/manager.h"
#include "clock.h"
#include "state.h"

struct hil_crew;

/* A share of the work: 0 is the executor's own. */
typedef void hil_crew_work(void *arg, unsigned share);

/* Starts a thread for each further core of the executor, attached to the manager. They sleep.
 * Returns 0 or a negative errno; the rest is for hil_crew_close in either case, which takes NULL.
 */
int hil_crew_open(struct hil_crew **crew, const struct hil_scenario *scenario,
                  const struct hil_executor_config *executor, struct loco_manager *manager,
                  struct hil_executor_state *state);

/* How many they are, with the executor. */
unsigned hil_crew_count(const struct hil_crew *crew);

/* Right before the loops: the members go to their cores and to the scheduler, as the executor has
 * done, and wait for calls. What they are refused goes to the executor's state. */
void hil_crew_wake(struct hil_crew *crew, const struct hil_clock *clock, uint64_t period_ns);

/* Until this time of the clock no call comes: members may sleep, where the executor does. */
void hil_crew_rest(struct hil_crew *crew, uint64_t until_ns);

/* Has all do their shares of the work, and returns when they have. By the executor's thread. */
void hil_crew_call(struct hil_crew *crew, hil_crew_work *work, void *arg);

/* Ends the threads, and adds what happened to them to the executor's state. */
void hil_crew_close(struct hil_crew *crew);

#endif
