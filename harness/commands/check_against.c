#include "check_against.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../plants/circuit/circuit_model.h"
#include "../models/component.h"
#include "../models/models.h"
#include "commands.h"

enum { STEPS_MOST = 10000000 };

/* One of the two that run the circuit. */
struct side {
    const struct hil_model *model;
    void *self;
    double *in, *out, *parameters;
    FILE *messages;
};

/* One signal of both. */
struct pair {
    const char *name;
    unsigned ours, theirs; /* places in the outputs */
    double *differences;   /* of all steps */
    double largest, largest_s, peak;
};

static void log_side(void *arg, const char *line)
{
    const struct side *side = arg;

    fprintf(side->messages, "%s\n", line);
}

static double *values_of(const struct hil_quantities *table)
{
    double *values = calloc(table->count + 1, sizeof *values);

    for (unsigned i = 0; values && i < table->count; i++)
        values[i] = table->at[i].value;
    return values;
}

static int side_open(struct side *side, double period_s)
{
    side->in = values_of(&side->model->inputs);
    side->out = values_of(&side->model->outputs);
    side->parameters = values_of(&side->model->parameters);
    if (!side->in || !side->out || !side->parameters)
        return -ENOMEM;
    const struct hil_config config = {.size = sizeof config,
                                      .width = 1,
                                      .period_s = period_s,
                                      .parameters = side->parameters,
                                      .log = log_side,
                                      .log_arg = side,
                                      .model = side->model};
    int rc = hil_component_create(&side->self, &config);
    if (!rc && side->model->output)
        rc = side->model->output(side->self, side->in, side->out);
    return rc;
}

static void side_close(struct side *side)
{
    if (side->self)
        hil_component_destroy(side->model, side->self);
    free(side->in);
    free(side->out);
    free(side->parameters);
}

/* The signals that both have, in our order. */
static int pair_up(struct pair *pairs, unsigned *count, const struct side *sides, uint64_t steps)
{
    const struct hil_quantities *ours = &sides[0].model->outputs;

    for (unsigned i = 0; i < ours->count; i++) {
        const int theirs = hil_quantity_find(&sides[1].model->outputs, ours->at[i].name);
        if (theirs < 0)
            continue;
        pairs[*count] = (struct pair){.name = ours->at[i].name,
                                      .ours = i,
                                      .theirs = (unsigned)theirs,
                                      .differences = calloc(steps, sizeof *pairs[0].differences)};
        if (!pairs[(*count)++].differences)
            return -ENOMEM;
    }
    return 0;
}

static void compare_step(struct pair *pairs, unsigned count, const struct side *sides, uint64_t n,
                         double t_s)
{
    for (unsigned i = 0; i < count; i++) {
        struct pair *p = &pairs[i];
        const double ours = sides[0].out[p->ours], theirs = sides[1].out[p->theirs];
        p->differences[n] = fabs(ours - theirs);
        p->peak = fmax(p->peak, fabs(theirs));
        if (!(p->differences[n] <= p->largest)) {
            p->largest = p->differences[n];
            p->largest_s = t_s;
        }
    }
}

static int run_both(struct side *sides, struct pair *pairs, unsigned count, double period_s,
                    uint64_t steps)
{
    int rc = 0;

    for (uint64_t n = 1; !rc && n <= steps; n++) {
        const double t_s = (double)n * period_s;
        for (unsigned i = 0; !rc && i < 2; i++) {
            rc = sides[i].model->step(sides[i].self, (uint64_t)llround(t_s * 1e9), sides[i].in,
                                      sides[i].out);
            if (rc)
                fprintf(sides[i].messages, "%s ended at %.9g s of %.9g s: nothing is compared\n",
                        i ? "ngspice" : "the solver", t_s - period_s, (double)steps * period_s);
        }
        if (!rc)
            compare_step(pairs, count, sides, n - 1, t_s);
    }
    return rc;
}

static int in_order(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void print_pairs(const struct pair *pairs, unsigned count, uint64_t steps, FILE *to)
{
    fprintf(to, "%-24s %12s %12s %12s %12s %12s\n", "signal", "peak", "largest", "of_the_peak",
            "at_s", "median");
    for (unsigned i = 0; i < count; i++) {
        const struct pair *p = &pairs[i];
        const double peak = p->peak > 0 ? p->peak : 1;
        qsort(p->differences, steps, sizeof *p->differences, in_order);
        fprintf(to, "%-24s %12.6g %12.3g %12.3g %12.6g %12.3g\n", p->name, p->peak, p->largest,
                p->largest / peak, p->largest_s, p->differences[steps / 2] / peak);
    }
}

static int compare(struct side *sides, double period_s, uint64_t steps, FILE *to)
{
    struct pair *pairs = calloc(sides[0].model->outputs.count + 1, sizeof *pairs);
    unsigned count = 0;
    int rc = pairs ? 0 : -ENOMEM;

    for (unsigned i = 0; !rc && i < 2; i++)
        rc = side_open(&sides[i], period_s);
    if (!rc)
        rc = pair_up(pairs, &count, sides, steps);
    if (!rc)
        rc = run_both(sides, pairs, count, period_s, steps);
    if (!rc)
        print_pairs(pairs, count, steps, to);
    for (unsigned i = 0; i < 2; i++)
        side_close(&sides[i]);
    for (unsigned i = 0; i < count; i++)
        free(pairs[i].differences);
    free(pairs);
    return rc ? HIL_EXIT_FAILED : HIL_EXIT_OK;
}

/* The same file in ngspice. */
static int find_theirs(struct side *side, const char *netlist)
{
    const struct hil_loaded *loaded;
    char *name, text[1024] = "";
    const struct hil_said said = {text, sizeof text, NULL};

    if (asprintf(&name, "ngspice:%s", netlist) < 0)
        return -ENOMEM;
    const int rc = hil_model_load(&loaded, name, ".", NULL, &said);
    if (rc)
        fprintf(side->messages, "%s: %s\n", name, text);
    else
        side->model = loaded->model;
    free(name);
    return rc;
}

int hil_check_against(const char *oracle, const char *netlist, FILE *to, FILE *messages)
{
    struct side sides[2] = {{.messages = messages}, {.messages = messages}};
    struct cir_model *ours;
    char text[1024] = "";

    if (strcmp(oracle, "ngspice") != 0) {
        fprintf(messages, "hiloco check: found --against %s; allowed: ngspice\n", oracle);
        return HIL_EXIT_USAGE;
    }
    if (cir_model_load(&ours, netlist, true, &(struct cir_said){text, sizeof text})) {
        fprintf(messages, "%s: %s\n", netlist, text);
        return HIL_EXIT_USAGE;
    }
    const double period_s = ours->tran.step_s, steps = round(ours->tran.stop_s / period_s);
    int status = HIL_EXIT_USAGE;
    sides[0].model = &ours->model;
    if (!(steps >= 1 && steps <= STEPS_MOST))
        fprintf(messages,
                "%s: found .tran with %g steps; allowed: .tran STEP STOP with 1 to %d steps\n",
                netlist, isfinite(steps) ? steps : 0, STEPS_MOST);
    else if (find_theirs(&sides[1], netlist) == 0)
        status = compare(sides, period_s, (uint64_t)steps, to);
    cir_model_unload(ours);
    return status;
}
