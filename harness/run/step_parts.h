/* The data that a step works on: made by step_make.c, begun by step_begin.c, used by step.c. */
#ifndef STEP_PARTS_H
#define STEP_PARTS_H

#include <math.h>
#include <stdalign.h>
#include <stddef.h>

#include "../../channels/loco/owned_var_quick.h"
#include "../models/builtin.h"
#include "../record/columns.h"
#include "lines.h"
#include "node.h"

enum { STEP_SENT_MAX = 1024 }; /* number of steps whose push time is remembered */

/* values[to] = scale values[from] + offset */
struct step_copy {
    unsigned to, from;
    bool scaled;
    double scale, offset;
};

/* Consecutive entries of a list. */
struct step_range {
    unsigned first, count;
};

/* A component of this node. In this struct and those below, fields that each step touches come
 * first. */
struct step_part {
    alignas(HIL_LINE) const struct hil_model *model;
    void *self;
    double *in, *out; /* in values[] */
    double *next;     /* where it computes its outputs: apart with computation_delay, else `out` */
    struct hil_cost *cost; /* where its steps are counted; NULL: they are not counted */
    unsigned out_count;
    bool failed, rests;
    bool stale;                 /* it is a device that did not receive what it needs in time */
    bool aged;                  /* inputs are too old, and their limit's action is to be safe */
    struct step_range local;    /* from this node's outputs, before a sampled one computes */
    struct step_range arrivals; /* in needs[]: the arrivals that it takes */
    hil_row_step *row_step;     /* NULL: it has none */
    const struct hil_component *config;
    const double *parameters; /* those of `config`, or as they were tuned */
    const double *safe;       /* from `config`, or on the way there during a stop; NULL: none */
    struct loco_manager *mgr; /* for what the model logs */
    unsigned number;          /* among the system's components */
    unsigned old;             /* number of inputs that are too old and make it safe */
    unsigned row;             /* so many components, from this one on, can be stepped in a row */
    bool apart;               /* its code may hang or crash */
};

/* State of one value that comes over a link. Tracked once a message had a value that is not a
 * number. */
struct step_came {
    unsigned bad; /* messages in a row without a usable value */
    bool came;    /* a usable value has come */
};

/* An incoming link. The first cache line has what most links need in each step. */
struct step_arrival {
    alignas(HIL_LINE) struct loco_quick_reader quick; /* for `var` */
    uint64_t step, acted_on;                          /* of the newest message; 0: none yet */
    unsigned at, count;                               /* its values, in values[] */
    unsigned to;         /* unless general: the input that also gets the value, in values[] */
    unsigned link;       /* number in the system */
    unsigned alike;      /* so many arrivals, from this one on, are judged together */
    bool general : 1;    /* it has several values, or a scaled one, or one for several inputs, or no
                          * quick reader */
    bool suspect : 1;    /* it was stale, bad or away, so each step judges it */
    bool answers : 1;    /* its round trips are counted in this node */
    bool ends_array : 1; /* last arrival of its array */
    bool away : 1;       /* its sender died and is not back yet */
    bool there;          /* it has values, and its sender is not away */
    bool fresh;          /* some of its values are not latched yet */
    struct step_range late; /* copies to continuous components */
    struct loco_owned_var *var;
    struct step_range early; /* copies to sampled components */
    unsigned figures;        /* index in the state's figures */
    bool unfit;              /* components that take it must be safe */
    bool partial;            /* it has values, but some have never come */
    struct hil_input input;
    struct hil_loss *loss; /* where the sender's death is written down; NULL: nowhere */
    uint64_t lost_ns;      /* when the sender died last */
    uint32_t life;         /* incarnation of the sender, as the channel counts them */
    uint32_t traced;       /* lower bits of `step` at the node's last traced step */
};

/* An outgoing link: one cache line. */
struct step_departure {
    alignas(HIL_LINE) struct loco_quick_owner quick; /* for `var`, once it can be pushed quickly */
    const double *value;                             /* its only value; NULL: it has several */
    const struct step_arrival *back; /* the link in the other direction, or one without messages */
    struct loco_owned_var *var;
    const unsigned *from; /* indices of its values among the node's outputs */
    unsigned count;
    bool computed; /* it carries only outputs of sampled components */
};

/* A source that feeds this node. */
struct step_feed {
    const struct hil_source *source; /* the system's source, or as it was tuned */
    unsigned at;                     /* in values[] */
    struct step_range early, late;
    bool fresh;
};

/* A measure that is made at this node. */
struct step_measured {
    unsigned measure;
    struct step_range signals;
    int from; /* index of its reference in values[]; -1: it has none */
    double scale;
    unsigned value, reference; /* indices in a row of samples */
};

/* A measure's samples are added to its response once in this many steps, all at once. */
enum { STEP_SAMPLED_ROWS = HIL_SERIES_MAX };

/* Samples of the measures, one row for each step:
 *
 *      values and references that are recorded, in the order of the record
 *      those of other measures that are computed
 *      a NaN: the reference of measures that have none
 *      the signals of plain measures, then their references, each reference once
 *
 * A plain measure is one signal, not recorded, and its reference is not scaled: so it is copied.
 * The measures are divided into shares. Each step adds the pending rows of one share to its
 * responses, so a response's memory is touched in only one step of STEP_SAMPLED_ROWS, for as many
 * samples. The rows are a ring. Each has two places in row[] and t_ns[], so pending rows have
 * consecutive ones. */
struct step_samples {
    double *rows;
    const double *row[2 * STEP_SAMPLED_ROWS];
    uint64_t t_ns[2 * STEP_SAMPLED_ROWS];
    unsigned width, recorded; /* values in a row, and how many of them are recorded */
    unsigned computed, none;  /* number of computed measures; index of the NaN */
    const unsigned *plain;    /* indices in values[]: the plain measures' signals */
    unsigned *references;     /* and their references */
    unsigned reference_count;
    size_t at;                         /* index of the newest row's first value */
    uint64_t count;                    /* rows written so far */
    uint64_t added[STEP_SAMPLED_ROWS]; /* how many of them each share of the measures has added */
    struct hil_moment moment;          /* that the pending rows belong to */
};

/* An input with an age limit. */
struct step_age {
    const struct hil_age_limit *limit;
    struct step_part *part;
    unsigned arrival, from, to; /* its link; in values[]: where it arrives, its input */
    unsigned number;            /* among the system's age limits */
    bool old;
    uint64_t found_ns; /* when it was last found too old */
    struct hil_age_state *state;
    struct hil_event_of of;
};

/* Fields that each step touches come first. `unfit` and the flags stored as bytes are in different
 * 8-byte words: a compiler may load both with one wide read, which stalls the processor if one of
 * the bytes was just stored. */
struct hil_step {
    struct hil_node *node;
    double *values;
    unsigned continuous, part_count, arrival_count, feed_count, measured_count;
    unsigned early, departure_count; /* departures below `early` leave before the others compute */
    unsigned failed;                 /* components that no longer give numbers */
    unsigned stale;                  /* devices that give no number in this step */
    unsigned unfit;                  /* all these, inputs too old, arrivals unfit, bad or away */
    bool safe;                       /* inputs of continuous components may hold safe values */
    bool computed;                   /* the sampled components have computed */
    bool troubled : 1;   /* components are broken, or the node has said that it is safe */
    bool delays : 1;     /* a sampled component has a computation delay */
    bool applies : 1;    /* a continuous component has apply() */
    bool goes_on : 1;    /* the run goes on without a node that died */
    bool answered : 1;   /* peers answer its messages, so it needs sent_ns */
    bool faulted : 1;    /* the scenario has faults for this node */
    bool has_ages : 1;   /* inputs have an age limit, or the node stops on a ramp */
    bool stopping : 1;   /* it is on its ramp to the safe values, and stops after it */
    bool tuned : 1;      /* it has a tuner */
    bool split : 1;      /* it has shards */
    bool plain : 1;      /* it has continuous components without apply(), and of all the data and
                          * flags here only those of ordinary links and of a tap or record */
    bool tells_time : 1; /* it publishes the run's elapsed time for all processes of the launcher */
    unsigned late_count; /* number of copies from this node's outputs to continuous components */
    struct step_part *parts; /* in the order of stepping, continuous ones first */
    struct step_arrival *arrivals;
    struct step_departure *departures;
    struct step_copy *copies;
    struct hil_link_figures *figures; /* counts of links, in the state of node->run */
    struct step_range local; /* copies from this node's outputs to the sampled components */
    const struct loco_fabric *fabric;
    struct hil_tap_ring *tap; /* NULL: nobody can watch it */

    struct hil_message *message; /* of a link that is not quick */
    uint64_t *sent_ns;           /* when each step pushed, by step number modulo STEP_SENT_MAX */
    struct step_feed *feeds;
    struct step_age *ages;
    unsigned age_count;
    unsigned old, replaced;         /* inputs too old that make it safe; that are replaced */
    unsigned broken;                /* components that failed */
    bool rested;                    /* sampled components may have rested in the last step */
    bool told_safe;                 /* the node has said that it is safe */
    struct step_measured *measures; /* the computed ones first */
    struct step_samples samples;
    unsigned *signals; /* of the measures: indices in values[] */

    uint64_t reached_ns; /* without continuous components: the oldest of the senders' times */

    struct hil_executor_state *executor;
    struct hil_executor_state *told; /* the same, but of the run itself also during the rehearsal */
    struct hil_faults *faults;       /* NULL: no faults act on it */
    struct hil_tuning_notice *tuner; /* NULL: nothing in it can be tuned */
    struct hil_shards *shards;       /* NULL: one thread does the whole step */

    void **selves; /* of the parts, for their row steps */
    double *next;  /* outputs of components with a delay, at the same places as in `out` */
    struct step_range delayed; /* the outputs with a delay, if they are consecutive; else count 0 */

    /* Where the parts of values[] begin. The inputs come first, at 0. */
    unsigned out, sourced, shadowed, arrived, value_count;
    double *beginning;           /* values[] before the first step */
    uint64_t stop_first_ns;      /* when the ramp's first step was due */
    double *stop_from, *stop_at; /* inputs and outputs at the ramp's start; on the ramp */
    struct step_came *came;      /* one for each value from `arrived` on */
    unsigned *needs;             /* indices of the arrivals that components take */
    unsigned recorded_count;
    struct step_range *recorded; /* consecutive values in values[] that are recorded */
    struct hil_row_places row;
};

_Static_assert(offsetof(struct hil_step, message) <= 2 * HIL_LINE &&
                   offsetof(struct step_part, arrivals) <= HIL_LINE &&
                   offsetof(struct step_arrival, var) <= HIL_LINE &&
                   sizeof(struct step_part) == 2 * HIL_LINE &&
                   sizeof(struct step_departure) == HIL_LINE,
               "a few lines");

static inline void hil_step_copy(const struct hil_step *s, struct step_range range)
{
    if (range.count == 0)
        return;
    const struct step_copy *c = s->copies + range.first;
    for (unsigned i = 0; i < range.count; i++, c++) {
        const double value = s->values[c->from];
        s->values[c->to] = c->scaled ? c->scale * value + c->offset : value;
    }
}

/* The copies that follow `local`: those to continuous components. */
static inline struct step_range hil_step_local_late(const struct hil_step *s)
{
    return (struct step_range){s->local.first + s->local.count, s->late_count};
}

/* These two go around each call of the part's model, at step `n`. */
static inline void hil_step_enter(const struct hil_step *s, const struct step_part *p, uint64_t n)
{
    const uint64_t due = hil_loop_due(&s->node->loop, n);

    if (p->apart)
        hil_inside_enter(&s->told->inside, p->number, n, due);
}

static inline void hil_step_leave(const struct hil_step *s, const struct step_part *p)
{
    if (!p->apart)
        return;
    hil_inside_leave(&s->told->inside);
    hil_beat(&s->told->heartbeat);
}

/* Where the component's safe values go: to the outputs of a sampled component, and to the inputs of
 * a continuous one. */
static inline double *hil_step_safe_places(const struct step_part *p, unsigned *count)
{
    const bool sampled = p->model->kind == HIL_SAMPLED;

    *count = sampled ? p->config->out_count : p->config->in_count;
    return sampled ? p->out : p->in;
}

/* Whether the run ends in order now. Its nodes do not stop at one instant, so none judges another
 * any more: not by the age of its values, and not because it has left. */
static inline bool hil_step_ends(const struct hil_step *s)
{
    return s->stopping || atomic_load(&s->node->run->state->stop);
}

/* Puts the part's safe values in force, for those that are given. */
void hil_step_make_safe(const struct step_part *part);

/* Measures, by their numbers in the system. make_samples and begin_samples create the samples and
 * reset them. measure takes one sample of each at a step that begins at `now`. add_share adds
 * pending samples to the responses, as the next measure would otherwise do. add_samples adds all
 * pending ones. hil_step_sampled returns this step's values and references as they are recorded. */
size_t hil_step_samples_count(const struct hil_node *node);
bool hil_step_measure_is_plain(const struct hil_step *step, unsigned measure);
void hil_step_make_samples(struct hil_step *step);
void hil_step_begin_samples(struct hil_step *step);
void hil_step_add_share(struct hil_step *step);
void hil_step_measure(struct hil_step *step, uint64_t now);
void hil_step_add_samples(struct hil_step *step);

static inline const double *hil_step_sampled(const struct hil_step *s)
{
    return s->samples.rows + s->samples.at;
}

/* Inputs with an age limit. count_ages gives an upper bound for the node, and make_ages finds them.
 * judge_ages finds those that are too old at step n; it returns 0, or -ESTALE if that ends the run.
 * replace_old puts replacement values in their place, for sampled components, or for continuous
 * ones (`late`). */
unsigned hil_step_count_ages(const struct hil_node *node);
void hil_step_make_ages(struct hil_step *step);
void hil_step_forget_ages(struct hil_step *step);
int hil_step_judge_ages(struct hil_step *step, uint64_t n, uint64_t now);
void hil_step_replace_old(const struct hil_step *step, bool late);

/* Takes the message's values, except from components that sent a value that is not a number: the
 * values that came from these before stay in force. */
void hil_step_take_partial(const struct hil_step *step, struct step_arrival *arrival);

/* From now on the arrival counts as whole again: either all its values have come, or none has. */
void hil_step_forget_partial(const struct hil_step *step, struct step_arrival *arrival);

/* Whether the component takes one of the arrival's values that was bad too many times in a row. */
bool hil_step_takes_bad(const struct hil_step *step, const struct step_part *part,
                        const struct step_arrival *arrival);

/* Resets the inputs that these copies write to their initial values, unless their value has
 * come. */
void hil_step_begin_again(const struct hil_step *step, struct step_range copies);

/* Index of the signal in values[], after the faults that act on it. */
unsigned hil_step_signal_at(const struct hil_step *step, const struct hil_signal *signal);

/* Takes the sources' values at t_ns. They go to sampled components immediately. */
void hil_step_take_sources(const struct hil_step *step, uint64_t t_ns);

#endif
