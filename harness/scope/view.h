/*
 * What one page sees of a run, and asks for: messages in, messages out. It knows nothing of HTTP,
 * and the run is only read.
 *
 * From the page, JSON text of 64 KiB at most:
 *
 *      {"watch": {"signals": [NAME, ...], "mode": "roll", "window_s": W, "columns": C}}
 *      {"watch": {"signals": [NAME, ...], "mode": "trigger", "before_s": B, "after_s": A,
 *                 "trigger": {"on": "free" | "level" | "miss" | "fault" | "age", "signal": NAME,
 *                             "level": L, "hysteresis": H, "edge": "rising" | "falling" | "both",
 *                             "mode": "auto" | "normal" | "single"}}}
 *      {"hold": true | false}      nothing more is shown; and shown again
 *      {"arm": true}               a single shot again
 *      {"set": [{"name": NAME, "value": X, "ramp_s": R}, ...]}
 *      {"control": "pause" | "resume" | "step" | "stop", "steps": N}
 *
 * To the page, JSON text:
 *
 *      {"kind": "hello", "run", "virtual", "duration_s", "allow_set",
 *       "signals": [{"name", "unit", "node", "period_s"}], "nodes": [NAME],
 *       "parameters": [{"name", "unit", "value", "min", "max", "doc", "source"}]}
 *              first, and once
 *      {"kind": "state", "elapsed_s", "paused", "nodes": [{"name", "state", "steps", "missed",
 *       "input_age_us", "late_p99_us", "late_recent_max_us", "late_max_us"}],
 *       "late": {"edges_us": [...], "counts": [...]}, "round_trip": likewise}    four a second
 *      {"kind": "set", "name", "value", "node", "step", "time_s"}    a change was applied
 *      {"kind": "refused", "text"}                                   what the page asked for was
 *      {"kind": "ended", "status": N | null}                         last
 *
 * counts[i] are of values from edges_us[i] to edges_us[i+1], since the last state message. A number
 * that is none (NAN) is null.
 *
 * To the page, binary: a uint32_t, the bytes of the JSON text that follows; that text, with spaces
 * behind it so that the rest begins at a multiple of 8; then doubles. All is little-endian.
 *
 *      {"kind": "roll", "column_s": W, "traces": [{"name", "first": K, "count": C}]}
 *              for each trace C pairs of a least and a greatest value, NAN where nothing came.
 * Column k has the run's time from k W to (k + 1) W. The first one may have been sent before: it
 * has grown. A gap before K means that there is nothing of those columns.
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

/* Takes a message, text or binary, and copies it if it is to be kept. Returns 0, or a negative
 * errno when the page is to be given up. */
typedef int hil_send_fn(void *arg, bool binary, const void *bytes, size_t size);

/* Without `allow_set` what changes the run is refused here. The run must stay as long. Returns 0 or
 * a negative errno. */
int hil_view_open(struct hil_view **view, const struct hil_found *run, bool allow_set);
void hil_view_close(struct hil_view *view);

/* A message of the page, which needs no terminating zero. One that is not as above is answered by
 * "refused". Returns 0 or -ENOMEM. */
int hil_view_take(struct hil_view *view, const char *text, size_t size);

/*
 * Looks at the run, and sends what is to be sent now; never waits. To be called about every 10 ms:
 * what is watched reaches back 40 ms. Returns 0; 1 when the run has ended and all is sent; or what
 * `send` returned, or -ENOMEM.
 */
int hil_view_turn(struct hil_view *view, hil_send_fn *send, void *arg);

#endif
