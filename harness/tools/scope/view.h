/*
 * One page's view of a run: it takes the page's messages and makes messages for the page. It does
 * not know about HTTP.
 *
 * From the page, JSON text of 64 KiB at most:
 *
 *      {"watch": {"signals": [NAME, ...], "mode": "roll", "window_s": W, "columns": C}}
 *      {"watch": {"signals": [NAME, ...], "mode": "trigger", "before_s": B, "after_s": A,
 *                 "trigger": {"on": "free" | "level" | "miss" | "fault" | "age", "signal": NAME,
 *                             "level": L, "hysteresis": H, "edge": "rising" | "falling" | "both",
 *                             "mode": "auto" | "normal" | "single"}}}
 *      {"hold": true | false}      stops showing new data; or continues
 *      {"arm": true}               allows another single shot
 *      {"set": [{"name": NAME, "value": X, "ramp_s": R}, ...]}
 *      {"control": "pause" | "resume" | "step" | "stop", "steps": N}
 *
 * To the page, JSON text:
 *
 *      {"kind": "hello", "run", "virtual", "duration_s", "allow_set",
 *       "signals": [{"name", "unit", "node", "period_s"}], "nodes": [NAME],
 *       "parameters": [{"name", "unit", "value", "min", "max", "doc", "source"}]}
 *              the first message, sent once
 *      {"kind": "state", "elapsed_s", "paused", "nodes": [{"name", "state", "steps", "missed",
 *       "input_age_us", "late_p99_us", "late_recent_max_us", "late_max_us"}],
 *       "late": {"edges_us": [...], "counts": [...]}, "round_trip": likewise}    four a second
 *      {"kind": "set", "name", "value", "node", "step", "time_s"}    a change was applied
 *      {"kind": "refused", "text"}                                   what the page asked for was
 *      {"kind": "ended", "status": N | null}                         last
 *
 * counts[i] counts the values from edges_us[i] to edges_us[i+1] since the last state message. NAN
 * is sent as null.
 *
 * To the page, binary: a uint32_t with the length of the following JSON text in bytes; that text,
 * padded with spaces so that the rest begins at a multiple of 8; then doubles. Everything is
 * little-endian.
 *
 *      {"kind": "roll", "column_s": W, "lost": L, "traces": [{"name", "first": K, "count": C}]}
 *              for each trace C pairs of a least and a greatest value, NAN if there are none.
 * Column k covers the run's time from k W to (k + 1) W. The first column may have been sent before,
 * and has grown since. A gap before K means that those columns are empty. L steps, of all nodes
 * with a trace and since the page asked for the roll, came too fast for the scope.
 *      {"kind": "capture", "number": N, "trigger": {"on", "time_s", "step", "node"} | null,
 *       "lost": L, "traces": [{"name", "count": C}]}
 *              for each trace C times in seconds, then C values: every step, as in the record. With
 *              "lost" some steps of the window came too fast for the scope.
 */
#ifndef HIL_VIEW_H
#define HIL_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "../top/runs.h"

struct hil_view;

/* Takes a text or binary message, and copies it if it must be kept. Returns 0, or a negative errno
 * when the page must be disconnected. */
typedef int hil_send_fn(void *arg, bool binary, const void *bytes, size_t size);

/* Without `allow_set`, requests that change the run are refused here. The run must outlive the
 * view. Returns 0 or a negative errno. */
int hil_view_open(struct hil_view **view, const struct hil_run_entry *run, bool allow_set);
void hil_view_close(struct hil_view *view);

/* Handles a message of the page, which needs no terminating zero. An invalid message is answered by
 * "refused". Returns 0 or -ENOMEM. */
int hil_view_take(struct hil_view *view, const char *text, size_t size);

/*
 * Looks at the run, and sends what is due; never waits. Call it about every 10 ms, since the
 * watched data reaches back 40 ms. Returns 0; 1 when the run has ended and everything was sent; the
 * error that `send` returned; or -ENOMEM.
 */
int hil_view_turn(struct hil_view *view, hil_send_fn *send, void *arg);

#endif
