/*
 * The deliberate faults of a run: the scenario's `faults`. Each has a name, a kind and a subject,
 * and acts for a while from its beginning. docs/faults.md defines them.
 *
 * The effect of a fault on one node is a list of acts, each on one signal, link or component.
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

/* The numeric parameters of the kinds of faults. */
enum hil_fault_number {
    HIL_FAULT_VALUE,
    HIL_FAULT_FACTOR,
    HIL_FAULT_PROBABILITY,
    HIL_FAULT_SEED,
    HIL_FAULT_DELAY_US,
    HIL_FAULT_NUMBERS,
};

extern const char *const hil_fault_numbers[HIL_FAULT_NUMBERS]; /* their keys in the scenario */

/* Every kind: its name, its possible subjects, the numbers that it needs, and the optional ones. */
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

/* What a fault waits for, unless it begins at a fixed time. */
enum hil_fault_waits {
    HIL_WAITS_NOT,
    HIL_WAITS_LEVEL, /* a signal rises above a level, or falls below it */
    HIL_WAITS_EVENT, /* an event of the run, as in the record */
};

struct hil_fault_level {
    bool above;
    double level;
};

/* The events that a fault may wait for, with their names in the record. HIL_AWAITED_END is the end
 * of another fault, for which `after` has a separate key. */
enum hil_awaited_event {
    HIL_AWAITED_OLD, /* an input with an age limit is too old */
    HIL_AWAITED_NEW,
    HIL_AWAITED_SAFE,   /* a node applies its safe values */
    HIL_AWAITED_RUN,    /* a node runs normally again */
    HIL_AWAITED_FAILED, /* a component failed */
    HIL_AWAITED_END,
};

extern const char *const hil_awaited_words[HIL_AWAITED_END];

/* The first event of this kind. */
struct hil_awaited {
    enum hil_awaited_event event;
    unsigned node;              /* the node of the event; for the end of a fault, any of its
                                 * nodes */
    unsigned component, number; /* number: index among the component's inputs */
    unsigned fault;
};

struct hil_fault {
    const char *name;
    enum hil_fault_kind kind;
    enum hil_fault_of of;
    const char *on;       /* as in the file: "cell[3].current_a", "cell[*] -> pack" */
    uint64_t at_ns;       /* begin; for a fault that waits, the delay after what it waits for */
    uint64_t duration_ns; /* UINT64_MAX: until the end of the run */
    double numbers[HIL_FAULT_NUMBERS]; /* NAN: not given */
    uint64_t seed, delay_ns;
    enum hil_fault_waits waits;
    struct hil_fault_level level; /* for HIL_WAITS_LEVEL */
    struct hil_awaited awaited;   /* for HIL_WAITS_EVENT */
};

/* One thing on which a fault acts. */
struct hil_act {
    unsigned number;    /* index among the fault's acts; each act has its own random numbers */
    unsigned component; /* index in the system, for a signal or a parameter */
    bool output;        /* for a signal */
    unsigned at;        /* index of a signal among the inputs or outputs of its component, or of a
                         * parameter */
    unsigned shadow;    /* index among the node's shadow signals */
    unsigned link;      /* index in the system */
    double tuned;       /* value of a tuned parameter */
};

/* A fault's acts at one node. */
struct hil_fault_here {
    unsigned fault, node;
    const struct hil_act *acts;
    unsigned act_count;
    struct hil_signal level; /* the signal that it waits for */
};

/* Whether a fault that began at `begin_ns` acts at `t_ns`. */
static inline bool hil_fault_is_on(const struct hil_fault *fault, uint64_t begin_ns, uint64_t t_ns)
{
    return t_ns >= begin_ns && t_ns - begin_ns < fault->duration_ns;
}

/* Whether the awaited event can happen at the node. */
bool hil_awaited_is_of(const struct hil_system *system, const struct hil_awaited *awaited,
                       unsigned node);

#endif
