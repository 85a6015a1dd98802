/* `hiloco scope --capture`: one capture of a run, into a file, without a browser. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../base/cpus.h"
#include "../base/foreign.h"
#include "../launch/signals.h"
#include "../tools/scope/capture.h"
#include "../tools/scope/captured_file.h"
#include "../tools/scope/reader.h"
#include "../tools/top/choose.h"
#include "../tools/top/screen.h"
#include "commands.h"

static const char help[] =
    "usage: hiloco scope [RUN] --capture SIGNAL,... --out FILE [--trigger WHAT] [--hysteresis H]\n"
    "                    [--before S] [--after S] [--wait S] [--auto] [--all-users] [--quiet]\n"
    "\n"
    "Captures up to 16 signals of a run while it runs: every step, as in the record. RUN is a\n"
    "scenario's name, a process id or a folder of results; it may be left out if there is only "
    "one\n"
    "run. Watching does not slow a run in real time down. One in virtual time waits for the\n"
    "capture, so that no step is lost.\n"
    "\n"
    "  --capture SIGNAL,...\n"
    "                  the signals: inputs and outputs of components (motor[0].current_a), "
    "measures,\n"
    "                  their references (NAME.reference), and sources. ? lists them\n"
    "  --out FILE      FILE.csv: a column for each signal over the times of all; FILE.json: also "
    "the\n"
    "                  trigger, each signal's steps, and how many were lost\n"
    "  --trigger WHAT  free: what is there now (default); 'SIGNAL>LEVEL': it rises to the level;\n"
    "                  'SIGNAL<LEVEL': it falls to the level; 'SIGNAL<>LEVEL': either; miss: a "
    "step\n"
    "                  is missed; fault: a fault begins, a component fails, or a node is lost; "
    "age:\n"
    "                  an input is older than its limit\n"
    "  --hysteresis H  how far the signal must have been beyond the level, on its other side\n"
    "                  (default 0)\n"
    "  --before S, --after S\n"
    "                  seconds before and after the trigger (default 0.01 each)\n"
    "  --wait S        how long to wait for a trigger (default: until the run ends)\n"
    "  --auto          without a trigger until then, capture what is there\n"
    "  --all-users     as root: include runs of other users\n"
    "  --quiet         do not report what was captured\n"
    "\n"
    "Exit status: 0; 1 if there was no trigger; 2 for a mistake; 130 if interrupted.\n";

/* --- signals and triggers --------------------------------------------------------------------- */

struct capture_arguments {
    struct hil_arguments given;
    const char *capture, *trigger; /* "SIGNAL,..." */
    double hysteresis, before_s, after_s, trigger_wait_s;
    const char *out;
    bool automatic, all_users, quiet;
};

static const struct hil_option options[] = {
    HIL_OPTION("capture", hil_read_text, struct capture_arguments, capture),
    HIL_OPTION("trigger", hil_read_text, struct capture_arguments, trigger),
    HIL_OPTION("hysteresis", hil_read_number, struct capture_arguments, hysteresis),
    HIL_OPTION("before", hil_read_time, struct capture_arguments, before_s),
    HIL_OPTION("after", hil_read_time, struct capture_arguments, after_s),
    HIL_OPTION("wait", hil_read_time, struct capture_arguments, trigger_wait_s),
    HIL_FLAG("auto", struct capture_arguments, automatic),
    HIL_OPTION("out", hil_read_text, struct capture_arguments, out),
    HIL_FLAG("all-users", struct capture_arguments, all_users),
    HIL_FLAG("quiet", struct capture_arguments, quiet),
    {0},
};

static void capture_list(const struct hil_shown_list *list)
{
    for (unsigned i = 0; i < list->count; i++)
        printf("%s%s%s\n", list->at[i].name, *list->at[i].unit ? "  " : "", list->at[i].unit);
}

static const struct hil_shown *capture_signal(const struct hil_shown_list *list, const char *name)
{
    const struct hil_shown *found = hil_shown_find(list, name);

    if (!found)
        fprintf(stderr, "hiloco scope: there is no signal %s; --capture ? lists what there is\n",
                name);
    return found;
}

static bool capture_signals(const struct capture_arguments *a, const struct hil_shown_list *list,
                            struct hil_capture_config *config)
{
    char *names = strdup(a->capture), *rest = names, *name;
    bool fit = names != NULL;

    while (fit && (name = strsep(&rest, ","))) {
        if (config->count == HIL_TRACES_MAX)
            fprintf(stderr, "hiloco scope: %d signals at most\n", HIL_TRACES_MAX);
        fit = config->count < HIL_TRACES_MAX &&
              (config->signals[config->count++] = capture_signal(list, name));
    }
    free(names);
    return fit;
}

/* SIGNAL>LEVEL, SIGNAL<LEVEL, SIGNAL<>LEVEL */
static bool capture_level(const char *text, const struct hil_shown_list *list,
                          struct hil_trigger *t)
{
    const size_t length = strcspn(text, "<>");
    const char *level = text + length;
    char name[HIL_SIGNAL_NAME_BYTES], *end;

    t->falling = *level == '<';
    level += t->falling;
    t->rising = *level == '>';
    level += t->rising;
    t->level = strtod(level, &end);
    if (!(t->rising || t->falling) || end == level || *end || !isfinite(t->level)) {
        fprintf(stderr,
                "hiloco scope: --trigger %s; allowed: free, miss, fault, age, SIGNAL>LEVEL, "
                "SIGNAL<LEVEL, SIGNAL<>LEVEL\n",
                text);
        return false;
    }
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    t->on = HIL_ON_LEVEL;
    t->signal = capture_signal(list, name);
    return t->signal != NULL;
}

static bool capture_trigger(const struct capture_arguments *a, const struct hil_shown_list *list,
                            struct hil_trigger *t)
{
    const char *text = a->trigger ? a->trigger : "free";

    t->mode = HIL_TRIGGER_SINGLE;
    t->hysteresis = a->hysteresis;
    if (a->automatic) {
        t->mode = HIL_TRIGGER_AUTO;
        t->auto_ns = isfinite(a->trigger_wait_s) ? (uint64_t)(a->trigger_wait_s * 1e9) + 1 : 0;
    }
    for (unsigned on = 0; on < HIL_ON_COUNT; on++)
        if (on != HIL_ON_LEVEL && strcmp(text, hil_trigger_name(on)) == 0) {
            t->on = on;
            return true;
        }
    return capture_level(text, list, t);
}

/* --- capturing -------------------------------------------------------------------------------- */

/* A run in virtual time may fill its rings within a few milliseconds. */
static void capture_nap(const struct hil_run_entry *run)
{
    const struct timespec nap = {.tv_nsec = run->attached.card.virtual_time ? 100000 : 5000000};

    nanosleep(&nap, NULL);
}

/* Without a trigger, a capture is complete when its samples begin in the first half of the window,
 * or in the first period. */
static bool capture_is_full(const struct hil_captured *c, const struct hil_capture_config *config,
                            const struct hil_run_entry *run)
{
    const unsigned node = c->traces[0].signal->node;
    const double period_s = (double)run->attached.state->nodes[node].period_ns * 1e-9;

    return c->triggered || c->from_s == 0 || c->traces[0].count == 0 ||
           c->traces[0].times_s[0] <=
               c->from_s + fmax((config->before_s + config->after_s) / 2, period_s);
}

/* Returns NULL if there was no capture, or it was interrupted. */
static const struct hil_captured *capture_wait(struct hil_capture *c,
                                               const struct capture_arguments *a,
                                               const struct hil_capture_config *config,
                                               const struct hil_run_entry *run,
                                               struct hil_reader *reader)
{
    const uint64_t begin = hil_watch_clock();
    const struct hil_captured *given = NULL;
    bool ended = false;
    int unused;

    while (!given && !ended && !hil_signal_status()) {
        const uint64_t now = hil_watch_clock();
        const bool waits = hil_reader_is_waited_for(reader);
        ended = hil_run_ended(run, &unused) ||
                (!a->automatic && (double)(now - begin) * 1e-9 > a->trigger_wait_s);
        given = hil_capture_turn(c, now, ended);
        if (given && !ended && !capture_is_full(given, config, run))
            given = NULL;
        if (!given && !ended && waits)
            hil_reader_let_go(reader);
        else if (!given && !ended)
            capture_nap(run);
    }
    return given;
}

static void capture_tell_none(const struct hil_capture *c, const struct capture_arguments *a)
{
    const uint64_t lost = hil_capture_lost(c);

    fprintf(stderr, "hiloco scope: no trigger came%s",
            isfinite(a->trigger_wait_s) ? "" : " before the run ended");
    if (lost)
        fprintf(stderr,
                " in the steps that were seen; %llu were lost: the run is too fast for the scope",
                (unsigned long long)lost);
    fputc('\n', stderr);
}

static void capture_tell(const struct hil_captured *c, const struct hil_run_entry *run,
                         const struct capture_arguments *a, const char *on)
{
    char node[HIL_NODE_NAME_BYTES];
    uint64_t steps = 0;

    if (a->quiet)
        return;
    for (unsigned i = 0; i < c->count; i++)
        steps += c->traces[i].count;
    if (c->triggered)
        printf("%s: %s at %.9g s, step %llu of %s; ", a->out, on, c->time_s,
               (unsigned long long)c->step,
               hil_foreign_text(node, sizeof node, run->attached.state->nodes[c->node].name,
                                sizeof node));
    else
        printf("%s: no trigger, %.9g to %.9g s; ", a->out, c->from_s, c->to_s);
    printf("%llu values of %u signals%s", (unsigned long long)steps, c->count,
           c->lost ? "" : ", every step\n");
    if (c->lost)
        printf(", %llu steps were lost: the run is too fast for the scope\n",
               (unsigned long long)c->lost);
}

static int capture_run(const struct capture_arguments *a, const struct hil_run_entry *run,
                       const struct hil_capture_config *config)
{
    struct hil_capture *capture;
    struct hil_reader reader;
    int status = HIL_EXIT_FAILED;

    hil_reader_open(&reader, run);
    int rc = hil_capture_open(&capture, &run->attached, config);
    if (rc) {
        hil_reader_close(&reader);
        fprintf(stderr, "hiloco scope: %s\n",
                rc == -E2BIG ? "too many steps: shorten --before and --after" : strerror(-rc));
        return rc == -E2BIG ? HIL_EXIT_USAGE : HIL_EXIT_FAILED;
    }
    hil_catch_signals();
    const struct hil_captured *given = capture_wait(capture, a, config, run, &reader);
    hil_reader_close(&reader);
    const char *on = hil_trigger_name(config->trigger.on);
    if (hil_signal_status()) {
        status = hil_signal_status();
    } else if (!given) {
        capture_tell_none(capture, a);
    } else if ((rc = hil_captured_write(given, a->out, run, on))) {
        fprintf(stderr, "hiloco scope: %s: %s\n", a->out, strerror(-rc));
    } else {
        capture_tell(given, run, a, on);
        status = HIL_EXIT_OK;
    }
    hil_capture_close(capture);
    return status;
}

static int capture_of(const struct capture_arguments *a, const struct hil_run_entry *run)
{
    struct hil_capture_config config = {.before_s = a->before_s, .after_s = a->after_s};
    struct hil_shown_list list;
    int status = HIL_EXIT_USAGE;

    hil_keep_off(&run->attached.card.cores);
    if (hil_shown_open(&list, &run->attached)) {
        fprintf(stderr, "hiloco scope: the run's signals cannot be read\n");
        status = HIL_EXIT_FAILED;
    } else if (strcmp(a->capture, "?") == 0) {
        capture_list(&list);
        status = HIL_EXIT_OK;
    } else if (capture_signals(a, &list, &config) && capture_trigger(a, &list, &config.trigger)) {
        status = capture_run(a, run, &config);
    }
    hil_shown_close(&list);
    return status;
}

bool hil_scope_captures(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], "--capture", strlen("--capture")) == 0)
            return true;
    return false;
}

static int capture_asked(const struct capture_arguments *a)
{
    const bool lists = a->capture && strcmp(a->capture, "?") == 0;
    const struct hil_run_entry *run;
    struct hil_runs runs = {0};
    int status = HIL_EXIT_USAGE;

    if (!a->capture || (!a->out && !lists))
        fprintf(stderr, "hiloco scope: --capture SIGNAL,... and --out FILE go together\n");
    else if (!lists && !hil_captured_is_file(a->out))
        fprintf(stderr, "hiloco scope: --out %s; allowed: FILE.csv, FILE.json\n", a->out);
    else if ((status = hil_run_choose(&runs, a->given.scenario, a->all_users, "hiloco scope",
                                      &run)) == HIL_EXIT_OK)
        status = capture_of(a, run);
    hil_runs_close(&runs);
    return status;
}

/* `--capture --help` asks for help, not for a signal of that name. */
static bool capture_wants_help(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0)
            return true;
    return false;
}

int hil_scope_capture(int argc, char **argv)
{
    struct capture_arguments a = {.before_s = 0.01, .after_s = 0.01, .trigger_wait_s = INFINITY};

    if (capture_wants_help(argc, argv)) {
        fputs(help, stdout);
        return HIL_EXIT_OK;
    }
    const int rc =
        hil_arguments_parse(&a.given, &(struct hil_command){help, options, 0, 1}, argc, argv);
    const int status = rc ? hil_arguments_status(rc) : capture_asked(&a);

    hil_arguments_free(&a.given);
    return status;
}
