/*
 * The doctor's checks. Each one sets what it found, how bad that is, and how to mend it. If a file
 * cannot be read the result is HIL_UNKNOWN, never a guess.
 */
#ifndef HIL_DOCTOR_CHECKS_H
#define HIL_DOCTOR_CHECKS_H

#include "doctor.h"

/* Pages of 2 MiB: a few for each of a few dozen arenas. */
enum { HIL_HUGE_PAGES = 64 };

typedef void hil_check(const struct hil_machine *machine, struct hil_finding *finding);

/* check_kernel.c */
hil_check hil_check_preemption, hil_check_throttling, hil_check_fair_server, hil_check_rt_groups;
/* check_quota.c */
hil_check hil_check_quota;
/* check_limits.c */
hil_check hil_check_rtprio, hil_check_sessions, hil_check_memlock;
/* check_isolation.c */
hil_check hil_check_placement, hil_check_isolation, hil_check_tick, hil_check_rcu;
/* check_interrupts.c */
hil_check hil_check_interrupts, hil_check_irqbalance;
/* check_processor.c */
hil_check hil_check_governor, hil_check_idle_states, hil_check_smt;
/* check_time.c */
hil_check hil_check_clock_source, hil_check_steal, hil_check_time_of_day;
/* check_memory.c */
hil_check hil_check_numa, hil_check_transparent_huge, hil_check_huge_pages, hil_check_swap;

/* Set the finding. */
__attribute__((format(printf, 3, 4))) void
hil_found(struct hil_finding *finding, enum hil_severity severity, const char *format, ...);
__attribute__((format(printf, 2, 3))) void hil_command(struct hil_finding *finding,
                                                       const char *format, ...);
__attribute__((format(printf, 2, 3))) void hil_advice(struct hil_finding *finding,
                                                      const char *format, ...);

/* The advice where nothing can be moved off the loops' cores. */
extern const char hil_no_spare_core[];

/* How many ms of every second the kernel withholds from SCHED_FIFO threads; a negative errno when
 * unknown. */
long hil_throttled_ms(const char *root);

/* Whether the kernel's version is at least major.minor; -1: unknown. */
int hil_kernel_since(const char *root, int major, int minor);

/* Whether --fix may lift throttling. */
bool hil_may_lift_throttling(const struct hil_machine *machine);

/* Whether network memory would lie in small pages because no huge pages are free and the kernel is
 * older than 6.1, which does not make huge pages on request. */
bool hil_needs_huge_pages(const char *root);

/* Cpus that the scheduler keeps free of tasks that are not pinned to them. Returns false when
 * unknown. */
bool hil_isolated_cpus(const char *root, cpu_set_t *isolated);

#endif
