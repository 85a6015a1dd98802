#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/version.h"
#include "../models/models.h"
#include "commands.h"

enum { MESSAGES_SIZE = 16384, OPTIONS_MAX = 40 };

/* --- the options of scenarios ------------------------------------------------------------------
 */

int hil_read_mode(const char *name, const char *text, void *to)
{
    struct hil_scenario_options *options = &((struct hil_arguments *)to)->options;

    options->realtime = strcmp(text, "realtime") == 0;
    options->virtual_time = strcmp(text, "virtual") == 0;
    if (options->realtime || options->virtual_time)
        return 0;
    fprintf(stderr, "--%s %s: realtime or virtual is allowed\n", name, text);
    return -EINVAL;
}

/* There is room for two keys of each argument. */
void hil_arguments_set(struct hil_arguments *a, const char *key_and_value)
{
    a->sets[a->options.set_count++] = key_and_value;
}

int hil_read_set(const char *name, const char *text, void *to)
{
    (void)name;
    hil_arguments_set(to, text);
    return 0;
}

int hil_read_parameters(const char *name, const char *text, void *to)
{
    struct hil_arguments *a = to;

    (void)name;
    a->parameters[a->options.parameter_count++] = text;
    return 0;
}

/* --- parsing -----------------------------------------------------------------------------------
 */

static const struct option for_all[] = {{"help", no_argument, NULL, 'h'},
                                        {"version", no_argument, NULL, 'v'}};

/* getopt_long returns 0 and the number of a row of `table`, or the letter of one of for_all. */
static void list_options(struct option *options, const struct hil_option *table)
{
    unsigned n = 0;

    for (; table && table[n].name; n++)
        options[n] = (struct option){table[n].name, table[n].has_argument, NULL, 0};
    memcpy(&options[n], for_all, sizeof for_all);
    options[n + 2] = (struct option){0};
}

static int read_option(struct hil_arguments *a, const struct hil_option *option)
{
    return option->read(option->name, optarg, (char *)a + option->at);
}

/* Returns as hil_arguments_parse. */
static int read_options(struct hil_arguments *a, const struct hil_command *command, int argc,
                        char **argv)
{
    struct option options[OPTIONS_MAX + 3];
    int option, row;

    list_options(options, command->options);
    optind = 1;
    while ((option = getopt_long(argc, argv, "h", options, &row)) != -1) {
        if (option == 'h') {
            fputs(command->help, stdout);
            return 1;
        }
        if (option == 'v') {
            hil_print_version();
            return 1;
        }
        /* for '?', getopt has printed the reason */
        if (option == '?' || read_option(a, &command->options[row])) {
            fprintf(stderr, "%s --help lists what is allowed\n", argv[0]);
            return -EINVAL;
        }
    }
    return 0;
}

static int count_arguments(const struct hil_command *command, unsigned count, const char *name)
{
    if (count >= command->least && (!command->most || count <= command->most))
        return 0;
    fprintf(stderr, "%s: %s; %s --help explains\n", name,
            count == 0 ? "an argument is missing" : "there are too many arguments", name);
    return -EINVAL;
}

int hil_arguments_parse(struct hil_arguments *a, const struct hil_command *command, int argc,
                        char **argv)
{
    a->sets = calloc(2 * (size_t)argc + 1, sizeof *a->sets);
    a->parameters = calloc((size_t)argc + 1, sizeof *a->parameters);
    if (!a->sets || !a->parameters)
        return -ENOMEM;
    a->options.sets = a->sets;
    a->options.parameters = a->parameters;
    const int rc = read_options(a, command, argc, argv);
    if (rc)
        return rc;
    a->scenarios = (const char *const *)&argv[optind];
    a->scenario_count = (unsigned)(argc - optind);
    a->scenario = argv[optind];
    return count_arguments(command, a->scenario_count, argv[0]);
}

static bool is_number(const char *text)
{
    char *end;

    strtod(text, &end);
    return end > text && !*end;
}

int hil_check_span(const char *command, const struct hil_plot_span *span, const char *to)
{
    if (to && is_number(to)) {
        fprintf(stderr,
                "%s: --to %s: a folder is allowed; --until %s ends the time there (a folder with "
                "this name is ./%s)\n",
                command, to, to, to);
        return -EINVAL;
    }
    if (span->from_s < span->to_s)
        return 0;
    fprintf(stderr, "%s: --from %g must be before --until %g\n", command, span->from_s, span->to_s);
    return -EINVAL;
}

void hil_print_version(void)
{
    printf("hiloco %s\n", hil_version);
}

void hil_arguments_free(struct hil_arguments *a)
{
    free(a->sets);
    free(a->parameters);
    *a = (struct hil_arguments){0};
}

int hil_arguments_load(const struct hil_arguments *a, struct hil_scenario **scenario)
{
    char *messages = malloc(MESSAGES_SIZE);

    if (!messages)
        return -ENOMEM;
    messages[0] = '\0';
    int rc = hil_scenario_load(scenario, a->scenario, &a->options, messages, MESSAGES_SIZE);
    if (rc) {
        size_t length = strlen(messages);
        fprintf(stderr, "%s%s", messages, length && messages[length - 1] == '\n' ? "" : "\n");
    }
    hil_models_print_warnings(stderr);
    free(messages);
    return rc;
}

int hil_arguments_load_with(const struct hil_arguments *a, const char *const *sets, size_t count,
                            struct hil_scenario **scenario)
{
    const size_t given = a->options.set_count;
    const char **all = calloc(given + count + 1, sizeof *all);
    struct hil_arguments with = *a;

    if (!all)
        return -ENOMEM;
    for (size_t i = 0; i < given + count; i++)
        all[i] = i < given ? a->options.sets[i] : sets[i - given];
    with.options.sets = all;
    with.options.set_count = given + count;
    const int rc = hil_arguments_load(&with, scenario);
    free(all);
    return rc;
}
