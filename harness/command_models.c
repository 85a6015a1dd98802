#include <stdio.h>

#include "commands.h"

static const char help[] =
    "usage: hiloco models\n"
    "\n"
    "Lists the models: parameters, inputs, outputs and initial states, with their units,\n"
    "defaults and ranges, as the scenario's keys name them.\n";

static void print_table(const char *title, const struct hil_quantities *table, bool values)
{
    for (unsigned i = 0; i < table->count; i++) {
        const struct hil_quantity *q = &table->at[i];
        printf("  %-10s %-24s %-8s", i == 0 ? title : "", q->name, q->unit[0] ? q->unit : "-");
        if (values)
            printf(" %-9g %10g .. %-9g", q->value, q->min, q->max);
        else
            printf(" %-9s %10s    %-9s", "", "", "");
        printf(" %s%s%s\n", q->doc, q->flags & HIL_REQUIRED ? " (required)" : "",
               q->flags & HIL_WIDE ? " (one for each)" : "");
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

int hil_command_models(int argc, char **argv)
{
    struct hil_arguments a;
    int rc = hil_arguments_parse(&a, 0, help, argc, argv);

    hil_arguments_free(&a);
    if (rc)
        return hil_arguments_status(rc);
    for (const struct hil_model *const *m = hil_models; *m; m++)
        print_model(*m);
    return HIL_EXIT_OK;
}
