#include "warnings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "../base/foreign.h"
#include "../run/node_name.h"
#include "process.h"
#include "results_writer.h"

enum { AGES_TOLD = 8 };

int hil_warnings_open(struct hil_warnings *w, const struct hil_run *run, bool quiet)
{
    *w = (struct hil_warnings){.run = run, .quiet = quiet};
    w->failures_told = calloc(hil_process_count(run->scenario), sizeof *w->failures_told);
    w->ages_told = calloc(run->scenario->system->age_count + 1, sizeof *w->ages_told);
    return w->failures_told && w->ages_told ? 0 : -ENOMEM;
}

void hil_warnings_close(struct hil_warnings *w)
{
    free(w->failures_told);
    free(w->ages_told);
}

/* Whether a process of the run has already logged this text. */
static bool warnings_said_before(struct hil_state *state, const char *text)
{
    uint64_t hash = XXH3_64bits(text, strlen(text));

    for (int i = 0; i < HIL_SAID_MAX; i++) {
        uint64_t empty = 0;
        if (atomic_compare_exchange_strong(&state->said[i], &empty, hash))
            return false;
        if (empty == hash)
            return true;
    }
    return false;
}

enum { WARNINGS_BYTES = 2048 };

void hil_warnings_log(void *arg, enum loco_level level, const char *text)
{
    static const char *const names[] = {
        [LOCO_WARNING] = "warning", [LOCO_ERROR] = "error", [HIL_NOTE] = "note"};
    const struct hil_warnings *w = arg;
    const bool again = level == LOCO_WARNING && warnings_said_before(w->run->state, text);
    char shown[WARNINGS_BYTES]; /* a model may say anything */

    if (level == LOCO_ERROR || !(w->quiet || again))
        fprintf(stderr, "%s: %s\n", names[level],
                hil_foreign_text(shown, sizeof shown, text, sizeof shown));
}

static void warnings_say_stale(const struct hil_stale *s, const char *link)
{
    const double found_s = (double)s->found_ns * 1e-9;

    if (s->from == s->to)
        fprintf(stderr, "warning: at %.6f s the input of %s was too old\n", found_s, link);
    else
        fprintf(stderr, "warning: at %.6f s the input %s was older than %g us\n", found_s, link,
                (double)s->limit_ns * 1e-3);
}

/* Reports a peer that stands still when it is found, the first time only. */
static void warnings_of_stale(struct hil_warnings *w)
{
    for (unsigned i = 0; !w->stale_told && i < hil_process_count(w->run->scenario); i++) {
        const struct hil_stale_log *log = &w->run->state->executors[i].stale;
        char link[HIL_LINK_NAME_BYTES];
        if (!atomic_load_explicit(&log->count, memory_order_acquire))
            continue;
        w->stale_told = true;
        hil_link_name(w->run->scenario->system, log->at[0].from, log->at[0].to, link);
        if (!w->quiet)
            warnings_say_stale(&log->at[0], link);
    }
}

/* Reports a component's failure if the run continues. If it ends the run, the executor reports
 * it. */
static void warnings_of_failures(struct hil_warnings *w)
{
    for (unsigned i = 0; i < hil_process_count(w->run->scenario); i++) {
        const struct hil_failure_log *log = &w->run->state->executors[i].failures;
        for (; w->failures_told[i] < hil_failures_listed(log); w->failures_told[i]++) {
            const struct hil_failure *f = &log->at[w->failures_told[i]];
            char what[HIL_FAILURE_WORDS_BYTES];
            hil_failure_say(f, what);
            if (f->ended[0])
                fprintf(stderr, "%s: %s\n", f->ends ? "error" : "warning", what);
            else if (!f->ends)
                fprintf(stderr, "warning: %s; the run continues without it\n", what);
        }
    }
}

/* Reports the first few times that an input gets too old, and that it recovers. */
static void warnings_of_age(struct hil_warnings *w, unsigned i)
{
    const struct hil_system *system = w->run->scenario->system;
    const struct hil_age_state *age = &w->run->state->ages[i];
    const uint64_t trips = atomic_load_explicit(&age->trips, memory_order_acquire);
    const uint64_t back = age->recoveries;
    struct hil_age_told *told = &w->ages_told[i];
    char name[HIL_SIGNAL_NAME_BYTES];

    if (told->trips >= AGES_TOLD)
        return;
    hil_age_name(system, i, name);
    if (trips > told->trips)
        fprintf(stderr, "warning: at %.6f s the input %s was older than %g us%s\n",
                (double)age->found_ns * 1e-9, name, (double)system->ages[i].limit_ns * 1e-3,
                trips >= AGES_TOLD ? "; further ones are counted, but not reported" : "");
    if (back > told->back)
        fprintf(stderr, "the input %s has a newer value again\n", name);
    *told = (struct hil_age_told){trips, back};
}

void hil_warnings_look(struct hil_warnings *w)
{
    warnings_of_stale(w);
    warnings_of_failures(w);
    for (unsigned i = 0; !w->quiet && i < w->run->scenario->system->age_count; i++)
        warnings_of_age(w, i);
}
