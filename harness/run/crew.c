#include "crew.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdalign.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "../../channels/loco/thread.h"
#include "lines.h"
#include "loop_cores.h"
#include "privileges.h"

/* After so many looks a thread that may have to share its core gives way at each. */
enum { LOOKS_BEFORE_YIELD = 1000 };

struct crew_member {
    alignas(HIL_LINE) _Atomic uint64_t done; /* the last call that it has answered */
    alignas(HIL_LINE) struct hil_crew *crew;
    unsigned share;
    int cpu;
    int rc; /* of its attaching to the manager */
    pthread_t thread;
    sem_t wake;
    struct rusage used;
};

struct hil_crew {
    alignas(HIL_LINE) _Atomic uint64_t call; /* the number of the newest */
    hil_crew_work *work;                     /* of that call; NULL: go */
    void *arg;
    alignas(HIL_LINE) _Atomic uint64_t rest_until_ns;
    struct hil_clock clock;
    uint64_t period_ns;
    const struct hil_executor_config *executor;
    struct loco_manager *mgr;
    struct hil_executor_state *state;
    bool gives_way;
    bool awake, closed; /* its members are; before they woke up */
    sem_t came;         /* once by each member after it has attached, and after it has woken up */
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

/* Waits for the call after the one of this number. */
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

/* --- a member's life ------------------------------------------------------------------------ */

static void crew_settle(const struct crew_member *m)
{
    struct hil_crew *crew = m->crew;
    struct hil_executor_config config = *crew->executor;

    config.cpu = m->cpu;
    hil_settle_thread(m->cpu, crew->state);
    hil_schedule_real_time(&config, crew->period_ns, crew->state);
}

/* Returns what happened to the thread meanwhile. */
static struct rusage crew_serve(struct crew_member *m)
{
    struct rusage before, after;

    getrusage(RUSAGE_THREAD, &before);
    crew_answer_calls(m);
    getrusage(RUSAGE_THREAD, &after);
    return (struct rusage){.ru_minflt = after.ru_minflt - before.ru_minflt,
                           .ru_majflt = after.ru_majflt - before.ru_majflt,
                           .ru_nivcsw = after.ru_nivcsw - before.ru_nivcsw,
                           .ru_nvcsw = after.ru_nvcsw - before.ru_nvcsw};
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

    m->rc = loco_thread_attach(crew->mgr);
    sem_post(&crew->came);
    crew_sleep(&m->wake);
    if (!crew->closed) {
        crew_settle(m);
        sem_post(&crew->came);
        m->used = crew_serve(m);
        hil_schedule_ordinary();
    }
    if (!m->rc)
        loco_thread_detach(crew->mgr);
    return NULL;
}

/* --- all of them ---------------------------------------------------------------------------- */

/* Whether no two of the executor's threads can be on one core. */
static bool crew_is_apart(const struct hil_executor_config *e)
{
    for (unsigned i = 0; i < hil_executor_threads(e); i++)
        for (unsigned k = 0; k <= i; k++)
            if (hil_executor_cpu(e, i) < 0 ||
                (k < i && hil_executor_cpu(e, k) == hil_executor_cpu(e, i)))
                return false;
    return true;
}

/* Off the loops' cores, on one of which it was made; it goes to its own when it wakes up. */
static int crew_start(struct crew_member *m, const struct hil_scenario *scenario)
{
    pthread_attr_t attr;
    cpu_set_t cores;

    hil_cores_for_others(scenario, &cores);
    int rc = -pthread_attr_init(&attr);
    if (rc)
        return rc;
    rc = -pthread_attr_setaffinity_np(&attr, sizeof cores, &cores);
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
    crew->executor = executor;
    crew->mgr = manager;
    crew->state = state;
    crew->gives_way = !crew_is_apart(executor);
    sem_init(&crew->came, 0, 0);
    for (unsigned i = 0; !rc && i < further; i++) {
        struct crew_member *m = &crew->members[i];
        m->crew = crew;
        m->share = 1 + i;
        m->cpu = hil_executor_cpu(executor, 1 + i);
        sem_init(&m->wake, 0, 0);
        rc = crew_start(m, scenario);
    }
    return rc;
}

/* One after the other: each may have something to say in the executor's state. */
void hil_crew_wake(struct hil_crew *crew, const struct hil_clock *clock, uint64_t period_ns)
{
    crew->clock = *clock;
    crew->period_ns = period_ns;
    crew->awake = true;
    for (unsigned i = 0; i < crew->member_count; i++) {
        sem_post(&crew->members[i].wake);
        crew_sleep(&crew->came);
    }
}

static void crew_let_go(struct hil_crew *crew)
{
    crew->closed = !crew->awake;
    crew_announce(crew, NULL, NULL);
    for (unsigned i = 0; crew->closed && i < crew->member_count; i++)
        sem_post(&crew->members[i].wake);
}

void hil_crew_close(struct hil_crew *crew)
{
    if (!crew)
        return;
    crew_let_go(crew);
    for (unsigned i = 0; i < crew->member_count; i++) {
        const struct crew_member *m = &crew->members[i];
        pthread_join(m->thread, NULL);
        crew->state->page_faults += (uint64_t)(m->used.ru_minflt + m->used.ru_majflt);
        crew->state->involuntary_switches += (uint64_t)m->used.ru_nivcsw;
        crew->state->voluntary_switches += (uint64_t)m->used.ru_nvcsw;
    }
    free(crew);
}
