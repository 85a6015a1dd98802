/*
 * What a run must do to pass: the scenario's `limits`. Each has a name, a subject, and one or more
 * bounds. docs/limits.md defines them.
 */
#ifndef HIL_LIMITS_H
#define HIL_LIMITS_H

#include "system.h"

/* The subject of a limit. */
enum hil_limit_of { HIL_OF_MEASURE, HIL_OF_SIGNAL, HIL_OF_NODES, HIL_OF_LINK, HIL_LIMIT_OF };

/* The bounded quantities. A bound is an upper bound unless its name says otherwise. */
enum hil_bound {
    /* for a measure, after each of the limit's events */
    HIL_BOUND_OVERSHOOT,
    HIL_BOUND_SETTLING,
    HIL_BOUND_RECOVERY,
    HIL_BOUND_DIP,
    HIL_BOUND_RISE,
    HIL_BOUND_RIPPLE,
    HIL_BOUND_RMS_ERROR,
    HIL_BOUND_STEADY_ERROR,
    HIL_BOUND_RISE_TIME,
    /* for a measure, and for a signal in the limit's window */
    HIL_BOUND_MIN, /* a lower bound */
    HIL_BOUND_MAX,
    /* for a signal in that window */
    HIL_BOUND_SLOPE_MIN, /* a lower bound */
    HIL_BOUND_SLOPE_MAX,
    HIL_BOUND_STEP, /* these two are given by `step` and `like` */
    HIL_BOUND_LIKE,
    /* for nodes */
    HIL_BOUND_MISSED,
    HIL_BOUND_LATE, /* these are given by `times` */
    HIL_BOUND_BUSY,
    /* for a link */
    HIL_BOUND_AGE,
    HIL_BOUND_ROUND_TRIP,
    HIL_BOUNDS,
};

/* The name of each bound in a scenario, and the subjects that its limit may have. */
struct hil_bound_key {
    const char *key;
    unsigned of;      /* 1 << HIL_OF_MEASURE, ... */
    const char *unit; /* NULL: the unit of the measure or signal */
    bool needs_reference;
};

extern const struct hil_bound_key hil_bound_keys[HIL_BOUNDS];

/* The percentiles of a time; NAN: not bounded. */
enum { HIL_LIMIT_TIMES = 5 };
extern const struct hil_limit_time {
    const char *key; /* "p99" */
    double quantile;
} hil_limit_times[HIL_LIMIT_TIMES];

/* The events to which the bounds of a measure apply. */
enum hil_limit_events { HIL_EVENTS_ALL, HIL_EVENTS_START_UP, HIL_EVENTS_LATER, HIL_EVENTS_LAST };

struct hil_band {
    double min, max; /* inclusive; infinite: none */
};

/* In one band until `at_ns`, and in the other no later than `within_ns` afterwards. */
struct hil_limit_step {
    uint64_t at_ns, within_ns;
    struct hil_band from, to;
};

/* Like a reference signal, within absolute + relative x |its value|. */
struct hil_limit_like {
    struct hil_source *references; /* the reference of each signal, a column each */
    double absolute, relative;     /* absolute NAN: not given */
};

/* A signal with a limit: its place in the record of a node. */
struct hil_limit_signal {
    unsigned node;
    bool measure;    /* the value of a measure; otherwise a recorded signal */
    unsigned number; /* index among those of the node */
};

struct hil_limit {
    const char *name;
    enum hil_limit_of of;
    unsigned first, last; /* measures or nodes; for a link, the link array */
    const struct hil_limit_signal *signals;
    unsigned signal_count;
    enum hil_limit_events events;
    uint64_t from_ns, to_ns; /* the window, inclusive */
    uint64_t slope_ns;       /* the time over which a slope is measured */
    bool given[HIL_BOUNDS];
    double bounds[HIL_BOUNDS];
    struct hil_limit_step step;
    struct hil_limit_like like;
    double times[HIL_BOUNDS][HIL_LIMIT_TIMES]; /* in us */
};

#endif
