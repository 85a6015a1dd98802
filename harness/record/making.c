#include "making.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "../base/cpus.h"
#include "../h5/trace_maker.h"
#include "recorder_parts.h"

enum { FOLLOW_NS = 5000000 }; /* interval of the thread's looks into the journal */

struct making {
    struct hil_trace_maker *maker;
    pthread_t thread;
    _Atomic bool stop;
};

/* Of either maker. In the process that opened the recorder, its owner is asked here. */
static bool goes_on(void *arg, double share)
{
    struct hil_recorder *recorder = arg;
    struct shared *shared = recorder->shared;

    add_one(&shared->beats, memory_order_relaxed);
    atomic_store_explicit(&shared->made, (unsigned)(1000 * share), memory_order_relaxed);
    if (recorder->finished && recorder->owner.making &&
        !recorder->owner.making(recorder->owner.arg, share))
        return false;
    return !atomic_load_explicit(&shared->give_up, memory_order_relaxed);
}

static int open_maker(struct hil_recorder *recorder, struct hil_trace_maker **maker)
{
    const struct hil_trace_watch watch = {goes_on, recorder, 1};

    return hil_trace_maker_open(maker, recorder->path, &watch);
}

/* --- while rows come ----------------------------------------------------------------------- */

static void *follow(void *arg)
{
    const struct timespec period = {.tv_nsec = FOLLOW_NS};
    struct making *following = arg;

    while (!atomic_load(&following->stop) && hil_trace_maker_follow(following->maker) == 0)
        nanosleep(&period, NULL);
    return NULL;
}

void recorder_follow(struct hil_recorder *recorder)
{
    struct making *made = calloc(1, sizeof *made);

    if (!made || open_maker(recorder, &made->maker))
        goto free_made;
    if (pthread_create(&made->thread, NULL, follow, made))
        goto close_maker;
    recorder->following = made;
    return;

close_maker:
    hil_trace_maker_close(made->maker);
free_made:
    free(made);
}

/* Ends the thread. Returns its maker; NULL when there is none, or it met an error. */
static struct hil_trace_maker *take_over(struct hil_recorder *recorder)
{
    struct making *following = recorder->following;

    if (!following)
        return NULL;
    atomic_store(&following->stop, true);
    pthread_join(following->thread, NULL);
    struct hil_trace_maker *maker = following->maker;
    free(following);
    recorder->following = NULL;
    if (hil_trace_maker_follow(maker) == 0)
        return maker;
    hil_trace_maker_close(maker);
    return NULL;
}

/* --- the end ------------------------------------------------------------------------------- */

int recorder_make(struct hil_recorder *recorder)
{
    struct hil_trace_maker *maker = take_over(recorder);
    int rc = maker ? 0 : open_maker(recorder, &maker);

    if (rc)
        return rc;
    hil_trace_maker_use(maker, hil_cpus_count());
    atomic_store_explicit(&recorder->shared->making, true, memory_order_release);
    rc = hil_trace_maker_finish(maker);
    hil_trace_maker_close(maker);
    return rc;
}
