/*
 * Loads the tracepoint provider, a separate shared object (traces/provider.c), into processes that
 * run loops, if they are traced.
 */
#ifndef HIL_TRACE_PROVIDER_H
#define HIL_TRACE_PROVIDER_H

#include "../../channels/loco/trace.h"
#include "../run/node.h"
#include "../run/tracer.h"

/* The interface that the object exports as `hiloco_provider`. */
struct hil_trace_provider {
    uint32_t *run; /* of this process, as sessions call it */
    struct hil_tracer loops;
    struct loco_tracer channels;
};

/*
 * Loads the provider, and connects the loops and channels of this process to it. The provider
 * starts threads, which would be lost in a fork, and which inherit the caller's affinity. Therefore
 * call it in the process that runs the loops, on the thread that will run them, before that thread
 * pins itself. When it returns, LTTng knows the process and has finished its set-up. `run` is the
 * run of this process (session.h). Returns 0, or a negative errno after a message to `why`.
 */
int hil_provider_load(uint32_t run, char *why, size_t size);

/* The same for a process that will run executor `index`, if the scenario asks for a trace or a
 * session daemon runs. A failure is reported as a reason why the executor is `degraded`. */
void hil_provider_load_for(const struct hil_run *run, unsigned index);

#endif
