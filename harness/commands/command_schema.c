#include <stdio.h>
#include <string.h>

#include "../base/embed.h"
#include "../scenario/yaml/json_schema.h"
#include "../scenario/yaml/key_table.h"
#include "../scenario/yaml/scenario_report.h"
#include "commands.h"

EMBED(hil_summary_schema, "harness/summary/summary_schema.json");
EMBED(hil_sweep_schema, "harness/commands/sweep/sweep_schema.json");

static const char help[] =
    "usage: hiloco schema [scenario|summary|sweep|keys]\n"
    "\n"
    "Prints the JSON Schema, of draft-07, of a scenario: every key with its type, range, default\n"
    "and explanation, and the names of the built-in models. An editor with the YAML language\n"
    "server checks and completes a scenario that has this line, with the schema's path:\n"
    "    # yaml-language-server: $schema=/usr/local/share/hiloco/schema/scenario.json\n"
    "\n"
    "summary and sweep: that of summary.json, with the verdict, and of sweep.json. keys: the keys "
    "of\n"
    "a scenario as tables in Markdown, docs/keys.md.\n";

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
    static const char *const names[] = {"scenario", "summary", "sweep", "keys"};
    char choice[SCENARIO_CHOICE_BYTES];

    if (!of || strcmp(of, "scenario") == 0)
        return schema_print_scenario();
    if (strcmp(of, "summary") == 0)
        return fputs(hil_summary_schema, stdout) < 0 ? HIL_EXIT_FAILED : HIL_EXIT_OK;
    if (strcmp(of, "sweep") == 0)
        return fputs(hil_sweep_schema, stdout) < 0 ? HIL_EXIT_FAILED : HIL_EXIT_OK;
    if (strcmp(of, "keys") == 0) {
        hil_key_table_print(stdout);
        return HIL_EXIT_OK;
    }
    scenario_say_choice(of, names, sizeof names / sizeof names[0], choice);
    fprintf(stderr, "hiloco schema: there is no schema of %s%s\n", of, choice);
    return HIL_EXIT_USAGE;
}

int hil_command_schema(int argc, char **argv)
{
    struct hil_arguments a = {0};
    int rc = hil_arguments_parse(&a, &(struct hil_command){help, NULL, 0, 1}, argc, argv);
    const int status = rc ? hil_arguments_status(rc) : schema_print(a.scenario);

    hil_arguments_free(&a);
    return status;
}
