#include "merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../base/exit_status.h"
#include "../../base/pool.h"
#include "../../launch/launcher.h"
#include "../../launch/results.h"
#include "../../launch/results_writer.h"
#include "../../run/state_image.h"
#include "clock_line.h"
#include "parts.h"

/* Gives the scenario the parts' executors, one after the other. */
static int merge_executors(const struct merge_parts *parts)
{
    struct hil_scenario *s = parts->merge->scenario;
    unsigned count = 0;

    for (unsigned i = 0; i < parts->count; i++)
        count += parts->at[i].is.executor_count;
    s->executors = hil_pool_get(s->system->pool, count, sizeof *s->executors);
    s->executor_count = 0;
    if (!s->executors)
        return -ENOMEM;
    for (unsigned i = 0; i < parts->count; i++)
        for (unsigned k = 0; k < parts->at[i].is.executor_count; k++)
            s->executors[s->executor_count++] = parts->at[i].is.executors[k];
    return 0;
}

static int merge_state(const struct merge_parts *parts, struct hil_state **state)
{
    const struct hil_scenario *s = parts->merge->scenario;
    unsigned first = 0;
    int rc = merge_executors(parts);

    if (!rc)
        rc = hil_state_open_rehearsal(state, s);
    if (rc)
        return rc;
    for (unsigned i = 0; i < parts->count; i++) {
        const struct hil_part *part = &parts->at[i].is;
        if (!part->state)
            continue;
        hil_state_add_part(*state, part->state, s->system, first);
        first += part->executor_count;
    }
    memcpy((*state)->absent, parts->absent_names, sizeof parts->absent_names);
    return 0;
}

/* --- the run as a whole ----------------------------------------------------------------------- */

/* A run in which nodes without a part are missing cannot have reached its end. */
static bool merge_failed(const struct merge_parts *parts)
{
    bool failed = parts->absent_names[0];

    for (unsigned i = 0; i < parts->count; i++)
        failed |= parts->at[i].is.report.failed;
    return failed;
}

/* The machine of the first node. */
static json_t *merge_machine(const struct merge_parts *parts)
{
    for (unsigned i = 0; i < parts->count; i++)
        if (parts->at[i].nodes[0])
            return json_incref(json_object_get(parts->at[i].summary, "machine"));
    return NULL;
}

static void merge_add_losses(const struct merge_parts *parts, struct hil_results_writer *kept)
{
    for (unsigned i = 0; i < parts->count; i++) {
        const struct hil_part_report *report = &parts->at[i].is.report;
        kept->dropped += report->dropped;
        if (!kept->cut_off && report->cut_off[0])
            kept->cut_off = report->cut_off;
    }
}

static void merge_print_clocks(const struct merge_parts *parts, FILE *to)
{
    for (unsigned i = 0; i < parts->count; i++) {
        const struct merge_part *p = &parts->at[i];
        const struct hil_machine_clock *c = &p->is.report.before;
        if (!p->reported || !p->is.report.first_start_ns)
            fprintf(to, "  clocks      %s: not compared with the first node's\n", p->from->name);
        else if (c->by != HIL_CLOCK_OWN)
            fprintf(to,
                    "  clocks      %s: its times are within %.1f us of the first node's, by %s\n",
                    p->from->name, (double)hil_clock_about_ns(&p->is.report) * 1e-3,
                    hil_clock_by_name(c->by));
    }
}

static int merge_conclude(const struct merge_parts *parts, struct hil_results_writer *kept)
{
    const bool failed = merge_failed(parts), quiet = parts->merge->quiet;
    struct hil_conclusion conclusion = {0};
    struct hil_summary summary;

    merge_add_losses(parts, kept);
    int rc = hil_results_writer_finish(kept, failed, &summary, &conclusion, stderr);
    if (!quiet)
        hil_summary_print(&summary, stdout);
    if (!quiet)
        merge_print_clocks(parts, stdout);
    const int status =
        rc || failed ? HIL_EXIT_FAILED : hil_results_writer_status(&conclusion, quiet);
    hil_judgement_free(&conclusion.judgement);
    return status;
}

/* --- all of it -------------------------------------------------------------------------------- */

static int merge_open_out(const struct hil_merge *m, struct hil_results_writer *kept)
{
    if (!m->is_open)
        return hil_results_writer_open(kept, m->out, stderr);
    snprintf(kept->out, sizeof kept->out, "%s", m->out);
    return 0;
}

static int merge_into(const struct merge_parts *parts, struct hil_results_writer *kept)
{
    const struct hil_merge *m = parts->merge;
    int rc = merge_open_out(m, kept);

    if (rc)
        return hil_results_status(rc);
    rc = hil_results_add_scenario(kept->out, m->scenario);
    if (!rc)
        rc = merge_record(parts, kept->run->state, kept->out);
    if (rc) {
        fprintf(stderr, "%s/trace.h5: %s\n", kept->out, strerror(-rc));
        return HIL_EXIT_FAILED;
    }
    if (m->where)
        snprintf(m->where, m->where_size, "%s", kept->out);
    return merge_conclude(parts, kept);
}

static int merge_read(const struct merge_parts *parts)
{
    struct hil_run run = {.scenario = parts->merge->scenario};
    int status = HIL_EXIT_FAILED;
    const int rc = merge_state(parts, &run.state);

    if (rc) {
        fprintf(stderr, "%s: %s\n", run.scenario->name, strerror(-rc));
        return status;
    }
    json_t *merged = merge_tell(parts);
    struct hil_results_writer kept = {
        .run = &run, .folder = -1, .machine = merge_machine(parts), .merged = merged};
    status = merge_into(parts, &kept);
    hil_results_writer_close(&kept);
    json_decref(merged);
    hil_state_close(run.state);
    return status;
}

int hil_merge_run(const struct hil_merge *m)
{
    struct merge_parts parts;
    int rc = merge_parts_open(&parts, m, stderr);

    if (!rc)
        rc = merge_check_records(&parts, stderr);
    const int status = rc == -ENOMEM ? HIL_EXIT_FAILED : rc ? HIL_EXIT_USAGE : merge_read(&parts);

    merge_parts_close(&parts);
    return status;
}
