/* Prints a model and its modes, and writes them as files. */
#include <errno.h>
#include <math.h>

#include "../../base/json_number.h"
#include "../../figures/plot_poles.h"
#include "../../h5/run_files.h"
#include "linearize.h"

enum { SHOWN_MODES = 12, SHOWN_COMPONENTS = 3 };

/* The components of a part: "control[3], converter[3]". */
static void results_part(const struct linear_results *r, unsigned part, char *text, size_t size)
{
    const struct hil_system *s = r->scenario->system;
    unsigned named = 0;
    size_t used = 0;

    text[0] = 0;
    for (unsigned i = 0; i < s->component_count && used < size; i++) {
        bool is = false;
        char name[HIL_SIGNAL_NAME_BYTES];
        for (unsigned k = 0; k < r->model->states && !is; k++)
            is = r->modes->part_of[k] == part && r->model->x[k].component == i;
        if (!is)
            continue;
        hil_instance_name(&s->components[i].is, name);
        if (named++ == SHOWN_COMPONENTS)
            used += (size_t)snprintf(text + used, size - used, ", ...");
        else if (named <= SHOWN_COMPONENTS)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", name);
    }
}

static void results_print_mode(const struct linear_results *r, const struct linear_mode *m,
                               FILE *to)
{
    char part[512], z[48];

    results_part(r, m->part, part, sizeof part);
    snprintf(z, sizeof z, cimag(m->z) == 0 ? "%.6f" : "%.6f %+.6fi", creal(m->z), cimag(m->z));
    fprintf(to, "%-24s %9.6f %14.6g %9.4f %12.4g %6u  %s\n", z, cabs(m->z), m->frequency_hz,
            m->damping, m->time_s, m->count, part);
}

static void results_print_modes(const struct linear_results *r, FILE *to)
{
    const struct linear_modes *modes = r->modes;
    const unsigned shown = modes->count < SHOWN_MODES ? modes->count : SHOWN_MODES;

    fprintf(to, "%-24s %9s %14s %9s %12s %6s  %s\n", "eigenvalue z", "|z|", "frequency (Hz)",
            "damping", "time (s)", "loops", "components");
    for (unsigned i = 0; i < shown; i++)
        results_print_mode(r, &modes->at[i], to);
    if (shown < modes->count)
        fprintf(to, "and %u more (--json has all)\n", modes->count - shown);
    if (modes->gone)
        fprintf(to, "and %u that end within a period\n", modes->gone);
}

void linear_print(const struct linear_results *r, FILE *to)
{
    const struct linear_model *m = r->model;
    const double radius = linear_radius(r->modes);

    fprintf(to, "%s at %.9g s: from one period of %.9g us to the next\n", r->scenario->name,
            1e-9 * (double)m->start_ns, 1e-3 * (double)m->period_ns);
    if (m->periods > 1)
        fprintf(to, "(in %u periods of its nodes' steps: something in it oscillates)\n",
                m->periods);
    fprintf(to, "%u states, %u inputs, %u outputs, %u parts that are not coupled\n\n", m->states,
            m->inputs, m->outputs, r->modes->part_count);
    results_print_modes(r, to);
    fprintf(to, "\n%s: the slowest mode %s by %.4g %% in a period\n",
            linear_is_stable(r->modes) ? "stable" : "not stable", radius < 1 ? "falls" : "grows",
            100 * fabs(1 - radius));
    if (m->drift > 1e-6)
        fprintf(to, "it has not quite settled: %s moved by %.2g of its size in the period\n",
                m->drifting, m->drift);
    if (!r->largest)
        return;
    if (isfinite(r->largest->period_us))
        fprintf(to, "longest stable period of %s: %.5g us\n", r->largest->node,
                r->largest->period_us);
    else
        fprintf(to, "longest stable period of %s: none up to %g us\n", r->largest->node,
                r->largest->most_us);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static json_t *results_matrix(const double *at, unsigned rows, unsigned columns)
{
    json_t *matrix = json_array();

    for (unsigned i = 0; i < rows; i++) {
        json_t *row = json_array();
        for (unsigned j = 0; j < columns; j++)
            json_array_append_new(row, hil_json_number(at[i * columns + j]));
        json_array_append_new(matrix, row);
    }
    return matrix;
}

static json_t *results_quantities(const struct linear_quantity *at, unsigned count)
{
    json_t *list = json_array();

    for (unsigned i = 0; i < count; i++)
        json_array_append_new(list, json_pack("{s:s, s:o}", "name", at[i].name, "value",
                                              hil_json_number(at[i].value)));
    return list;
}

static json_t *results_modes(const struct linear_results *r)
{
    json_t *list = json_array();

    for (unsigned i = 0; i < r->modes->count; i++) {
        const struct linear_mode *m = &r->modes->at[i];
        char part[512];
        results_part(r, m->part, part, sizeof part);
        json_array_append_new(
            list, json_pack("{s:f, s:f, s:f, s:o, s:o, s:o, s:i, s:s}", "real", creal(m->z),
                            "imaginary", cimag(m->z), "magnitude", cabs(m->z), "frequency_hz",
                            hil_json_number(m->frequency_hz), "damping",
                            hil_json_number(m->damping), "time_s", hil_json_number(m->time_s),
                            "loops", (int)m->count, "components", part));
    }
    return list;
}

static json_t *results_longest(const struct linear_largest *largest)
{
    return largest ? json_pack("{s:s, s:o}", "node", largest->node, "period_us",
                               hil_json_number(largest->period_us))
                   : json_null();
}

void linear_print_json(const struct linear_results *r, FILE *to)
{
    const struct linear_model *m = r->model;
    json_t *root =
        json_pack("{s:s, s:f, s:f, s:f, s:b, s:f, s:o}", "scenario", r->scenario->name, "time_s",
                  1e-9 * (double)m->start_ns, "period_us", 1e-3 * (double)m->period_ns, "drift",
                  m->drift, "stable", linear_is_stable(r->modes), "radius", linear_radius(r->modes),
                  "longest", results_longest(r->largest));

    json_object_set_new(root, "modes", results_modes(r));
    json_object_set_new(root, "ended_modes", json_integer(r->modes->gone));
    json_object_set_new(root, "states", results_quantities(m->x, m->states));
    json_object_set_new(root, "inputs", results_quantities(m->u, m->inputs));
    json_object_set_new(root, "outputs", results_quantities(m->y, m->outputs));
    json_object_set_new(root, "a", results_matrix(m->a, m->states, m->states));
    json_object_set_new(root, "b", results_matrix(m->b, m->states, m->inputs));
    json_object_set_new(root, "c", results_matrix(m->c, m->outputs, m->states));
    json_object_set_new(root, "d", results_matrix(m->d, m->outputs, m->inputs));
    json_dumpf(root, to, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
    putc('\n', to);
    json_decref(root);
}

/* --- files ------------------------------------------------------------------------------------ */

static int results_put_json(const void *arg, FILE *to)
{
    linear_print_json(arg, to);
    return 0;
}

static int results_put_csv(const void *arg, FILE *to)
{
    const struct linear_results *r = arg;

    fputs("real,imaginary,magnitude,frequency_hz,damping,time_s,loops,components\n", to);
    for (unsigned i = 0; i < r->modes->count; i++) {
        const struct linear_mode *m = &r->modes->at[i];
        char part[512];
        results_part(r, m->part, part, sizeof part);
        fprintf(to, "%.12g,%.12g,%.12g,%.9g,%.9g,%.9g,%u,\"%s\"\n", creal(m->z), cimag(m->z),
                cabs(m->z), m->frequency_hz, m->damping, m->time_s, m->count, part);
    }
    return 0;
}

static int results_draw(const struct linear_results *r, const char *folder)
{
    struct hil_poles poles = {.scenario = r->scenario->name,
                              .at_s = 1e-9 * (double)r->model->start_ns,
                              .period_us = 1e-3 * (double)r->model->period_ns,
                              .count = r->modes->count,
                              .at = calloc(r->modes->count + 1, sizeof(double complex))};

    for (unsigned i = 0; poles.at && i < poles.count; i++)
        poles.at[i] = r->modes->at[i].z;
    const int rc = poles.at ? hil_plot_poles(folder, &poles, stderr) : -ENOMEM;
    free(poles.at);
    return rc == -ENOPKG ? 0 : rc;
}

int linear_save(const struct linear_results *r, const char *folder)
{
    if (hil_run_save(folder, "linear.json", results_put_json, r, stderr) ||
        hil_run_save(folder, "eigenvalues.csv", results_put_csv, r, stderr) ||
        results_draw(r, folder))
        return HIL_EXIT_FAILED;
    return HIL_EXIT_OK;
}
