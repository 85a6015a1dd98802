#include "replay.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "../../base/pool.h"
#include "../../h5/run_files.h"
#include "../../h5/trace_events.h"
#include "../../record/event_kinds.h"
#include "../../run/tuning.h"
#include "../../scenario/tunables.h"

struct replay {
    struct hil_scenario *scenario;
    const char *record;
    FILE *messages;
    struct hil_replayed_request *requests;
    unsigned count;
};

static int replay_find(const struct hil_system *s, const char *name)
{
    char is[HIL_SIGNAL_NAME_BYTES];

    for (unsigned i = 0; i < s->tunable_count; i++) {
        hil_tunable_name(s, &s->tunables[i], is);
        if (strcmp(is, name) == 0)
            return (int)i;
    }
    return -1;
}

static int replay_wrong(const struct replay *a, const struct hil_trace_event *e, const char *what)
{
    fprintf(a->messages, "%s: at step %.0f it sets %s to %g, %s\n", a->record, e->step, e->of,
            e->value, what);
    return -EINVAL;
}

/* Changes at the same step belong to one request. */
static struct hil_request *replay_request(struct replay *a, uint64_t step)
{
    if (a->count && a->requests[a->count - 1].step == step)
        return &a->requests[a->count - 1].request;
    struct hil_replayed_request *more =
        hil_pool_more(a->scenario->system->pool, a->requests, a->count, sizeof *more);
    if (!more)
        return NULL;
    a->requests = more;
    a->requests[a->count] = (struct hil_replayed_request){.step = step};
    return &a->requests[a->count++].request;
}

static int replay_add(struct replay *a, const struct hil_trace_event *e)
{
    const struct hil_system *system = a->scenario->system;
    const int tunable = replay_find(system, e->of);

    if (tunable < 0)
        return replay_wrong(a, e, "which is not tunable in this scenario");
    if (!(e->step >= 0 && e->step <= 0x1p53) ||
        !(e->value >= system->tunables[tunable].min && e->value <= system->tunables[tunable].max))
        return replay_wrong(a, e, "which is out of range");
    struct hil_request *r = replay_request(a, (uint64_t)e->step);
    if (!r)
        return -ENOMEM;
    if (r->count == HIL_CHANGES_MAX)
        return replay_wrong(a, e, "after too many other changes in the same step");
    r->changes[r->count++] =
        (struct hil_change_wanted){.tunable = (unsigned)tunable, .value = e->value};
    return 0;
}

/* Adds the ramp of the preceding change. */
static int replay_add_ramp(struct replay *a, const struct hil_trace_event *e)
{
    struct hil_request *r = a->count ? &a->requests[a->count - 1].request : NULL;

    if (!r || !(e->value >= 0 && e->value <= 1e6))
        return replay_wrong(a, e, "which is no ramp");
    r->changes[r->count - 1].ramp_ns = (uint64_t)llround(e->value * 1e9);
    return 0;
}

static int replay_take(struct replay *a, const struct hil_trace_events *events)
{
    const char *asked = hil_event_kind_name(HIL_EVENT_ASKED);
    const char *ramp = hil_event_kind_name(HIL_EVENT_RAMP);
    int rc = 0;

    for (size_t i = 0; !rc && i < events->count; i++) {
        const struct hil_trace_event *e = &events->at[i];
        if (strcmp(e->kind, asked) == 0)
            rc = replay_add(a, e);
        else if (strcmp(e->kind, ramp) == 0)
            rc = replay_add_ramp(a, e);
    }
    return rc;
}

/* The run's folder, from its path or that of its trace.h5. */
static int replay_folder(const char *record, char folder[HIL_PATH_BYTES])
{
    static const char file[] = "trace.h5";
    const char *slash = strrchr(record, '/'), *last = slash ? slash + 1 : record;

    if (strlen(record) >= HIL_PATH_BYTES)
        return -ENAMETOOLONG;
    strcpy(folder, record);
    if (strcmp(last, file) == 0)
        strcpy(folder + (last - record), ".");
    return 0;
}

static int replay_read(struct replay *a, struct hil_trace_reader *trace)
{
    struct hil_trace_events events;
    int rc = hil_trace_events_read(&events, trace);

    if (rc) {
        fprintf(a->messages, "%s: %s\n", a->record, strerror(-rc));
        return rc;
    }
    rc = replay_take(a, &events);
    hil_trace_events_free(&events);
    return rc;
}

int hil_tune_replay(struct hil_scenario *scenario, const char *record, FILE *messages)
{
    struct replay a = {.scenario = scenario, .record = record, .messages = messages};
    struct hil_trace_reader *trace;
    char folder[HIL_PATH_BYTES];
    int rc = replay_folder(record, folder);

    if (!rc)
        rc = hil_run_open_trace(&trace, folder, messages);
    if (rc)
        return rc;
    a.requests = hil_pool_get(scenario->system->pool, 1, sizeof *a.requests);
    rc = a.requests ? replay_read(&a, trace) : -ENOMEM;
    hil_trace_reader_close(trace);
    scenario->replay = a.requests;
    scenario->replay_count = a.count;
    return rc;
}
