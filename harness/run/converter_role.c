/* The converter: advances its plant, pushes the voltage, holds the newest duty. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "../record/streams.h"
#include "../scenario/system.h"
#include "role.h"

/* Where a row of the record has what; -1: nowhere. */
struct places {
    int time, step, plant_time, voltage, current, duty;
};

/* An input that the scenario has change. */
struct fed {
    const struct hil_profile *profile;
    double factor;
    unsigned at; /* in in[] */
};

/* What each step touches comes first: a thousand of these do not fit in the nearest cache. */
struct converter {
    const struct hil_model *model;
    void *plant;
    struct loco_owned_var *voltage, *duty; /* of the channel */
    bool failed;                           /* the plant has */
    uint64_t held;                         /* the controller's step whose duty is held */
    struct hil_input input;
    struct hil_stale_log *stale;              /* the executor's */
    unsigned figures;                         /* of the state */
    unsigned duty_at, voltage_at, current_at; /* in in[], and in out[] */
    unsigned fed_count;
    double in[HIL_QUANTITIES_MAX], out[HIL_QUANTITIES_MAX];
    struct fed fed[2];
    struct places row;
};

static void feed(struct converter *c, uint64_t t_ns)
{
    for (unsigned i = 0; i < c->fed_count; i++)
        c->in[c->fed[i].at] = hil_profile_at(c->fed[i].profile, t_ns) * c->fed[i].factor;
}

static void record(const struct hil_role *r, const struct converter *c, uint64_t n, uint64_t now)
{
    const struct places *at = &c->row;
    double *row = hil_role_row(r, n);

    if (!row)
        return;
    hil_row_put(row, at->time, (double)now * 1e-9);
    hil_row_put(row, at->step, (double)n);
    hil_row_put(row, at->plant_time, (double)hil_loop_due(&r->loop, n) * 1e-9);
    hil_row_put(row, at->voltage, c->out[c->voltage_at]);
    hil_row_put(row, at->current, c->out[c->current_at]);
    hil_row_put(row, at->duty, c->in[c->duty_at]);
    hil_stream_commit(r->stream);
}

static struct places find_places(const struct hil_scenario *s, unsigned node)
{
    return (struct places){
        .time = hil_streams_place(s, node, "time_s"),
        .step = hil_streams_place(s, node, "step"),
        .plant_time = hil_streams_place(s, node, "plant_time_s"),
        .voltage = hil_streams_place(s, node, "voltage_v"),
        .current = hil_streams_place(s, node, "current_a"),
        .duty = hil_streams_place(s, node, "duty"),
    };
}

static void push(const struct converter *c, uint64_t n)
{
    const struct hil_measurement m = {
        .voltage_v = c->out[c->voltage_at],
        .current_a = c->out[c->current_at],
        .step = n + 1,
        .acted_on = c->held,
    };

    loco_owned_var_store(c->voltage, &m);
    loco_owned_var_push(c->voltage);
}

/* Until the first one comes the initial duty holds, and the last good one where one is no number.
 */
static void hold(struct hil_role *r, struct converter *c, const struct hil_command *command)
{
    c->held = command->step;
    r->loop.acted_on = command->step;
    if (hil_input_is_number(&c->input, isfinite(command->duty)))
        c->in[c->duty_at] = command->duty;
    else
        r->run->state->links[r->run->scenario->system->nodes[r->node].incoming[0]].bad++;
    if (hil_input_is_bad(&c->input))
        c->in[c->duty_at] = r->run->scenario->converters[r->node - 1].duty_safe;
}

static void hold_newest(struct hil_role *r, struct converter *c, uint64_t now)
{
    struct hil_command command;

    if (loco_owned_var_load(c->duty, &command)) {
        r->state->torn++;
    } else if (command.step != c->held) {
        hold(r, c, &command);
    }
    r->loop.input_age_ns = hil_input_age(&c->input, c->held, now);
    if (c->held)
        hil_histogram_add(&r->run->state->figures[c->figures].input_age, r->loop.input_age_ns);
}

/* The duty that is held is too old. */
static int answer_stale(const struct hil_role *r, struct converter *c)
{
    const struct hil_converter_config *config = &r->run->scenario->converters[r->node - 1];

    if (config->stale.action == HIL_STALE_SAFE)
        c->in[c->duty_at] = config->duty_safe;
    return config->stale.action == HIL_STALE_END ? -ESTALE : 0;
}

/* From now on the plant gives no number, by which the controller knows. */
__attribute__((cold, noinline)) static int plant_failed(const struct hil_role *r,
                                                        struct converter *c, uint64_t n, int rc)
{
    const struct hil_failing failing = {
        .name = "converter",
        .id = r->node - 1,
        .step = n,
        .time_ns = hil_loop_due(&r->loop, n),
        .ends = r->run->scenario->converters[r->node - 1].on_error == HIL_ERROR_END,
    };

    c->failed = true;
    rc = hil_fault_add(&r->run->state->executors[r->run->executor].faults, &failing, c->model, rc,
                       c->out);
    c->out[c->voltage_at] = c->out[c->current_at] = NAN;
    return rc;
}

/* Over the interval that just ended, with what was held over it; before the first there is none. */
static int advance(const struct hil_role *r, struct converter *c, uint64_t n)
{
    if (c->failed)
        return 0;
    int rc = n > 0 ? c->model->step(c->plant, hil_loop_due(&r->loop, n), c->in, c->out) : 0;
    return rc || !hil_outputs_are_numbers(c->model, c->out) ? plant_failed(r, c, n, rc) : 0;
}

static int step(void *arg, uint64_t n, uint64_t now)
{
    struct hil_role *r = arg;
    struct converter *c = r->self;
    uint64_t due = hil_loop_due(&r->loop, n);

    int rc = advance(r, c, n);
    if (rc)
        return rc;
    push(c, n);
    record(r, c, n, now);
    hold_newest(r, c, now);
    if (hil_input_is_stale(&c->input, c->stale, r->loop.input_age_ns, now)) {
        rc = answer_stale(r, c);
        if (rc)
            return rc;
    }
    feed(c, due);
    hil_role_end_step(r, n, due, now);
    return n % 64 == 0 && loco_peer_lost(r->mgr, 0) ? -ECONNRESET : 0;
}

static void free_converter(void *self)
{
    struct converter *c = self;

    if (c->plant)
        c->model->destroy(c->plant);
    free(c);
}

static int converter_begin(struct hil_role *r)
{
    const struct hil_scenario *s = r->run->scenario;
    const struct hil_converter_config *config = &s->converters[r->node - 1];
    struct converter *c = r->self;

    if (c->plant)
        c->model->destroy(c->plant);
    c->plant = NULL;
    c->failed = false;
    c->held = 0;
    r->loop.acted_on = r->loop.input_age_ns = 0;
    hil_input_init(&c->input, s, 0, r->node);
    for (unsigned i = 0; i < c->model->inputs.count; i++)
        c->in[i] = config->inputs[i];
    c->in[c->duty_at] = config->duty_initial;

    const struct hil_config made =
        hil_role_config(r, config->parameters, config->states, &config->timing);
    int rc = c->model->create(&c->plant, &made);
    if (rc)
        return rc;
    feed(c, 0);
    return c->model->output(c->plant, c->in, c->out);
}

/* Lets the profile feed the input, if the scenario has it change and the plant has such an input.
 */
static void add_fed(struct converter *c, const char *input, const struct hil_profile *profile,
                    double factor)
{
    int at = hil_quantity_find(&c->model->inputs, input);

    if (profile->count && at >= 0)
        c->fed[c->fed_count++] = (struct fed){profile, factor, (unsigned)at};
}

/* The scenario has no plant without the three. */
static void find_signals(const struct hil_scenario *s, struct converter *c,
                         const struct hil_converter_config *config)
{
    c->duty_at = (unsigned)hil_quantity_find(&c->model->inputs, "duty");
    c->voltage_at = (unsigned)hil_quantity_find(&c->model->outputs, "voltage_v");
    c->current_at = (unsigned)hil_quantity_find(&c->model->outputs, "current_a");
    add_fed(c, "load_ohm", &s->load, config->load_factor);
    add_fed(c, "input_voltage_v", &s->input_voltage, config->input_voltage_factor);
}

int hil_converter_init(struct hil_role *r)
{
    const struct hil_scenario *s = r->run->scenario;
    const struct hil_converter_config *config = &s->converters[r->node - 1];
    struct converter *c = calloc(1, sizeof *c);

    if (!c)
        return -ENOMEM;
    r->self = c;
    r->free_self = free_converter;
    r->begin = converter_begin;
    c->model = config->plant;
    c->row = find_places(s, r->node);
    c->voltage = &r->channel.voltages[0];
    c->duty = &r->channel.duties[0];
    find_signals(s, c, config);
    c->stale = &r->run->state->executors[r->run->executor].stale;
    const struct hil_system *system = s->system;
    const unsigned link = system->nodes[r->node].incoming[0];
    c->figures =
        (unsigned)(hil_state_figures(r->run->state, r->run->executor, system->links[link].array) -
                   r->run->state->figures);
    int rc = converter_begin(r);
    if (rc)
        return rc;
    r->loop = (struct hil_loop){.timing = config->timing, .step = step, .arg = r};
    r->decimation = s->recording.converter_decimation;
    if (r->decimation && r->run->recorder)
        r->stream = hil_recorder_stream(r->run->recorder, r->node);
    return 0;
}
