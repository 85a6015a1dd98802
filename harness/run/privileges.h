/*
 * What a loop's thread asks of the kernel: a core of its own, the real-time scheduler, and
 * memory that stays. Where it is not granted the loop runs all the same, and says so.
 */
#ifndef HIL_PRIVILEGES_H
#define HIL_PRIVILEGES_H

#include <sched.h>

#include "../scenario/scenario.h"
#include "state.h"

/* What was refused goes to state->degraded, a line each, with what would mend it. */

/* Pins the calling thread, locks and touches the process's memory, and has its sleeps end when
 * they should. Before the setup. */
void hil_settle(const struct hil_executor_config *config, struct hil_executor_state *state);

/* The same of a further thread, whose process has done so. */
void hil_settle_thread(int cpu, struct hil_executor_state *state);

/* Keeps all cores out of states that take time to wake from, as long as the descriptor that it
 * returns is open; -1: they may fall asleep. */
int hil_keep_awake(struct hil_executor_state *state);

/* To the real-time scheduler, right before loops of which the fastest has this period; back from
 * it, right after. */
void hil_schedule_real_time(const struct hil_executor_config *config, uint64_t period_ns,
                            struct hil_executor_state *state);
void hil_schedule_ordinary(void);

/* What of a thread the above changes. */
struct hil_thread_settings {
    cpu_set_t cpus;
    struct sched_param priority;
    int policy, nice;
    int slack; /* ns, of its sleeps' ends */
    unsigned arithmetic;
};

/* The calling thread's; and back to them. */
void hil_thread_settings_take(struct hil_thread_settings *settings);
void hil_thread_settings_give_back(const struct hil_thread_settings *settings);

/* Numbers too small to matter become zero: arithmetic with them is a hundred times slower. */
void hil_flush_denormals(void);

#endif
