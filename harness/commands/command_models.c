#include <stdio.h>

#include "../models/models.h"
#include "../models/pages.h"
#include "../scenario/yaml/scenario_report.h"
#include "commands.h"

static const char help[] =
    "usage: hiloco models [MODEL] [--markdown]\n"
    "\n"
    "Lists the built-in models, or one of them, or the model of a file (a shared library, an FMU,\n"
    "a netlist, a table, a program or a device): parameters, inputs, outputs and initial states,\n"
    "with their units, defaults and ranges, under the names that a scenario uses. With the name\n"
    "of a built-in model it also prints its equations, and the file that computes them; of a\n"
    "circuit, how many configurations it meets, and what its steps take.\n"
    "\n"
    "  --markdown  print it as a document\n";

enum { REMARKS_BYTES = 60 };

static const char *quantity_remarks(const struct hil_quantity *q, char text[REMARKS_BYTES])
{
    snprintf(text, REMARKS_BYTES, "%s%s%s",
             q->flags & HIL_REQUIRED  ? " (required)"
             : q->flags & HIL_TUNABLE ? " (tunable)"
                                      : "",
             q->flags & HIL_WIDE ? " (one for each)" : "", q->flags & HIL_SPREAD ? " (part)" : "");
    return text;
}

static void print_table(const char *title, const struct hil_quantities *table, bool values)
{
    char remarks[REMARKS_BYTES];

    for (unsigned i = 0; i < table->count; i++) {
        const struct hil_quantity *q = &table->at[i];
        printf("  %-10s %-24s %-8s", i == 0 ? title : "", q->name, q->unit[0] ? q->unit : "-");
        if (values && q->flags & HIL_OWN)
            printf(" %-9s %10g .. %-9g", "own", q->min, q->max);
        else if (values)
            printf(" %-9g %10g .. %-9g", q->value, q->min, q->max);
        else
            printf(" %-9s %10s    %-9s", "", "", "");
        printf(" %s%s\n", q->doc, quantity_remarks(q, remarks));
    }
}

static void print_model(const struct hil_model *m)
{
    printf("%s (%s): %s\n", m->name, m->kind == HIL_CONTINUOUS ? "continuous" : "sampled", m->doc);
    printf("  %-10s %-24s %-8s %-9s %23s\n", "", "name", "unit", "default", "allowed         ");
    print_table("parameters", &m->parameters, true);
    print_table("inputs", &m->inputs, true);
    print_table("initial", &m->states, true);
    print_table("outputs", &m->outputs, false);
    putchar('\n');
}

/* A text of a cell: '|' would end it. */
static void put_cell(const char *text)
{
    for (; *text; text++)
        printf("%s%c", *text == '|' ? "\\" : "", *text);
}

static void put_rows(const char *title, const struct hil_quantities *table, bool values)
{
    char remarks[REMARKS_BYTES];

    if (table->count == 0)
        return;
    printf("\n## %s\n\n| name | unit |%s what it is |\n|---|---|%s---|\n", title,
           values ? " default | allowed |" : "", values ? "---|---|" : "");
    for (unsigned i = 0; i < table->count; i++) {
        const struct hil_quantity *q = &table->at[i];
        printf("| `%s` | ", q->name);
        put_cell(q->unit);
        if (values && q->flags & HIL_OWN)
            printf(" | own | %g to %g", q->min, q->max);
        else if (values)
            printf(" | %g | %g to %g", q->value, q->min, q->max);
        printf(" | ");
        put_cell(q->doc);
        printf("%s |\n", quantity_remarks(q, remarks));
    }
}

/* The same as a document. */
static void put_model(const struct hil_model *m)
{
    printf("# %s\n\n%s. A %s model ([models.md](../models.md)).\n", m->name, m->doc,
           m->kind == HIL_CONTINUOUS ? "continuous" : "sampled");
    put_rows("Parameters", &m->parameters, true);
    put_rows("Inputs", &m->inputs, true);
    put_rows("Initial states", &m->states, true);
    put_rows("Outputs", &m->outputs, false);
}

static int print_provided(const char *file, bool markdown)
{
    const struct hil_loaded *loaded;
    char wrong[1024];
    const struct hil_said said = {wrong, sizeof wrong, NULL};

    if (hil_model_load(&loaded, file, ".", NULL, &said)) {
        fprintf(stderr, "hiloco models: %s: %s\n", file, wrong);
        return HIL_EXIT_USAGE;
    }
    hil_models_print_warnings(stderr);
    if (markdown) {
        put_model(loaded->model);
        put_rows("Other signals", &loaded->others, false);
        return HIL_EXIT_OK;
    }
    print_model(loaded->model);
    if (loaded->others.count) {
        print_table("others", &loaded->others, false);
        putchar('\n');
    }
    if (loaded->provider->tell)
        loaded->provider->tell(loaded, stdout);
    return HIL_EXIT_OK;
}

/* A built-in model by its name, or the model of a file. */
static int print_one(const char *name, bool markdown)
{
    const struct hil_model *m = hil_model_find(name);
    const char *names[128], *near;
    unsigned count = 0;

    if (!m && hil_model_is_provided(name))
        return print_provided(name, markdown);
    if (m && markdown) {
        put_model(m);
        printf("\n## Equations\n\n```text\n");
        hil_model_page_print(name, stdout);
        printf("```\n");
        return HIL_EXIT_OK;
    }
    if (m) {
        print_model(m);
        hil_model_page_print(name, stdout);
        return HIL_EXIT_OK;
    }
    for (; hil_models[count] && count < sizeof names / sizeof names[0]; count++)
        names[count] = hil_models[count]->name;
    near = scenario_near_miss(name, names, count);
    if (near)
        fprintf(stderr, "hiloco models: there is no model %s (did you mean '%s'?)\n", name, near);
    else
        fprintf(stderr,
                "hiloco models: there is no model %s; hiloco models lists them. A file is named by "
                "its path: ./%s\n",
                name, name);
    return HIL_EXIT_USAGE;
}

struct models_arguments {
    struct hil_arguments given;
    bool markdown;
};

static const struct hil_option options[] = {
    HIL_FLAG("markdown", struct models_arguments, markdown),
    {0},
};

int hil_command_models(int argc, char **argv)
{
    struct models_arguments a = {0};
    int rc = hil_arguments_parse(&a.given, &(struct hil_command){help, options, 0, 1}, argc, argv);
    const char *file = rc ? NULL : a.given.scenario;
    const bool markdown = a.markdown;

    hil_arguments_free(&a.given);
    if (rc)
        return hil_arguments_status(rc);
    if (file)
        return print_one(file, markdown);
    for (const struct hil_model *const *m = hil_models; *m; m++)
        markdown ? put_model(*m) : print_model(*m);
    return HIL_EXIT_OK;
}
