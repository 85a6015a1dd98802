/*
 * What a run must do to pass: the scenario's `limits`. Each has a name, is of one thing, and has
 * one bound or more. docs/limits.md defines them.
 */
#ifndef HIL_LIMITS_H
#define HIL_LIMITS_H

#include "system.h"

/* What a limit is of. */
enum hil_limit_of { HIL_OF_MEASURE, HIL_OF_SIGNAL, HIL_OF_NODES, HIL_OF_LINK, HIL_LIMIT_OF };

/* What it bounds, from above unless the name says otherwise. */
enum hil_bound {
    /* of a measure, after each of the limit's events */
    HIL_BOUND_OVERSHOOT,
    HIL_BOUND_SETTLING,
    HIL_BOUND_RECOVERY,
    HIL_BOUND_DIP,
    HIL_BOUND_RISE,
    HIL_BOUND_RIPPLE,
    HIL_BOUND_RMS_ERROR,
    /* of a measure, and of a signal in the limit's window */
    HIL_BOUND_MIN, /* from below */
    HIL_BOUND_MAX,
    /* of a signal in that window */
    HIL_BOUND_SLOPE_MIN, /* from below */
    HIL_BOUND_SLOPE_MAX,
    HIL_BOUND_STEP, /* and these two by `step` and `like` */
    HIL_BOUND_LIKE,
    /* of nodes */
    HIL_BOUND_MISSED,
    HIL_BOUND_LATE, /* and these by `times` */
    HIL_BOUND_BUSY,
    /* of a link */
    HIL_BOUND_AGE,
    HIL_BOUND_ROUND_TRIP,
    HIL_BOUNDS,
};

/* What each is called in a scenario, and what its limit may be of. */
struct hil_bound_key {
    const char *key;
    unsigned of;      /* 1 << HIL_OF_MEASURE, ... */
    const char *unit; /* NULL: that of the measure or signal */
    bool needs_reference;
};

extern const struct hil_bound_key hil_bound_keys[HIL_BOUNDS];

/* The percentiles of a time; NAN: not bounded. */
enum { HIL_LIMIT_TIMES = 5 };
extern const struct hil_limit_time {
    const char *key; /* "p99" */
    double quantile;
} hil_limit_times[HIL_LIMIT_TIMES];

/* Which events the bounds of a measure are for. */
enum hil_limit_events { HIL_EVENTS_ALL, HIL_EVENTS_START_UP, HIL_EVENTS_LATER, HIL_EVENTS_LAST };

struct hil_band {
    double min, max; /* both included; infinite: none */
};

/* In one band until `at_ns`, and in the other at the latest `within_ns` later. */
struct hil_limit_step {
    uint64_t at_ns, within_ns;
    struct hil_band from, to;
};

/* A signal that it should be like, within absolute + relative x |its value|. */
struct hil_limit_like {
    struct hil_source *references; /* of each signal, each a column */
    double absolute, relative;     /* absolute NAN: not given */
};

/* What a limit of signals is about: a place in the record of a node. */
struct hil_limit_signal {
    unsigned node;
    bool measure;    /* and of that its value; else a recorded signal */
    unsigned number; /* among those of the node */
};

struct hil_limit {
    const char *name;
    enum hil_limit_of of;
    unsigned first, last; /* measures or nodes; of a link the array */
    const struct hil_limit_signal *signals;
    unsigned signal_count;
    enum hil_limit_events events;
    uint64_t from_ns, to_ns; /* the window, both included */
    uint64_t slope_ns;       /* the time that a slope is over */
    bool given[HIL_BOUNDS];
    double bounds[HIL_BOUNDS];
    struct hil_limit_step step;
    struct hil_limit_like like;
    double times[HIL_BOUNDS][HIL_LIMIT_TIMES]; /* in us */
};

#endif
