/*
 * The tracepoint provider, an object of its own (traces/provider.c): loaded into a process that
 * runs loops, if that is traced.
 */
#ifndef HIL_TRACE_PROVIDER_H
#define HIL_TRACE_PROVIDER_H

#include "../../channels/loco/trace.h"
#include "../run/node.h"
#include "../run/tracer.h"

/* What the object shows, as `hiloco_provider`. */
struct hil_trace_provider {
    struct hil_tracer loops;
    struct loco_tracer channels;
};

/*
 * Loads the provider, and has the loops and channels of this process tell it. It starts threads,
 * which a fork would lose and which run where the caller may: so call it in the process that runs
 * the loops, on the thread that does, before that pins itself. It returns when LTTng knows the
 * process, and has no more to set up. Returns 0, or a negative errno after a message to `why`.
 */
int hil_provider_load(char *why, size_t size);

/* The same in a process that is to run executor `index`, where the scenario asks for a trace or a
 * session daemon is there. Why it is not traced then is told as what the executor is `degraded` by.
 */
void hil_provider_load_for(const struct hil_run *run, unsigned index);

/* Whether a session daemon is there that the provider would report to. */
bool hil_provider_wanted(void);

#endif
