#include <stdio.h>
#include <string.h>

#include "../base/embed.h"
#include "../scenario/yaml/json_schema.h"
#include "../scenario/yaml/scenario_report.h"
#include "commands.h"

EMBED(hil_summary_schema, "harness/summary/summary_schema.json");
EMBED(hil_sweep_schema, "harness/commands/sweep/sweep_schema.json");

static const char help[] =
    "usage: hiloco schema [scenario|summary|sweep]\n"
    "\n"
    "Prints the JSON Schema, of draft-07, of a scenario: every key with its type, range, default\n"
    "and explanation, and the names of the built-in models. An editor with the YAML language\n"
    "server checks and completes a scenario that has this line, with the schema's path:\n"
    "    # yaml-language-server: $schema=/usr/local/share/hiloco/schema/scenario.json\n"
    "\n"
    "summary and sweep: that of summary.json, with the verdict, and of sweep.json.\n";

static int schema_print_scenario(void)
{
    json_t *schema = hil_json_schema_make();
    const bool made = schema != NULL;

    if (made) {
        json_dumpf(schema, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
        putchar('\n');
    } else {
        fputs("hiloco schema: out of memory\n", stderr);
    }
    json_decref(schema);
    return made ? HIL_EXIT_OK : HIL_EXIT_FAILED;
}

static int schema_print(const char *of)
{
    static const char *const names[] = {"scenario", "summary", "sweep"};
    const char *near;

    if (!of || strcmp(of, names[0]) == 0)
        return schema_print_scenario();
    if (strcmp(of, names[1]) == 0 || strcmp(of, names[2]) == 0) {
        fputs(strcmp(of, names[1]) == 0 ? hil_summary_schema : hil_sweep_schema, stdout);
        return HIL_EXIT_OK;
    }
    near = scenario_near_miss(of, names, 3);
    fprintf(stderr, "hiloco schema: there is no schema of %s", of);
    if (near)
        fprintf(stderr, " (did you mean '%s'?)", near);
    fputs("; allowed: scenario, summary, sweep\n", stderr);
    return HIL_EXIT_USAGE;
}

int hil_command_schema(int argc, char **argv)
{
    struct hil_arguments a;
    int rc = hil_arguments_parse(&a, HIL_TAKES_MODEL, help, argc, argv);
    const int status = rc ? hil_arguments_status(rc) : schema_print(a.scenario);

    hil_arguments_free(&a);
    return status;
}
