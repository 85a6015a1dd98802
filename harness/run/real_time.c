#include "real_time.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../../channels/loco/fabric/tcp.h"
#include "../../channels/loco/fabric/verbs.h"
#include "../base/autogroup.h"
#include "../base/steal.h"
#include "batches.h"
#include "faults.h"
#include "privileges.h"
#include "rehearsal.h"

/* For how long this thread has waited for a core so far, if the kernel counts it. */
static uint64_t waited_ns(void)
{
    unsigned long long waited = 0;
    FILE *f = fopen("/proc/thread-self/schedstat", "re");

    if (f && fscanf(f, "%*u %llu", &waited) != 1)
        waited = 0;
    if (f)
        fclose(f);
    return waited;
}

static uint64_t stolen_ns(int cpu)
{
    const double stolen = cpu < 0 ? -1 : hil_stolen_s("", cpu);

    return stolen < 0 ? 0 : (uint64_t)(stolen * 1e9);
}

/* The counters show that the loop caused no page fault and no switch to another thread, and who had
 * its core when it stood still. */
static int run_measured(struct hil_executor *e, int cpu, struct hil_executor_state *state)
{
    struct rusage before, after;

    if (e->crew)
        hil_crew_measure(e->crew);
    const uint64_t waited = waited_ns(), stolen = stolen_ns(cpu);
    getrusage(RUSAGE_THREAD, &before);
    int rc = hil_executor_run(e);
    getrusage(RUSAGE_THREAD, &after);
    state->stalls = e->stalls;
    state->stalls.waited_ns = waited_ns() - waited;
    state->stalls.stolen_ns = stolen_ns(cpu) - stolen;
    state->page_faults =
        (uint64_t)(after.ru_minflt - before.ru_minflt + after.ru_majflt - before.ru_majflt);
    state->involuntary_switches = (uint64_t)(after.ru_nivcsw - before.ru_nivcsw);
    state->voluntary_switches = (uint64_t)(after.ru_nvcsw - before.ru_nvcsw);
    return rc;
}

/* An address does not belong to this machine. */
static const char *explain_address(const struct hil_run *run)
{
    return run->scenario->fabric == HIL_FABRIC_TCP
               ? "a node's address does not belong to this machine"
               : "no RDMA device here has a node's address";
}

static void explain(const struct hil_run *run, int rc)
{
    struct hil_executor_state *state = &run->state->executors[run->executor];

    if (state->message[0])
        return; /* the group has already explained it */
    const char *why = rc == -ETIMEDOUT    ? "the other nodes did not come"
                      : rc == -ECONNRESET ? "a peer was lost"
                      : rc == -ETIME      ? "a step missed its deadline and the policy is halt"
                      : rc == -EPROTO     ? "the other nodes run another scenario"
                      : rc == -ENODEV || rc == -EADDRNOTAVAIL ? explain_address(run)
                      : rc == -EBUSY      ? "no core is left for the polling thread"
                      : rc == -EADDRINUSE ? "another run holds this node's place"
                                          : strerror(-rc);

    snprintf(state->message, sizeof state->message, "%s", why);
    if (rc == -ESTALE)
        hil_stale_describe(&state->stale, run->scenario->system, state->message,
                           sizeof state->message);
    if (rc == -ESTALE)
        hil_age_describe(run->state, run->scenario->system, state->message, sizeof state->message);
    if (rc == -ENOTRECOVERABLE)
        hil_failure_describe(&state->failures, state->message, sizeof state->message);
}

/* Why shm refused the folder in which the nodes meet. */
static void explain_place(char *text, size_t size, const char *place, int rc)
{
    if (rc == -EPERM || rc == -ENOTDIR)
        snprintf(text, size,
                 "others may use the folder %s, so nodes cannot meet there: remove it, set "
                 "HILOCO_SECRET or XDG_RUNTIME_DIR, or name another folder with --run-dir",
                 place);
    else
        snprintf(text, size, "nodes cannot meet in %s: %s", place, strerror(-rc));
}

/* Sets the clock shortly before the start, so that all processes set theirs at nearly the same
 * time. */
static int run_scheduled(struct hil_executor *e, const struct hil_executor_config *config,
                         struct hil_group *group, const struct hil_rehearsal *rehearsal,
                         struct hil_executor_state *state)
{
    hil_clock_set(&e->clock);
    state->counter = !e->clock.refused;
    if (e->clock.refused)
        hil_state_degrade(state, "time by clock_gettime: %s\n", e->clock.refused);
    state->start_ns = e->start_ns;
    atomic_store(&state->stage, HIL_RUNNING);
    hil_schedule_real_time(config, hil_executor_shortest_period_ns(e), state);
    e->crew = group->crew;
    if (e->crew)
        hil_crew_wake(e->crew, &e->clock);
    int rc = hil_rehearse(rehearsal, group, &e->clock, e->start_ns);
    if (!rc)
        rc = run_measured(e, config->cpu, state);
    hil_group_dismiss_crew(group);
    hil_schedule_ordinary();
    return rc;
}

static int run_group(const struct hil_run *run, const struct hil_clock *clock,
                     struct loco_fabric *fabric, unsigned wait_s)
{
    const struct hil_executor_config *config = &run->scenario->executors[run->executor];
    struct hil_executor_state *state = &run->state->executors[run->executor];
    struct hil_executor e = {.clock = *clock,
                             .stop = &run->state->stop,
                             .heartbeat = &state->heartbeat,
                             .wait = config->wait};
    struct hil_rehearsal rehearsal;
    struct hil_group group = {0};
    struct hil_autogroup session = {.usual = HIL_AUTOGROUP_KEPT, .line = -1};

    if (hil_asks_for_real_time(config))
        hil_autogroup_raise(&session); /* it starts a process, for which there is no time later */
    int rc = hil_rehearsal_open(&rehearsal, run);
    if (!rc)
        rc = hil_group_start(&group, run, fabric, config, wait_s * 1000000000ull);
    if (!rc)
        rc = hil_batches_gather(&e, &group);
    if (!rc) {
        e.start_ns = group.nodes[0]->start_ns;
        if (fabric->ops->hold)
            e.network = group.nodes[0]->links.channel.mgr;
        rc = run_scheduled(&e, config, &group, &rehearsal, state);
    }
    hil_autogroup_put_back(&session);
    if (rc == -EINTR || (rc == -ECONNRESET && atomic_load(&run->state->stop)))
        rc = hil_group_losses(&group);
    if (rc) /* before this one leaves: the launcher's others end in order */
        hil_state_stop(run->state, hil_clock_monotonic(), 0);
    else
        atomic_store(&state->stage, HIL_DONE); /* it only waits for the others */
    hil_group_explain(&group, rc);
    hil_group_end(&group, rc ? HIL_FAILED : HIL_DONE);
    hil_group_close(&group);
    hil_rehearsal_close(&rehearsal);
    free(e.batches);
    return rc;
}

static int open_verbs(const struct hil_scenario *s, const char *const *addresses,
                      struct loco_fabric **fabric)
{
    const struct hil_verbs_config *verbs = &s->verbs;
    const struct loco_verbs_config config = {
        .addresses = addresses,
        .address_count = s->system->node_count,
        .port = verbs->port,
        .shared_completions = verbs->completions == HIL_POLLED,
        .send_depth = verbs->send_depth,
        .timeout_exponent = verbs->timeout_exponent,
        .retry_count = verbs->retry_count,
        .timeout_ms = verbs->timeout_ms,
        .traffic_class = verbs->traffic_class,
        .flush_by_nothing = verbs->flush_bytes == 0,
    };

    return loco_verbs_open(fabric, &config);
}

static int open_tcp(const struct hil_scenario *s, const char *const *addresses,
                    struct loco_fabric **fabric)
{
    const struct hil_tcp_config *tcp = &s->tcp;
    const struct loco_tcp_config config = {
        .addresses = addresses,
        .address_count = s->system->node_count,
        .port = tcp->port,
        .timeout_ms = tcp->timeout_ms,
        .pinned = tcp->cpu >= 0,
        .cpu = tcp->cpu >= 0 ? (unsigned)tcp->cpu : 0,
        .spin = tcp->wait == HIL_SERVICE_SPINS,
    };

    return loco_tcp_open(fabric, &config);
}

/* Opens the fabric that the scenario names. */
static int open_fabric(const struct hil_run *run, struct loco_fabric **fabric)
{
    const struct hil_scenario *s = run->scenario;

    if (!hil_has_addresses(s))
        return loco_shm_open(fabric, run->place);
    const char **addresses = calloc(s->system->node_count, sizeof *addresses);
    if (!addresses)
        return -ENOMEM;
    for (unsigned i = 0; i < s->system->node_count; i++)
        addresses[i] = s->system->nodes[i].address;
    int rc = s->fabric == HIL_FABRIC_TCP ? open_tcp(s, addresses, fabric)
                                         : open_verbs(s, addresses, fabric);
    free(addresses);
    return rc;
}

static void close_fabric(const struct hil_scenario *s, struct loco_fabric *fabric)
{
    if (s->fabric == HIL_FABRIC_TCP)
        loco_tcp_close(fabric);
    else if (s->fabric == HIL_FABRIC_VERBS)
        loco_verbs_close(fabric);
    else
        loco_shm_close(fabric);
}

/* In a process that was started again, the nodes are not running, as they were when it died. */
static void show_init(const struct hil_run *run, const struct hil_executor_config *config)
{
    for (unsigned i = 0; i < config->count; i++) {
        struct hil_node_state *node = &run->state->nodes[config->nodes[i]];
        struct hil_progress progress = node->progress;
        progress.stage = HIL_STARTING;
        hil_progress_copy(&node->progress, &progress);
        atomic_store(&node->stage, HIL_STARTING);
    }
}

int hil_real_time_run(const struct hil_run *run, const struct hil_clock *clock, unsigned wait_s)
{
    const struct hil_executor_config *config = &run->scenario->executors[run->executor];
    struct hil_executor_state *state = &run->state->executors[run->executor];
    struct loco_fabric *fabric;

    show_init(run, config);
    hil_faults_stay_away(run, config);
    int rc = open_fabric(run, &fabric);

    if (rc && run->scenario->fabric == HIL_FABRIC_SHM) {
        explain_place(state->message, sizeof state->message, run->place, rc);
    } else if (rc) {
        explain(run, rc);
    } else {
        /* The fabric's own thread already exists. hil_settle does not move it to the loop's
         * core. */
        hil_settle(config, state);
        int awake = hil_keep_awake(state);
        rc = run_group(run, clock, fabric, wait_s);
        if (awake >= 0)
            close(awake);
        close_fabric(run->scenario, fabric);
        if (rc)
            explain(run, rc);
    }
    atomic_store(&state->stage, rc ? HIL_FAILED : HIL_DONE);
    return rc;
}
