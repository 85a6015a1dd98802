/* Sets of cpus, in the kernel's notation: "0-3,8". */
#ifndef HIL_CPUS_H
#define HIL_CPUS_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

/* The cpus that this process may run on: those that are online and that its cpuset allows, as in a
 * container. What `taskset` left out is allowed. */
void hil_cpus_allowed(cpu_set_t *set);

/* How many of them the calling thread may run on now; at least 1. */
unsigned hil_cpus_count(void);

/* Words before the numbers are skipped, as in isolcpus=managed_irq,domain,2-3. Returns false when
 * the text is not a list; `set` then holds the cpus read so far. An empty text and "(null)" mean no
 * cpu. */
bool hil_cpus_parse(const char *text, cpu_set_t *set);

/* "0-3,8"; "none" for an empty set. */
void hil_cpus_format(const cpu_set_t *set, char *text, size_t size);

/* In the form that a shell expands into words: "3", "{0..3}", "{0,2,8}". */
void hil_cpus_braces(const cpu_set_t *set, char *text, size_t size);

/* The cpus of `set` that are not in `without`. */
cpu_set_t hil_cpus_without(const cpu_set_t *set, const cpu_set_t *without);

/* The next cpu of the set after `cpu` (-1: the first); -1 when there are no more. */
int hil_cpus_next(const cpu_set_t *set, int cpu);

/* Moves the calling thread, and processes that it starts later, off the cores that loops are pinned
 * to. Returns whether another core is left; if not, the thread stays where it is. */
bool hil_keep_off(const cpu_set_t *cores);

#endif
