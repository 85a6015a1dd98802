/*
 * The tracepoint provider, an object of its own (traces/provider.c): loaded into a process that
 * runs loops, if that is traced.
 */
#ifndef HIL_PROVIDER_H
#define HIL_PROVIDER_H

#include "../../channels/loco/trace.h"
#include "../run/tracer.h"

/* What the object shows, as `hiloco_provider`. */
struct hil_provider {
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

/* Whether a session daemon is there that the provider would report to. */
bool hil_provider_wanted(void);

#endif
