#include "simulation.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../bank.h"

/* --- values on their way ---------------- */

enum { IN_FLIGHT = 512 };

struct value {
    uint64_t visible_ns;
    double voltage_v, current_a, duty;
};

/* One sender, one receiver. */
struct line {
    struct value sent[IN_FLIGHT];
    uint64_t count;
};

static void push(struct line *line, struct value value)
{
    line->sent[line->count++ % IN_FLIGHT] = value;
}

/* The newest that is visible now; NULL before any has arrived. */
static const struct value *newest(const struct line *line, uint64_t now)
{
    for (uint64_t n = line->count; n-- > 0;) {
        const struct value *value = &line->sent[n % IN_FLIGHT];

        cr_assert_lt(line->count - n, IN_FLIGHT, "more in flight than the test holds");
        if (value->visible_ns <= now)
            return value;
    }
    return NULL;
}

/* --- plants ---------------- */

enum { I, V }; /* the state x = [iL, vC] */

struct averaged {
    double r, g, inductance, capacitance, esr;
    double x[2];
};

struct converter {
    const struct hil_component *plant;
    const struct hil_timing *timing;
    double load_factor, input_voltage_factor;
    void *model;             /* of a plant that is not averaged */
    struct averaged circuit; /* of one that is */
    double duty, input_v, load;
    double voltage_v, current_a;
    uint64_t next_ns;
    struct line voltages, duties; /* up, down */
    struct simulated_converter *record;
};

static double parameter(const struct hil_component *c, const char *name)
{
    return c->parameters[hil_quantity_find(&c->model->parameters, name)];
}

static double state(const struct hil_component *c, const char *name)
{
    return c->states[hil_quantity_find(&c->model->states, name)];
}

static bool is_averaged(const struct hil_component *c)
{
    return strcmp(c->model->name, "switched_buck") != 0;
}

/* The shares of a period in which the source feeds the inductor, and in which the inductor
 * feeds the output: "averaged matrices d A1 + (1-d) A2". */
static void shares(const struct converter *c, double *source, double *output)
{
    const char *plant = c->plant->model->name;
    bool boost = strcmp(plant, "boost") == 0, buck = strcmp(plant, "buck") == 0;

    *source = boost ? 1 : c->duty;
    *output = buck ? 1 : 1 - c->duty;
}

/* exp(M), by a Taylor series of a small part and squaring. */
static void exponential(double m[3][3])
{
    enum { HALVINGS = 12, TERMS = 12 };
    double sum[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, term[3][3], product[3][3];

    memcpy(term, sum, sizeof term);
    for (int n = 1; n <= TERMS + HALVINGS; n++) {
        bool series = n <= TERMS;
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) {
                product[i][k] = 0;
                for (int j = 0; j < 3; j++)
                    product[i][k] +=
                        series ? term[i][j] * ldexp(m[j][k], -HALVINGS) / n : sum[i][j] * sum[j][k];
            }
        memcpy(series ? term : sum, product, sizeof term);
        for (int i = 0; series && i < 9; i++)
            sum[i / 3][i % 3] += term[i / 3][i % 3];
    }
    memcpy(m, sum, sizeof sum);
}

static void observe(struct converter *c)
{
    const struct averaged *p = &c->circuit;
    double source, output;

    shares(c, &source, &output);
    c->voltage_v = c->load / (c->load + p->esr) * (p->x[V] + output * p->esr * p->x[I]);
    c->current_a = p->x[I];
}

/* "Exact zero-order hold over Ts", from the equations of the reference. */
static void advance_averaged(struct converter *c)
{
    struct averaged *p = &c->circuit;
    double h = (double)c->timing->period_ns * 1e-9, source, output;
    double R = c->load, g = 1 / (R + p->esr), L = p->inductance, C = p->capacitance;

    shares(c, &source, &output);
    double m[3][3] = {
        {-h * (p->r + output * R * g * p->esr) / L, -h * output * R * g / L,
         h * source * c->input_v / L},
        {h * output * g * R / C, -h * g / C, 0},
        {0, 0, 0},
    };
    exponential(m);
    double i = p->x[I], v = p->x[V];
    p->x[I] = m[0][0] * i + m[0][1] * v + m[0][2];
    p->x[V] = m[1][0] * i + m[1][1] * v + m[1][2];
    observe(c);
}

static void say(void *arg, const char *line)
{
    cr_log_warn("%s: %s", (const char *)arg, line);
}

static void *open_model(const struct hil_model *model, const double *parameters,
                        const double *states, const struct hil_timing *timing)
{
    const struct hil_config config = {
        .size = sizeof config,
        .width = 1,
        .period_s = (double)timing->period_ns * 1e-9,
        .parameters = parameters,
        .states = states,
        .log = say,
        .log_arg = (char *)model->name,
        .model = model,
    };
    void *self;

    cr_assert_eq(model->create(&self, &config), 0);
    return self;
}

static void use_model(struct converter *c, bool advance)
{
    const struct hil_model *model = c->plant->model;
    double in[HIL_QUANTITIES_MAX] = {0}, out[HIL_QUANTITIES_MAX];

    in[hil_quantity_find(&model->inputs, "enable")] = 1;
    in[hil_quantity_find(&model->inputs, "duty")] = c->duty;
    in[hil_quantity_find(&model->inputs, "input_voltage_v")] = c->input_v;
    in[hil_quantity_find(&model->inputs, "load_ohm")] = c->load;
    if (advance)
        cr_assert_eq(model->step(c->model, c->next_ns, in, out), 0);
    else
        cr_assert_eq(model->output(c->model, in, out), 0);
    c->voltage_v = out[hil_quantity_find(&model->outputs, "voltage_v")];
    c->current_a = out[hil_quantity_find(&model->outputs, "current_a")];
}

static void apply_profiles(struct converter *c, const struct hil_scenario *s, uint64_t now)
{
    const struct hil_profile *load = bank_profile(s, "load");
    const struct hil_profile *input_voltage = bank_profile(s, "input_voltage");

    if (load->count)
        c->load = hil_profile_at(load, now) * c->load_factor;
    if (input_voltage->count)
        c->input_v = hil_profile_at(input_voltage, now) * c->input_voltage_factor;
}

static void open_circuit(struct converter *c)
{
    const struct hil_component *plant = c->plant;

    c->circuit = (struct averaged){
        .r =
            parameter(plant, "inductor_resistance_ohm") + parameter(plant, "switch_resistance_ohm"),
        .inductance = parameter(plant, "inductance_h"),
        .capacitance = parameter(plant, "capacitance_f"),
        .esr = parameter(plant, "esr_ohm"),
    };
    c->circuit.x[I] = state(plant, "current_a");
    c->circuit.x[V] = state(plant, "voltage_v");
    observe(c);
}

static void open_converter(struct converter *c, const struct hil_scenario *s, unsigned id)
{
    *c = (struct converter){
        .plant = bank_plant(s, id),
        .timing = &bank_converter(s, id)->timing,
        .duty = bank_feed(s, id, "duty")->initial,
        .load = bank_feed(s, id, "load_ohm")->initial,
        .load_factor = bank_feed(s, id, "load_ohm")->scale,
        .input_v = bank_feed(s, id, "input_voltage_v")->initial,
        .input_voltage_factor = bank_feed(s, id, "input_voltage_v")->scale,
    };
    c->next_ns = c->timing->phase_ns;
    apply_profiles(c, s, 0);
    if (is_averaged(c->plant)) {
        open_circuit(c);
        return;
    }
    c->model = open_model(c->plant->model, c->plant->parameters, c->plant->states, c->timing);
    use_model(c, false);
}

static void record_converter(struct converter *c, uint64_t now)
{
    struct simulated_converter *r = c->record;

    r->time_s[r->rows] = (double)now * 1e-9;
    r->voltage_v[r->rows] = c->voltage_v;
    r->current_a[r->rows] = c->current_a;
    r->duty[r->rows++] = c->duty;
}

/* "For n > 0 advance x over the interval just ended with the held duty; push V (visible at
 * t + lambda); then hold the newest duty visible now." */
static void step_converter(struct converter *c, const struct hil_scenario *s, uint64_t now)
{
    if (now > c->timing->phase_ns && is_averaged(c->plant))
        advance_averaged(c);
    else if (now > c->timing->phase_ns)
        use_model(c, true);
    push(&c->voltages, (struct value){.visible_ns = now + bank_latency_ns(s, 1, 0),
                                      .voltage_v = c->voltage_v,
                                      .current_a = c->current_a});
    const struct value *command = newest(&c->duties, now);
    if (command)
        c->duty = command->duty;
    record_converter(c, now); /* the duty is the one that is held from now on */
    apply_profiles(c, s, now);
    c->next_ns += c->timing->period_ns;
}

/* --- laws ---------------- */

struct law {
    void *model; /* of a law other than the PID */
    double integral, derivative, previous;
    bool begun;
    double duty; /* computed last */
    double period_s;
};

static double gain(const struct hil_component *c, const char *name)
{
    return c->parameters[hil_quantity_find(&c->model->parameters, name)];
}

static double step_pid(struct law *law, const struct hil_component *c, double reference,
                       double voltage)
{
    double T = law->period_s, tf = gain(c, "derivative_filter_s");
    double error = reference - voltage, last = law->begun ? law->previous : voltage;
    double integral = law->integral + gain(c, "ki_per_v_s") * T * error;

    law->derivative = (tf * law->derivative - gain(c, "kd_s_per_v") * (voltage - last)) / (tf + T);
    double raw = gain(c, "kp_per_v") * (gain(c, "setpoint_weight") * reference - voltage) +
                 integral + law->derivative;
    double least = gain(c, "duty_min"), most = gain(c, "duty_max");
    bool winds_up = (raw > most && error > 0) || (raw < least && error < 0);
    law->integral = winds_up ? law->integral : integral;
    law->previous = voltage;
    law->begun = true;
    return fmin(fmax(raw, least), most);
}

static double step_law(struct law *law, const struct hil_component *c, uint64_t now,
                       double reference, const struct value *seen)
{
    double in[HIL_QUANTITIES_MAX] = {0}, out[HIL_QUANTITIES_MAX];
    const struct {
        const char *name;
        double value;
    } inputs[] = {
        {"reference_v", reference}, {"voltage_v", seen->voltage_v}, {"current_a", seen->current_a}};

    if (strcmp(c->model->name, "pid") == 0)
        return step_pid(law, c, reference, seen->voltage_v);
    for (int i = 0; i < 3; i++) {
        int at = hil_quantity_find(&c->model->inputs, inputs[i].name);
        if (at >= 0)
            in[at] = inputs[i].value;
    }
    cr_assert_eq(c->model->step(law->model, now, in, out), 0);
    return out[hil_quantity_find(&c->model->outputs, "duty")];
}

static void open_law(struct law *law, const struct hil_component *c,
                     const struct hil_timing *timing, double duty)
{
    *law = (struct law){.duty = duty, .period_s = (double)timing->period_ns * 1e-9};
    law->model = open_model(c->model, c->parameters, NULL, timing);
}

/* --- the run ---------------- */

struct rig {
    const struct hil_scenario *scenario;
    struct converter *converters;
    struct law *laws;
    uint64_t next_ns; /* the controller's */
    struct simulated record;
};

static void push_duties(struct rig *rig, uint64_t now)
{
    for (unsigned i = 0; i < rig->record.count; i++)
        push(&rig->converters[i].duties,
             (struct value){.visible_ns = now + bank_latency_ns(rig->scenario, 0, 1),
                            .duty = rig->laws[i].duty});
}

/* The duty is the one that takes effect at this instant. */
static void record(struct rig *rig, unsigned i, double voltage, double duty)
{
    size_t row = rig->record.rows, at = row * rig->record.count + i;

    rig->record.output_v[row] += voltage;
    rig->record.voltage_v[at] = voltage;
    rig->record.duty[at] = duty;
}

/* "Push the duties computed in the previous step; read the newest voltages (0 before any
 * arrived); record (t, sum V); compute; keep for the next step. This one step of computation
 * delay can be switched off." */
static void step_controller(struct rig *rig, uint64_t now)
{
    const struct hil_component *c = bank_law(rig->scenario, 0);
    double reference = hil_profile_at(bank_profile(rig->scenario, "reference"), now);

    if (c->computation_delay && rig->record.rows > 0)
        push_duties(rig, now);
    rig->record.time_s[rig->record.rows] = (double)now * 1e-9;
    for (unsigned i = 0; i < rig->record.count; i++) {
        static const struct value nothing;
        const struct value *seen = newest(&rig->converters[i].voltages, now);
        seen = seen ? seen : &nothing;
        const double before = rig->laws[i].duty;
        rig->laws[i].duty = step_law(&rig->laws[i], c, now, reference, seen);
        record(rig, i, seen->voltage_v, c->computation_delay ? before : rig->laws[i].duty);
    }
    if (!c->computation_delay)
        push_duties(rig, now);
    rig->record.rows++;
    rig->next_ns += bank_controller(rig->scenario)->timing.period_ns;
}

static void open_record(struct simulated_converter *r, const struct hil_timing *t, uint64_t end)
{
    size_t steps = end / t->period_ns + 2;

    r->time_s = calloc(steps, sizeof(double));
    r->voltage_v = calloc(steps, sizeof(double));
    r->current_a = calloc(steps, sizeof(double));
    r->duty = calloc(steps, sizeof(double));
}

static struct rig open_rig(const struct hil_scenario *s)
{
    const struct hil_timing *timing = &bank_controller(s)->timing;
    size_t steps = s->duration_ns / timing->period_ns + 2, n = bank_count(s);
    struct rig rig = {
        .scenario = s,
        .converters = calloc(n, sizeof(struct converter)),
        .laws = calloc(n, sizeof(struct law)),
        .next_ns = timing->phase_ns,
        .record = {.count = n,
                   .time_s = calloc(steps, sizeof(double)),
                   .output_v = calloc(steps, sizeof(double)),
                   .voltage_v = calloc(steps * n, sizeof(double)),
                   .duty = calloc(steps * n, sizeof(double)),
                   .converters = calloc(n, sizeof(struct simulated_converter))},
    };

    for (unsigned i = 0; i < n; i++) {
        open_converter(&rig.converters[i], s, i);
        open_record(&rig.record.converters[i], rig.converters[i].timing, s->duration_ns);
        rig.converters[i].record = &rig.record.converters[i];
        open_law(&rig.laws[i], bank_law(s, i), timing, rig.converters[i].duty);
    }
    return rig;
}

static uint64_t next_event(const struct rig *rig)
{
    uint64_t next = rig->next_ns;

    for (unsigned i = 0; i < rig->record.count; i++)
        if (rig->converters[i].next_ns < next)
            next = rig->converters[i].next_ns;
    return next;
}

/* "Integer nanoseconds. Events ordered by (time, class): 0 delivery, 1 converter step, 2
 * controller step. Only events with t < duration happen." */
struct simulated simulate(const struct hil_scenario *s)
{
    struct rig rig = open_rig(s);

    for (uint64_t now; (now = next_event(&rig)) < s->duration_ns;) {
        for (unsigned i = 0; i < rig.record.count; i++)
            if (rig.converters[i].next_ns == now)
                step_converter(&rig.converters[i], s, now);
        if (rig.next_ns == now)
            step_controller(&rig, now);
    }
    return rig.record;
}
