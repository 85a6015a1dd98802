/*
 * The scenario: the YAML file that describes a run, resolved and checked. docs/scenario.md lists
 * its keys.
 *
 * After loading, only this structure and its system (system.h) are used. Times are integer
 * nanoseconds, and defaults are filled in.
 */
#ifndef HIL_SCENARIO_H
#define HIL_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hil_mode { HIL_REALTIME, HIL_VIRTUAL };
/* What happens to a real-time run when the process of an executor dies. */
enum hil_on_lost {
    HIL_END,     /* the run ends */
    HIL_RESTART, /* the run continues, and the process is restarted */
};

/* What happens to a run when its record can no longer be written. */
enum hil_on_record_error {
    HIL_RECORD_GO_ON, /* the run continues without a record */
    HIL_RECORD_END,   /* the run ends */
};

enum hil_fabric { HIL_FABRIC_SHM, HIL_FABRIC_VERBS, HIL_FABRIC_TCP, HIL_FABRIC_SIM };

/* Its name in the file: "shm". */
const char *hil_fabric_name(enum hil_fabric fabric);

/* What a loop does with steps that are overdue. */
enum hil_overrun {
    HIL_CATCH_UP, /* runs them one after the other as soon as possible */
    HIL_SKIP,     /* drops them and waits for the next point of its grid */
    HIL_HALT,     /* ends the run */
};

/* The kernel scheduler that an executor asks for. */
enum hil_scheduler {
    HIL_OTHER,    /* the ordinary one */
    HIL_FIFO,     /* priority 0 also means the ordinary one */
    HIL_DEADLINE, /* with as much of each period as the kernel grants */
};

/* How an executor waits for the next step. */
enum hil_wait {
    HIL_SPIN,   /* busy, all the time */
    HIL_HYBRID, /* asleep until shortly before, then busy */
};

/* When a loop runs. */
struct hil_timing {
    uint64_t period_ns;
    uint64_t phase_ns;
    enum hil_overrun overrun;
    uint64_t catch_up_ns; /* least interval between the beginnings of overdue steps; 0: none */
    uint64_t resync_ns;   /* overdue steps beyond this delay are dropped; 0: none are */
};

/* What a node does about an input that is older than its limit. */
enum hil_on_stale {
    HIL_STALE_HOLD, /* continues with the last value */
    HIL_STALE_SAFE, /* applies the safe values until a newer input comes */
    HIL_STALE_END,  /* ends the run */
};

struct hil_stale_config {
    uint64_t limit_ns; /* limit of an input's age; 0: derived from the periods (see
                        * run/input_age.h) */
    enum hil_on_stale action;
    unsigned bad_limit; /* consecutive inputs that are not numbers, before the safe values are
                         * applied */
};

/* What happens when the value of an input is older than the input's own limit. */
enum hil_on_old {
    HIL_OLD_HOLD,  /* the component continues with it */
    HIL_OLD_VALUE, /* another value replaces it until a newer one comes */
    HIL_OLD_SAFE,  /* its component is safe until a newer one comes */
    HIL_OLD_END,   /* the run ends */
};

/* What happens to a run when a component fails: run/failure.h. */
enum hil_on_error {
    HIL_ERROR_END,  /* the run ends */
    HIL_ERROR_SAFE, /* the run continues, with safe values in place of the component's */
};

/* How completions of the fabric verbs are polled. */
enum hil_completions {
    HIL_INLINE, /* by each loop as it runs */
    HIL_POLLED, /* by a thread of the executor's process, for all its nodes */
};

struct hil_verbs_config {
    uint16_t port; /* for node 0; each further node uses the next one */
    enum hil_completions completions;
    /* As in channels/loco/fabric/verbs.h. */
    unsigned send_depth, timeout_exponent, retry_count, timeout_ms, traffic_class, flush_bytes;
};

/* What the service thread of the fabric tcp does when idle. */
enum hil_service_wait { HIL_SERVICE_SLEEPS, HIL_SERVICE_SPINS };

struct hil_tcp_config {
    uint16_t port; /* for node 0; each further node uses the next one */
    unsigned timeout_ms;
    int cpu; /* for the service thread; -1: any */
    enum hil_service_wait wait;
};

/* The simulated network of virtual time. Real time uses a real network. */
struct hil_network {
    uint64_t jitter_ns; /* added to a link's latency, uniform in 0..jitter */
    uint64_t seed;
};

/* A process with a thread that runs the loops of some nodes; or of a single node, whose steps are
 * split between this thread and further threads. */
struct hil_executor_config {
    const unsigned *nodes; /* ascending */
    unsigned count;
    int cpu;      /* where the thread is pinned; -1: any */
    int priority; /* SCHED_FIFO 1..99; 0: the ordinary scheduler */
    enum hil_scheduler scheduler;
    enum hil_wait wait;
    unsigned further;        /* number of further threads */
    const int *further_cpus; /* cpu of each further thread, like `cpu` */
};

static inline unsigned hil_executor_threads(const struct hil_executor_config *executor)
{
    return 1 + executor->further;
}

/* The cpu to which a thread is pinned, where thread 0 is the first; -1: any. */
static inline int hil_executor_cpu(const struct hil_executor_config *executor, unsigned thread)
{
    return thread ? executor->further_cpus[thread - 1] : executor->cpu;
}

/* Limits within which a run is valid; docs/validity.md. */
struct hil_validity_config {
    double missed_percent;      /* of each loop's steps */
    double lost_percent;        /* of the run, for which an executor stood still */
    uint64_t gap_ns, behind_ns; /* 0: ten periods of the loop, but at least 1 ms */
    unsigned stale_inputs;      /* times that an input was older than its limit */
    unsigned bad_inputs;        /* inputs that were not numbers */
    unsigned absent_faults;     /* faults that never began */
    unsigned lost_records;      /* lost rows */
    bool allow_degraded;        /* the kernel may grant less than was asked for */
    bool required;              /* a run that is not valid has a separate exit status */
};

/* The events of docs/tracing.md to trace. */
struct hil_tracing_events {
    bool step, miss, round_trip;
    bool push, pull, fence, lock, barrier, peer, state;
};

/* What is kept of a trace: what fits into memory, written out at certain moments; or everything. */
enum hil_trace_keep { HIL_KEEP_RECENT, HIL_KEEP_ALL };

struct hil_tracing_config {
    bool enable;
    enum hil_trace_keep keep;
    unsigned every;      /* of so many spans of time, the steps of one are traced */
    unsigned buffer_kib; /* of each core */
    bool kernel;         /* sched_switch and interrupts on the loops' cores */
    unsigned kernel_buffer_kib;
    struct hil_tracing_events events;
};

/* Where the processes of a run meet to learn the nodes' addresses. */
struct hil_rendezvous_place {
    char host[256]; /* address or name; "": none */
    uint16_t port;
};

enum { HIL_RENDEZVOUS_PORT = 18699 };

#define HIL_RENDEZVOUS_ALLOWED                                                                     \
    "HOST or HOST:PORT, such as 10.0.0.1, node1:18699 or \"[fd00::1]:18699\" (YAML needs the "     \
    "quotes), but not fe80::1"

/* Whether the text is such a place. */
bool hil_rendezvous_place_parse(const char *text, struct hil_rendezvous_place *place);

/* The settings that all nodes of a run must share: scenario_listing.h. */
struct hil_listing {
    char *lines; /* "nodes.controller.period_us=40\n" and so on */
    size_t length;
    uint64_t hash;
};

struct hil_replayed_request;

struct hil_scenario {
    char *name;
    uint64_t duration_ns;
    uint64_t stop_ramp_ns; /* then the ramp to the safe values; 0: it stops at once */
    enum hil_mode mode;
    enum hil_on_lost on_lost;
    enum hil_on_record_error on_record_error;
    uint64_t hang_limit_ns; /* how long a process may make no progress; 0: forever */
    bool tuning;            /* parameters and sources may be changed while it runs */
    /* Changes recorded in another run, to be replayed; NULL: none. */
    const struct hil_replayed_request *replay;
    unsigned replay_count;
    enum hil_fabric fabric; /* sim in virtual time, regardless of the file */

    struct hil_verbs_config verbs;
    struct hil_tcp_config tcp;
    struct hil_rendezvous_place rendezvous; /* for a fabric that uses addresses */
    struct hil_network network;
    struct hil_executor_config *executors; /* as in the system */
    unsigned executor_count;

    struct hil_validity_config validity;
    struct hil_tracing_config trace;

    struct hil_system *system; /* the nodes and components that run */

    char *resolved; /* the whole scenario as YAML, with every key */
    struct hil_listing listing;
};

/* Whether the fabric uses addresses, so that nodes may be on other machines. */
static inline bool hil_has_addresses(const struct hil_scenario *s)
{
    return s->fabric == HIL_FABRIC_VERBS || s->fabric == HIL_FABRIC_TCP;
}

/* The number of threads of all executors; each needs a core. */
unsigned hil_thread_count(const struct hil_scenario *scenario);

/* Whether the executor runs this node. */
bool hil_executor_has(const struct hil_executor_config *executor, unsigned node);

/* The first node that the scenario's executors run. If some nodes are elsewhere, it may not be node
 * 0. */
unsigned hil_first_node(const struct hil_scenario *scenario);

void hil_scenario_free(struct hil_scenario *scenario);

#endif
