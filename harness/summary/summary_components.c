#include "summary_components.h"

#include "../models/models.h"
#include "../run/node_name.h"
#include "summary_values.h"

/* --- JSON ------------------------------------------------------------------------------------ */

static json_t *of_steps(double mean, double max)
{
    return json_pack("{s:o, s:o}", "mean", hil_json_number(mean), "max", hil_json_number(max));
}

static double mean_ns(const struct hil_cost *cost)
{
    return cost->steps ? (double)cost->sum_ns / (double)cost->steps : NAN;
}

static double max_ns(const struct hil_cost *cost)
{
    return cost->steps ? (double)cost->max_ns : NAN;
}

static json_t *component(const struct hil_summary *sum, unsigned i)
{
    const struct hil_component *c = &sum->scenario->system->components[i];
    const double period_ns = (double)sum->scenario->system->nodes[c->node].timing.period_ns;
    const struct hil_cost *cost = &sum->state->costs[i];
    char name[HIL_SIGNAL_NAME_BYTES], node[HIL_NODE_NAME_BYTES];

    hil_instance_name(&c->is, name);
    hil_node_name(sum->scenario->system, c->node, node);
    json_t *entry =
        json_pack("{s:s, s:s, s:s, s:s?, s:o, s:o}", "component", name, "model", c->model->name,
                  "node", node, "not_real_time", hil_model_not_real_time(c->model), "steps",
                  summary_whole(cost->steps), "unresolved", summary_whole(cost->counts.unresolved));
    if (sum->scenario->mode == HIL_VIRTUAL) /* in virtual time the summary must be reproducible */
        return entry;
    json_object_set_new(entry, "step_us", of_steps(mean_ns(cost) * 1e-3, max_ns(cost) * 1e-3));
    json_object_set_new(entry, "share_of_period",
                        of_steps(mean_ns(cost) / period_ns, max_ns(cost) / period_ns));
    json_object_set_new(entry, "longer_than_period", summary_whole(cost->over));
    json_object_set_new(entry, "unprepared", summary_whole(cost->counts.unprepared));
    return entry;
}

void hil_summary_add_components(const struct hil_summary *sum, json_t *root)
{
    const struct hil_system *s = sum->scenario->system;
    json_t *list = json_array();

    for (unsigned i = 0; i < s->component_count; i++)
        if (sum->state->nodes[s->components[i].node].here && hil_loaded_of(s->components[i].model))
            json_array_append_new(list, component(sum, i));
    json_object_set_new(root, "components", list);
}

/* --- for a person ---------------------------------------------------------------------------- */

/* The components in the array with the model of component `first`, the first of them: "plant",
 * "plant[*]" for a whole array, "plant[3]" for one, "plant[3] and 2 more" for some. */
static void print_name(const struct hil_system *s, const struct hil_array *array, unsigned first,
                       FILE *to)
{
    char name[HIL_SIGNAL_NAME_BYTES];
    unsigned more = 0;

    for (unsigned i = first + 1; i < array->first + array->count; i++)
        more += s->components[i].model == s->components[first].model;
    if (array->of && more + 1 == array->count) {
        fprintf(to, "%s[*]", array->name);
        return;
    }
    hil_instance_name(&s->components[first].is, name);
    fputs(name, to);
    if (more)
        fprintf(to, " and %u more", more);
}

/* The total cost of the array's components with this model. */
static struct hil_cost add_up(const struct hil_summary *sum, const struct hil_array *array,
                              const struct hil_model *model, double *share)
{
    const struct hil_system *s = sum->scenario->system;
    struct hil_cost all = {0};

    *share = 0;
    for (unsigned i = array->first; i < array->first + array->count; i++) {
        const struct hil_cost *one = &sum->state->costs[i];
        const struct hil_component *c = &s->components[i];
        if (c->model != model || one->steps == 0)
            continue;
        all.steps += one->steps;
        all.sum_ns += one->sum_ns;
        all.over += one->over;
        all.counts.unprepared += one->counts.unprepared;
        all.max_ns = one->max_ns > all.max_ns ? one->max_ns : all.max_ns;
        *share += (double)one->sum_ns / (double)s->nodes[c->node].timing.period_ns;
    }
    *share /= (double)all.steps;
    return all;
}

static void print_cost(const struct hil_summary *sum, const struct hil_array *array, unsigned first,
                       FILE *to)
{
    const struct hil_model *model = sum->scenario->system->components[first].model;
    double share;
    const struct hil_cost all = add_up(sum, array, model, &share);

    if (all.steps == 0)
        return;
    fprintf(to, "  step cost   ");
    print_name(sum->scenario->system, array, first, to);
    fprintf(to, " (%s): mean %.2f us, max %.0f us; %.3g%% of the period", model->name,
            mean_ns(&all) * 1e-3, max_ns(&all) * 1e-3, share * 100);
    if (all.over)
        fprintf(to, "; %llu of %llu steps longer than it", (unsigned long long)all.over,
                (unsigned long long)all.steps);
    if (all.counts.unprepared)
        fprintf(to, "; %llu made what was not ready", (unsigned long long)all.counts.unprepared);
    fputc('\n', to);
}

/* Whether this is the array's first component with its model. */
static bool is_first(const struct hil_system *s, const struct hil_array *array, unsigned i)
{
    for (unsigned k = array->first; k < i; k++)
        if (s->components[k].model == s->components[i].model)
            return false;
    return true;
}

void hil_summary_print_components(const struct hil_summary *sum, FILE *to)
{
    const struct hil_system *s = sum->scenario->system;

    for (unsigned a = 0; a < s->component_array_count; a++) {
        const struct hil_array *array = &s->component_arrays[a];
        for (unsigned i = array->first; i < array->first + array->count; i++)
            if (hil_loaded_of(s->components[i].model) && is_first(s, array, i))
                print_cost(sum, array, i, to);
    }
    hil_components_print_not_real_time(s, "  soft        ", to);
}

void hil_components_print_not_real_time(const struct hil_system *s, const char *prefix, FILE *to)
{
    for (unsigned a = 0; a < s->component_array_count; a++) {
        const struct hil_array *array = &s->component_arrays[a];
        for (unsigned i = array->first; i < array->first + array->count; i++) {
            const struct hil_model *model = s->components[i].model;
            if (!hil_model_not_real_time(model) || !is_first(s, array, i))
                continue;
            fputs(prefix, to);
            print_name(s, array, i, to);
            fprintf(to, " (%s) is not for hard real time: %s\n", model->name,
                    hil_model_not_real_time(model));
        }
    }
}
