#include "pace.h"

#include <time.h>

#include "state.h"

/* How often a paused run checks whether it may go on. */
enum { PACE_LOOK_NS = 1000000 };

static bool pace_stands(struct hil_state *s)
{
    return atomic_load(&s->pace.hold) &&
           atomic_load(&s->pace.done) >= atomic_load(&s->pace.allowed) && !atomic_load(&s->stop);
}

__attribute__((cold, noinline)) static void pace_stand(struct hil_state *s)
{
    const struct timespec look = {.tv_nsec = PACE_LOOK_NS};

    atomic_store(&s->pace.paused, true);
    while (pace_stands(s)) {
        hil_beat(&s->executors[0].heartbeat);
        nanosleep(&look, NULL);
    }
    atomic_store(&s->pace.paused, false);
}

void hil_pace_wait(struct hil_state *s)
{
    if (pace_stands(s))
        pace_stand(s);
    atomic_store_explicit(&s->pace.done,
                          atomic_load_explicit(&s->pace.done, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}
