/* Reads a measurement from its record, and writes it as CSV and JSON. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/json_number.h"
#include "../../h5/recorded.h"
#include "../../h5/run_files.h"
#include "bode.h"

enum {
    BODE_FREQUENCY,
    BODE_GAIN,
    BODE_PHASE,
    BODE_COHERENCE,
    BODE_CROSSOVER,
    BODE_PHASE_MARGIN,
    BODE_GAIN_MARGIN,
    BODE_DONE,
    BODE_SIGNALS
};

static int bode_read_signal(struct hil_recorded_series *series,
                            const struct hil_trace_reader *trace, const char *component,
                            const char *signal)
{
    struct hil_recorded *found = NULL;
    char name[HIL_RECORDED_NAME_BYTES];

    snprintf(name, sizeof name, "%s.%s", component, signal);
    int count = hil_recorded_find(&found, trace, name, NULL);
    int rc = count < 0 ? count : count != 1 ? -EBADMSG : hil_recorded_read(series, trace, found);
    free(found);
    return rc;
}

static int bode_read_all(struct hil_recorded_series *series, const struct hil_trace_reader *trace,
                         const char *component)
{
    static const char *const names[BODE_SIGNALS] = {
        "frequency_hz", "gain_db",          "phase_deg",      "coherence",
        "crossover_hz", "phase_margin_deg", "gain_margin_db", "done"};
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < BODE_SIGNALS; i++)
        rc = bode_read_signal(&series[i], trace, component, names[i]);
    for (unsigned i = 0; rc == 0 && i < BODE_SIGNALS; i++)
        rc = series[i].count == series[0].count && series[0].count > 0 ? 0 : -EBADMSG;
    return rc;
}

/* A new frequency is a new reading. */
static int bode_take(struct hil_bode *bode, const struct hil_recorded_series *of)
{
    const size_t count = of[0].count;
    double last_hz = 0;

    bode->readings = calloc(count, sizeof *bode->readings);
    if (!bode->readings)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        const double hz = of[BODE_FREQUENCY].values[i];
        if (hz == last_hz || !isfinite(hz))
            continue;
        last_hz = hz;
        bode->readings[bode->count++] = (struct hil_bode_reading){
            hz, of[BODE_GAIN].values[i], of[BODE_PHASE].values[i], of[BODE_COHERENCE].values[i]};
    }
    const double crossover_hz = of[BODE_CROSSOVER].values[count - 1];
    const double gain_margin_db = of[BODE_GAIN_MARGIN].values[count - 1];
    bode->crossover_hz = crossover_hz > 0 ? crossover_hz : NAN;
    bode->phase_margin_deg = crossover_hz > 0 ? of[BODE_PHASE_MARGIN].values[count - 1] : NAN;
    bode->gain_margin_db = gain_margin_db < 1000 ? gain_margin_db : NAN;
    return of[BODE_DONE].values[count - 1] != 0 ? 0 : -ENODATA;
}

int bode_read(struct hil_bode *bode, const struct bode_plan *plan, const char *folder)
{
    struct hil_recorded_series series[BODE_SIGNALS] = {0};
    struct hil_trace_reader *trace;
    int rc = hil_run_open_trace(&trace, folder, stderr);

    if (rc)
        return rc;
    rc = bode_read_all(series, trace, plan->analyser);
    if (!rc)
        rc = bode_take(bode, series);
    for (unsigned i = 0; i < BODE_SIGNALS; i++)
        hil_recorded_series_free(&series[i]);
    hil_trace_reader_close(trace);
    if (rc)
        fprintf(stderr, "%s: %s\n", folder,
                rc == -ENODATA ? "the run ended before the last frequency was read"
                               : strerror(-rc));
    return rc;
}

/* --- files ----------------------------------------------------------------------------------- */

struct bode_result {
    const struct hil_bode *bode;
    const struct bode_verdict *verdict;
};

static int bode_put_csv(const void *arg, FILE *to)
{
    const struct hil_bode *b = ((const struct bode_result *)arg)->bode;

    fputs("frequency_hz,gain_db,phase_deg,coherence\n", to);
    for (unsigned i = 0; i < b->count; i++)
        fprintf(to, "%.9g,%.9g,%.9g,%.9g\n", b->readings[i].frequency_hz, b->readings[i].gain_db,
                b->readings[i].phase_deg, b->readings[i].coherence);
    return 0;
}

void bode_print_json(const struct hil_bode *b, const struct bode_verdict *verdict, FILE *to)
{
    json_t *readings = json_array();

    for (unsigned i = 0; i < b->count; i++)
        json_array_append_new(
            readings, json_pack("{s:f, s:f, s:f, s:f}", "frequency_hz", b->readings[i].frequency_hz,
                                "gain_db", b->readings[i].gain_db, "phase_deg",
                                b->readings[i].phase_deg, "coherence", b->readings[i].coherence));
    json_t *root = json_pack("{s:s, s:s, s:s, s:b, s:o, s:o, s:o}", "scenario", b->scenario,
                             "inject", b->inject, "response", b->response, "of_loop", b->of_loop,
                             "crossover_hz", hil_json_number(b->crossover_hz), "phase_margin_deg",
                             hil_json_number(b->phase_margin_deg), "gain_margin_db",
                             hil_json_number(b->gain_margin_db));
    bode_verdict_add(verdict, root);
    json_object_set_new(root, "readings", readings);
    json_dumpf(root, to, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    putc('\n', to);
    json_decref(root);
}

static int bode_put_json(const void *arg, FILE *to)
{
    const struct bode_result *result = arg;

    bode_print_json(result->bode, result->verdict, to);
    return 0;
}

int bode_save(const struct hil_bode *bode, const struct bode_verdict *verdict, const char *folder)
{
    const struct bode_result result = {bode, verdict};
    int rc = hil_run_save(folder, "bode.csv", bode_put_csv, &result, stderr);

    return rc ? rc : hil_run_save(folder, "bode.json", bode_put_json, &result, stderr);
}
