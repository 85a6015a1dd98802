#include "poller.h"

#include <errno.h>
#include <sched.h>

#include "loop_cores.h"

static void *poll_all(void *arg)
{
    struct hil_poller *p = arg;

    while (!atomic_load_explicit(&p->stop, memory_order_relaxed)) {
        for (unsigned i = 0; i < p->count; i++)
            loco_manager_poll(p->nodes[i]->mgr);
        sched_yield(); /* other threads may need its core */
    }
    return NULL;
}

/* Keeps the thread off the loops' cores, where a spinning loop would leave it no time. */
static int choose_cores(pthread_attr_t *attr, const struct hil_scenario *s)
{
    cpu_set_t cores;

    if (!hil_cores_for_others(s, &cores))
        return -EBUSY;
    return -pthread_attr_setaffinity_np(attr, sizeof cores, &cores);
}

int hil_poller_open(struct hil_poller *p, const struct hil_scenario *s,
                    struct hil_node *const *nodes, unsigned count)
{
    pthread_attr_t attr;

    *p = (struct hil_poller){.nodes = nodes, .count = count};
    int rc = -pthread_attr_init(&attr);
    if (rc)
        return rc;
    rc = choose_cores(&attr, s);
    if (!rc)
        rc = -pthread_create(&p->thread, &attr, poll_all, p);
    p->runs = rc == 0;
    pthread_attr_destroy(&attr);
    return rc;
}

void hil_poller_close(struct hil_poller *p)
{
    if (!p->runs)
        return;
    atomic_store(&p->stop, true);
    pthread_join(p->thread, NULL);
    p->runs = false;
}
