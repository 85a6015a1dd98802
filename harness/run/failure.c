#include "failure.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The first output that is not a number. */
static unsigned failure_place(const double *out, unsigned count)
{
    unsigned i = 0;

    while (i + 1 < count && isfinite(out[i]))
        i++;
    return i;
}

static void failure_of(struct hil_failure *f, const struct hil_failing *failing)
{
    char name[HIL_SIGNAL_NAME_BYTES];

    *f = (struct hil_failure){
        .step = failing->step, .time_ns = failing->time_ns, .ends = failing->ends};
    hil_instance_name(&failing->component->is, name);
    snprintf(f->component, sizeof f->component, "%.79s", name);
    snprintf(f->model, sizeof f->model, "%s", failing->component->model->name);
}

static void failure_list(struct hil_failure *f, const struct hil_failing *failing, int rc,
                         const double *out)
{
    const struct hil_component *c = failing->component;
    char name[HIL_SIGNAL_NAME_BYTES];

    failure_of(f, failing);
    snprintf(f->call, sizeof f->call, "%s", failing->call);
    f->error = rc;
    if (rc)
        return;
    const unsigned i = failure_place(out, c->out_count);
    f->value = out[i];
    hil_place_name(&c->model->outputs, c->width, i, name);
    snprintf(f->signal, sizeof f->signal, "%.47s", name);
}

int hil_failure_add(struct hil_failure_log *log, const struct hil_failing *failing, int rc,
                    const double *out)
{
    const uint64_t count = atomic_load_explicit(&log->count, memory_order_relaxed);

    if (count < HIL_FAILURES_LISTED)
        failure_list(&log->at[count], failing, rc, out);
    atomic_store_explicit(&log->count, count + 1, memory_order_release);
    return failing->ends ? -ENOTRECOVERABLE : 0;
}

void hil_failure_add_ended(struct hil_failure_log *log, const struct hil_failing *failing,
                           const char *ended)
{
    const uint64_t count = atomic_load_explicit(&log->count, memory_order_relaxed);

    if (count < HIL_FAILURES_LISTED) {
        failure_of(&log->at[count], failing);
        snprintf(log->at[count].ended, sizeof log->at[count].ended, "%s", ended);
    }
    atomic_store_explicit(&log->count, count + 1, memory_order_release);
}

void hil_failure_say(const struct hil_failure *f, char text[HIL_FAILURE_WORDS_BYTES])
{
    char what[HIL_FAILURE_WORDS_BYTES / 2];

    if (f->ended[0])
        snprintf(what, sizeof what, "%s", f->ended);
    else if (f->error)
        snprintf(what, sizeof what, "its %s failed (%s)", f->call, strerror(-f->error));
    else
        snprintf(what, sizeof what, "its output %s is %s", f->signal,
                 isnan(f->value) ? "NaN"
                 : f->value > 0  ? "infinite"
                                 : "minus infinity");
    snprintf(text, HIL_FAILURE_WORDS_BYTES, "%s (%s): %s, at %.6f s (step %llu)", f->component,
             f->model, what, (double)f->time_ns * 1e-9, (unsigned long long)f->step);
}

void hil_failure_describe(const struct hil_failure_log *log, char *text, size_t size)
{
    for (unsigned i = hil_failures_listed(log); i; i--) {
        char words[HIL_FAILURE_WORDS_BYTES];
        if (!log->at[i - 1].ends)
            continue;
        hil_failure_say(&log->at[i - 1], words);
        snprintf(text, size, "%s", words);
        return;
    }
}
