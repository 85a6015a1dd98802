/* Sources that replay the record of another run. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../h5/recorded.h"
#include "../../h5/run_files.h"
#include "general.h"

/* The record that a source's block names. */
struct replay {
    const struct general *g;
    const struct scenario_node *block;
    struct hil_trace_reader *record;
    struct hil_recorded *found; /* the signals to replay */
    unsigned count;
    double shift_s;
};

/* --- the record ------------------------------------------------------------------------------ */

static int replay_open(struct replay *r)
{
    const struct scenario_node *run = scenario_node_get(r->block, "run");
    char *why = NULL;
    size_t length;
    FILE *messages = open_memstream(&why, &length);
    if (!messages)
        return -ENOMEM;
    int rc = hil_run_open_trace(&r->record, run->text, messages);
    fclose(messages);
    if (rc)
        scenario_mistake(r->g->report, &run->at,
                         "%.*s; allowed: the folder of a run, by its name from the scenario's "
                         "folder",
                         (int)strcspn(why, "\n"), why);
    free(why);
    return rc;
}

static int replay_find(struct replay *r)
{
    const struct scenario_node *signal = scenario_node_get(r->block, "signal");
    char recorded[512];
    const int count =
        hil_recorded_find(&r->found, r->record, signal->text, general_text(r->block, "node"));

    if (count > 0) {
        r->count = (unsigned)count;
        return 0;
    }
    if (count < 0)
        return count;
    hil_recorded_say(r->record, recorded, sizeof recorded);
    scenario_mistake(r->g->report, &signal->at, "'%.160s' was not recorded; allowed: %s",
                     signal->text, recorded);
    return -EINVAL;
}

/* --- its numbers ----------------------------------------------------------------------------- */

/* Takes the rows that are numbers, and later than the rows before. */
static void replay_take(const struct replay *r, const struct hil_recorded_series *series,
                        struct hil_column_source *c)
{
    for (size_t i = 0; i < series->count; i++) {
        const double time_s = series->times_s[i] + r->shift_s;
        if (!(time_s >= 0) || !(time_s <= 1e9) || !isfinite(series->values[i]))
            continue;
        const uint64_t t_ns = (uint64_t)llround(time_s * 1e9);
        if (c->count && t_ns <= c->t_ns[c->count - 1])
            continue;
        c->t_ns[c->count] = t_ns;
        c->values[c->count++] = series->values[i];
    }
}

static int replay_read(const struct replay *r, const struct hil_recorded *one,
                       struct hil_column_source *c)
{
    struct hil_recorded_series series;
    int rc = hil_recorded_read(&series, r->record, one);

    if (rc)
        return rc;
    c->t_ns = hil_pool_get(r->g->system->pool, series.count, sizeof *c->t_ns);
    c->values = hil_pool_get(r->g->system->pool, series.count, sizeof *c->values);
    if (c->t_ns && c->values)
        replay_take(r, &series, c);
    else
        rc = -ENOMEM;
    hil_recorded_series_free(&series);
    return rc;
}

static int replay_fill(const struct replay *r, struct hil_source *sources)
{
    const bool linear = strcmp(general_text(r->block, "between"), "line") == 0;
    int rc = 0;

    for (unsigned i = 0; !rc && i < r->count; i++) {
        sources[i].column.linear = linear;
        rc = replay_read(r, &r->found[i], &sources[i].column);
        if (!rc && sources[i].column.count == 0)
            rc = -ENODATA;
    }
    if (rc && rc != -ENOMEM)
        scenario_mistake(r->g->report, &scenario_node_get(r->block, "signal")->at,
                         "what was recorded cannot be used (%s); allowed: a signal with numbers in "
                         "it from the start on",
                         strerror(-rc));
    return rc;
}

int general_replay(const struct general *g, const struct scenario_node *block, unsigned inputs,
                   struct hil_source *sources, unsigned *count)
{
    struct replay r = {.g = g, .block = block, .shift_s = general_number(block, "shift_s", 0)};
    int rc = replay_open(&r);

    if (!rc)
        rc = replay_find(&r);
    if (!rc && r.count > 1 && r.count != inputs) {
        const struct scenario_node *signal = scenario_node_get(block, "signal");
        scenario_mistake(g->report, &signal->at,
                         "'%.160s' is %u signals, for %u inputs; allowed: one, or one for each",
                         signal->text, r.count, inputs);
        rc = -EINVAL;
    }
    if (!rc)
        rc = replay_fill(&r, sources);
    *count = !rc && r.count > 1 ? inputs : 1; /* after a mistake there is a single placeholder */
    free(r.found);
    if (r.record)
        hil_trace_reader_close(r.record);
    return rc == -ENOMEM ? rc : 0;
}
