#include "crew.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "../../channels/loco/thread.h"
#include "../base/plain_locale.h"
#include "../scenario/system.h"
#include "lines.h"
#include "loop_cores.h"
#include "privileges.h"

enum {
    /* After this many looks, a thread that may share its core with another yields at each look. */
    LOOKS_BEFORE_YIELD = 1000,
    /* Size of a member's stack, all of which is locked in memory. */
    STACK_BYTES = 512 << 10,
};

struct crew_member {
    alignas(HIL_LINE) _Atomic uint64_t done; /* the last call that it has answered */
    alignas(HIL_LINE) struct hil_crew *crew;
    unsigned share;
    int cpu;
    int rc; /* result of attaching to the manager */
    pthread_t thread;
    struct rusage before, after; /* resource usage, to be subtracted */
};

struct hil_crew {
    alignas(HIL_LINE) _Atomic uint64_t call; /* number of the newest call */
    hil_crew_work *work;                     /* the work of that call; NULL: end */
    void *arg;
    alignas(HIL_LINE) _Atomic uint64_t rest_until_ns;
    struct hil_clock clock;
    const struct hil_scenario *scenario;
    const struct hil_executor_config *executor;
    struct loco_manager *mgr;
    struct hil_executor_state *state;
    bool gives_way;
    sem_t came; /* posted by a member that is ready */
    sem_t wake; /* posted for each member */
    unsigned member_count;
    struct crew_member members[];
};

/* --- calls ---------------------------------------------------------------------------------- */

static void crew_look_again(const struct hil_crew *crew, unsigned *looks)
{
    hil_clock_pause();
    if (crew->gives_way && ++*looks > LOOKS_BEFORE_YIELD)
        sched_yield();
}

static void crew_nap(const struct hil_crew *crew)
{
    const uint64_t until = atomic_load_explicit(&crew->rest_until_ns, memory_order_relaxed);

    if (until)
        hil_clock_nap(&crew->clock, until);
}

/* Waits for the call after number `last`, and returns its number. */
static uint64_t crew_next_call(const struct hil_crew *crew, uint64_t last)
{
    unsigned looks = 0;
    uint64_t call;

    while ((call = atomic_load_explicit(&crew->call, memory_order_acquire)) == last) {
        crew_look_again(crew, &looks);
        crew_nap(crew);
    }
    return call;
}

static void crew_answer_calls(struct crew_member *m)
{
    const struct hil_crew *crew = m->crew;
    uint64_t call = 0;

    while (call = crew_next_call(crew, call), crew->work) {
        crew->work(crew->arg, m->share);
        atomic_store_explicit(&m->done, call, memory_order_release);
    }
}

static void crew_announce(struct hil_crew *crew, hil_crew_work *work, void *arg)
{
    const uint64_t call = atomic_load_explicit(&crew->call, memory_order_relaxed) + 1;

    crew->work = work;
    crew->arg = arg;
    atomic_store_explicit(&crew->call, call, memory_order_release);
}

static void crew_wait_for(const struct hil_crew *crew, const struct crew_member *m)
{
    const uint64_t call = atomic_load_explicit(&crew->call, memory_order_relaxed);
    unsigned looks = 0;

    while (atomic_load_explicit(&m->done, memory_order_acquire) != call)
        crew_look_again(crew, &looks);
}

void hil_crew_call(struct hil_crew *crew, hil_crew_work *work, void *arg)
{
    crew_announce(crew, work, arg);
    work(arg, 0);
    for (unsigned i = 0; i < crew->member_count; i++)
        crew_wait_for(crew, &crew->members[i]);
}

unsigned hil_crew_count(const struct hil_crew *crew)
{
    return 1 + crew->member_count;
}

void hil_crew_rest(struct hil_crew *crew, uint64_t until_ns)
{
    atomic_store_explicit(&crew->rest_until_ns, until_ns, memory_order_relaxed);
}

/* --- a member's thread ------------------------------------------------------------------------ */

/* A new thread inherits the pinning of the executor's thread, so it must leave that core. */
static void crew_leave_core(const struct crew_member *m)
{
    cpu_set_t cores;

    hil_cores_for_others(m->crew->scenario, &cores);
    if (sched_setaffinity(0, sizeof cores, &cores))
        hil_state_degrade(m->crew->state, "a shard stays on its executor's core: %s\n",
                          strerror(errno));
}

static void crew_settle(const struct crew_member *m)
{
    const struct hil_crew *crew = m->crew;
    const struct hil_node_config *node = &crew->scenario->system->nodes[crew->executor->nodes[0]];
    struct hil_executor_config config = *crew->executor;

    config.cpu = m->cpu;
    if (m->cpu < 0)
        crew_leave_core(m);
    hil_settle_thread(m->cpu, crew->state);
    hil_schedule_real_time(&config, node->timing.period_ns, crew->state);
}

static void crew_sleep(sem_t *until)
{
    while (sem_wait(until))
        ;
}

static void *crew_live(void *arg)
{
    struct crew_member *m = arg;
    struct hil_crew *crew = m->crew;

    hil_plain_locale();
    m->rc = loco_thread_attach(crew->mgr);
    crew_settle(m);
    sem_post(&crew->came);
    crew_sleep(&crew->wake);
    getrusage(RUSAGE_THREAD, &m->before);
    crew_answer_calls(m);
    getrusage(RUSAGE_THREAD, &m->after);
    hil_schedule_ordinary();
    if (!m->rc)
        loco_thread_detach(crew->mgr);
    return NULL;
}

/* --- the whole crew --------------------------------------------------------------------------- */

/* Whether each of the executor's threads is pinned to its own core. */
static bool crew_is_apart(const struct hil_executor_config *e)
{
    for (unsigned i = 0; i < hil_executor_threads(e); i++)
        for (unsigned k = 0; k <= i; k++)
            if (hil_executor_cpu(e, i) < 0 ||
                (k < i && hil_executor_cpu(e, k) == hil_executor_cpu(e, i)))
                return false;
    return true;
}

/* Starts a member and waits until it is ready. Members start one after another, because each may
 * write to the executor's state. */
static int crew_start(struct crew_member *m)
{
    pthread_attr_t attr;
    int rc = -pthread_attr_init(&attr);

    if (rc)
        return rc;
    rc = -pthread_attr_setstacksize(&attr, STACK_BYTES);
    if (!rc)
        rc = -pthread_create(&m->thread, &attr, crew_live, m);
    pthread_attr_destroy(&attr);
    if (rc)
        return rc;
    m->crew->member_count++;
    crew_sleep(&m->crew->came);
    return m->rc;
}

int hil_crew_open(struct hil_crew **opened, const struct hil_scenario *scenario,
                  const struct hil_executor_config *executor, struct loco_manager *manager,
                  struct hil_executor_state *state)
{
    const unsigned further = hil_executor_threads(executor) - 1;
    struct hil_crew *crew = hil_lines_new(sizeof *crew + further * sizeof crew->members[0]);
    int rc = 0;

    if (!crew)
        return -ENOMEM;
    *opened = crew;
    crew->scenario = scenario;
    crew->executor = executor;
    crew->mgr = manager;
    crew->state = state;
    crew->gives_way = !crew_is_apart(executor);
    sem_init(&crew->came, 0, 0);
    sem_init(&crew->wake, 0, 0);
    for (unsigned i = 0; !rc && i < further; i++) {
        struct crew_member *m = &crew->members[i];
        m->crew = crew;
        m->share = 1 + i;
        m->cpu = hil_executor_cpu(executor, 1 + i);
        rc = crew_start(m);
    }
    return rc;
}

static void crew_wake_all(struct hil_crew *crew)
{
    for (unsigned i = 0; i < crew->member_count; i++)
        sem_post(&crew->wake);
}

void hil_crew_wake(struct hil_crew *crew, const struct hil_clock *clock)
{
    crew->clock = *clock;
    crew_wake_all(crew);
}

static void crew_note_usage(void *crew, unsigned share)
{
    struct hil_crew *c = crew;

    if (share > 0)
        getrusage(RUSAGE_THREAD, &c->members[share - 1].before);
}

void hil_crew_measure(struct hil_crew *crew)
{
    hil_crew_call(crew, crew_note_usage, crew);
}

static void crew_count_usage(const struct crew_member *m, struct hil_executor_state *state)
{
    const struct rusage *a = &m->before, *b = &m->after;

    state->page_faults += (uint64_t)(b->ru_minflt - a->ru_minflt + b->ru_majflt - a->ru_majflt);
    state->involuntary_switches += (uint64_t)(b->ru_nivcsw - a->ru_nivcsw);
    state->voluntary_switches += (uint64_t)(b->ru_nvcsw - a->ru_nvcsw);
}

void hil_crew_close(struct hil_crew *crew)
{
    if (!crew)
        return;
    crew_announce(crew, NULL, NULL);
    crew_wake_all(crew); /* members that hil_crew_wake has not woken */
    for (unsigned i = 0; i < crew->member_count; i++) {
        pthread_join(crew->members[i].thread, NULL);
        crew_count_usage(&crew->members[i], crew->state);
    }
    free(crew);
}
