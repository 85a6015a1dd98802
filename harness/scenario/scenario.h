/*
 * The scenario: the YAML file that says what runs, resolved and checked. docs/scenario.md
 * lists its keys.
 *
 * Everything after loading works on this structure and its system (system.h) alone. Times are
 * integer nanoseconds, and defaults are filled in.
 */
#ifndef HIL_SCENARIO_H
#define HIL_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hil_mode { HIL_REALTIME, HIL_VIRTUAL };
/* What becomes of a run in real time when the process of an executor dies. */
enum hil_on_lost {
    HIL_END,     /* it ends */
    HIL_RESTART, /* it goes on, and the process is started again */
};

/* What becomes of a run whose record cannot be written any more. */
enum hil_on_record_error {
    HIL_RECORD_GO_ON, /* it goes on without */
    HIL_RECORD_END,   /* it ends */
};

enum hil_fabric { HIL_FABRIC_SHM, HIL_FABRIC_VERBS, HIL_FABRIC_TCP, HIL_FABRIC_SIM };

/* As the file calls it: "shm". */
const char *hil_fabric_name(enum hil_fabric fabric);

/* What a loop does about steps that it was too late for. */
enum hil_overrun {
    HIL_CATCH_UP, /* runs them, one after the other, as soon as it can */
    HIL_SKIP,     /* forgets them and waits for the next point of its grid */
    HIL_HALT,     /* ends the run */
};

/* Which of the kernel's schedulers an executor asks for. */
enum hil_scheduler {
    HIL_OTHER,    /* the ordinary one */
    HIL_FIFO,     /* at priority 0 as well the ordinary one */
    HIL_DEADLINE, /* with as much of each period as the kernel admits */
};

/* How an executor waits for the next step. */
enum hil_wait {
    HIL_SPIN,   /* busy, all the time */
    HIL_HYBRID, /* asleep until a little before, then busy */
};

/* When a loop runs. */
struct hil_timing {
    uint64_t period_ns;
    uint64_t phase_ns;
    enum hil_overrun overrun;
    uint64_t catch_up_ns; /* between the beginnings of two steps that it owes; 0: no least time */
    uint64_t resync_ns;   /* steps that it is further behind with are left out; 0: none */
};

/* What a node does with an input that is older than its limit. */
enum hil_on_stale {
    HIL_STALE_HOLD, /* goes on with what came last */
    HIL_STALE_SAFE, /* applies the safe values until a newer input is there */
    HIL_STALE_END,  /* ends the run */
};

struct hil_stale_config {
    uint64_t limit_ns; /* of an input's age; 0: from the periods (see run/input_age.h) */
    enum hil_on_stale action;
    unsigned bad_limit; /* inputs in a row that are no number, until the safe values are applied */
};

/* What an input's value that is older than its own limit is answered by. */
enum hil_on_old {
    HIL_OLD_HOLD,  /* it goes on with that */
    HIL_OLD_VALUE, /* takes another in its place, until a newer one is there */
    HIL_OLD_SAFE,  /* its component is safe until then */
    HIL_OLD_END,   /* the run ends */
};

/* What becomes of a run in which a component fails: run/failure.h. */
enum hil_on_error {
    HIL_ERROR_END,  /* it ends */
    HIL_ERROR_SAFE, /* it goes on, with what is safe in the component's place */
};

/* What polls for completions of the fabric verbs. */
enum hil_completions {
    HIL_INLINE, /* each loop itself, on its way */
    HIL_POLLED, /* a thread of the executor's process, for all its nodes */
};

struct hil_verbs_config {
    uint16_t port; /* of node 0; that of each further one is one more */
    enum hil_completions completions;
    /* As in channels/loco/fabric/verbs.h. */
    unsigned send_depth, timeout_exponent, retry_count, traffic_class, flush_bytes;
};

/* What the service thread of the fabric tcp does without work. */
enum hil_service_wait { HIL_SERVICE_SLEEPS, HIL_SERVICE_SPINS };

struct hil_tcp_config {
    uint16_t port; /* of node 0; that of each further one is one more */
    unsigned timeout_ms;
    int cpu; /* of the service thread; -1: any */
    enum hil_service_wait wait;
};

/* The network that virtual time simulates; real time has its own. */
struct hil_network {
    uint64_t jitter_ns; /* added to a link's latency, uniform in 0..jitter */
    uint64_t seed;
};

/* A process with a thread that runs the loops of some nodes; or of one node, the steps of which
 * further threads do with it. */
struct hil_executor_config {
    const unsigned *nodes; /* ascending */
    unsigned count;
    int cpu;      /* pinned there; -1: any */
    int priority; /* SCHED_FIFO 1..99; 0: the ordinary scheduler */
    enum hil_scheduler scheduler;
    enum hil_wait wait;
    unsigned further;        /* threads */
    const int *further_cpus; /* as `cpu`, of each */
};

static inline unsigned hil_executor_threads(const struct hil_executor_config *executor)
{
    return 1 + executor->further;
}

/* Where its threads are pinned, of which 0 is the first; -1: anywhere. */
static inline int hil_executor_cpu(const struct hil_executor_config *executor, unsigned thread)
{
    return thread ? executor->further_cpus[thread - 1] : executor->cpu;
}

/* What a run may do and still be valid; docs/validity.md. */
struct hil_validity_config {
    double missed_percent;      /* of each loop's steps */
    uint64_t gap_ns, behind_ns; /* 0: ten periods of the loop, but no less than 1 ms */
    unsigned stale_inputs;      /* times that an input was older than its limit */
    unsigned bad_inputs;        /* that were no number */
    unsigned absent_faults;     /* that never begin */
    unsigned lost_records;      /* rows */
    bool allow_degraded;        /* less than was asked of the kernel */
    bool required;              /* a run that is not valid has an exit status of its own */
};

/* Which events of docs/tracing.md are traced. */
struct hil_tracing_events {
    bool step, miss, round_trip;
    bool push, pull, fence, lock, barrier, peer, state;
};

struct hil_tracing_config {
    bool enable;
    unsigned buffer_kib; /* of each core */
    bool kernel;         /* sched_switch and interrupts on the loops' cores */
    unsigned kernel_buffer_kib;
    struct hil_tracing_events events;
};

/* Where the processes of a run meet, to learn the nodes' addresses. */
struct hil_rendezvous_place {
    char host[256]; /* an address or a name; "": nowhere */
    uint16_t port;
};

enum { HIL_RENDEZVOUS_PORT = 18699 };

#define HIL_RENDEZVOUS_ALLOWED "HOST or HOST:PORT, such as 10.0.0.1, node1:18699 or [fd00::1]:18699"

/* Returns whether the text is such a place. */
bool hil_rendezvous_place_parse(const char *text, struct hil_rendezvous_place *place);

/* What all nodes of a run must have alike: scenario_listing.h. */
struct hil_listing {
    char *lines; /* "controller.period_us=40\n" and so on */
    size_t length;
    uint64_t hash;
};

struct hil_request_again;

struct hil_scenario {
    char *name;
    uint64_t duration_ns;
    uint64_t stop_ramp_ns; /* after it, to what is safe; 0: it stops at once */
    enum hil_mode mode;
    enum hil_on_lost on_lost;
    enum hil_on_record_error on_record_error;
    uint64_t hang_limit_ns; /* that a process may stand still for; 0: for ever */
    bool tuning;            /* parameters and sources may be changed while it runs */
    /* What another run's record says was changed, to be done again; NULL: nothing. */
    const struct hil_request_again *again;
    unsigned again_count;
    enum hil_fabric fabric; /* sim in virtual time, whatever the file says for real time */

    struct hil_verbs_config verbs;
    struct hil_tcp_config tcp;
    struct hil_rendezvous_place rendezvous; /* for a fabric whose nodes have addresses */
    struct hil_network network;
    struct hil_executor_config *executors; /* the system's */
    unsigned executor_count;

    struct hil_validity_config validity;
    struct hil_tracing_config trace;

    struct hil_system *system; /* what runs, by index */

    char *resolved; /* the whole scenario as YAML, every key spelled out */
    struct hil_listing listing;
};

/* Whether the fabric reaches nodes by their addresses, maybe on other machines. */
static inline bool hil_has_addresses(const struct hil_scenario *s)
{
    return s->fabric == HIL_FABRIC_VERBS || s->fabric == HIL_FABRIC_TCP;
}

/* The threads of all executors: each needs a core. */
unsigned hil_thread_count(const struct hil_scenario *scenario);

/* Whether the executor runs this node. */
bool hil_executor_has(const struct hil_executor_config *executor, unsigned node);

/* The first node that the scenario's executors run: with nodes elsewhere it may not be node 0. */
unsigned hil_first_node(const struct hil_scenario *scenario);

/* What the command line may change of the file. */
struct hil_scenario_options {
    const char *const *sets; /* "controller.period_us=20", applied in order */
    size_t set_count;
    bool realtime, virtual_time; /* --mode; neither: as the file says */
    const char *rendezvous; /* of a scenario that says nothing of where its nodes are; or NULL */
    const char *const *parameters; /* files of parameters, laid over the file in this order */
    size_t parameter_count;
    bool expand; /* `resolved` is in the general form; so it is with files of parameters */
};

/*
 * Loads and checks a scenario. Returns 0, or a negative errno after it has written, to
 * `message` (NUL-terminated, cut at `size`), one line a mistake:
 *      FILE:LINE:COLUMN: what was found; what is allowed
 * (--set in place of FILE for a value given there; the name of a file of parameters for one of
 * its). Nothing is left allocated on error.
 * *scenario is set on success only.
 */
int hil_scenario_load(struct hil_scenario **scenario, const char *path,
                      const struct hil_scenario_options *options, char *message, size_t size);

void hil_scenario_free(struct hil_scenario *scenario);

/* The unit of the key with this dotted path, "us" or "1/(V s)"; "" where it has none. */
const char *hil_scenario_unit(const char *path);

/* The nearest number that this key can have: of a time, whole ns. */
double hil_scenario_rounded(const char *path, double value);

#endif
