#include <stdio.h>

#include "commands.h"

static const char help[] =
    "usage: hiloco models\n"
    "\n"
    "Lists the plants and the controller laws: their parameters with units, defaults and\n"
    "ranges, as the scenario's keys name them.\n";

static void print_table(const char *title, const struct hil_quantities *table, bool values)
{
    for (unsigned i = 0; i < table->count; i++) {
        const struct hil_quantity *q = &table->at[i];
        printf("  %-10s %-24s %-6s", i == 0 ? title : "", q->name, q->unit[0] ? q->unit : "-");
        if (values)
            printf(" %-9g %10g .. %-9g", q->value, q->min, q->max);
        else
            printf(" %-9s %10s    %-9s", "", "", "");
        printf(" %s\n", q->doc);
    }
}

static void print_head(const char *kind, const char *name, const char *doc)
{
    printf("%s %s: %s\n", kind, name, doc);
    printf("  %-10s %-24s %-6s %-9s %23s\n", "", "name", "unit", "default", "allowed         ");
}

int hil_command_models(int argc, char **argv)
{
    struct hil_arguments a;
    int rc = hil_arguments_parse(&a, 0, help, argc, argv);

    hil_arguments_free(&a);
    if (rc)
        return hil_arguments_status(rc);
    for (const struct plant_model *const *p = plant_models; *p; p++) {
        print_head("plant", (*p)->name, (*p)->doc);
        print_table("parameters", &(*p)->parameters, true);
        print_table("inputs", &(*p)->inputs, true);
        print_table("initial", &(*p)->states, true);
        print_table("outputs", &(*p)->outputs, false);
        putchar('\n');
    }
    for (const struct controller_law *const *l = controller_laws; *l; l++) {
        print_head("law", (*l)->name, (*l)->doc);
        print_table("gains", &(*l)->gains, true);
        print_table("inputs", &(*l)->inputs, false);
        putchar('\n');
    }
    return HIL_EXIT_OK;
}
