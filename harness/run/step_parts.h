/* What a step works on: made by step_make.c, run by step.c. */
#ifndef STEP_PARTS_H
#define STEP_PARTS_H

#include <math.h>
#include <stdalign.h>
#include <stddef.h>

#include "../../channels/owned_var_quick.h"
#include "../record/columns.h"
#include "lines.h"
#include "node.h"

enum { STEP_SENT_MAX = 1024 }; /* steps whose time of pushing is remembered */

/* values[to] = scale values[from] + offset */
struct step_copy {
    unsigned to, from;
    bool scaled;
    double scale, offset;
};

/* Some of a list's entries, in a row. */
struct step_range {
    unsigned first, count;
};

/* A component of this node. What each step touches comes first, here and below. */
struct step_part {
    alignas(HIL_LINE) const struct hil_model *model;
    void *self;
    double *in, *out;      /* in values[] */
    double *next;          /* where it computes: elsewhere with computation_delay; else `out` */
    struct hil_cost *cost; /* where its steps are counted; NULL: they are not */
    unsigned out_count;
    bool failed, rests;
    bool stale;                 /* a device has not received in time what it should have */
    bool aged;                  /* inputs are too old, for which it is safe */
    struct step_range local;    /* copies from this node's outputs, before a sampled one computes */
    struct step_range arrivals; /* in needs[]: those that it takes */
    const struct hil_component *config;
    const double *parameters; /* likewise, or as they were tuned */
    const double *safe;       /* as its config has them, or on the way there at a stop; or NULL */
    struct loco_manager *mgr; /* for what the model logs */
    unsigned number;          /* of the system's components */
    unsigned old;             /* how many inputs are too old, for which it is safe */
    bool apart;               /* its code may hang or crash */
};

/* A value that comes over a link: what is known of it once a message had one that is no number. */
struct step_came {
    unsigned bad; /* messages in a row that did not have it */
    bool came;    /* one did */
};

/* An incoming link. What most of them need in each step is in the first line. */
struct step_arrival {
    alignas(HIL_LINE) struct loco_quick_reader quick; /* of `var` */
    uint64_t step, acted_on;                          /* of the newest message; 0: none yet */
    unsigned at, count;                               /* its values, in values[] */
    unsigned to;     /* of a plain one: where its value goes as well, in values[] */
    unsigned link;   /* of the system */
    bool plain;      /* of one value, that goes to one input as it is, and is loaded quickly */
    bool there;      /* there are values: of a sender that is not away */
    bool fresh;      /* and some of them are not latched yet */
    bool answers;    /* its round trips are counted here */
    bool ends_group; /* the last of those in a row that are of one array and of one age */
    bool ends_array; /* the last of those of its array */
    bool suspect;    /* it was stale, bad or away: it is judged at each step */
    bool away;       /* its sender died, and has not come back yet */
    struct step_range late; /* copies to continuous components */
    struct loco_owned_var *var;
    struct step_range early; /* copies to sampled components */
    unsigned figures;        /* of the state */
    bool unfit;              /* what takes it is to be safe */
    bool partial;            /* there are values, but some have never come */
    struct hil_input input;
    struct hil_loss *loss; /* where its death is written down; NULL: nowhere */
    uint64_t lost_ns;      /* when it died last */
    uint32_t life;         /* its sender's, as the channel counts them */
};

/* An outgoing link: a line. */
struct step_departure {
    alignas(HIL_LINE) struct loco_quick_owner quick; /* of `var`, once it is */
    const double *value;                             /* the only one; NULL: there are several */
    const struct step_arrival *back;                 /* what comes the other way; NULL: nothing */
    struct loco_owned_var *var;
    const unsigned *from; /* which of the node's outputs it has */
    unsigned count;
    bool computed; /* has only what sampled components compute */
};

/* A source that feeds this node. */
struct step_feed {
    const struct hil_source *source; /* the system's, or as it was tuned */
    unsigned at;                     /* in values[] */
    struct step_range early, late;
    bool fresh;
};

/* A measure that is made here. */
struct step_measured {
    unsigned measure;
    struct step_range signals;
    int from; /* its reference, in values[]; -1: it has none */
    double scale;
    unsigned value, reference; /* where in a row of samples they are */
};

/* In how many steps each measure's samples are added to its response once: then all of them. */
enum { STEP_SAMPLED_ROWS = HIL_SERIES_MAX };

/* Samples of the measures, a row for each step: first the values and references that are recorded,
 * as the record has them; at the end a value that is none. Some measures' responses, a share, have
 * not had the newest rows: each step adds those of another share. So the memory of one response is
 * looked at in one step of eight only, for eight samples. */
struct step_samples {
    double *rows;
    unsigned width, recorded;          /* of a row, and of what of it is recorded */
    size_t at;                         /* where the newest row begins */
    uint64_t count;                    /* rows that there were */
    uint64_t added[STEP_SAMPLED_ROWS]; /* of these, what each share of the measures has had */
    uint64_t t_ns[STEP_SAMPLED_ROWS];
    struct hil_moment moment; /* of those that have not been added */
};

/* An input with an age limit. */
struct step_age {
    const struct hil_age_limit *limit;
    struct step_part *part;
    unsigned arrival, from, to; /* its value, where it comes and where it goes: in values[] */
    unsigned number;            /* of the system's */
    bool old;
    uint64_t found_ns; /* old, last */
    struct hil_age_state *state;
    struct hil_event_of of;
};

/* What each step touches comes first. `unfit` and what is noted in bytes are not in one word of 8:
 * a compiler would ask for both at once, just after a byte was stored, for which a processor stops.
 */
struct hil_step {
    struct hil_node *node;
    double *values;
    unsigned continuous, part_count, arrival_count, feed_count, measured_count;
    unsigned early, departure_count; /* the first are sent before the others have computed */
    unsigned failed;                 /* components that give no number any more */
    unsigned stale;                  /* devices, which give no number in this step */
    unsigned unfit;                  /* all these, what is too old, and arrivals that are unfit,
                                      * bad or away */
    bool safe;                       /* values may stand in inputs of continuous components */
    bool computed;                   /* the sampled components have */
    bool troubled : 1;       /* components are broken, or the node has said that it is safe */
    bool delays : 1;         /* one of the sampled components with a delay */
    bool applies : 1;        /* a continuous one has apply() */
    bool goes_on : 1;        /* without a node that died */
    bool answered : 1;       /* its messages are: there is sent_ns */
    bool faulted : 1;        /* the scenario has faults for this node */
    bool has_ages : 1;       /* there are inputs with an age limit, or it stops */
    bool stopping : 1;       /* it is on its way to the safe values, and then stops */
    bool tuned : 1;          /* it has a tuner */
    bool split : 1;          /* it has shards */
    bool tells_time : 1;     /* how far the run is, for all that the launcher runs */
    unsigned late_count;     /* of copies from this node's outputs to continuous components */
    struct step_part *parts; /* in the order of stepping: first the continuous ones */
    struct step_arrival *arrivals;
    struct step_departure *departures;
    struct step_copy *copies;
    struct hil_link_figures *figures; /* where links are counted: in the state of node->run */
    struct step_range local; /* copies from this node's outputs to the sampled components */
    struct hil_message *message;
    struct hil_tap_ring *tap; /* NULL: nobody can watch */

    uint64_t *sent_ns; /* by step number */
    struct step_feed *feeds;
    struct step_age *ages;
    unsigned age_count;
    unsigned old, replaced; /* of these, what makes safe, and is replaced, now */
    unsigned broken;        /* components that failed */
    bool told_safe;         /* the node has said that it is */
    struct step_measured *measures;
    struct step_samples samples;
    unsigned *signals; /* of the measures, in values[] */

    uint64_t reached_ns; /* where nothing is continuous: the least that the senders had by their
                          * newest messages */

    struct hil_executor_state *executor;
    struct hil_executor_state *told; /* the same, of the run also while it is rehearsed */
    struct hil_faults *faults;       /* NULL: it is not faulted */
    struct hil_tuner_bell *tuner;    /* NULL: nothing of it can be tuned */
    struct hil_shards *shards;       /* NULL: one thread does all of it */

    double *next;              /* outputs of components with a delay, by their places */
    struct step_range delayed; /* of them, those that there are; count 0: others between them */

    /* Where the parts of values[] begin: first are the inputs. */
    unsigned out, sourced, shadowed, arrived, value_count;
    double *beginning;           /* values[] before the first step */
    double *stop_from, *stop_at; /* when it began to stop, and on the way: of inputs and outputs */
    struct step_came *came;      /* of the values from `arrived` on */
    unsigned *needs;             /* arrivals of components */
    unsigned recorded_count;
    struct step_range *recorded; /* runs in values[] */
    struct hil_row_places row;
};

_Static_assert(offsetof(struct hil_step, sent_ns) <= 2 * HIL_LINE &&
                   offsetof(struct step_part, arrivals) <= HIL_LINE &&
                   offsetof(struct step_arrival, var) <= HIL_LINE &&
                   sizeof(struct step_departure) == HIL_LINE,
               "a few lines");

static inline void hil_step_copy(const struct hil_step *s, struct step_range range)
{
    const struct step_copy *c = s->copies + range.first;

    for (unsigned i = 0; i < range.count; i++, c++) {
        const double value = s->values[c->from];
        s->values[c->to] = c->scaled ? c->scale * value + c->offset : value;
    }
}

/* The copies behind those of `local`: to continuous components. */
static inline struct step_range hil_step_local_late(const struct hil_step *s)
{
    return (struct step_range){s->local.first + s->local.count, s->late_count};
}

/* Around a call of a function of the part's model, at step `n`. */
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

/* What the component's safe values are of: the outputs of what is sampled, and the inputs of what
 * is continuous. */
static inline double *hil_step_safe_places(const struct step_part *p, unsigned *count)
{
    const bool sampled = p->model->kind == HIL_SAMPLED;

    *count = sampled ? p->config->out_count : p->config->in_count;
    return sampled ? p->out : p->in;
}

/* Those that are given are there from now on. */
void hil_step_make_safe(const struct step_part *part);

/* Measures: where their samples are, which begins anew; taking one of each at a step that begins
 * `now`; adding to their responses what was not added yet. And this step's values and references as
 * they are recorded. */
size_t hil_step_samples_count(const struct hil_node *node);
void hil_step_make_samples(struct hil_step *step);
void hil_step_begin_samples(struct hil_step *step);
void hil_step_measure(struct hil_step *step, uint64_t now);
void hil_step_add_samples(struct hil_step *step);

static inline const double *hil_step_sampled(const struct hil_step *s)
{
    return s->samples.rows + s->samples.at;
}

/* Inputs with an age limit: how many the node has at most, and finding them; whether they are too
 * old at step n, which returns 0, or -ESTALE when that ends the run; and values in the place of
 * those that are, of sampled components, or of continuous ones (`late`). */
unsigned hil_step_count_ages(const struct hil_node *node);
void hil_step_make_ages(struct hil_step *step);
void hil_step_forget_ages(struct hil_step *step);
int hil_step_judge_ages(struct hil_step *step, uint64_t n, uint64_t now);
void hil_step_replace_old(const struct hil_step *step, bool late);

/* Takes the message's values, but for those of components that gave one which is no number: what
 * came of these before holds. */
void hil_step_take_partial(const struct hil_step *step, struct step_arrival *arrival);

/* From now on all its values have come, or none has. */
void hil_step_forget_partial(const struct hil_step *step, struct step_arrival *arrival);

/* Whether the component takes one of the arrival's values that was bad too often. */
bool hil_step_takes_bad(const struct hil_step *step, const struct step_part *part,
                        const struct step_arrival *arrival);

/* Inputs that these copies are for are what they began with, unless their value has come. */
void hil_step_begin_again(const struct hil_step *step, struct step_range copies);

/* Where in values[] the signal is, as it is with the faults that act on it. */
unsigned hil_step_signal_at(const struct hil_step *step, const struct hil_signal *signal);

/* The sources' values at t_ns, which go to sampled components at once. */
void hil_step_take_sources(const struct hil_step *step, uint64_t t_ns);

#endif
