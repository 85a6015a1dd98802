#include "absent_faults.h"

#include <stdio.h>

#include "../run/loop.h"
#include "../scenario/faults.h"

/* A fault at its first node that ran here. */
struct absent {
    const struct hil_scenario *scenario;
    const struct hil_state *state;
    const struct hil_fault *fault;
    unsigned node;
    uint64_t begin_ns, step_ns; /* when it was due to begin, and the first step after that */
    char name[HIL_SIGNAL_NAME_BYTES];
};

static void absent_say_wait(const struct absent *a, char why[HIL_ABSENT_BYTES])
{
    const struct hil_fault *f = a->fault;

    if (f->waits == HIL_WAITS_LEVEL)
        snprintf(why, HIL_ABSENT_BYTES, "its signal was never %s %.9g",
                 f->level.above ? "above" : "below", f->level.level);
    else if (f->awaited.event == HIL_AWAITED_END)
        snprintf(why, HIL_ABSENT_BYTES, "the fault %.100s, which it comes after, never ended",
                 a->scenario->system->faults[f->awaited.fault].name);
    else
        snprintf(why, HIL_ABSENT_BYTES, "the event '%s', which it comes after, never happened",
                 hil_awaited_words[f->awaited.event]);
}

static bool absent_lasts_until(const struct hil_fault *f, uint64_t begin_ns, uint64_t t_ns)
{
    return f->duration_ns == UINT64_MAX || t_ns - begin_ns < f->duration_ns;
}

/* Whether others lost the node during part of the fault's time. */
static bool absent_was_away(const struct absent *a)
{
    for (unsigned i = 0; i < a->state->executor_count; i++) {
        const struct hil_loss_log *log = &a->state->executors[i].losses;
        for (unsigned k = 0; k < log->count && k < HIL_LOSSES_MAX; k++) {
            const struct hil_loss *loss = &log->at[k];
            const bool before_end = loss->lost_ns < a->begin_ns ||
                                    absent_lasts_until(a->fault, a->begin_ns, loss->lost_ns);
            if (loss->from == a->node && before_end &&
                (!loss->back_ns || loss->back_ns > a->begin_ns))
                return true;
        }
    }
    return false;
}

static void absent_say(const struct absent *a, char why[HIL_ABSENT_BYTES])
{
    const double begin_s = (double)a->begin_ns * 1e-9;

    if (a->step_ns >= a->scenario->duration_ns)
        snprintf(why, HIL_ABSENT_BYTES, "it was due at %.9g s, after the last step of %s", begin_s,
                 a->name);
    else if (!absent_lasts_until(a->fault, a->begin_ns, a->step_ns))
        snprintf(why, HIL_ABSENT_BYTES, "no step of %s is due in the %.9g s from %.9g s on",
                 a->name, (double)a->fault->duration_ns * 1e-9, begin_s);
    else if (absent_was_away(a))
        snprintf(why, HIL_ABSENT_BYTES, "%s was away when it was due, at %.9g s", a->name, begin_s);
    else
        snprintf(why, HIL_ABSENT_BYTES,
                 "%s missed all its steps from %.9g s on, for which it was due", a->name, begin_s);
}

/* Finds when it was due to begin; false if that never became known. */
static bool absent_find_begin(struct absent *a, unsigned here)
{
    const uint64_t known = atomic_load(&a->state->faults[here].due_ns);
    const struct hil_loop loop = {.timing = a->scenario->system->nodes[a->node].timing};

    if (a->fault->waits != HIL_WAITS_NOT && !known)
        return false;
    a->begin_ns = known ? known - 1 : a->fault->at_ns;
    a->step_ns = hil_loop_due(&loop, hil_loop_first_from(&loop, a->begin_ns));
    return true;
}

bool hil_fault_is_absent(const struct hil_scenario *scenario, const struct hil_state *state,
                         unsigned fault, char why[HIL_ABSENT_BYTES])
{
    const struct hil_system *s = scenario->system;
    struct absent a = {.scenario = scenario, .state = state, .fault = &s->faults[fault]};
    bool here = false;

    for (unsigned i = 0; i < s->here_count; i++) {
        if (s->faults_here[i].fault != fault || !state->nodes[s->faults_here[i].node].here)
            continue;
        if (state->faults[i].begun)
            return false;
        if (here)
            continue;
        here = true;
        a.node = s->faults_here[i].node;
        hil_instance_name(&s->nodes[a.node].is, a.name);
        if (absent_find_begin(&a, i))
            absent_say(&a, why);
        else
            absent_say_wait(&a, why);
    }
    return here;
}
