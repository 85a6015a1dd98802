#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/digits.h"
#include "../base/foreign.h"
#include "../scenario/yaml/scenario_check.h"
#include "../tools/top/choose.h"
#include "../tools/tune/client.h"
#include "commands.h"

static const char help[] =
    "usage: hiloco set RUN [NAME=VALUE]... [--ramp SECONDS] [--json] [--all-users]\n"
    "\n"
    "Changes tunable parameters of components, and sources, while a run goes on. RUN is a\n"
    "scenario's name, a process id or a folder of results. Without NAME=VALUE the command lists\n"
    "what can be set, with values, units and ranges. The run must allow changes (hiloco run\n"
    "--allow-set).\n"
    "\n"
    "  NAME=VALUE      COMPONENT.PARAMETER, for example motor.resistance_ohm=0.4 or 400mOhm; or a\n"
    "                  source, by its name or that of an input that it feeds. All changes of one\n"
    "                  command take effect at the same time of the run, at the boundary of a step\n"
    "  --ramp SECONDS  change sources in a straight line that takes so long\n"
    "  --json          print the reply or the list as JSON\n"
    "  --all-users     as root: include runs of other users\n"
    "\n"
    "Each change is an event of the record, so hiloco run --tuning DIR can replay it.\n"
    "docs/tuning.md explains the details.\n"
    "\n"
    "Exit status: 0 if the change was made (or will be made when a paused run continues); 1 if\n"
    "there is no such run, it does not allow changes, or a node did not answer; 2 if the request\n"
    "was refused, and nothing was changed. If only the model itself can refuse a value, the other\n"
    "changes are made, and the exit status is 1.\n";

static const char control_help[] =
    "usage: hiloco control RUN pause|resume|step [N]|stop [--json] [--all-users]\n"
    "\n"
    "Pauses, steps, resumes or stops a run. RUN is a scenario's name, a process id or a folder of\n"
    "results. The run must allow changes (hiloco run --allow-set). In real time it can only be\n"
    "stopped.\n"
    "\n"
    "  pause     stop virtual time before the next instant, a time at which any node steps\n"
    "  step [N]  run N instants (default 1), and pause again\n"
    "  resume    continue\n"
    "  stop      end the run in order, like Ctrl-C\n"
    "\n"
    "Exit status: 0; 1 if there is no such run; 2 if the request was refused.\n";

struct set_arguments {
    struct hil_arguments given;
    double ramp_s; /* of sources that are set */
    bool json, all_users;
};

static const struct hil_option set_options[] = {
    HIL_OPTION("ramp", hil_read_time, struct set_arguments, ramp_s),
    HIL_FLAG("json", struct set_arguments, json),
    HIL_FLAG("all-users", struct set_arguments, all_users),
    {0},
};
static const struct hil_option control_options[] = {
    HIL_FLAG("json", struct set_arguments, json),
    HIL_FLAG("all-users", struct set_arguments, all_users),
    {0},
};

/* --- requests -------------------------------------------------------------------------------- */

static const char *set_why(int rc, const struct hil_run_entry *run)
{
    int status;

    return rc == -EPERM ? "it is another user's"
           : rc == -ECONNREFUSED && !run->attached.card.tuning[0]
               ? "it does not allow changes; start it with hiloco run --allow-set, or with tuning: "
                 "true in its scenario"
           : hil_run_ended(run, &status) ? "it has ended"
           : rc == -ECONNREFUSED || rc == -ECONNRESET || rc == -EPIPE
               ? "it goes on, but has closed the connection without an answer: it may have taken "
                 "the request"
               : strerror(-rc);
}

/* Sends the request, which it takes ownership of. Returns an exit status. With HIL_EXIT_OK the
 * caller owns *answer. */
static int set_ask(const struct hil_run_entry *run, json_t *request, json_t **answer)
{
    const int rc = request ? hil_tune_ask(run, request, answer) : -ENOMEM;

    json_decref(request);
    if (rc)
        fprintf(stderr, "%s: %s\n", run->attached.card.name, set_why(rc, run));
    return rc ? HIL_EXIT_FAILED : HIL_EXIT_OK;
}

/* Reads a text of the launcher's answer, which is not trusted to be anything else. */
static const char *set_text(const json_t *of, const char *key, char text[HIL_REFERENCE_BYTES])
{
    const char *is = json_string_value(json_object_get(of, key));

    return hil_foreign_text(text, HIL_REFERENCE_BYTES, is ? is : "", is ? strlen(is) : 0);
}

static double set_number(const json_t *of, const char *key)
{
    return json_number_value(json_object_get(of, key));
}

static int set_print_json(json_t *answer)
{
    const int rc = json_dumpf(answer, stdout, JSON_COMPACT | JSON_REAL_PRECISION(17));

    return rc || putchar('\n') == EOF ? HIL_EXIT_FAILED : HIL_EXIT_OK;
}

/* --- set ------------------------------------------------------------------------------------- */

static int set_change(json_t *list, const char *text, double ramp_s)
{
    const char *equals = strchr(text, '=');
    char *end;

    const double value = equals ? strtod(equals + 1, &end) : NAN;
    if (!equals || equals == text || end == equals + 1 || !isfinite(value)) {
        fprintf(stderr, "%s: NAME=VALUE is allowed, VALUE a number, perhaps with a unit\n", text);
        return -EINVAL;
    }
    json_t *one = json_pack("{s:o, s:o}", "name", json_stringn(text, (size_t)(equals - text)),
                            "value", *end ? json_string(equals + 1) : json_real(value));
    if (one && ramp_s > 0)
        json_object_set_new(one, "ramp_s", json_real(ramp_s));
    if (one)
        return json_array_append_new(list, one);
    fprintf(stderr, "%s: NAME=VALUE is allowed, NAME in UTF-8\n", text);
    return -EINVAL;
}

/* "control[0].kp_per_v = 0.02 at controller, from step 12 on, at 0.00048 s" */
static void set_tell_applied(const json_t *list)
{
    char name[HIL_REFERENCE_BYTES], node[HIL_REFERENCE_BYTES];
    const json_t *one;
    size_t i;

    json_array_foreach(list, i, one)
        printf("%s = %.9g at %s, from its step %.0f on, at %.9g s\n", set_text(one, "name", name),
               set_number(one, "value"), set_text(one, "node", node), set_number(one, "step"),
               set_number(one, "time_s"));
}

static void set_tell_waits(const json_t *list)
{
    char name[HIL_REFERENCE_BYTES];
    const json_t *one;
    size_t i;

    json_array_foreach(list, i, one) printf("%s = %.9g when the run, which is paused, continues\n",
                                            set_text(one, "name", name), set_number(one, "value"));
}

/* If a node did not answer, the actual change may be different. */
static int set_tell(json_t *answer, bool json)
{
    const json_t *refused = json_object_get(answer, "refused");
    const json_t *applied = json_object_get(answer, "applied");
    char why[HIL_REFERENCE_BYTES];

    if (json)
        set_print_json(answer);
    if (!json) {
        set_tell_applied(applied);
        set_tell_waits(json_object_get(answer, "waits"));
    }
    if (refused)
        fprintf(stderr, "%s\n", set_text(answer, "refused", why));
    return !refused ? HIL_EXIT_OK : applied ? HIL_EXIT_FAILED : HIL_EXIT_USAGE;
}

static int set_all(const struct hil_run_entry *run, const struct set_arguments *a)
{
    json_t *list = json_array(), *answer;

    for (unsigned i = 1; i < a->given.scenario_count; i++)
        if (set_change(list, a->given.scenarios[i], a->ramp_s)) {
            json_decref(list);
            return HIL_EXIT_USAGE;
        }
    int status = set_ask(run, json_pack("{s:o}", "set", list), &answer);
    if (status)
        return status;
    status = set_tell(answer, a->json);
    json_decref(answer);
    return status;
}

/* --- the list -------------------------------------------------------------------------------- */

static void set_say_value(double value, char text[32])
{
    if (isnan(value))
        snprintf(text, 32, "as planned"); /* a source that follows its scenario */
    else
        snprintf(text, 32, "%.9g", value);
}

static void set_print_list(const struct hil_attached *run, const struct hil_tunable_shown *list,
                           unsigned count)
{
    char value[32], range[128];
    int width = 4;

    for (unsigned i = 0; i < count; i++)
        if ((int)strlen(list[i].name) > width)
            width = (int)strlen(list[i].name);
    printf("%-*s  %-12s %-28s %s\n", width, "NAME", "VALUE", "RANGE", "WHAT IT IS");
    for (unsigned i = 0; i < count; i++) {
        set_say_value(hil_tune_value(run, i), value);
        scenario_say_range(list[i].min, list[i].max, list[i].unit, range, sizeof range);
        printf("%-*s  %-12s %-28s %s\n", width, list[i].name, value, range, list[i].doc);
    }
}

static int set_list(const struct hil_run_entry *run, bool json)
{
    struct hil_tunable_shown *list;
    unsigned count;
    int status = HIL_EXIT_OK;

    if (!run->attached.card.tuning[0]) {
        fprintf(stderr, "%s: %s\n", run->attached.card.name, set_why(-ECONNREFUSED, run));
        return HIL_EXIT_FAILED;
    }
    if (hil_tune_list(&run->attached, &list, &count)) {
        fprintf(stderr, "%s\n", strerror(ENOMEM));
        return HIL_EXIT_FAILED;
    }
    if (json) {
        json_t *all =
            json_pack("{s:o}", "parameters", hil_tune_list_json(&run->attached, list, count));
        status = set_print_json(all);
        json_decref(all);
    } else {
        set_print_list(&run->attached, list, count);
    }
    free(list);
    return status;
}

/* --- control --------------------------------------------------------------------------------- */

static int control_tell(json_t *answer, bool json)
{
    char text[HIL_REFERENCE_BYTES];

    if (json_object_get(answer, "refused")) {
        fprintf(stderr, "%s\n", set_text(answer, "refused", text));
        return HIL_EXIT_USAGE;
    }
    if (json)
        return set_print_json(answer);
    set_text(answer, "control", text);
    printf("%s: the run %s, at %.9g s\n", text,
           strcmp(text, "stop") == 0                         ? "ends"
           : json_is_true(json_object_get(answer, "paused")) ? "stands still"
                                                             : "goes on",
           set_number(answer, "time_s"));
    return HIL_EXIT_OK;
}

/* "step 10" */
static json_t *control_request(const struct set_arguments *a)
{
    json_t *request = json_pack("{s:s}", "control", a->given.scenarios[1]);
    const char *count = a->given.scenario_count > 2 ? a->given.scenarios[2] : NULL;
    uint64_t steps;

    if (!count)
        return request;
    if (a->given.scenario_count == 3 && strcmp(a->given.scenarios[1], "step") == 0 &&
        hil_whole_number(count, INT64_MAX, &steps) && steps > 0) {
        json_object_set_new(request, "steps", json_integer((json_int_t)steps));
        return request;
    }
    fprintf(stderr, "%s: only step takes a number, which is at least 1\n", count);
    json_decref(request);
    return NULL;
}

static int control_run(const struct hil_run_entry *run, const struct set_arguments *a)
{
    json_t *request = control_request(a), *answer;

    if (!request)
        return HIL_EXIT_USAGE;
    int status = set_ask(run, request, &answer);
    if (status)
        return status;
    status = control_tell(answer, a->json);
    json_decref(answer);
    return status;
}

/* --- the commands ---------------------------------------------------------------------------- */

static int set_run(const struct hil_run_entry *run, const struct set_arguments *a)
{
    return a->given.scenario_count > 1 ? set_all(run, a) : set_list(run, a->json);
}

static int set_find(const struct set_arguments *a, const char *command,
                    int (*act)(const struct hil_run_entry *run, const struct set_arguments *a))
{
    struct hil_runs runs = {0};
    const struct hil_run_entry *run;
    int status = hil_run_choose(&runs, a->given.scenario, a->all_users, command, &run);

    if (status == HIL_EXIT_OK)
        status = act(run, a);
    hil_runs_close(&runs);
    return status;
}

int hil_command_set(int argc, char **argv)
{
    struct set_arguments a = {0};
    const int rc =
        hil_arguments_parse(&a.given, &(struct hil_command){help, set_options, 1, 0}, argc, argv);
    const int status = rc ? hil_arguments_status(rc) : set_find(&a, "hiloco set", set_run);

    hil_arguments_free(&a.given);
    return status;
}

int hil_command_control(int argc, char **argv)
{
    struct set_arguments a = {0};
    const int rc = hil_arguments_parse(
        &a.given, &(struct hil_command){control_help, control_options, 1, 0}, argc, argv);
    int status = HIL_EXIT_USAGE;

    if (rc)
        status = hil_arguments_status(rc);
    else if (a.given.scenario_count < 2)
        fprintf(stderr, "control: what should the run do? pause, resume, step or stop\n");
    else
        status = set_find(&a, "hiloco control", control_run);
    hil_arguments_free(&a.given);
    return status;
}
