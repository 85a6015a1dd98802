/*
 * What goes wrong in a run on purpose: the scenario's `faults`. Each has a name, is of one thing
 * and of one kind, and acts from a beginning on for a while. docs/faults.md defines them.
 *
 * What a fault does at one node is a list of acts, each on one signal, link or component.
 */
#ifndef HIL_FAULTS_H
#define HIL_FAULTS_H

#include "system.h"

enum hil_fault_of {
    HIL_FAULT_OF_SIGNAL,
    HIL_FAULT_OF_LINK,
    HIL_FAULT_OF_NODES,
    HIL_FAULT_OF_COMPONENT,
    HIL_FAULT_OF,
};

/* The numbers that a kind may take, by their keys. */
enum hil_fault_number {
    HIL_FAULT_VALUE,
    HIL_FAULT_FACTOR,
    HIL_FAULT_PROBABILITY,
    HIL_FAULT_SEED,
    HIL_FAULT_DELAY_US,
    HIL_FAULT_NUMBERS,
};

extern const char *const hil_fault_numbers[HIL_FAULT_NUMBERS]; /* their keys */

/* Every kind: its name, what it may be of, the numbers that it needs, and those it may have. */
#define HIL_FAULT_KINDS(KIND)                                                                      \
    KIND(STUCK, "stuck", SIGNAL, 0, VALUE)                                                         \
    KIND(BIAS, "bias", SIGNAL, VALUE, 0)                                                           \
    KIND(GAIN, "gain", SIGNAL, FACTOR, 0)                                                          \
    KIND(NOISE, "noise", SIGNAL, VALUE, SEED)                                                      \
    KIND(DRIFT, "drift", SIGNAL, VALUE, 0)                                                         \
    KIND(SPIKE, "spike", SIGNAL, VALUE, PROBABILITY | SEED)                                        \
    KIND(DROPOUT, "dropout", SIGNAL, 0, VALUE | PROBABILITY | SEED)                                \
    KIND(QUANTISE, "quantise", SIGNAL, VALUE, 0)                                                   \
    KIND(DELAY, "delay", SIGNAL | LINK, DELAY_US, 0)                                               \
    KIND(LOSS, "loss", LINK, 0, PROBABILITY | SEED)                                                \
    KIND(FREEZE, "freeze", LINK, 0, 0)                                                             \
    KIND(DUPLICATE, "duplicate", LINK, 0, PROBABILITY | SEED)                                      \
    KIND(STALL, "stall", NODES, 0, 0)                                                              \
    KIND(SLOW, "slow", NODES, DELAY_US, 0)                                                         \
    KIND(CRASH, "crash", NODES, 0, 0)                                                              \
    KIND(RESTART, "restart", NODES, 0, 0)                                                          \
    KIND(TUNE, "tune", COMPONENT, 0, VALUE | FACTOR)

#define HIL_FAULT_KIND(id, name, of, needs, may) HIL_FAULT_##id,
enum hil_fault_kind { HIL_FAULT_KINDS(HIL_FAULT_KIND) HIL_FAULT_KIND_COUNT };
#undef HIL_FAULT_KIND

struct hil_fault_kind_row {
    const char *name;
    unsigned of;         /* 1 << HIL_FAULT_OF_SIGNAL, ... */
    unsigned needs, may; /* 1 << HIL_FAULT_VALUE, ... */
};

extern const struct hil_fault_kind_row hil_fault_kinds[HIL_FAULT_KIND_COUNT];

/* What a fault waits for, if it does not begin at a time that the scenario says. */
enum hil_fault_waits {
    HIL_WAITS_NOT,
    HIL_WAITS_LEVEL, /* a signal comes above a level, or below it */
    HIL_WAITS_EVENT, /* of the run, as the record has it */
};

struct hil_fault_level {
    bool above;
    double level;
};

/* The events that one may wait for, in the record's words. HIL_AWAITED_END is the end of another
 * fault, for which `after` has a key of its own. */
enum hil_awaited_event {
    HIL_AWAITED_OLD, /* of an input with an age limit */
    HIL_AWAITED_NEW,
    HIL_AWAITED_SAFE,   /* of a node */
    HIL_AWAITED_RUN,    /* it runs again */
    HIL_AWAITED_FAILED, /* of a component */
    HIL_AWAITED_END,
};

extern const char *const hil_awaited_words[HIL_AWAITED_END];

/* The first event of this kind. */
struct hil_awaited {
    enum hil_awaited_event event;
    unsigned node;              /* that does it; of the end of a fault any of its nodes */
    unsigned component, number; /* number: among its inputs */
    unsigned fault;
};

struct hil_fault {
    const char *name;
    enum hil_fault_kind kind;
    enum hil_fault_of of;
    const char *on;       /* as the file says it: "cell[3].current_a", "cell[*] -> pack" */
    uint64_t at_ns;       /* of a fault that waits so long after what it waits for */
    uint64_t duration_ns; /* UINT64_MAX: to the end */
    double numbers[HIL_FAULT_NUMBERS]; /* NAN: not given */
    uint64_t seed, delay_ns;
    enum hil_fault_waits waits;
    struct hil_fault_level level; /* of HIL_WAITS_LEVEL */
    struct hil_awaited awaited;   /* of HIL_WAITS_EVENT */
};

/* One thing that a fault acts on. */
struct hil_act {
    unsigned number;    /* among those of the fault: each has random numbers of its own */
    unsigned component; /* of the system; of a signal or a parameter */
    bool output;        /* of a signal */
    unsigned at;     /* of a signal among the inputs or outputs, of a parameter, of its component */
    unsigned shadow; /* of a signal among the node's */
    unsigned link;   /* of the system */
    double tuned;    /* of a parameter */
};

/* A fault at one node. */
struct hil_fault_here {
    unsigned fault, node;
    const struct hil_act *acts;
    unsigned act_count;
    struct hil_signal level; /* that it waits for */
};

/* Whether a fault of these times, or one that begins `at_ns` later than it may, acts at `t_ns`. */
static inline bool hil_fault_is_on(const struct hil_fault *fault, uint64_t begin_ns, uint64_t t_ns)
{
    return t_ns >= begin_ns && t_ns - begin_ns < fault->duration_ns;
}

/* Whether the node may do what is awaited. */
bool hil_awaited_is_of(const struct hil_system *system, const struct hil_awaited *awaited,
                       unsigned node);

#endif
