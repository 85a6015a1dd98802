/*
 * What a loop's thread asks of the kernel: a core of its own, the real-time scheduler, and resident
 * memory. If a request is refused, the loop runs anyway and reports it.
 */
#ifndef HIL_PRIVILEGES_H
#define HIL_PRIVILEGES_H

#include <sched.h>

#include "../scenario/scenario.h"
#include "state.h"

/* Each refusal adds a line to state->degraded, with a remedy. */

/* Pins the calling thread, locks and touches the process's memory, and makes sleeps end on time.
 * Call it before the setup. */
void hil_settle(const struct hil_executor_config *config, struct hil_executor_state *state);

/* The same for another thread of a process that has called hil_settle. */
void hil_settle_thread(int cpu, struct hil_executor_state *state);

/* Keeps all cores out of sleep states that take time to wake from, as long as the returned
 * descriptor is open. Returns -1 if that was refused. */
int hil_keep_awake(struct hil_executor_state *state);

/* Whether the executor asks for a real-time scheduler. */
bool hil_asks_for_real_time(const struct hil_executor_config *config);

/* hil_schedule_real_time switches to the real-time scheduler; call it right before the loops, of
 * which the fastest has this period. hil_schedule_ordinary switches back; call it right after
 * them. */
void hil_schedule_real_time(const struct hil_executor_config *config, uint64_t period_ns,
                            struct hil_executor_state *state);
void hil_schedule_ordinary(void);

/* The settings of a thread that the functions above change. */
struct hil_thread_settings {
    cpu_set_t cpus;
    struct sched_param priority;
    int policy, nice;
    int slack; /* ns by which sleeps may end late */
    unsigned arithmetic;
};

/* Save and restore the settings of the calling thread. */
void hil_thread_settings_take(struct hil_thread_settings *settings);
void hil_thread_settings_give_back(const struct hil_thread_settings *settings);

/* Makes numbers that are too small to matter zero, because arithmetic with them is a hundred times
 * slower. */
void hil_flush_denormals(void);

#endif
