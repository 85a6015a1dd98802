/* The scenario that measures: the one given, with an analyser before an input. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "../../scenario/yaml/scenario_tree.h"
#include "bode.h"

/* As the model's parameters. */
static const double bode_settling = 5, bode_periods = 5, bode_windows = 3, bode_steps = 100;
/* The sine is sampled, so its frequency must be below this share of the input's steps a second; the
 * last frequency and the first one if they are not given. */
static const double bode_highest = 0.45, bode_last = 0.4, bode_decades = 1000;
/* Of a multisine: its window has room for neighbours at low frequencies; and how many steps a
 * reading stays, as in the model. */
static const double bode_multisine_periods = 10, bode_hold = 100;

static double bode_period_s(const struct hil_system *s, unsigned node)
{
    return 1e-9 * (double)s->nodes[node].timing.period_ns;
}

static bool bode_is_taken(const struct hil_system *s, const char *name)
{
    for (unsigned i = 0; i < s->component_array_count; i++)
        if (strcmp(s->component_arrays[i].name, name) == 0)
            return true;
    return false;
}

/* The response and the amplitude are of the scenario's input, and not of another one. */
void bode_fill(struct hil_loop_response *asked, const struct hil_loop_response *keys)
{
    static const struct hil_loop_response none = {
        .from_hz = -1, .to_hz = -1, .amplitude = -1, .start_s = -1, .points = 30};
    const struct hil_loop_response *from = keys ? keys : &none;
    const bool same_input = !asked->inject;

    if (same_input)
        asked->inject = from->inject;
    if (same_input && !asked->response)
        asked->response = from->response;
    if (same_input && asked->amplitude < 0)
        asked->amplitude = from->amplitude;
    if (from->multisine)
        asked->multisine = true;
    if (asked->from_hz < 0)
        asked->from_hz = from->from_hz;
    if (asked->to_hz < 0)
        asked->to_hz = from->to_hz;
    if (asked->start_s < 0)
        asked->start_s = from->start_s;
    if (asked->points == 0)
        asked->points = from->points;
}

static int bode_find(struct bode_place *place, const struct hil_loop_response *asked,
                     const struct hil_system *s)
{
    struct hil_loop_place found;
    struct hil_loop_mistake mistake;

    if (hil_loop_place_find(&found, s, asked->inject, asked->response, &mistake)) {
        fprintf(stderr, "--%s %s: %s\n", mistake.response ? "response" : "inject",
                mistake.response ? asked->response : asked->inject, mistake.said);
        return -EINVAL;
    }
    hil_signal_name(s, &found.input, place->input);
    hil_signal_name(s, &found.response, place->response);
    place->of_loop = found.of_loop;
    place->node = s->components[found.input.component].node;
    return 0;
}

static void bode_demand(struct hil_loop_response *asked, const struct bode_place *place,
                        const struct hil_loop_response *keys)
{
    if (!keys || !place->of_loop)
        return;
    if (isnan(asked->phase_margin_deg))
        asked->phase_margin_deg = keys->phase_margin_deg;
    if (isnan(asked->gain_margin_db))
        asked->gain_margin_db = keys->gain_margin_db;
}

static int bode_plan_frequencies(struct bode_plan *plan, const struct hil_loop_response *asked,
                                 const struct hil_system *s)
{
    const double rate_hz = 1 / bode_period_s(s, plan->place.node);
    const double most_hz = bode_highest * rate_hz;
    char node[HIL_SIGNAL_NAME_BYTES];

    plan->to_hz = asked->to_hz > 0 ? asked->to_hz : bode_last * rate_hz;
    plan->from_hz = asked->from_hz > 0 ? asked->from_hz : plan->to_hz / bode_decades;
    plan->points = asked->points;
    plan->multisine = asked->multisine;
    hil_instance_name(&s->nodes[plan->place.node].is, node);
    if (plan->to_hz >= most_hz)
        fprintf(stderr, "last frequency %g Hz: %s has %g steps a second; allowed: below %g Hz\n",
                plan->to_hz, node, rate_hz, most_hz);
    else if (plan->from_hz > plan->to_hz)
        fprintf(stderr, "first frequency %g Hz: it is above the last one, %g Hz\n", plan->from_hz,
                plan->to_hz);
    else
        return 0;
    return -EINVAL;
}

int bode_plan(struct bode_plan *plan, struct bode_arguments *a, const struct hil_scenario *scenario)
{
    const struct hil_system *s = scenario->system;

    if (bode_find(&plan->place, &a->asked, s) || bode_plan_frequencies(plan, &a->asked, s))
        return -EINVAL;
    bode_demand(&a->asked, &plan->place, s->bode);
    plan->start_s = a->asked.start_s >= 0 ? a->asked.start_s : 1e-9 * (double)scenario->duration_ns;
    strcpy(plan->analyser, "bode");
    while (bode_is_taken(s, plan->analyser) && strlen(plan->analyser) + 1 < sizeof plan->analyser)
        strcat(plan->analyser, "_");
    return 0;
}

/* The time that a frequency takes. */
static double bode_takes_s(const struct bode_plan *plan, double period_s, double hz)
{
    const double settling = fmax(bode_settling, ceil(hz / plan->from_hz));
    const double periods = fmax(bode_periods, ceil(bode_steps * period_s * hz));

    return (settling + bode_windows * periods) / hz;
}

/* Long enough for all frequencies. Each window ends at a step, and so does the record. */
static double bode_end_s(const struct bode_plan *plan, double period_s, unsigned decimation)
{
    double end_s = plan->start_s + 2 * (decimation + 1) * period_s;

    if (plan->multisine)
        return end_s + (bode_settling + bode_windows * bode_multisine_periods) / plan->from_hz +
               (bode_windows + 2 + (plan->points + 1) * bode_hold) * period_s;
    for (unsigned i = 0; i < plan->points; i++) {
        const double share = plan->points < 2 ? 0 : i / (plan->points - 1.0);
        end_s +=
            bode_takes_s(plan, period_s, plan->from_hz * pow(plan->to_hz / plan->from_hz, share)) +
            (bode_windows + 2) * period_s;
    }
    return end_s;
}

/* How many connections there are. */
static size_t bode_connections(const struct hil_scenario *scenario)
{
    const struct scenario_place at = {.line = 1, .column = 1};
    struct scenario_node *root = NULL;
    struct scenario_report report;
    char text[256];
    size_t count = 0;

    scenario_report_open(&report, text, sizeof text);
    if (scenario_tree_parse(&root, scenario->resolved, strlen(scenario->resolved), &at, &report))
        return 0;
    const struct scenario_node *list = scenario_node_get(root, "connections");
    count = list ? list->count : 0;
    scenario_node_free(root);
    return count;
}

enum { BODE_SETS = 10, BODE_SET_BYTES = 2000 };

struct bode_sets {
    char text[BODE_SETS][BODE_SET_BYTES];
    unsigned count;
};

__attribute__((format(printf, 2, 3))) static void bode_set(struct bode_sets *sets,
                                                           const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(sets->text[sets->count++], BODE_SET_BYTES, format, arguments);
    va_end(arguments);
}

static void bode_set_margin(struct bode_sets *sets, const char *key, double least)
{
    if (!isnan(least))
        bode_set(sets, "bode.%s=%.17g", key, least);
}

/* The block says what is measured, whatever the options were. Without a response it is that of the
 * loop, which the analyser is now a part of. */
static void bode_set_block(struct bode_sets *sets, const struct hil_loop_response *asked,
                           const struct bode_plan *plan)
{
    bode_set(sets,
             "bode={inject: '%s', from_hz: %.17g, to_hz: %.17g, points: %u, multisine: %s, "
             "start_s: %.9f}",
             plan->place.input, plan->from_hz, plan->to_hz, plan->points,
             plan->multisine ? "true" : "false", plan->start_s);
    if (asked->amplitude > 0)
        bode_set(sets, "bode.amplitude=%.17g", asked->amplitude);
    if (!plan->place.of_loop) {
        bode_set(sets, "bode.response='%s'", plan->place.response);
        return;
    }
    bode_set_margin(sets, "phase_margin_deg", asked->phase_margin_deg);
    bode_set_margin(sets, "gain_margin_db", asked->gain_margin_db);
}

/* The sum of several sines is as great as one sine. */
static double bode_percent(const struct bode_plan *plan)
{
    return plan->multisine ? 1 / sqrt(plan->points) : 1;
}

static void bode_set_all(struct bode_sets *sets, const struct bode_arguments *a,
                         const struct bode_plan *plan, const struct hil_scenario *scenario)
{
    const struct hil_system *s = scenario->system;
    const double period_s = bode_period_s(s, plan->place.node);
    const double rows =
        plan->multisine ? bode_hold / 3 : bode_takes_s(plan, period_s, plan->to_hz) / period_s / 3;
    const unsigned decimation = rows < 1 ? 1 : rows > 1e9 ? (unsigned)1e9 : (unsigned)rows;
    const char *name = plan->analyser;
    char node[HIL_SIGNAL_NAME_BYTES];

    hil_instance_name(&s->nodes[plan->place.node].is, node);
    bode_set(sets,
             "components.%s={model: network_analyser, node: '%s', before: '%s', parameters: "
             "{from_hz: %.17g, to_hz: %.17g, points: %u, amplitude: %.17g, amplitude_pct: %.17g, "
             "settling: %g, periods: %g, windows: %g, start_s: %.17g, settling_s: %.17g, "
             "of_response: %d, steps: %g, multisine: %d}}",
             name, node, plan->place.input, plan->from_hz, plan->to_hz, plan->points,
             fmax(a->asked.amplitude, 0), a->asked.amplitude < 0 ? bode_percent(plan) : 0.0,
             bode_settling, plan->multisine ? bode_multisine_periods : bode_periods, bode_windows,
             plan->start_s, 1 / plan->from_hz, !plan->place.of_loop, bode_steps, plan->multisine);
    if (!plan->place.of_loop)
        bode_set(sets, "connections.%zu={from: '%s', to: %s.response, scale: 1}",
                 bode_connections(scenario), plan->place.response, name);
    bode_set(sets, "duration_s=%.9f", bode_end_s(plan, period_s, decimation));
    bode_set(sets,
             "record=[{node: '%s', decimation: %u, signals: [%s.frequency_hz, %s.gain_db, "
             "%s.phase_deg, %s.coherence, %s.crossover_hz, %s.phase_margin_deg, "
             "%s.gain_margin_db, %s.done]}]",
             node, decimation, name, name, name, name, name, name, name, name);
    bode_set(sets, "limits={}");
    bode_set_block(sets, &a->asked, plan);
}

int bode_load(struct hil_scenario **measuring, const struct bode_arguments *a,
              const struct bode_plan *plan, const struct hil_scenario *scenario)
{
    struct bode_sets *own = calloc(1, sizeof *own);
    const char *sets[BODE_SETS];

    if (!own)
        return -ENOMEM;
    bode_set_all(own, a, plan, scenario);
    for (unsigned i = 0; i < own->count; i++)
        sets[i] = own->text[i];
    const int rc = hil_arguments_load_with(&a->given, sets, own->count, measuring);
    free(own);
    return rc;
}
