#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../base/result_file.h"
#include "linearize.h"

static const char help[] =
    "usage: hiloco linearize SCENARIO [--start S] [--longest NODE] [--set KEY=VALUE]...\n"
    "                        [--parameters FILE]... [--to DIR] [--json]\n"
    "\n"
    "Makes the small-signal model of a scenario's loops: runs it in virtual time until it has\n"
    "settled, changes each number that it goes on from a little, and sees what becomes of that "
    "a\n"
    "period later. Prints the eigenvalues z of the sampled loop, with their frequency, damping, "
    "and\n"
    "the time in which they fall by e. A loop is stable if all of them are within the unit "
    "circle.\n"
    "\n"
    "  x[k+1] = A x[k] + B u[k], y[k] = C x[k] + D u[k]\n"
    "                     x are states of components, and values that are held or on their way; u\n"
    "                     are the scenario's sources; and y are its measures as they stand at the\n"
    "                     end of the period, or without measures all outputs of components\n"
    "  --start S          when it has settled, in seconds. The default is the scenario's duration\n"
    "  --longest NODE     seeks the longest period of this node, or entry of nodes, with which "
    "the\n"
    "                     loop is stable. A later --start makes that finer\n"
    "  --set KEY=VALUE, --parameters FILE\n"
    "                     as for hiloco run\n"
    "  --to DIR           writes linear.json, eigenvalues.csv, poles.png and poles.svg there\n"
    "  --json             prints JSON instead of the table: also A, B, C and D, row by row\n"
    "\n"
    "A period is the first after which the loop is where it was: the one of all nodes' steps\n"
    "together, or several of them, such as a period of the mains. Built-in models and circuits "
    "can\n"
    "be changed so, apart from meters; other models if they have the function numbers.\n"
    "\n"
    "Exit status: 0; 1 if the run failed, or has not settled; 2 for a mistake, before anything "
    "runs;\n"
    "4 if the loop is not stable.\n";

struct linear_arguments {
    struct hil_arguments given;
    double start_s;      /* negative: the end of the scenario */
    const char *longest; /* an entry of nodes */
    const char *to;
    bool json;
};

static const struct hil_option options[] = {
    HIL_SET_OPTIONS,
    HIL_OPTION("start", hil_read_time, struct linear_arguments, start_s),
    HIL_OPTION("longest", hil_read_text, struct linear_arguments, longest),
    HIL_OPTION("to", hil_read_text, struct linear_arguments, to),
    HIL_FLAG("json", struct linear_arguments, json),
    {0},
};

/* Finds the first component that has a state which cannot be changed, and says so. */
static int check(const struct hil_scenario *scenario)
{
    const struct hil_system *s = scenario->system;

    if (scenario->network.jitter_ns > 0) {
        fprintf(stderr, "%s: network.jitter_us is %g, so no two periods are alike; allowed: 0\n",
                scenario->name, 1e-3 * (double)scenario->network.jitter_ns);
        return -EINVAL;
    }
    for (unsigned i = 0; i < s->component_count; i++) {
        const struct hil_component *c = &s->components[i];
        char name[HIL_SIGNAL_NAME_BYTES];
        if (c->model->numbers)
            continue;
        hil_instance_name(&c->is, name);
        fprintf(stderr,
                "%s: the state of %s cannot be changed (model %s has no numbers); allowed: "
                "models that have them\n",
                scenario->name, name, c->model->name);
        return -EINVAL;
    }
    return 0;
}

static int finish(const struct linear_arguments *a, const struct linear_results *r)
{
    const int rc = a->to ? hil_result_folders(a->to) : 0;
    int status = HIL_EXIT_OK;

    if (rc)
        fprintf(stderr, "--to %s: %s\n", a->to, hil_result_words(rc));
    if (a->to)
        status = rc ? HIL_EXIT_FAILED : linear_save(r, a->to);

    if (a->json)
        linear_print_json(r, stdout);
    else
        linear_print(r, stdout);
    return status ? status : linear_is_stable(r->modes) ? HIL_EXIT_OK : HIL_EXIT_LIMIT;
}

static int analyse(const struct linear_arguments *a, const struct hil_scenario *scenario,
                   struct linear_model *model)
{
    struct linear_modes modes = {0};
    struct linear_largest largest = {.node = a->longest};
    const struct linear_results results = {scenario, model, &modes, a->longest ? &largest : NULL};
    int status = HIL_EXIT_OK;
    int rc = linear_reduce(model);

    if (!rc)
        rc = linear_find_modes(&modes, model);
    if (rc) {
        fprintf(stderr, "%s: its eigenvalues: %s\n", scenario->name, strerror(-rc));
        status = HIL_EXIT_FAILED;
    }
    if (!status && a->longest)
        status = linear_seek(&largest, &a->given, scenario, model, linear_radius(&modes));
    if (!status)
        status = finish(a, &results);
    linear_free_modes(&modes);
    return status;
}

static int linearize(const struct linear_arguments *a, const struct hil_scenario *as_given)
{
    const uint64_t start_ns =
        a->start_s >= 0 ? (uint64_t)llround(1e9 * a->start_s) : as_given->duration_ns;
    const uint64_t common_ns = check(as_given) ? 0 : linear_common_ns(as_given);
    struct hil_scenario *scenario;
    struct linear_model model;
    char duration[64];
    const char *const sets[] = {duration};

    if (!common_ns)
        return HIL_EXIT_USAGE;
    snprintf(duration, sizeof duration, "duration_s=%.9f", linear_duration_s(common_ns, start_ns));
    if (hil_arguments_load_with(&a->given, sets, 1, &scenario))
        return HIL_EXIT_USAGE;
    int status = linear_make(&model, scenario, start_ns, false);
    if (!status)
        status = analyse(a, scenario, &model);
    linear_free(&model);
    hil_scenario_free(scenario);
    return status;
}

int hil_command_linearize(int argc, char **argv)
{
    struct linear_arguments a = {.start_s = -1};
    struct hil_scenario *scenario;
    int rc = hil_arguments_parse(&a.given, &(struct hil_command){help, options, 1, 1}, argc, argv);
    int status = rc ? hil_arguments_status(rc) : HIL_EXIT_USAGE;

    a.given.options.virtual_time = true;
    if (!rc && hil_arguments_load(&a.given, &scenario) == 0) {
        status = linearize(&a, scenario);
        hil_scenario_free(scenario);
    }
    hil_arguments_free(&a.given);
    return status;
}
