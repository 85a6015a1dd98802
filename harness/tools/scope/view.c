#include "view.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../top/screen.h"
#include "frame.h"
#include "roll.h"
#include "run_status.h"
#include "set_requests.h"
#include "watch_request.h"

static const uint64_t VIEW_STATE_NS = 250000000;

enum { VIEW_TEXT = 400 };

struct hil_view {
    const struct hil_run_entry *run;
    bool allow_set, greeted, held, said_end;
    struct hil_set_requests set_requests;
    struct hil_shown_list shown;
    struct hil_run_status status;
    uint64_t told_ns;        /* time of the last state message */
    char refused[VIEW_TEXT]; /* the reason of a refusal that was not sent yet; "": none */
    struct hil_roll *roll;   /* at most one of these is used */
    struct hil_capture *capture;
    enum hil_trigger_on on;
    struct hil_frame frame;
};

/* --- opening and closing ---------------------------------------------------------------------- */

int hil_view_open(struct hil_view **view, const struct hil_run_entry *run, bool allow_set)
{
    struct hil_view *v = *view = calloc(1, sizeof *v);

    if (!v)
        return -ENOMEM;
    v->run = run;
    v->allow_set = allow_set;
    int rc = hil_run_status_open(&v->status, run);
    if (!rc)
        rc = hil_shown_open(&v->shown, &run->attached);
    if (!rc)
        rc = hil_set_requests_open(&v->set_requests, run);
    if (rc)
        hil_view_close(v);
    return rc;
}

static void view_clear(struct hil_view *v)
{
    hil_roll_close(v->roll);
    hil_capture_close(v->capture);
    v->roll = NULL;
    v->capture = NULL;
}

void hil_view_close(struct hil_view *v)
{
    view_clear(v);
    hil_set_requests_close(&v->set_requests);
    hil_frame_free(&v->frame);
    hil_shown_close(&v->shown);
    hil_run_status_close(&v->status);
    free(v);
}

/* --- messages from the page ------------------------------------------------------------------- */

static int view_refuse(struct hil_view *v, const char *text)
{
    snprintf(v->refused, sizeof v->refused, "%s", text);
    return 0;
}

static int view_show(struct hil_view *v, const struct hil_watch_request *wanted)
{
    const struct hil_attached *run = &v->run->attached;

    view_clear(v);
    v->on = wanted->capture.trigger.on;
    if (wanted->capture.count == 0)
        return 0;
    if (wanted->rolls)
        return hil_roll_open(&v->roll, run, wanted->capture.signals, wanted->capture.count,
                             wanted->window_s, wanted->columns);
    return hil_capture_open(&v->capture, run, &wanted->capture);
}

static int view_watch(struct hil_view *v, const json_t *watch)
{
    struct hil_watch_request wanted;

    if (hil_watch_request_read(&wanted, watch, &v->shown, v->refused, sizeof v->refused))
        return 0;
    switch (view_show(v, &wanted)) {
    case 0:
        return 0;
    case -E2BIG:
        return view_refuse(v, "the window has too many steps for so many signals");
    case -ENOMEM:
        return -ENOMEM;
    default:
        return view_refuse(v, "a signal is of a node that does not run here");
    }
}

static int view_change(struct hil_view *v, const json_t *request)
{
    if (!v->allow_set)
        return view_refuse(v, "changes are off: hiloco scope --allow-set turns them on");
    const char *why = hil_set_requests_ask(&v->set_requests, request);
    return why ? view_refuse(v, why) : 0;
}

static int view_message(struct hil_view *v, const json_t *message)
{
    const json_t *watch = json_object_get(message, "watch");
    const json_t *hold = json_object_get(message, "hold");

    if (json_is_object(watch))
        return view_watch(v, watch);
    if (json_is_boolean(hold)) {
        v->held = json_is_true(hold);
        return 0;
    }
    if (json_is_true(json_object_get(message, "arm"))) {
        if (v->capture)
            hil_capture_arm(v->capture);
        return 0;
    }
    if (json_object_get(message, "set") || json_object_get(message, "control"))
        return view_change(v, message);
    return view_refuse(v, "unknown request; allowed: watch, hold, arm, set, control");
}

int hil_view_take(struct hil_view *v, const char *text, size_t size)
{
    json_error_t error;
    json_t *message = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    const int rc = message ? view_message(v, message) : view_refuse(v, "that is no JSON");

    json_decref(message);
    return rc;
}

/* --- messages to the page --------------------------------------------------------------------- */

/* Takes ownership of the message. */
static int view_say(json_t *message, hil_send_fn *send, void *arg)
{
    char *text = message ? json_dumps(message, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    const int rc = text ? send(arg, false, text, strlen(text)) : -ENOMEM;

    free(text);
    json_decref(message);
    return rc;
}

static json_t *view_signals(const struct hil_view *v)
{
    const struct hil_state *state = v->run->attached.state;
    json_t *signals = json_array();

    for (unsigned i = 0; i < v->shown.count; i++) {
        const struct hil_shown *s = &v->shown.at[i];
        json_array_append_new(signals,
                              json_pack("{s:s, s:s, s:s, s:f}", "name", s->name, "unit", s->unit,
                                        "node", v->status.watch.names[s->node], "period_s",
                                        (double)state->nodes[s->node].period_ns * 1e-9));
    }
    return signals;
}

static int view_greet(struct hil_view *v, hil_send_fn *send, void *arg)
{
    const struct hil_card *card = &v->run->attached.card;
    json_t *nodes = json_array();

    v->greeted = true;
    for (unsigned i = 0; i < v->run->attached.node_count; i++)
        json_array_append_new(nodes, json_string(v->status.watch.names[i]));
    return view_say(json_pack("{s:s, s:s, s:b, s:f, s:b, s:o, s:o, s:o}", "kind", "hello", "run",
                              card->name, "virtual", card->virtual_time != 0, "duration_s",
                              (double)card->duration_ns * 1e-9, "allow_set", v->allow_set,
                              "signals", view_signals(v), "nodes", nodes, "parameters",
                              hil_set_requests_json(&v->set_requests)),
                    send, arg);
}

static int view_tell_state(struct hil_view *v, uint64_t now_ns, bool ended, hil_send_fn *send,
                           void *arg)
{
    if (v->refused[0]) {
        const int rc =
            view_say(json_pack("{s:s, s:s}", "kind", "refused", "text", v->refused), send, arg);
        v->refused[0] = '\0';
        if (rc)
            return rc;
    }
    if (!ended && v->told_ns && now_ns - v->told_ns < VIEW_STATE_NS)
        return 0;
    v->told_ns = now_ns;
    return view_say(hil_run_status_state(&v->status, hil_tune_paused(&v->run->attached), now_ns),
                    send, arg);
}

/* Sends changes, whoever made them, and refusals. */
static int view_tell_changes(struct hil_view *v, hil_send_fn *send, void *arg)
{
    json_t *change;
    int rc = 0;

    hil_set_requests_hear(&v->set_requests, v->refused, sizeof v->refused);
    while (!rc && (change = hil_set_requests_next(&v->set_requests, v->status.watch.names)))
        rc = view_say(change, send, arg);
    return rc;
}

/* --- captures --------------------------------------------------------------------------------- */

static json_t *view_capture_head(const struct hil_view *v, const struct hil_captured *c)
{
    json_t *traces = json_array();
    json_t *trigger =
        c->triggered
            ? json_pack("{s:s, s:f, s:I, s:s}", "on", hil_trigger_name(v->on), "time_s", c->time_s,
                        "step", (json_int_t)c->step, "node", v->status.watch.names[c->node])
            : json_null();

    for (unsigned i = 0; i < c->count; i++)
        json_array_append_new(traces, json_pack("{s:s, s:i}", "name", c->traces[i].signal->name,
                                                "count", (int)c->traces[i].count));
    return json_pack("{s:s, s:I, s:o, s:I, s:o}", "kind", "capture", "number",
                     (json_int_t)c->number, "trigger", trigger, "lost", (json_int_t)c->lost,
                     "traces", traces);
}

static int view_send_capture(struct hil_view *v, const struct hil_captured *c, hil_send_fn *send,
                             void *arg)
{
    int rc = hil_frame_begin(&v->frame, view_capture_head(v, c));

    for (unsigned i = 0; !rc && i < c->count; i++) {
        rc = hil_frame_add(&v->frame, c->traces[i].times_s, c->traces[i].count);
        if (!rc)
            rc = hil_frame_add(&v->frame, c->traces[i].values, c->traces[i].count);
    }
    return rc ? rc : send(arg, true, v->frame.bytes, v->frame.size);
}

/* --- a turn ----------------------------------------------------------------------------------- */

static int view_tell_signals(struct hil_view *v, uint64_t now_ns, bool ended, hil_send_fn *send,
                             void *arg)
{
    if (v->held)
        return 0;
    if (v->roll) {
        const int rc = hil_roll_turn(v->roll, &v->frame);
        return rc <= 0 ? rc : send(arg, true, v->frame.bytes, v->frame.size);
    }
    const struct hil_captured *captured =
        v->capture ? hil_capture_turn(v->capture, now_ns, ended) : NULL;
    return captured ? view_send_capture(v, captured, send, arg) : 0;
}

static int view_tell_end(struct hil_view *v, int status, hil_send_fn *send, void *arg)
{
    if (v->said_end)
        return 1;
    v->said_end = true;
    const int rc = view_say(json_pack("{s:s, s:o}", "kind", "ended", "status",
                                      status < 0 ? json_null() : json_integer(status)),
                            send, arg);
    return rc ? rc : 1;
}

/* The end of the run is checked first, so that everything is sent after it. */
int hil_view_turn(struct hil_view *v, hil_send_fn *send, void *arg)
{
    const uint64_t now_ns = hil_watch_clock();
    int status, rc = v->greeted ? 0 : view_greet(v, send, arg);
    const bool ended = hil_run_ended(v->run, &status);

    if (!rc && !v->said_end)
        rc = view_tell_changes(v, send, arg);
    if (!rc && !v->said_end)
        rc = view_tell_state(v, now_ns, ended, send, arg);
    if (!rc && !v->said_end)
        rc = view_tell_signals(v, now_ns, ended, send, arg);
    return rc || !ended ? rc : view_tell_end(v, status, send, arg);
}
