/*
 * The state of a run: what the loops write as they go and the launcher reads, while they run
 * and after they ended (however they ended). It lies in memory shared with child processes:
 * a memory file that the launcher holds open, by which other processes find the run and map
 * it, to read only (see hil_state_attach). So nothing has to be removed when the run is over.
 *
 * Each member has one writer: the node or the executor that it is of. Readers elsewhere see
 * values that are a little old.
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

/* Of a node, and of an executor, which is never ready or safe. */
enum hil_stage {
    HIL_STARTING,
    HIL_READY, /* it has met its peers, and waits for the start */
    HIL_RUNNING,
    HIL_SAFE,   /* it runs, and a component is safe, or has failed */
    HIL_DONE,   /* to the end, or as far as it was let */
    HIL_FAILED, /* the executor's message says why */
};

struct hil_node_state {
    char name[HIL_NODE_NAME_BYTES]; /* "controller", "converter[3]" */
    uint32_t array;                 /* of the system's arrays of nodes */
    uint8_t here;                   /* 1: the node ran in one of this run's executors; no bool, for
                                     * who watches must not trust that */
    _Atomic uint32_t stage;         /* enum hil_stage */
    uint64_t steps;                 /* run */
    uint64_t run_late;              /* of those: they had not ended when the next was due */
    uint64_t left_out;              /* steps that were due in the run, and not run */
    uint64_t resyncs;          /* how often it left out what it owed, to be with the clock again */
    uint64_t torn;             /* inputs that stayed torn, so that the old value was kept */
    uint64_t begin_ns;         /* when the last step began */
    uint64_t first_ns;         /* how long the first one took */
    struct hil_histogram late; /* from a step's time to its beginning, or being left out */
    struct hil_histogram busy; /* from its beginning to its end */
    struct hil_histogram period;      /* from one step's beginning to that of the next */
    uint64_t late_at_ns, busy_at_ns;  /* when the greatest of these was */
    uint64_t over_max_ns, over_at_ns; /* the worst miss: past the step's deadline */
    uint64_t period_ns;

    struct hil_cursor measuring; /* of its measures */

    /* As the node told it last, in this process or through node 0's SST. */
    struct hil_progress progress;
};

/* A link, as its receiver saw it. */
struct hil_link_state {
    uint64_t bad; /* messages with a value that was no number, and were not used */
};

/* An input with an age limit, as its node found it. One writer. */
struct hil_age_state {
    _Atomic uint64_t trips; /* times that its value was too old; told to who watches */
    uint64_t recoveries;    /* a newer value came */
    uint64_t first_ns;      /* when it was found first */
    uint64_t found_ns;      /* last */
    /* The longest from when the value in force was of, to the step that answered. */
    uint64_t answer_ns;
    uint64_t out_ns; /* the longest that it was too old for */
};

/* A link, and when. */
struct hil_link_moment {
    uint32_t link;
    uint64_t at_ns;
};

/* How old what came over an array's links was, in the steps of one executor's nodes: of several
 * links to one node the oldest. And how long a value took that went there and back. One for all
 * those nodes, so that a step of one of a thousand finds it in the cache; but each thread of an
 * executor has its own. */
struct hil_link_figures {
    uint32_t executor, array; /* of the system's arrays of links */
    struct hil_histogram input_age, round_trip;
    struct hil_link_moment oldest, longest; /* the greatest of each */
};

enum { HIL_LOSSES_MAX = 256 };

/* A link whose sender died, by the run's time; back_ns 0: it did not come back. */
struct hil_loss {
    uint32_t from, to;
    uint64_t lost_ns, back_ns;
};

/* Those that an executor saw, the first ones in full. One writer. */
struct hil_loss_log {
    uint64_t count, back_count;
    struct hil_loss at[HIL_LOSSES_MAX];
};

/* Steps that were not run in their period, or not at all. */
static inline uint64_t hil_missed(const struct hil_node_state *node)
{
    return node->run_late + node->left_out;
}

/* A fault of the scenario at one node, by the run's time. */
struct hil_fault_state {
    _Atomic uint32_t begun, ended; /* how often it did: once, but in a node that came back */
    uint64_t begin_ns, end_ns;     /* the first time, and the last */
    _Atomic uint64_t due_ns;       /* 1 ns after when it is to begin; 0: not known yet */
};

/* What a fault waits for, as an event has it. Whoever comes first writes it. */
struct hil_awaited_state {
    bool is; /* the fault waits for an event */
    enum hil_event_kind kind;
    struct hil_event_of of;
    uint32_t node;           /* UINT32_MAX: any */
    _Atomic uint64_t was_ns; /* 1 ns after it, by the run's time; 0: not yet */
};

struct hil_executor_state {
    _Atomic uint32_t stage;
    uint32_t hangs;    /* the launcher's: how often it stood still, and was killed */
    char message[256]; /* why it failed */

    struct hil_stale_log stale;            /* what its nodes found */
    struct hil_loss_log losses;            /* likewise */
    struct hil_failure_log failures;       /* what their components did */
    uint64_t events[HIL_EVENT_KIND_COUNT]; /* of the record, how many of each kind */

    /* Real time, measured at the end of the loop. */
    bool locked;
    bool counter;                 /* the time-stamp counter was its clock */
    enum hil_scheduler scheduler; /* that it got */
    uint64_t page_faults, involuntary_switches, voluntary_switches;
    _Atomic uint64_t heartbeat; /* counts for as long as its thread goes on */
    struct hil_worst worst;
    uint64_t start_ns;   /* of CLOCK_MONOTONIC */
    char degraded[1024]; /* reasons, a line each */

    struct hil_inside inside;
};

enum { HIL_SAID_MAX = 16 };

/* What the run is: for who does not have its scenario. */
struct hil_card {
    uint64_t layout;    /* of the state: that of another build is not read */
    char name[65];      /* of 64 letters at most */
    char results[4096]; /* an absolute path; "": none are kept */
    char measure[80];   /* the first one's name; "": there is none */
    char unit[16];      /* and its unit */
    uint8_t virtual_time;
    uint8_t tuning; /* 1: its launcher answers who asks for changes */
    uint64_t duration_ns;
    cpu_set_t cores; /* that loops are pinned to */
};

struct hil_state {
    struct hil_card card;
    int file;                            /* the launcher's descriptor */
    _Atomic uint32_t ended;              /* the launcher's: 1 + its exit status; 0: not yet */
    _Atomic uint64_t said[HIL_SAID_MAX]; /* hashes of warnings, so that each is said once */
    _Atomic bool go;                     /* the launcher's: all is prepared */
    _Atomic bool stop;                   /* the launcher's: end soon and in order */
    _Atomic uint64_t elapsed_ns;         /* the first of its nodes' */
    char absent[HIL_NODES_NAME_BYTES];   /* of a run whose parts were brought together: the nodes
                                          * of which there is none; "": it has all */
    struct hil_pace pace;
    struct hil_recent recent;       /* of the first measure */
    struct hil_responses responses; /* of the system's measures */

    unsigned executor_count, node_count, link_count, figures_count, fault_count;
    uint64_t size;       /* of all of it */
    uint64_t figures_at; /* bytes from its beginning, for who is attached */
    struct hil_taps taps;
    uint64_t tuning_at; /* where `tuning` is, from the beginning; 0: nothing can be tuned */
    struct hil_tuning *tuning;
    struct hil_executor_state *executors;
    struct hil_link_state *links;      /* of the system */
    struct hil_link_figures *figures;  /* in the order of executors, threads, and arrays */
    struct hil_age_state *ages;        /* of the system's age limits */
    struct hil_cost *costs;            /* of the system's components: those of provided models */
    struct hil_fault_state *faults;    /* of the system's faults_here */
    struct hil_awaited_state *awaited; /* of the system's faults */
    struct hil_node_state nodes[];
};

/* What a stage of a node is called: "init", "ready", "run", "safe", "stopped", "failed"; "?" of
 * another number. */
const char *hil_stage_name(uint64_t stage);

/* Whether the run stands still, in virtual time, because it was told to. */
static inline bool hil_state_is_paused(const struct hil_state *state)
{
    return atomic_load_explicit(&state->pace.paused, memory_order_relaxed);
}

static inline bool hil_stage_runs(uint64_t stage)
{
    return stage == HIL_RUNNING || stage == HIL_SAFE;
}

/* Says that the executor's thread goes on. The launcher kills one that has not said so for
 * hang_limit_s, so whatever takes a while does this now and then; it is one store. */
static inline void hil_beat(_Atomic uint64_t *heartbeat)
{
    atomic_store_explicit(heartbeat, atomic_load_explicit(heartbeat, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

/* What the nodes of an array that ran here did, together. */
void hil_state_add_up(const struct hil_state *state, unsigned array, struct hil_node_state *all);

/* What the links of an array showed all their receivers here. */
void hil_state_add_up_links(const struct hil_state *state, unsigned array,
                            struct hil_link_figures *all);

/* The worst misses of all that ran here. */
void hil_state_worst(const struct hil_state *state, struct hil_worst *all);

/* Where an executor counts what comes over an array's links; NULL: none goes to a node of its. */
struct hil_link_figures *hil_state_figures(const struct hil_state *state, unsigned executor,
                                           unsigned array);

/* Adds a reason, a line with its end, to state->degraded. */
__attribute__((format(printf, 2, 3))) void hil_state_degrade(struct hil_executor_state *state,
                                                             const char *format, ...);

/* The name of an input with an age limit; and, of the one that ended the run, what it was, in
 * words. That leaves the text as it is where none did. */
void hil_age_name(const struct hil_system *system, unsigned age, char text[HIL_SIGNAL_NAME_BYTES]);
void hil_age_describe(const struct hil_state *state, const struct hil_system *system, char *text,
                      size_t size);

/* Returns 0 or a negative errno. That of a rehearsal has no taps: nobody watches it. */
int hil_state_open(struct hil_state **state, const struct hil_scenario *scenario);
int hil_state_open_rehearsal(struct hil_state **state, const struct hil_scenario *scenario);
void hil_state_close(struct hil_state *state);

/* What the memory file of a run is called: /proc/PID/fd shows it as "/memfd:" and this. */
#define HIL_STATE_NAME "hiloco-run"

/*
 * Another process's run. Its memory changes while it is looked at, and may be of anybody's making:
 * so what sizes and texts are taken from it are taken once, and checked, and only these are used.
 */
struct hil_attached {
    const struct hil_state *state; /* of what it points at only nodes[] is in reach */
    size_t size;                   /* of the mapping */
    unsigned node_count;           /* that are in it */
    unsigned figures_count;        /* likewise */
    const struct hil_link_figures *figures;
    struct hil_card card; /* a copy, fit to be printed */
};

/* Maps the memory file, which must be sealed against shrinking. Returns 0; or -EPROTO when it is of
 * another build, or not a run's; or another negative errno. */
int hil_state_attach(struct hil_attached *run, int file);
void hil_state_detach(struct hil_attached *run);

#endif
