#include "json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/base/json_file.h"

static json_t *number_or_null(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *waits_json(const double waits[BENCH_WAITS])
{
    return json_pack("{s:f,s:f,s:f}", "50", waits[0], "99.9", waits[1], "99.99", waits[2]);
}

static void add_numbers(json_t *j, const struct result *r)
{
    const struct benchmark *b = &r->benchmark;
    const struct digest d = result_digest(r);

    json_object_set_new(j, "value", number_or_null(d.value));
    json_object_set_new(j, "against", b->against ? json_string(b->against) : json_null());
    json_object_set_new(j, "against_value", number_or_null(d.against));
    json_object_set_new(j, "ratio", number_or_null(d.ratio));
    if (r->absent)
        json_object_set_new(j, "absent", json_string(r->absent));
    if (r->left_out > 0)
        json_object_set_new(j, "left_out", json_real(r->left_out));
    if (d.longest > 0) {
        json_object_set_new(j, "longest_wait_us", json_real(d.longest));
        json_object_set_new(j, "longest_wait_us_against", json_real(d.longest_against));
        json_object_set_new(j, "waits_us", waits_json(d.waits));
        json_object_set_new(j, "passed_by", waits_json(d.passed));
    }
    json_object_set_new(j, "target_ratio",
                        b->target_ratio > 0 ? json_real(b->target_ratio) : json_null());
    json_object_set_new(j, "met", d.met < 0 ? json_null() : json_boolean(d.met));
    json_object_set_new(j, "more_is_better", json_boolean(b->more));
    json_object_set_new(j, "spread", json_pack("[f,f]", d.min, d.max));
    json_object_set_new(j, "runs", json_integer(r->runs));
    json_object_set_new(j, "run_s", json_real(r->seconds));
}

json_t *json_of_result(const struct result *r)
{
    json_t *j = json_pack("{s:s, s:s}", "name", r->benchmark.name, "unit", r->benchmark.unit);

    if (r->skipped[0] || !r->runs)
        json_object_set_new(j, "skipped", json_string(r->skipped[0] ? r->skipped : "not measured"));
    else
        add_numbers(j, r);
    return j;
}

/* On these the numbers depend. */
static json_t *options_json(const struct bench_options *o)
{
    return json_pack("{s:f, s:I, s:I}", "seconds", o->seconds, "accounts", (json_int_t)o->accounts,
                     "keys", (json_int_t)o->keys);
}

int json_write(const struct bench_options *o, json_t *machine, int ended_by,
               const struct result *results, unsigned count)
{
    json_t *list = json_array();

    for (unsigned i = 0; i < count; i++)
        json_array_append_new(list, json_of_result(&results[i]));
    json_t *all = json_pack(
        "{s:O, s:o, s:o, s:o}", "machine", machine, "options", options_json(o), "ended_by",
        ended_by ? json_sprintf("SIG%s", sigabbrev_np(ended_by)) : json_null(), "results", list);
    const int rc = hil_json_file_write(all, o->out, JSON_REAL_PRECISION(6));
    if (rc)
        fprintf(stderr, "bench: %s cannot be written: %s\n", o->out, strerror(-rc));
    json_decref(all);
    return rc;
}
