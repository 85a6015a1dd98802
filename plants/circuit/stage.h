/*
 * A circuit that runs: its vector w, the configuration that it is in, and the instants at which its
 * sources turn switches or change their slope.
 */
#ifndef HILOCO_CIRCUIT_STAGE_H
#define HILOCO_CIRCUIT_STAGE_H

#include "pool.h"
#include "pwm.h"

/* What happens at known instants: the edges of a switch, or the corners of a source. */
struct cir_timer {
    struct cir_wave edges;       /* of a switch: 1 and 0 as values, at the edges */
    const struct cir_wave *wave; /* `edges`, or the source's */
    long long place;             /* the corner that was last */
    double next_s;
    const struct cir_position *position;
};

struct cir_stage {
    const struct cir_network *network;
    struct cir_pool pool;
    const struct cir_configuration *now;
    uint64_t key;
    struct cir_timer *timers;
    unsigned timer_count;
    struct cir_pwm *units;
    const double *inputs;        /* of the period, while it lasts */
    uint64_t comparators;        /* their bits */
    bool compared;               /* one of them has changed */
    double *w, *trial, *change;  /* now; after a rung; their difference */
    double *tests, *trial_tests; /* likewise */
    double *course[3];           /* how far w comes in a rung, in half of it, and in a quarter */
    double *floors;              /* of the diodes: how far each may be beyond its threshold */
    double *outputs;
    double *powers[2];   /* v, i and their rates at both ends of a piece of the way */
    double *energies;    /* of the probes of power, in this period */
    double tolerance;    /* of a test, from the size of w */
    double widest;       /* a tolerance that is more than rounding */
    double start_s;      /* of the period under way */
    double at_s;         /* since then */
    unsigned events;     /* in this period: edges, corners, and changes of diodes */
    uint64_t trials;     /* likewise: of rungs */
    unsigned unresolved; /* likewise: events after which diodes had to stay as they were */
    unsigned made;       /* pool.count at its beginning */
    unsigned events_most, makes_most;
    struct cir_block *blocks;
};

/* Makes the stage at t = 0. `inputs` are the values of the declared inputs. The network must
 * outlive it. Returns 0, or a negative errno after a message; then there is nothing to close. */
int cir_stage_open(struct cir_stage *s, const struct cir_network *network,
                   const struct cir_probe *probes, unsigned probe_count, double period_s,
                   const double *inputs, const struct cir_said *said);
void cir_stage_close(struct cir_stage *s);

/* Sets it back to t = 0; what it has made stays. Returns 0, or a negative errno after a message. */
int cir_stage_rewind(struct cir_stage *s, const double *inputs, const struct cir_said *said);

/* Makes it ready for real time: bounds what a period may need, and makes configurations before they
 * are met. It is again where it was. */
void cir_stage_prepare(struct cir_stage *s);

/* The configurations that were made in this period. */
static inline unsigned cir_stage_makes(const struct cir_stage *s)
{
    return s->pool.count - s->made;
}

/* Latches inputs at the beginning of a period, before cir_stage_advance(). Returns 0, or -EDOM if
 * the configuration is singular, which cannot be before a parameter changes. */
int cir_stage_latch(struct cir_stage *s, const double *inputs);

/* Advances by one period, from start_s on. */
int cir_stage_advance(struct cir_stage *s);

/* Continues where another stage is, of the same netlist with other values: the capacitors keep
 * their voltages, and the inductors their currents. */
void cir_stage_continue(struct cir_stage *s, const struct cir_stage *from);

/* Computes s->outputs. */
void cir_stage_output(const struct cir_stage *s);

/* As hil_model.save and restore. */
int64_t cir_stage_save(const struct cir_stage *s, void *bytes, size_t size);
int cir_stage_restore(struct cir_stage *s, const void *bytes, size_t size);

#endif
