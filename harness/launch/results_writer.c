#include "results_writer.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "../base/exit_status.h"
#include "../base/pool.h"
#include "../doctor/machine.h"
#include "../h5/journal.h"
#include "../h5/run_files.h"
#include "../record/recorder.h"
#include "../record/streams.h"
#include "../run/loop_cores.h"
#include "../run/run_times.h"
#include "part.h"
#include "results.h"
#include "signals.h"

static bool writer_at_all(const struct hil_results_writer *k)
{
    return k->out[0] != '\0';
}

int hil_results_writer_open(struct hil_results_writer *k, const char *wanted, FILE *messages)
{
    k->folder = hil_results_open(k->out, sizeof k->out, wanted, k->run->scenario->name,
                                 HIL_OF_A_RUN, messages);
    return k->folder < 0 ? k->folder : 0;
}

/* --- the end ---------------------------------------------------------------------------------- */

const char *hil_results_writer_words(int record_rc)
{
    return record_rc == -EOWNERDEAD  ? "the process that writes it was killed"
           : record_rc == -ECANCELED ? "it was interrupted while it was made from its journal"
           : record_rc == -ETIMEDOUT ? "the process that writes it (hl-record) stands still, and "
                                       "cannot be killed"
                                     : strerror(-record_rc);
}

void hil_results_writer_tell(struct hil_results_writer *k, int rc, const char *then, FILE *messages)
{
    k->record_rc = rc;
    fprintf(messages, "error: %s/trace.h5: %s%s\n", k->out, hil_results_writer_words(rc), then);
}

/* The summary of the run from its state. */
static struct hil_summary writer_sum_up(const struct hil_results_writer *k,
                                        struct hil_conclusion *c)
{
    const struct hil_run *run = k->run;
    const struct hil_summary summary = {
        .scenario = run->scenario,
        .state = run->state,
        .dropped = run->recorder ? hil_recorder_dropped(run->recorder) : k->dropped,
        .cut_off = k->record_rc ? hil_results_writer_words(k->record_rc) : k->cut_off,
        .out = writer_at_all(k) ? k->out : "none kept",
        .traced = k->traced,
        .verdict = &c->verdict,
        .judgement = &c->judgement,
        .first_clock = run->first_clock,
        .first_clock_after = run->first_clock_after,
        .merged = k->merged,
        .machine = k->machine,
    };

    hil_validity_judge(&c->verdict, run->scenario, run->state, summary.dropped);
    return summary;
}

static int writer_judge(const struct hil_results_writer *k, bool failed, struct hil_conclusion *c,
                        FILE *messages)
{
    const struct hil_judge_run run = {
        .scenario = k->run->scenario,
        .state = k->run->state,
        .validity = &c->verdict,
        .dir = writer_at_all(k) ? k->out : NULL,
        .failed = failed || k->record_rc,
    };
    const int rc = hil_judge(&c->judgement, &run);

    if (rc)
        fprintf(messages, "%s/trace.h5: the limits cannot be judged: %s\n", k->out, strerror(-rc));
    return rc;
}

/* Writes the file with which the parts of a run are merged later. */
static int writer_write_part(const struct hil_results_writer *k, const struct hil_summary *summary,
                             bool failed)
{
    struct hil_part_report told = hil_part_tell(k->run);

    if (!hil_part_is(k->run->scenario))
        return 0;
    told.dropped = summary->dropped;
    told.failed = failed;
    if (summary->cut_off)
        snprintf(told.cut_off, sizeof told.cut_off, "%s", summary->cut_off);
    return hil_part_write(k->out, k->run, &told);
}

static int writer_write(const struct hil_results_writer *k, const struct hil_summary *summary,
                        bool failed, FILE *messages)
{
    const char *name = HIL_PART_FILE;
    char path[4200];

    snprintf(path, sizeof path, "%s/summary.json", summary->out);
    int rc = writer_write_part(k, summary, failed);
    if (!rc) {
        name = "summary.json";
        rc = hil_summary_write(summary, path);
    }
    if (rc)
        fprintf(messages, "%s/%s: %s\n", summary->out, name, strerror(-rc));
    return rc;
}

int hil_results_writer_finish(struct hil_results_writer *k, bool failed,
                              struct hil_summary *summary, struct hil_conclusion *conclusion,
                              FILE *messages)
{
    k->signals = hil_signals_caught();
    hil_progress_begin_record(&k->bar, k->shows_progress);
    int rc = k->run->recorder ? hil_recorder_finish(k->run->recorder) : 0;

    if (rc && !k->record_rc) /* otherwise it was reported when it happened */
        hil_results_writer_tell(k, rc, "", messages);
    if (rc && hil_run_has_journal(k->out))
        fprintf(messages, "%s: hiloco recover makes the record from its journal\n", k->out);
    *summary = writer_sum_up(k, conclusion);
    const int judged = writer_judge(k, failed, conclusion, messages);
    rc = writer_at_all(k) ? writer_write(k, summary, failed || k->record_rc, messages) : 0;
    if (k->record_rc == -ECANCELED) /* the signal is the reason */
        return rc;
    return rc ? rc : judged ? judged : k->record_rc;
}

int hil_results_writer_status(const struct hil_conclusion *c, bool quiet)
{
    const enum hil_outcome o = c->judgement.outcome;

    if (o == HIL_OUTCOME_PASSED)
        return HIL_EXIT_OK;
    if (quiet && !c->judgement.believed)
        hil_validity_print(&c->verdict, stderr);
    else if (quiet)
        hil_judgement_print(&c->judgement, stderr);
    return o == HIL_OUTCOME_FAILED ? HIL_EXIT_LIMIT : HIL_EXIT_INVALID;
}

void hil_results_writer_close(struct hil_results_writer *k)
{
    hil_recorder_close(k->run->recorder);
    k->run->recorder = NULL;
    json_decref(k->machine);
    k->machine = NULL;
    if (k->folder >= 0)
        close(k->folder);
    k->folder = -1;
}

/* --- the record ------------------------------------------------------------------------------- */

static int writer_add_histograms(void *kept, struct hil_journal *journal)
{
    const struct hil_run *run = ((const struct hil_results_writer *)kept)->run;
    struct hil_pool *pool = hil_pool_open();
    struct hil_run_times times;
    int rc = pool ? hil_run_times(&times, pool, run->scenario->system, run->state) : -ENOMEM;

    if (!rc)
        rc = hil_journal_add_histograms(journal, times.at, times.count);
    hil_pool_close(pool);
    return rc;
}

/* Shows how far the trace is, if that takes long. A signal that comes now leaves it. */
static bool writer_making(void *kept, double share)
{
    struct hil_results_writer *k = kept;

    hil_progress_show_record(&k->bar, k->out, share);
    return hil_signals_caught() == k->signals;
}

/* In the writer: closes the state's file, because the run is found by its owner's. */
static void writer_part(void *kept)
{
    const struct hil_run *run = ((const struct hil_results_writer *)kept)->run;

    close(run->state->file);
    if (run->scenario->mode == HIL_REALTIME)
        hil_leave_loops_cores(run->scenario);
}

/* In the writer, after the owner was killed. */
static void writer_inherit(void *kept, int rc)
{
    struct hil_results_writer *k = kept;
    struct hil_conclusion conclusion;

    k->record_rc = rc;
    struct hil_summary summary = writer_sum_up(k, &conclusion);
    writer_judge(k, true, &conclusion, stderr);
    if (!rc)
        summary.cut_off = k->killed;
    writer_write(k, &summary, true, stderr);
    if (k->inherited)
        k->inherited(k->arg);
}

int hil_results_writer_record(struct hil_results_writer *k)
{
    const struct hil_recorder_owner owner = {
        .part = writer_part,
        .add = writer_add_histograms,
        .making = writer_making,
        .inherit = writer_inherit,
        .arg = k,
    };
    char path[4200];

    if (!writer_at_all(k))
        return 0;
    k->machine = hil_machine_json(k->run->scenario); /* the writer inherits it */
    snprintf(path, sizeof path, "%s/trace.h5", k->out);
    int rc = hil_streams_open(&k->run->recorder, path, k->run->scenario);
    if (rc)
        return rc;
    hil_recorder_own(k->run->recorder, &owner);
    return hil_results_add_scenario(k->out, k->run->scenario);
}
