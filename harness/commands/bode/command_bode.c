#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bode.h"

static const char help[] =
    "usage: hiloco bode SCENARIO [--inject SIGNAL] [--response SIGNAL] [--from HZ] [--to HZ]\n"
    "                   [--points N] [--multisine] [--amplitude A] [--start S]\n"
    "                   [--phase-margin DEG] [--gain-margin DB] [--mode MODE]\n"
    "                   [--set KEY=VALUE]... [--parameters FILE]... [--out DIR] [--json]\n"
    "                   [--quiet]\n"
    "\n"
    "Measures a frequency response of a scenario while its loops are closed: adds a sine to a\n"
    "signal, at one frequency after the other, and reads what comes back. Prints gain, phase and\n"
    "coherence at each frequency, with crossover, phase margin and gain margin of the loop.\n"
    "The block `bode` of the scenario says how, and which margins are required; options take the\n"
    "place of its keys.\n"
    "\n"
    "  --inject SIGNAL    the input to which the sine is added, such as control.measured, or an\n"
    "                     output that feeds one input. bode.response and bode.amplitude do not "
    "count\n"
    "                     with this option\n"
    "  --response SIGNAL  the output that is read. If it is what feeds the input, as without this\n"
    "                     option, the response is that of the loop, with negative feedback, and "
    "has\n"
    "                     margins. Otherwise it is the response of this output to the input with\n"
    "                     the sine\n"
    "  --from HZ, --to HZ first and last frequency. The last one must be below 0.45 of the rate "
    "of\n"
    "                     the input's node (default: 0.4 of it, and a thousandth of that)\n"
    "  --points N         number of frequencies (default 30)\n"
    "  --multisine        all frequencies at once, rounded to whole periods of a window: much "
    "less\n"
    "                     time, and more work in each step\n"
    "  --amplitude A      of each sine, in the input's unit. The default is 1 percent of the "
    "input's\n"
    "                     value when the measurement begins; with --multisine, this by the square\n"
    "                     root of the number of sines\n"
    "  --start S          when the measurement begins, in seconds; the loops must have settled. "
    "The\n"
    "                     default is the scenario's duration\n"
    "  --phase-margin DEG, --gain-margin DB\n"
    "                     limits: the least margins that are allowed\n"
    "  --mode MODE        virtual (the default) or realtime\n"
    "  --set KEY=VALUE, --parameters FILE\n"
    "                     as for hiloco run\n"
    "  --out DIR          folder of the results (default: results/NAME-TIMESTAMP)\n"
    "  --json             print JSON instead of the table\n"
    "  --quiet            no progress\n"
    "\n"
    "DIR holds bode.csv, bode.json, bode.png and bode.svg, beside the results of the run that\n"
    "measured. Its scenario.yaml has the component that measures. `limits` of the scenario do not\n"
    "count. A coherence below 0.95 says that something else moves the signal at this frequency.\n"
    "\n"
    "Exit status: 0; 1 if the run failed; 2 for a mistake, before anything runs; 3 if the run is\n"
    "not valid, or a limit could not be judged, since there is no such margin between the\n"
    "frequencies; 4 if a margin is below its limit; 130 if it was interrupted.\n";

static void print_readings(const struct hil_bode *b)
{
    unsigned doubtful = 0;

    printf("%14s %12s %12s %10s\n", "frequency (Hz)", "gain (dB)", "phase (deg)", "coherence");
    for (unsigned i = 0; i < b->count; i++) {
        const struct hil_bode_reading *r = &b->readings[i];
        printf("%14.6g %12.3f %12.2f %10.4f\n", r->frequency_hz, r->gain_db, r->phase_deg,
               r->coherence);
        doubtful += r->coherence < 0.95;
    }
    if (doubtful)
        printf("%u of %u readings have a coherence below 0.95: another --amplitude may help\n",
               doubtful, b->count);
}

static void print_margins(const struct hil_bode *b, const struct bode_verdict *v)
{
    if (isfinite(b->crossover_hz))
        printf("crossover     %.6g Hz\nphase margin  %.4g deg", b->crossover_hz,
               b->phase_margin_deg);
    else
        printf("phase margin  none: the gain does not pass 0 dB between these frequencies");
    bode_verdict_print(v, "phase_margin_deg");
    if (isfinite(b->gain_margin_db))
        printf("gain margin   %.4g dB", b->gain_margin_db);
    else
        printf("gain margin   none: the phase does not pass -180 deg between these frequencies");
    bode_verdict_print(v, "gain_margin_db");
}

/* Without a sine there is no response: 1 percent of 0 is 0. */
static bool moved(const struct bode_arguments *a, const struct hil_bode *b)
{
    if (a->asked.amplitude >= 0 || b->count == 0 || b->readings[0].coherence > 0)
        return true;
    fprintf(stderr,
            "--inject %s: it is 0 when the measurement begins; required: --amplitude, or "
            "bode.amplitude\n",
            b->inject);
    return false;
}

static int show(const struct bode_arguments *a, const struct hil_bode *b, bool believed,
                const char *folder)
{
    struct bode_verdict verdict;

    bode_judge(&verdict, &a->asked, b, believed);
    if (!moved(a, b) || bode_save(b, &verdict, folder))
        return HIL_EXIT_FAILED;
    const int drawn = hil_plot_bode(folder, b, stderr);
    if (a->json) {
        bode_print_json(b, &verdict, stdout);
    } else {
        print_readings(b);
        if (b->of_loop)
            print_margins(b, &verdict);
    }
    if (drawn && drawn != -ENOPKG)
        return HIL_EXIT_FAILED;
    bode_verdict_complain(&verdict, stderr);
    return verdict.status;
}

static int measure(const struct bode_arguments *a, const struct bode_plan *plan,
                   const struct hil_scenario *measuring)
{
    struct hil_bode bode = {.scenario = measuring->name,
                            .inject = plan->place.input,
                            .response = plan->place.response,
                            .of_loop = plan->place.of_loop};
    char folder[4096] = "";
    const struct hil_launch launch = {.scenario = measuring,
                                      .out = a->out,
                                      .keep_quiet = true,
                                      .wait_s = HIL_PART_WAIT_S,
                                      .where = folder,
                                      .where_size = sizeof folder};
    int status = hil_launch(&launch);

    if (status == HIL_EXIT_OK || status == HIL_EXIT_INVALID) {
        const int shown = bode_read(&bode, plan, folder)
                              ? HIL_EXIT_FAILED
                              : show(a, &bode, status == HIL_EXIT_OK, folder);
        status = shown == HIL_EXIT_FAILED || status == HIL_EXIT_OK ? shown : status;
    }
    free(bode.readings);
    return status;
}

static bool complete(const struct bode_arguments *a)
{
    if (!a->asked.inject)
        fprintf(stderr, "hiloco bode: where does the sine go in? required: --inject SIGNAL, or "
                        "bode.inject in the scenario\n");
    return a->asked.inject;
}

static int bode(struct bode_arguments *a, const struct hil_scenario *scenario)
{
    struct bode_plan plan = {0};
    struct hil_scenario *measuring;

    bode_fill(&a->asked, scenario->system->bode);
    if (!complete(a) || bode_plan(&plan, a, scenario) || bode_load(&measuring, a, &plan, scenario))
        return HIL_EXIT_USAGE;
    const int status = measure(a, &plan, measuring);
    hil_scenario_free(measuring);
    return status;
}

static int read_frequency(const char *name, const char *text, void *to)
{
    double *hz = to;
    char *end;

    *hz = strtod(text, &end);
    if (*text && !*end && *hz >= 1e-6 && *hz <= 1e9)
        return 0;
    fprintf(stderr, "--%s %s: a frequency in Hz, 1e-6 to 1e9, is allowed\n", name, text);
    return -EINVAL;
}

/* As many as the model network_analyser reads. */
static int read_points(const char *name, const char *text, void *to)
{
    uint64_t number;
    const int rc = hil_read_whole(name, text, 1, 1000, &number);

    if (!rc)
        *(unsigned *)to = (unsigned)number;
    return rc;
}

static const struct hil_option options[] = {
    HIL_MODE_OPTION,
    HIL_SET_OPTIONS,
    HIL_OPTION("inject", hil_read_text, struct bode_arguments, asked.inject),
    HIL_OPTION("response", hil_read_text, struct bode_arguments, asked.response),
    HIL_OPTION("from", read_frequency, struct bode_arguments, asked.from_hz),
    HIL_OPTION("to", read_frequency, struct bode_arguments, asked.to_hz),
    HIL_OPTION("points", read_points, struct bode_arguments, asked.points),
    HIL_OPTION("amplitude", hil_read_number, struct bode_arguments, asked.amplitude),
    HIL_OPTION("start", hil_read_time, struct bode_arguments, asked.start_s),
    HIL_OPTION("phase-margin", hil_read_number, struct bode_arguments, asked.phase_margin_deg),
    HIL_OPTION("gain-margin", hil_read_number, struct bode_arguments, asked.gain_margin_db),
    HIL_OPTION("out", hil_read_text, struct bode_arguments, out),
    HIL_FLAG("multisine", struct bode_arguments, asked.multisine),
    HIL_FLAG("quiet", struct bode_arguments, quiet),
    HIL_FLAG("json", struct bode_arguments, json),
    {0},
};

int hil_command_bode(int argc, char **argv)
{
    struct bode_arguments a = {.asked = {.from_hz = -1,
                                         .to_hz = -1,
                                         .amplitude = -1,
                                         .start_s = -1,
                                         .phase_margin_deg = NAN,
                                         .gain_margin_db = NAN}};
    struct hil_scenario *scenario;
    int rc = hil_arguments_parse(&a.given, &(struct hil_command){help, options, 1, 1}, argc, argv);
    int status = rc ? hil_arguments_status(rc) : HIL_EXIT_USAGE;

    a.given.options.virtual_time = !a.given.options.realtime;
    if (!rc && hil_arguments_load(&a.given, &scenario) == 0) {
        if (hil_system_is_joined(scenario->system))
            fprintf(stderr, "%s: a component is outside; allowed: components that hiloco runs\n",
                    a.given.scenario);
        else
            status = bode(&a, scenario);
        hil_scenario_free(scenario);
    }
    hil_arguments_free(&a.given);
    return status;
}
