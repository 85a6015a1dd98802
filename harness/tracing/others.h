/*
 * Who else had the loops' cores, in a run or while the doctor measured: the threads that the kernel
 * scheduled there, by name. Only the superuser may see that.
 */
#ifndef HIL_OTHERS_H
#define HIL_OTHERS_H

#include "../run/state.h"
#include "kernel.h"
#include "tracefs.h"

enum { HIL_OTHERS = 3 };

struct hil_other {
    char name[28];
    uint64_t longest_ns, all_ns;
};

/* Finds those with the longest stays on the cpu between two stays of one thread that is called
 * `own`, the longest first. Of these stays only those in the span of time count. Returns their
 * number. */
struct hil_span {
    uint64_t from_ns, to_ns;
};
unsigned hil_others_find(const struct hil_kernel *kernel, int cpu, const char *own,
                         struct hil_span span, struct hil_other others[HIL_OTHERS]);

/* Begin and end to look. The first returns whether it can; the second then fills in `kernel`, which
 * the caller frees. */
bool hil_others_begin(struct hil_tracefs *fs, const struct hil_executor_config *executors,
                      unsigned count);
void hil_others_end(struct hil_tracefs *fs, struct hil_kernel *kernel);

/* Ends to look at a run, and writes into its state who had the core of each executor longest, if
 * one stood still. `own` gives the name of an executor's thread. */
enum { HIL_OWN_NAME = 48 };
void hil_others_tell(struct hil_tracefs *fs, const struct hil_scenario *scenario,
                     struct hil_state *state,
                     void (*own)(const void *arg, unsigned executor, char name[HIL_OWN_NAME]),
                     const void *arg);

#endif
