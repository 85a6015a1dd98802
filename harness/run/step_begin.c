/* Begins a node's steps, with new components, and ends them. */
#include <math.h>
#include <string.h>

#include "../models/component.h"
#include "../models/models.h"
#include "faults.h"
#include "shards.h"
#include "step_parts.h"
#include "tuner.h"

/* Log a model's message, with the name of its component. */
static void begin_log_at(const struct step_part *p, enum loco_level level, const char *line)
{
    char name[HIL_SIGNAL_NAME_BYTES];

    hil_instance_name(&p->config->is, name);
    loco_log(p->mgr, level, "%s: %s", name, line);
}

static void begin_log(void *arg, const char *line)
{
    begin_log_at(arg, LOCO_ERROR, line);
}

static void begin_warn(void *arg, const char *line)
{
    begin_log_at(arg, LOCO_WARNING, line);
}

static void begin_note(void *arg, const char *line)
{
    begin_log_at(arg, (enum loco_level)HIL_NOTE, line);
}

static int begin_component(struct hil_step *s, struct step_part *p)
{
    const struct hil_config config = {
        .size = sizeof config,
        .width = p->config->width,
        .period_s = (double)s->node->config->timing.period_ns * 1e-9,
        .parameters = p->parameters,
        .states = p->config->states,
        .log = begin_log,
        .log_arg = p,
        .model = p->model,
        .real_time = s->node->run->scenario->mode == HIL_REALTIME,
        .index = p->config->is.index,
        .warn = begin_warn,
        .note = begin_note,
        .counts = p->cost ? &p->cost->counts : NULL,
    };

    if (p->cost)
        p->cost->counts = (struct hil_counts){0};
    p->mgr = s->node->mgr;
    p->safe = p->config->safe;
    p->failed = p->rests = p->stale = false;
    hil_step_enter(s, p, 0);
    int rc = hil_component_create(&p->self, &config);
    if (!rc && p->model->output)
        rc = p->model->output(p->self, p->in, p->out);
    hil_step_leave(s, p);
    return rc;
}

/* Whether the part and the next one can be stepped in a row. If one takes from this node's outputs,
 * it cannot: such values are copied right before it computes. */
static bool begin_row_goes_on(const struct hil_step *s, const struct step_part *p)
{
    const struct step_part *next = p + 1;

    return next < s->parts + s->part_count && p->row_step && next->row_step == p->row_step &&
           p->local.count + next->local.count == 0 && next->in == p->in + p->config->in_count &&
           next->next == p->next + p->out_count;
}

static void begin_rows(struct hil_step *s)
{
    for (unsigned i = s->part_count; i-- > s->continuous;) {
        struct step_part *p = &s->parts[i];
        s->selves[i] = p->self;
        p->row_step = hil_row_step_of(p->model);
        p->row = begin_row_goes_on(s, p) ? p[1].row + 1 : 1;
    }
}

static void end_part(const struct hil_step *s, struct step_part *p)
{
    hil_step_enter(s, p, s->node->state->steps);
    hil_component_destroy(p->model, p->self);
    hil_step_leave(s, p);
    p->self = NULL;
}

static void end_parts(struct hil_step *s)
{
    for (unsigned i = 0; i < s->part_count; i++)
        if (s->parts[i].self)
            end_part(s, &s->parts[i]);
}

void hil_step_leave_hardware(struct hil_step *s)
{
    for (unsigned i = 0; i < s->part_count; i++) {
        struct step_part *p = &s->parts[i];
        if (p->self && p->model->apply)
            end_part(s, p);
    }
}

void hil_step_count_in_run(struct hil_step *s)
{
    const struct hil_run *run = s->node->run;

    s->figures = run->state->figures;
    s->executor = &run->state->executors[run->executor];
    for (unsigned i = 0; i < s->age_count; i++)
        s->ages[i].state = &run->state->ages[s->ages[i].number];
    for (unsigned i = 0; i < s->part_count; i++) {
        struct step_part *p = &s->parts[i];
        p->cost = hil_loaded_of(p->config->model) ? &run->state->costs[p->number] : NULL;
    }
}

bool hil_step_may_rehearse(const struct hil_step *s)
{
    for (unsigned i = 0; i < s->part_count; i++)
        if (s->parts[i].apart || s->parts[i].model->apply ||
            hil_model_not_real_time(s->parts[i].config->model))
            return false;
    return true;
}

static bool begin_is_plain(const struct hil_step *s)
{
    return s->continuous && s->continuous == s->part_count && !s->feed_count &&
           !s->measured_count && s->late_count == 0 &&
           !(s->applies || s->answered || s->faulted || s->has_ages || s->tuned || s->split ||
             s->tells_time);
}

/* Links of one array whose senders did the same step have messages of the same age, so they are
 * judged together, and so are their round trips. Not so if senders may come and go. */
static bool begin_is_like_next(const struct hil_step *s, unsigned i)
{
    const struct hil_input *a = &s->arrivals[i].input, *b = &s->arrivals[i + 1].input;

    return !s->goes_on && !s->arrivals[i].ends_array && a->limit_ns == b->limit_ns &&
           a->phase_ns == b->phase_ns && a->period_ns == b->period_ns &&
           s->arrivals[i].answers == s->arrivals[i + 1].answers;
}

static void begin_alike(struct hil_step *s)
{
    for (unsigned i = s->arrival_count; i-- > 0;)
        s->arrivals[i].alike = begin_is_like_next(s, i) ? s->arrivals[i + 1].alike + 1 : 1;
}

int hil_step_begin(struct hil_step *s)
{
    const struct hil_system *system = s->node->run->scenario->system;
    int rc = 0;

    end_parts(s);
    s->rested = s->safe = false;
    s->unfit = s->failed = s->broken = 0;
    s->reached_ns = 0;
    s->told_safe = s->troubled = s->stopping = false;
    hil_step_forget_ages(s);
    hil_step_begin_samples(s);
    s->node->loop.has_input = false;
    s->node->loop.input_age_ns = 0;
    memcpy(s->values, s->beginning, s->value_count * sizeof *s->values);
    if (s->answered)
        memset(s->sent_ns, 0, STEP_SENT_MAX * sizeof *s->sent_ns);
    for (unsigned i = 0; i < s->arrival_count; i++) {
        struct step_arrival *a = &s->arrivals[i];
        const struct hil_link *l = &system->links[a->link];
        a->step = a->acted_on = 0;
        a->there = a->fresh = a->away = a->unfit = a->suspect = false;
        a->loss = NULL;
        hil_step_forget_partial(s, a);
        hil_input_init(&a->input, s->node->run->scenario, l);
    }
    begin_alike(s);
    for (unsigned i = 0; i < s->feed_count; i++)
        s->values[s->feeds[i].at] = NAN; /* so that each source's value counts as changed */
    hil_step_take_sources(s, 0);
    for (unsigned i = 0; i < s->feed_count; i++)
        hil_step_copy(s, s->feeds[i].late);
    for (unsigned i = 0; !rc && i < s->part_count; i++)
        rc = begin_component(s, &s->parts[i]);
    begin_rows(s);
    if (s->faults)
        hil_faults_begin(s);
    s->computed = s->plain = begin_is_plain(s); /* it has no sampled components */
    return rc;
}

void hil_step_close(struct hil_step *s)
{
    if (!s)
        return;
    hil_step_add_samples(s);
    end_parts(s);
    hil_faults_close(s);
    hil_tuner_close(s);
    hil_shards_close(s->shards);
}
