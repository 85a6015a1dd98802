/*
 * The state of a run: the loops write it as they go, and the launcher reads it, while they run and
 * after they ended, in whatever way. It lies in memory shared with child processes: a memory file
 * that the launcher holds open. Other processes find the run by that file and map it read-only (see
 * hil_state_attach). So nothing has to be removed when the run is over.
 *
 * Each member has one writer: the node or the executor that it describes. Readers in other
 * processes see values that are a little old.
 */
#ifndef HIL_STATE_H
#define HIL_STATE_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "../h5/histogram.h"
#include "../record/event_rows.h"
#include "../record/recent.h"
#include "../record/response.h"
#include "../record/worst.h"
#include "../scenario/scenario.h"
#include "../scenario/system.h"
#include "calls.h"
#include "failure.h"
#include "input_age.h"
#include "live.h"
#include "node_name.h"
#include "pace.h"
#include "tap.h"
#include "tuning.h"

/* Stage of a node or of an executor. Executors never are HIL_READY or HIL_SAFE. */
enum hil_stage {
    HIL_STARTING,
    HIL_READY, /* it has met its peers, and waits for the start */
    HIL_RUNNING,
    HIL_SAFE,   /* it runs, and a component is safe or has failed */
    HIL_DONE,   /* it ran to the end, or was stopped in order */
    HIL_FAILED, /* the executor's message says why */
};

struct hil_node_state {
    char name[HIL_NODE_NAME_BYTES]; /* "controller", "converter[3]" */
    uint32_t array;                 /* its number among the system's arrays of nodes */
    uint8_t here;                   /* 1: ran in an executor here; watchers trust no bool */
    _Atomic uint32_t stage;         /* enum hil_stage */
    /* How many nodes before this one are in its batch (batches.h). The figures of a batch's steps,
     * which follow, are those of its first node: see hil_node_figures. */
    uint32_t place;
    uint64_t steps;              /* run */
    uint64_t run_late;           /* of those: they had not ended when the next was due */
    uint64_t left_out;           /* steps that were due in the run and did not run */
    uint64_t resyncs;            /* how often it left out owed steps to catch up with the clock */
    uint64_t begin_ns;           /* when the last step began */
    uint64_t first_ns;           /* how long the first one took */
    struct hil_histogram late;   /* from a step's time until it began or was left out */
    struct hil_histogram busy;   /* from its beginning to its end */
    struct hil_histogram period; /* from one step's beginning to that of the next */
    uint64_t late_at_ns, busy_at_ns;  /* when the greatest of these occurred */
    uint64_t over_max_ns, over_at_ns; /* the worst miss: how far past the deadline, and when */

    uint64_t torn; /* inputs that stayed torn, so that the old value was kept */
    uint64_t period_ns;
    struct hil_cursor measuring; /* position of its measures among the scenario's events */

    /* What the node last reported, in this process or through node 0's SST. */
    struct hil_progress progress;
};

/* Counts of a link, made by its receiver. */
struct hil_link_state {
    uint64_t bad; /* messages that had a value which is not a number */
};

/* Results of an input with an age limit, found by its node. One writer. */
struct hil_age_state {
    _Atomic uint64_t trips; /* how often its value became too old; shown to programs that watch */
    uint64_t recoveries;    /* how often a newer value came after that */
    uint64_t first_ns;      /* when it was first found too old */
    uint64_t found_ns;      /* when it was last found too old */
    /* Greatest age of the value in force at the step that acted on it. */
    uint64_t answer_ns;
    uint64_t out_ns; /* the longest time for which it was too old */
};

/* A link and a time. */
struct hil_link_moment {
    uint32_t link;
    uint64_t at_ns;
};

/* The ages of what came over an array's links, at the steps of one executor's nodes: of several
 * links to one node the oldest counts. Also the times of values that went there and back. All those
 * nodes share one entry, so that the steps of a thousand nodes find it in the cache, but each
 * thread of an executor has an entry of its own. */
struct hil_link_figures {
    uint32_t executor, array; /* array: among the system's arrays of links */
    struct hil_histogram input_age, round_trip;
    struct hil_link_moment oldest, longest; /* where and when the greatest of each occurred */
};

enum { HIL_LOSSES_MAX = 256 };

/* A link whose sender died, and when, by the run's time. back_ns is 0 if it did not come back. */
struct hil_loss {
    uint32_t from, to;
    uint64_t lost_ns, back_ns;
};

/* The losses that an executor saw: all are counted, and the first ones are listed. One writer. */
struct hil_loss_log {
    uint64_t count, back_count;
    struct hil_loss at[HIL_LOSSES_MAX];
};

/* Steps that ended too late or did not run at all. */
static inline uint64_t hil_missed(const struct hil_node_state *node)
{
    return node->run_late + node->left_out;
}

/* State of a fault of the scenario at one node. Times are by the run's time. */
struct hil_fault_state {
    _Atomic uint32_t begun, ended; /* how often it did: once, unless its node came back */
    uint64_t begin_ns, end_ns;     /* when it first began, and when it last ended */
    _Atomic uint64_t due_ns;       /* 1 ns after when it is to begin; 0: not known yet */
};

/* The event that a fault waits for. The first node that sees it writes its time. */
struct hil_awaited_state {
    bool is; /* the fault waits for an event */
    enum hil_event_kind kind;
    struct hil_event_of of;
    uint32_t node;           /* where the event occurs; UINT32_MAX: anywhere */
    _Atomic uint64_t was_ns; /* 1 ns after it occurred, by the run's time; 0: it has not */
};

/* How often and for how long an executor's thread stood still for more than 100 us and than its
 * shortest period, and what the kernel tells of the reason. */
struct hil_stalls {
    uint64_t count, total_ns, longest_ns;
    uint64_t waited_ns; /* other threads had its core */
    char other[28];     /* the one that had it longest; "": unknown */
    uint64_t stolen_ns; /* a hypervisor had the core that it is pinned to */
};

struct hil_executor_state {
    _Atomic uint32_t stage;
    uint32_t hangs;    /* written by the launcher: how often it hung and was killed */
    char message[256]; /* why it failed */

    struct hil_stale_log stale;            /* stale inputs that its nodes found */
    struct hil_loss_log losses;            /* losses that its nodes saw */
    struct hil_failure_log failures;       /* failures of their components */
    uint64_t events[HIL_EVENT_KIND_COUNT]; /* events of the record, by kind */

    /* Only in real time, measured at the end of the loop. */
    bool locked;
    bool counter;                 /* its clock was the time-stamp counter */
    enum hil_scheduler scheduler; /* the scheduler that it got */
    uint64_t page_faults, involuntary_switches, voluntary_switches;
    _Atomic uint64_t heartbeat; /* counts up as long as its thread makes progress */
    struct hil_worst worst;
    struct hil_stalls stalls;
    uint64_t start_ns;   /* on CLOCK_MONOTONIC */
    char degraded[1024]; /* reasons why it is degraded, one a line */

    struct hil_inside inside;
};

enum { HIL_SAID_MAX = 16 };

/* Describes the run to programs that do not have its scenario. */
struct hil_card {
    uint64_t layout;    /* layout of the state: a state of another build is not read */
    char name[65];      /* at most 64 characters */
    char results[4096]; /* an absolute path; "": no results are kept */
    char measure[80];   /* name of the first measure; "": there is none */
    char unit[16];      /* unit of that measure */
    uint8_t virtual_time;
    uint8_t saves;   /* 1: SIGUSR1 makes the launcher save the newest events of the trace */
    char tuning[48]; /* the abstract socket on which the launcher takes requests for changes,
                      * without the leading NUL; "": it takes none */
    uint64_t duration_ns;
    cpu_set_t cores; /* cores that loops are pinned to */
};

struct hil_state {
    struct hil_card card;
    int file;               /* the launcher's descriptor of the memory file */
    _Atomic uint32_t ended; /* written by the launcher: 1 + its exit status; 0: not yet */
    _Atomic uint32_t saved; /* written by the launcher: how often it saved the newest events */
    _Atomic uint64_t said[HIL_SAID_MAX]; /* hashes of warnings; each is printed once */
    _Atomic bool go;                     /* written by the launcher: everything is prepared */
    /* When it is to end in order, on the executors' clock; 0: it goes on. It may have been told so
     * by a signal, here or at another launcher. Set by hil_state_stop. */
    _Atomic uint64_t stop;
    _Atomic uint32_t stop_status;      /* exit status that the signal stands for; 0: none came */
    _Atomic uint32_t ended_by;         /* 1 + the component that ended the run; 0: none did */
    uint64_t ended_ns;                 /* when it did, by the run's time */
    _Atomic uint64_t elapsed_ns;       /* run time of the first of its nodes */
    char absent[HIL_NODES_NAME_BYTES]; /* merged from parts: nodes without a part; "": none */
    struct hil_pace pace;
    struct hil_recent recent;       /* recent samples of the first measure */
    struct hil_responses responses; /* responses of the system's measures */

    unsigned executor_count, node_count, link_count, figures_count, fault_count;
    uint64_t size;       /* of the whole state */
    uint64_t figures_at; /* offset of `figures`, for attached processes */
    struct hil_taps taps;
    uint64_t tuning_at; /* offset of `tuning`; 0: nothing can be tuned */
    struct hil_tuning *tuning;
    struct hil_executor_state *executors;
    struct hil_link_state *links;      /* by link of the system */
    struct hil_link_figures *figures;  /* ordered by executor, thread and array */
    struct hil_age_state *ages;        /* by age limit of the system */
    struct hil_cost *costs;            /* by component of the system: only of provided models */
    struct hil_fault_state *faults;    /* by entry of the system's faults_here */
    struct hil_awaited_state *awaited; /* by fault of the system */
    struct hil_node_state nodes[];
};

/* The state with the figures of the node's steps: that of the first node of its batch. The state
 * may be another process's, so the place is read once, and may be anything. */
static inline const struct hil_node_state *hil_node_figures(const struct hil_state *state,
                                                            unsigned node)
{
    const uint32_t place = *(const volatile uint32_t *)&state->nodes[node].place;

    return &state->nodes[place <= node ? node - place : node];
}

/* Name of a node's stage: "init", "ready", "run", "safe", "stopped" or "failed"; "?" for an unknown
 * number. */
const char *hil_stage_name(uint64_t stage);

/* The component that ended the run; NULL: none did. */
static inline const struct hil_component *hil_state_ended_by(const struct hil_state *state,
                                                             const struct hil_system *system)
{
    const uint32_t by = atomic_load(&state->ended_by);

    return by && by <= system->component_count ? &system->components[by - 1] : NULL;
}

/* Whether the run is paused. Only runs in virtual time can be. */
static inline bool hil_state_is_paused(const struct hil_state *state)
{
    return atomic_load_explicit(&state->pace.paused, memory_order_relaxed);
}

/* Tells all executors of this launcher to end the run in order. They share the moment at which its
 * ramps begin: the first one counts. `status` is the exit status of the signal, or 0. */
void hil_state_stop(struct hil_state *state, uint64_t at_ns, unsigned status);

static inline bool hil_stage_runs(uint64_t stage)
{
    return stage == HIL_RUNNING || stage == HIL_SAFE;
}

/* Says that the executor's thread makes progress. The launcher kills an executor that has not said
 * so for hang_limit_s. So anything that takes a while calls this now and then. It costs one
 * store. */
static inline void hil_beat(_Atomic uint64_t *heartbeat)
{
    atomic_store_explicit(heartbeat, atomic_load_explicit(heartbeat, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

/* Adds up the nodes of an array that ran here. */
void hil_state_add_up(const struct hil_state *state, unsigned array, struct hil_node_state *all);

/* Adds up the figures of an array's links over all receivers here. */
void hil_state_add_up_links(const struct hil_state *state, unsigned array,
                            struct hil_link_figures *all);

/* Gathers the worst misses of all executors here. */
void hil_state_worst(const struct hil_state *state, struct hil_worst *all);

/* The entry in which an executor counts what comes over an array's links; NULL: none of these links
 * goes to its nodes. */
struct hil_link_figures *hil_state_figures(const struct hil_state *state, unsigned executor,
                                           unsigned array);

/* Adds a reason, a line with its newline, to state->degraded. */
__attribute__((format(printf, 2, 3))) void hil_state_degrade(struct hil_executor_state *state,
                                                             const char *format, ...);

/* hil_age_name gives the name of an input with an age limit. hil_age_describe describes in words
 * the old input that ended the run, or leaves the text unchanged if there was none. */
void hil_age_name(const struct hil_system *system, unsigned age, char text[HIL_SIGNAL_NAME_BYTES]);
void hil_age_describe(const struct hil_state *state, const struct hil_system *system, char *text,
                      size_t size);

/* Open a state. Return 0 or a negative errno. Nobody watches the state of a rehearsal: it has no
 * taps, and programs that look for runs do not find its file. */
int hil_state_open(struct hil_state **state, const struct hil_scenario *scenario);
int hil_state_open_rehearsal(struct hil_state **state, const struct hil_scenario *scenario);
void hil_state_close(struct hil_state *state);

/* Name of a run's memory file: /proc/PID/fd shows it as "/memfd:" and this. */
#define HIL_STATE_NAME "hiloco-run"

/*
 * The run of another process. Its memory changes while this process reads it, and anybody may have
 * made it. So sizes and texts are copied once and checked, and only the copies are used.
 */
struct hil_attached {
    const struct hil_state *state; /* only nodes[] may be followed, none of its pointers */
    size_t size;                   /* of the mapping */
    unsigned node_count;           /* that fit into the mapping */
    unsigned figures_count;        /* likewise */
    const struct hil_link_figures *figures;
    struct hil_card card; /* a checked copy that is safe to print */
};

/* Maps the memory file, which must be sealed against shrinking. Returns 0; -EPROTO if the file is
 * from another build or is not a run's; or another negative errno. */
int hil_state_attach(struct hil_attached *run, int file);
void hil_state_detach(struct hil_attached *run);

#endif
