#include "../base/digits.h"
#include "../base/version.h"
#include "../models/models.h"
#include "commands.h"

#include <errno.h>
#include <float.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGES_SIZE = 16384 };

struct choice {
    uint64_t takes;
    struct option option;
};

static const struct choice choices[] = {
    {HIL_TAKES_MODE, {"mode", required_argument, NULL, 'm'}},
    {HIL_TAKES_SET, {"set", required_argument, NULL, 's'}},
    {HIL_TAKES_SET, {"parameters", required_argument, NULL, 'x'}},
    {HIL_TAKES_OUT, {"out", required_argument, NULL, 'o'}},
    {HIL_TAKES_JOBS, {"jobs", required_argument, NULL, 'j'}},
    {HIL_TAKES_MEETING, {"run-dir", required_argument, NULL, 'r'}},
    {HIL_TAKES_MEETING, {"wait", required_argument, NULL, 'w'}},
    {HIL_TAKES_ID, {"id", required_argument, NULL, 'i'}},
    {HIL_TAKES_QUIET, {"quiet", no_argument, NULL, 'q'}},
    {HIL_TAKES_BESIDE, {"beside", required_argument, NULL, 'b'}},
    {HIL_TAKES_SPAN, {"from", required_argument, NULL, 'F'}},
    {HIL_TAKES_SPAN, {"until", required_argument, NULL, 'u'}},
    {HIL_TAKES_TO, {"to", required_argument, NULL, 'T'}},
    {HIL_TAKES_TOLERANCE, {"abs", required_argument, NULL, 'a'}},
    {HIL_TAKES_TOLERANCE, {"rel", required_argument, NULL, 'p'}},
    {HIL_TAKES_TOLERANCE, {"within", required_argument, NULL, 'd'}},
    {HIL_TAKES_EXPORT, {"csv", no_argument, NULL, 'c'}},
    {HIL_TAKES_EXPORT, {"mcap", no_argument, NULL, 'C'}},
    {HIL_TAKES_FIX, {"fix", no_argument, NULL, 'f'}},
    {HIL_TAKES_DOCTOR, {"measure", required_argument, NULL, 'M'}},
    {HIL_TAKES_DOCTOR, {"strict", no_argument, NULL, 'S'}},
    {HIL_TAKES_DOCTOR, {"capacity", no_argument, NULL, 'K'}},
    {HIL_TAKES_DOCTOR | HIL_TAKES_RUN | HIL_TAKES_CHANGES | HIL_TAKES_CONTROL |
         HIL_TAKES_TOLERANCE | HIL_TAKES_BODE | HIL_TAKES_LINEARIZE,
     {"json", no_argument, NULL, 'J'}},
    {HIL_TAKES_DOCTOR, {"root", required_argument, NULL, 'R'}},
    {HIL_TAKES_RUN, {"interval", required_argument, NULL, 'I'}},
    {HIL_TAKES_RUN, {"count", required_argument, NULL, 'n'}},
    {HIL_TAKES_RUN | HIL_TAKES_SCOPE | HIL_TAKES_CAPTURE | HIL_TAKES_CHANGES | HIL_TAKES_CONTROL,
     {"all-users", no_argument, NULL, 'A'}},
    {HIL_TAKES_CHANGES, {"ramp", required_argument, NULL, 'L'}},
    {HIL_TAKES_TUNING, {"allow-set", no_argument, NULL, 'G'}},
    {HIL_TAKES_TUNING, {"tuning", required_argument, NULL, 'g'}},
    {HIL_TAKES_SCOPE, {"listen", required_argument, NULL, 'l'}},
    {HIL_TAKES_SCOPE, {"allow-set", no_argument, NULL, 'O'}},
    {HIL_TAKES_CAPTURE, {"capture", required_argument, NULL, 1}},
    {HIL_TAKES_CAPTURE, {"trigger", required_argument, NULL, 2}},
    {HIL_TAKES_CAPTURE, {"hysteresis", required_argument, NULL, 3}},
    {HIL_TAKES_CAPTURE, {"before", required_argument, NULL, 4}},
    {HIL_TAKES_CAPTURE, {"after", required_argument, NULL, 5}},
    {HIL_TAKES_CAPTURE, {"wait", required_argument, NULL, 6}},
    {HIL_TAKES_CAPTURE, {"auto", no_argument, NULL, 7}},
    {HIL_TAKES_BODE, {"inject", required_argument, NULL, 9}},
    {HIL_TAKES_BODE, {"response", required_argument, NULL, 10}},
    {HIL_TAKES_BODE, {"from", required_argument, NULL, 11}},
    {HIL_TAKES_BODE, {"to", required_argument, NULL, 12}},
    {HIL_TAKES_BODE, {"points", required_argument, NULL, 13}},
    {HIL_TAKES_BODE, {"amplitude", required_argument, NULL, 14}},
    {HIL_TAKES_BODE | HIL_TAKES_LINEARIZE, {"start", required_argument, NULL, 15}},
    {HIL_TAKES_BODE, {"phase-margin", required_argument, NULL, 16}},
    {HIL_TAKES_BODE, {"gain-margin", required_argument, NULL, 17}},
    {HIL_TAKES_LINEARIZE, {"longest", required_argument, NULL, 19}},
    {HIL_TAKES_HOSTS, {"scope", no_argument, NULL, 'Z'}},
    {HIL_TAKES_CHECK, {"measure", no_argument, NULL, 'E'}},
    {HIL_TAKES_CHECK, {"against", required_argument, NULL, 8}},
    {HIL_TAKES_BISECT, {"bisect", required_argument, NULL, 'B'}},
    {HIL_TAKES_DRAWS, {"runs", required_argument, NULL, 'N'}},
    {HIL_TAKES_HOSTS, {"hosts", required_argument, NULL, 'H'}},
    {HIL_TAKES_DRAWS, {"seed", required_argument, NULL, 'D'}},
    {HIL_TAKES_VERDICTS, {"junit", required_argument, NULL, 'U'}},
    {HIL_TAKES_VERDICTS, {"tap", required_argument, NULL, 'P'}},
    {HIL_TAKES_KIND, {"kind", required_argument, NULL, 'k'}},
    {HIL_TAKES_FMU, {"fmi", required_argument, NULL, 'V'}},
    {HIL_TAKES_FMU | HIL_TAKES_WRAP, {"period-us", required_argument, NULL, 'Y'}},
    {HIL_TAKES_MARKDOWN, {"markdown", no_argument, NULL, 20}},
    {HIL_TAKES_WRAP, {"rates", required_argument, NULL, 18}},
    {HIL_TAKES_FMU, {"width", required_argument, NULL, 'W'}},
    {HIL_TAKES_TRACE, {"trace", optional_argument, NULL, 't'}},
    {HIL_TAKES_TRACE, {"trace-every", required_argument, NULL, 'y'}},
    {HIL_TAKES_SNAPSHOT, {"snapshot", no_argument, NULL, 'z'}},
    {HIL_TAKES_PARTIAL, {"partial", no_argument, NULL, 'Q'}},
    {UINT64_MAX, {"help", no_argument, NULL, 'h'}},
    {UINT64_MAX, {"version", no_argument, NULL, 'v'}},
};

enum { CHOICES = sizeof choices / sizeof choices[0] };

static void select_options(struct option *options, uint64_t takes)
{
    unsigned n = 0;

    for (unsigned i = 0; i < CHOICES; i++)
        if (choices[i].takes & takes || choices[i].takes == UINT64_MAX)
            options[n++] = choices[i].option;
    options[n] = (struct option){0};
}

static int parse_whole(const char *name, const char *text, uint64_t least, uint64_t most,
                       uint64_t *number)
{
    if (hil_whole_number(text, most, number) && *number >= least)
        return 0;
    fprintf(stderr, "--%s %s: a whole number from %" PRIu64 " to %" PRIu64 " is allowed\n", name,
            text, least, most);
    return -EINVAL;
}

static int parse_count(const char *name, const char *text, unsigned least, unsigned *count)
{
    uint64_t number;
    int rc = parse_whole(name, text, least, 100000, &number);

    if (!rc)
        *count = (unsigned)number;
    return rc;
}

static const char a_time[] = "a time in seconds", a_number[] = "a number";

/* `what` names the kind of number: one of the two above. */
static int parse_number(const char *name, const char *text, const char *what, double *number)
{
    char *end;

    *number = strtod(text, &end);
    const double most = what == a_time ? 1e9 : DBL_MAX;
    if (*text && !*end && *number >= 0 && *number <= most)
        return 0;
    fprintf(stderr, "--%s %s: %s, %s, is allowed\n", name, text, what,
            what == a_time ? "0 to 1e9" : "0 or more");
    return -EINVAL;
}

static int parse_frequency(const char *name, const char *text, double *hz)
{
    char *end;

    *hz = strtod(text, &end);
    if (*text && !*end && *hz >= 1e-6 && *hz <= 1e9)
        return 0;
    fprintf(stderr, "--%s %s: a frequency in Hz, 1e-6 to 1e9, is allowed\n", name, text);
    return -EINVAL;
}

/* As many as the model network_analyser reads. */
static int parse_points(const char *text, unsigned *points)
{
    uint64_t number;
    int rc = parse_whole("points", text, 1, 1000, &number);

    if (!rc)
        *points = (unsigned)number;
    return rc;
}

static bool is_number(const char *text)
{
    char *end;

    strtod(text, &end);
    return end > text && !*end;
}

static int parse_mode(const char *text, struct hil_scenario_options *options)
{
    options->realtime = strcmp(text, "realtime") == 0;
    options->virtual_time = strcmp(text, "virtual") == 0;
    if (options->realtime || options->virtual_time)
        return 0;
    fprintf(stderr, "--mode %s: realtime or virtual is allowed\n", text);
    return -EINVAL;
}

static int parse_fmi(const char *text, unsigned *version)
{
    if (strcmp(text, "2") == 0 || strcmp(text, "3") == 0) {
        *version = (unsigned)(*text - '0');
        return 0;
    }
    fprintf(stderr, "--fmi %s: 2 or 3 is allowed\n", text);
    return -EINVAL;
}

static int parse_period(const char *text, double *period_us)
{
    char *end;

    *period_us = strtod(text, &end);
    const double ns = *period_us * 1e3;
    if (*text && !*end && ns >= 1 && ns <= 1e12 && fabs(ns - round(ns)) < 1e-6)
        return 0;
    fprintf(stderr, "--period-us %s: 0.001 to 1e9, in whole nanoseconds, is allowed\n", text);
    return -EINVAL;
}

static int take_trace(struct hil_arguments *a)
{
    if (optarg && strcmp(optarg, "all") != 0) {
        fprintf(stderr, "--trace=%s: --trace or --trace=all is allowed\n", optarg);
        return -EINVAL;
    }
    a->sets[a->options.set_count++] = "trace.enable=true";
    if (optarg)
        a->sets[a->options.set_count++] = "trace.keep=all";
    return 0;
}

static int take_trace_every(struct hil_arguments *a)
{
    uint64_t every;
    int rc = parse_whole("trace-every", optarg, 1, 1000000, &every);

    snprintf(a->trace_every, sizeof a->trace_every, "trace.every=%" PRIu64, rc ? 1 : every);
    a->sets[a->options.set_count++] = "trace.enable=true";
    a->sets[a->options.set_count++] = a->trace_every;
    return rc;
}

static int take(struct hil_arguments *a, int option)
{
    switch (option) {
    case 'm':
        return parse_mode(optarg, &a->options);
    case 's':
        a->sets[a->options.set_count++] = optarg;
        return 0;
    case 'x':
        a->parameters[a->options.parameter_count++] = optarg;
        return 0;
    case 't':
        return take_trace(a);
    case 'y':
        return take_trace_every(a);
    case 'z':
        a->snapshot = true;
        return 0;
    case 'K':
        a->capacity = true;
        return 0;
    case 'k':
        a->kind = optarg;
        return 0;
    case 18:
        a->rates = optarg;
        return 0;
    case 20:
        a->markdown = true;
        return 0;
    case 'o':
        a->out = optarg;
        return 0;
    case 'j':
        return parse_count("jobs", optarg, 1, &a->jobs);
    case 'r':
        a->run_directory = optarg;
        return 0;
    case 'w':
        return parse_count("wait", optarg, 1, &a->wait_s);
    case 'i':
        a->ids = optarg;
        return 0;
    case 'q':
        a->quiet = true;
        return 0;
    case 'b':
        a->beside = optarg;
        return 0;
    case 'F':
        return parse_number("from", optarg, a_time, &a->from_s);
    case 'u':
        return parse_number("until", optarg, a_time, &a->until_s);
    case 'T':
        a->to = optarg;
        return 0;
    case 'a':
        return parse_number("abs", optarg, a_number, &a->absolute);
    case 'p':
        return parse_number("rel", optarg, a_number, &a->percent);
    case 'd':
        return parse_number("within", optarg, a_number, &a->within_s);
    case 'c':
        a->csv = true;
        return 0;
    case 'C':
        a->mcap = true;
        return 0;
    case 'f':
        a->fix = true;
        return 0;
    case 'M':
        return parse_count("measure", optarg, 0, &a->measure_s);
    case 'S':
        a->strict = true;
        return 0;
    case 'J':
        a->json = true;
        return 0;
    case 'E':
        a->measure = true;
        return 0;
    case 8:
        a->against = optarg;
        return 0;
    case 'B':
        a->bisect = optarg;
        return 0;
    case 'N':
        return parse_count("runs", optarg, 1, &a->runs);
    case 'D':
        a->seed_given = true;
        return parse_whole("seed", optarg, 0, UINT32_MAX, &a->seed);
    case 'H':
        a->hosts = optarg;
        return 0;
    case 'U':
        a->junit = optarg;
        return 0;
    case 'P':
        a->tap = optarg;
        return 0;
    case 'A':
        a->all_users = true;
        return 0;
    case 'l':
        a->listen = optarg;
        return 0;
    case 'O':
        a->allow_set = true;
        return 0;
    case 1:
        a->capture = optarg;
        return 0;
    case 2:
        a->trigger = optarg;
        return 0;
    case 3:
        return parse_number("hysteresis", optarg, a_number, &a->hysteresis);
    case 4:
        return parse_number("before", optarg, a_time, &a->before_s);
    case 5:
        return parse_number("after", optarg, a_time, &a->after_s);
    case 6:
        return parse_number("wait", optarg, a_time, &a->trigger_wait_s);
    case 7:
        a->automatic = true;
        return 0;
    case 9:
        a->inject = optarg;
        return 0;
    case 10:
        a->response = optarg;
        return 0;
    case 11:
        return parse_frequency("from", optarg, &a->from_hz);
    case 12:
        return parse_frequency("to", optarg, &a->to_hz);
    case 13:
        return parse_points(optarg, &a->points);
    case 14:
        return parse_number("amplitude", optarg, a_number, &a->amplitude);
    case 15:
        return parse_number("start", optarg, a_time, &a->start_s);
    case 16:
        return parse_number("phase-margin", optarg, a_number, &a->phase_margin_deg);
    case 17:
        return parse_number("gain-margin", optarg, a_number, &a->gain_margin_db);
    case 19:
        a->longest = optarg;
        return 0;
    case 'Z':
        a->scope = true;
        return 0;
    case 'R':
        a->root = optarg;
        return 0;
    case 'I':
        return parse_count("interval", optarg, 1, &a->interval_ms);
    case 'n':
        return parse_count("count", optarg, 1, &a->count);
    case 'V':
        return parse_fmi(optarg, &a->fmi);
    case 'Y':
        return parse_period(optarg, &a->period_us);
    case 'L':
        return parse_number("ramp", optarg, a_time, &a->ramp_s);
    case 'g':
        a->tuning = optarg;
        /* fall through */
    case 'G':
        a->allow_set |= option == 'G';
        a->sets[a->options.set_count++] = "tuning=true";
        return 0;
    case 'Q':
        a->partial = true;
        return 0;
    case 'W':
        return parse_count("width", optarg, 1, &a->width);
    default:
        return -EINVAL; /* getopt has printed the reason */
    }
}

int hil_arguments_parse(struct hil_arguments *a, uint64_t takes, const char *help, int argc,
                        char **argv)
{
    struct option options[CHOICES + 1];
    int option;

    *a = (struct hil_arguments){.wait_s = 30,
                                .measure_s = 5,
                                .interval_ms = 200,
                                .until_s = INFINITY,
                                .before_s = 0.01,
                                .after_s = 0.01,
                                .trigger_wait_s = INFINITY,
                                .seed = 1,
                                .fmi = 2,
                                .from_hz = -1,
                                .to_hz = -1,
                                .amplitude = -1,
                                .start_s = -1,
                                .phase_margin_deg = NAN,
                                .gain_margin_db = NAN,
                                .points = 30,
                                .width = 1,
                                .period_us = takes & HIL_TAKES_FMU ? 10 : 0};
    a->sets = calloc(2 * (size_t)argc + 1, sizeof *a->sets); /* an option may set two keys */
    a->parameters = calloc((size_t)argc + 1, sizeof *a->parameters);
    if (!a->sets || !a->parameters)
        return -ENOMEM;
    a->options.sets = a->sets;
    a->options.parameters = a->parameters;
    select_options(options, takes);
    optind = 1;
    while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        if (option == 'h') {
            fputs(help, stdout);
            return 1;
        }
        if (option == 'v') {
            hil_print_version();
            return 1;
        }
        if (take(a, option)) {
            fprintf(stderr, "%s --help lists what is allowed\n", argv[0]);
            return -EINVAL;
        }
    }
    const int least = takes & (HIL_TAKES_DOCTOR | HIL_TAKES_RUN | HIL_TAKES_SCOPE |
                               HIL_TAKES_CAPTURE | HIL_TAKES_MODEL)
                          ? 0
                          : 1;
    const int most = takes & HIL_TAKES_SCENARIOS ? argc : takes & HIL_TAKES_NODES ? 2 : 1;
    if (argc - optind < least || argc - optind > most) {
        fprintf(stderr, "%s: %s; %s --help explains\n", argv[0],
                argc == optind ? "an argument is missing" : "there are too many arguments",
                argv[0]);
        return -EINVAL;
    }
    if (takes & HIL_TAKES_SPAN && a->to && is_number(a->to)) {
        fprintf(stderr,
                "%s: --to %s: a folder is allowed; --until %s ends the time there (a folder with "
                "this name is ./%s)\n",
                argv[0], a->to, a->to, a->to);
        return -EINVAL;
    }
    if (!(a->from_s < a->until_s)) {
        fprintf(stderr, "%s: --from %g must be before --until %g\n", argv[0], a->from_s,
                a->until_s);
        return -EINVAL;
    }
    a->scenarios = (const char *const *)&argv[optind];
    a->scenario_count = (unsigned)(argc - optind);
    if (takes & HIL_TAKES_NODES && argc - optind == 2)
        a->nodes = argv[optind++];
    a->scenario = argv[optind];
    return 0;
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
