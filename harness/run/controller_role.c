/*
 * The controller: reads the newest voltages, computes the duties, pushes them.
 *
 * Where a run goes on without a converter that died, that one gives 0 V and 0 A, which is what a
 * dead converter gives. Its law rests, so that nothing winds up against a plant that cannot answer,
 * and its duty stays as it is; both go on when a newer voltage of it comes. The law of a converter
 * whose voltage is stale rests as well, with on_stale_input: safe, and its duty is the safe one. So
 * does that of one whose voltages are no numbers, after bad_inputs_limit of them; and, with
 * on_error: safe, a law that has failed, for good.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../record/streams.h"
#include "../scenario/system.h"
#include "role.h"
#include "tracer.h"

enum { SENT_MAX = 1024 }; /* steps whose time of pushing is remembered */

/* Where in[] has what the law does not ask for: so that the step asks nothing. */
enum { SPARE = HIL_QUANTITIES_MAX };

/* One converter, as the controller knows it. */
struct seen {
    void *law; /* the controller's instance for it */
    double duty;
    struct hil_measurement newest;
    bool away;   /* it died, and has not come back yet */
    bool rests;  /* its law does */
    bool failed; /* its law has */
    struct hil_input input;
    unsigned link;         /* of the system: its voltages */
    struct hil_loss *loss; /* where that is written down; NULL: nowhere */
};

/* Where a row of the record has what; -1: nowhere. */
struct places {
    int time, step, plant_time, output, reference, voltage, duty;
};

struct controller {
    const struct hil_model *law;
    unsigned reference_at, voltage_at, current_at; /* in in[], or SPARE */
    unsigned duty_at;                              /* in out[] */
    double in[HIL_QUANTITIES_MAX + 1];             /* what nothing feeds has its default */
    double out[HIL_QUANTITIES_MAX];
    bool delay;    /* push one step after computing */
    bool computed; /* there are duties to push */
    bool goes_on;  /* without a converter that died */
    enum hil_on_stale on_stale;
    bool ends; /* a voltage is stale, and that ends the run */
    struct hil_stale_log *stale;
    unsigned looked_at; /* the newest converter whose row was copied */
    uint64_t look_ns;   /* when the next is to be */
    unsigned figures;   /* of the state */
    unsigned count;
    struct places row;
    uint64_t sent_ns[SENT_MAX]; /* by step number */
    struct seen converters[];
};

static void push(struct hil_role *r, struct controller *c, uint64_t n, uint64_t now)
{
    c->sent_ns[(n + 1) % SENT_MAX] = now;
    for (unsigned i = 0; i < c->count; i++) {
        const struct hil_command command = {.duty = c->converters[i].duty, .step = n + 1};
        loco_owned_var_store(&r->channel.duties[i], &command);
        loco_owned_var_push(&r->channel.duties[i]);
    }
}

/* Of the converters' links: asked for anew, because a rehearsal has a state of its own. */
static struct hil_link_figures *figures_of(const struct hil_role *r, const struct controller *c)
{
    return &r->run->state->figures[c->figures];
}

/* Now is when the controller sees the first voltage that an earlier step had made. */
static void account_round_trip(const struct hil_role *r, struct controller *c, unsigned i,
                               uint64_t n, uint64_t now)
{
    const struct hil_measurement *m = &c->converters[i].newest;

    if (n + 1 - m->acted_on >= SENT_MAX)
        return;
    const struct hil_traced_answer answer = {
        .converter = 1 + i,
        .step = n + 1,
        .acted_on = m->acted_on,
        .answer = m->step,
        .round_trip_ns = now - c->sent_ns[m->acted_on % SENT_MAX],
    };
    hil_histogram_add(&figures_of(r, c)->round_trip, answer.round_trip_ns);
    HIL_TRACE(answer, &answer);
}

static void lose(const struct hil_role *r, struct seen *seen, unsigned i, uint64_t now)
{
    struct hil_loss_log *log = &r->run->state->executors[r->run->executor].losses;

    seen->away = true;
    seen->newest.voltage_v = seen->newest.current_a = 0;
    seen->loss = log->count < HIL_LOSSES_MAX ? &log->at[log->count] : NULL;
    if (seen->loss)
        *seen->loss = (struct hil_loss){.from = 1 + i, .lost_ns = now};
    log->count++;
}

static void take_back(const struct hil_role *r, struct seen *seen, uint64_t now)
{
    seen->away = false;
    if (seen->loss)
        seen->loss->back_ns = now;
    r->run->state->executors[r->run->executor].losses.back_count++;
}

/* Whether the converter is away at this step. It is back with its first voltage. */
static bool is_away(const struct hil_role *r, struct seen *seen, unsigned i, uint64_t now)
{
    const struct loco_owned_var *voltage = &r->channel.voltages[i];
    struct hil_measurement m;

    if (loco_channel_check(&voltage->channel)) {
        if (!seen->away)
            lose(r, seen, i, now);
    } else if (seen->away && loco_owned_var_load(voltage, &m) == 0 && m.step > seen->newest.step) {
        take_back(r, seen, now);
    }
    return seen->away;
}

/* One that is no number says that the converter goes on, and no more: the last good one holds. */
static void take(const struct hil_role *r, struct seen *seen, const struct hil_measurement *m)
{
    const struct hil_measurement held = seen->newest;
    bool number = isfinite(m->voltage_v) && isfinite(m->current_a);

    if (m->step == held.step)
        return;
    seen->newest = *m;
    if (hil_input_is_number(&seen->input, number))
        return;
    seen->newest.voltage_v = held.voltage_v;
    seen->newest.current_a = held.current_a;
    r->run->state->links[seen->link].bad++;
}

static void read_newest(struct hil_role *r, struct controller *c, unsigned i, uint64_t n,
                        uint64_t now)
{
    struct seen *seen = &c->converters[i];
    uint64_t acted_on = seen->newest.acted_on;
    struct hil_measurement m;

    if (loco_owned_var_load(&r->channel.voltages[i], &m))
        r->state->torn++;
    else if (m.step)
        take(r, seen, &m);
    if (seen->newest.acted_on > acted_on)
        account_round_trip(r, c, i, n, now);
}

static void make_safe(const struct hil_role *r, struct seen *seen)
{
    seen->rests = true;
    seen->duty = r->run->scenario->converters[seen->input.from - 1].duty_safe;
}

/* What the scenario says of a voltage that is older than its limit. */
static void answer_stale(const struct hil_role *r, struct controller *c, struct seen *seen)
{
    if (seen->away)
        return;
    c->ends |= c->on_stale == HIL_STALE_END;
    if (c->on_stale == HIL_STALE_SAFE)
        make_safe(r, seen);
}

/* Returns how old the voltage is. */
static uint64_t judge_age(const struct hil_role *r, struct controller *c, struct seen *seen,
                          uint64_t now)
{
    uint64_t age = hil_input_age(&seen->input, seen->newest.step, now);

    seen->rests = seen->away || seen->failed;
    if (hil_input_is_stale(&seen->input, c->stale, age, now))
        answer_stale(r, c, seen);
    if (hil_input_is_bad(&seen->input) && !seen->away)
        make_safe(r, seen);
    return seen->away ? 0 : age;
}

static double read_all(struct hil_role *r, struct controller *c, uint64_t n, uint64_t now)
{
    double output = 0;
    uint64_t oldest = 0;

    for (unsigned i = 0; i < c->count; i++) {
        struct seen *seen = &c->converters[i];
        if (!c->goes_on || !is_away(r, seen, i, now))
            read_newest(r, c, i, n, now);
        uint64_t age = judge_age(r, c, seen, now);
        if (age > oldest)
            oldest = age;
        output += seen->newest.voltage_v;
    }
    r->loop.input_age_ns = oldest;
    hil_histogram_add(&figures_of(r, c)->input_age, oldest);
    return output;
}

__attribute__((cold, noinline)) static int law_failed(const struct hil_role *r,
                                                      const struct controller *c, struct seen *seen,
                                                      uint64_t n, int rc)
{
    const struct hil_failing failing = {
        .name = "control",
        .id = seen->input.from - 1,
        .step = n,
        .time_ns = hil_loop_due(&r->loop, n),
        .ends = r->run->scenario->controller.on_error == HIL_ERROR_END,
    };

    seen->failed = true;
    make_safe(r, seen);
    return hil_fault_add(&r->run->state->executors[r->run->executor].faults, &failing, c->law, rc,
                         c->out);
}

static int compute(const struct hil_role *r, struct controller *c, uint64_t n, double reference)
{
    const uint64_t due = hil_loop_due(&r->loop, n);

    c->computed = true;
    c->in[c->reference_at] = reference;
    for (unsigned i = 0; i < c->count; i++) {
        struct seen *seen = &c->converters[i];
        if (seen->rests)
            continue;
        c->in[c->voltage_at] = seen->newest.voltage_v;
        c->in[c->current_at] = seen->newest.current_a;
        int rc = c->law->step(seen->law, due, c->in, c->out);
        if (!rc && hil_outputs_are_numbers(c->law, c->out)) {
            seen->duty = c->out[c->duty_at];
            continue;
        }
        rc = law_failed(r, c, seen, n, rc);
        if (rc)
            return rc;
    }
    return 0;
}

/* The time of the oldest of the newest voltages: 0 before all have come. */
static uint64_t plants_reached_ns(const struct hil_role *r, const struct controller *c)
{
    uint64_t least = UINT64_MAX;

    for (unsigned i = 0; i < c->count; i++) {
        uint64_t step = c->converters[i].newest.step;
        uint64_t at = step ? hil_due(&r->run->scenario->converters[i].timing, step) : 0;
        least = at < least ? at : least;
    }
    return least;
}

static void record(const struct hil_role *r, const struct controller *c, uint64_t n, uint64_t now,
                   double output, double reference)
{
    const struct places *at = &c->row;
    double *row = hil_role_row(r, n);

    if (!row)
        return;
    hil_row_put(row, at->time, (double)now * 1e-9);
    hil_row_put(row, at->step, (double)n);
    if (at->plant_time >= 0)
        row[at->plant_time] = (double)plants_reached_ns(r, c) * 1e-9;
    hil_row_put(row, at->output, output);
    hil_row_put(row, at->reference, reference);
    for (unsigned i = 0; at->voltage >= 0 && i < c->count; i++)
        row[(unsigned)at->voltage + i] = c->converters[i].newest.voltage_v;
    for (unsigned i = 0; at->duty >= 0 && i < c->count; i++)
        row[(unsigned)at->duty + i] = c->converters[i].duty;
    hil_stream_commit(r->stream);
}

static struct places find_places(const struct hil_scenario *s)
{
    return (struct places){
        .time = hil_streams_place(s, 0, "time_s"),
        .step = hil_streams_place(s, 0, "step"),
        .plant_time = hil_streams_place(s, 0, "plant_time_s"),
        .output = hil_streams_place(s, 0, "output_v"),
        .reference = hil_streams_place(s, 0, "reference_v"),
        .voltage = hil_streams_place(s, 0, "voltage_v"),
        .duty = hil_streams_place(s, 0, "duty"),
    };
}

/* How the output, and each converter's, follows its reference. */
static void judge(const struct hil_role *r, const struct controller *c, uint64_t now, double output,
                  double reference)
{
    struct hil_moment moment =
        hil_responses_at(&r->run->state->responses, &r->state->measuring, now);

    hil_response_add(&moment, 0, reference * c->count, output);
    for (unsigned i = 0; i < c->count; i++)
        hil_response_add(&moment, 1 + i, reference, c->converters[i].newest.voltage_v);
}

/* For whoever watches. */
static void publish(const struct hil_role *r, uint64_t now, double output, double reference)
{
    struct hil_state *s = r->run->state;

    hil_recent_add(&s->recent, now, reference, output);
    atomic_store_explicit(&s->elapsed_ns, now, memory_order_relaxed);
}

/* The rows of converters that run elsewhere, for whoever watches here: one converter at a
 * time, all of them as often as they tell. */
static void look_around(struct hil_role *r, struct controller *c, uint64_t now)
{
    unsigned node = 1 + c->looked_at % c->count;
    struct hil_node_state *seen = &r->run->state->nodes[node];
    struct hil_progress row;

    c->look_ns = now + HIL_TELL_NS / c->count;
    c->looked_at = node;
    if (!seen->here && !loco_owned_var_load(loco_sst_row(&r->channel.progress, node), &row))
        hil_progress_copy(&seen->progress, &row);
}

static int step(void *arg, uint64_t n, uint64_t now)
{
    struct hil_role *r = arg;
    struct controller *c = r->self;
    uint64_t due = hil_loop_due(&r->loop, n);
    double reference = hil_profile_at(&r->run->scenario->reference, due);
    double all = reference * c->count;

    if (c->delay && c->computed)
        push(r, c, n, now);
    double output = read_all(r, c, n, now);
    judge(r, c, now, output, reference);
    publish(r, now, output, all);
    record(r, c, n, now, output, all); /* with the duties in force */
    int rc = compute(r, c, n, reference);
    if (rc)
        return rc;
    if (!c->delay)
        push(r, c, n, now);
    if (now >= c->look_ns)
        look_around(r, c, now);
    hil_role_end_step(r, n, due, now);
    if (c->ends)
        return -ESTALE;
    return n % 64 == 0 && !c->goes_on ? loco_channel_check(&r->channel.channel) : 0;
}

static void free_laws(struct controller *c)
{
    for (unsigned i = 0; i < c->count; i++)
        if (c->converters[i].law)
            c->law->destroy(c->converters[i].law);
}

static void free_controller(void *self)
{
    free_laws(self);
    free(self);
}

/* The converters' links, and where they are counted. */
static void find_links(const struct hil_role *r, struct controller *c)
{
    const struct hil_system *s = r->run->scenario->system;

    for (unsigned i = 0; i < s->nodes[0].incoming_count; i++) {
        const unsigned link = s->nodes[0].incoming[i];
        c->converters[s->links[link].from - 1].link = link;
        c->figures =
            (unsigned)(hil_state_figures(r->run->state, r->run->executor, s->links[link].array) -
                       r->run->state->figures);
    }
}

static int controller_begin(struct hil_role *r)
{
    const struct hil_scenario *s = r->run->scenario;
    const struct hil_config config =
        hil_role_config(r, s->controller.parameters, NULL, &s->controller.timing);
    struct controller *c = r->self;

    free_laws(c);
    memset(c->converters, 0, c->count * sizeof c->converters[0]);
    memset(c->sent_ns, 0, sizeof c->sent_ns);
    c->computed = c->ends = false;
    c->looked_at = 0;
    c->look_ns = 0;
    find_links(r, c);
    r->loop.input_age_ns = 0;
    for (unsigned i = 0; i < c->count; i++) {
        c->converters[i].duty = s->converters[i].duty_initial;
        hil_input_init(&c->converters[i].input, s, 1 + i, 0);
        int rc = c->law->create(&c->converters[i].law, &config);
        if (rc)
            return rc;
    }
    return 0;
}

static unsigned input_at(const struct controller *c, const char *name)
{
    int at = hil_quantity_find(&c->law->inputs, name);

    return at < 0 ? SPARE : (unsigned)at;
}

static void find_signals(struct controller *c)
{
    c->reference_at = input_at(c, "reference_v");
    c->voltage_at = input_at(c, "voltage_v");
    c->current_at = input_at(c, "current_a");
    c->duty_at = (unsigned)hil_quantity_find(&c->law->outputs, "duty"); /* each law has it */
    hil_quantity_values(&c->law->inputs, c->in);
}

int hil_controller_init(struct hil_role *r)
{
    const struct hil_scenario *s = r->run->scenario;
    const struct hil_controller_config *config = &s->controller;
    struct controller *c = calloc(1, sizeof *c + s->converter_count * sizeof(struct seen));

    if (!c)
        return -ENOMEM;
    r->self = c;
    r->free_self = free_controller;
    c->law = config->law;
    c->count = s->converter_count;
    c->delay = config->computation_delay;
    c->goes_on = s->on_lost == HIL_RESTART;
    c->row = find_places(s);
    c->on_stale = config->stale.action;
    c->stale = &r->run->state->executors[r->run->executor].stale;
    find_signals(c);
    r->begin = controller_begin;
    int rc = controller_begin(r);
    if (rc)
        return rc;
    r->loop = (struct hil_loop){.timing = config->timing, .step = step, .arg = r};
    hil_responses_prepare(&r->run->state->responses);
    r->decimation = s->recording.decimation;
    if (r->decimation && r->run->recorder)
        r->stream = hil_recorder_stream(r->run->recorder, 0);
    return 0;
}
