#include "summary_faults.h"

#include "../scenario/faults.h"
#include "absent_faults.h"
#include "summary_values.h"

/* A fault's time at all its nodes: from the first beginning to the last end. */
struct fault_span {
    unsigned nodes; /* number of nodes at which it acted */
    uint64_t begin_ns, end_ns;
    bool ended; /* it ended at all of them */
};

static struct fault_span fault_span_of(const struct hil_summary *sum, unsigned fault)
{
    const struct hil_system *s = sum->scenario->system;
    struct fault_span span = {.begin_ns = UINT64_MAX, .ended = true};

    for (unsigned i = 0; i < s->here_count; i++) {
        const struct hil_fault_state *state = &sum->state->faults[i];
        if (s->faults_here[i].fault != fault || !state->begun)
            continue;
        span.nodes++;
        span.begin_ns = state->begin_ns < span.begin_ns ? state->begin_ns : span.begin_ns;
        span.end_ns = state->end_ns > span.end_ns ? state->end_ns : span.end_ns;
        span.ended &= state->begun == state->ended;
    }
    return span;
}

static json_t *fault_json(const struct hil_summary *sum, unsigned fault)
{
    const struct hil_fault *f = &sum->scenario->system->faults[fault];
    const struct fault_span spanned = fault_span_of(sum, fault), *span = &spanned;
    char why[HIL_ABSENT_BYTES];
    json_t *json = json_pack(
        "{s:s, s:s, s:s, s:o, s:o, s:o}", "name", f->name, "kind", hil_fault_kinds[f->kind].name,
        "of", f->on, "began_s", span->nodes ? summary_seconds(span->begin_ns) : json_null(),
        "ended_s", span->nodes && span->ended ? summary_seconds(span->end_ns) : json_null(),
        "nodes", summary_whole(span->nodes));

    if (hil_fault_is_absent(sum->scenario, sum->state, fault, why))
        json_object_set_new(json, "why", json_string(why));
    return json;
}

void hil_summary_add_faults(const struct hil_summary *sum, json_t *root)
{
    const struct hil_system *s = sum->scenario->system;
    json_t *list = json_array();

    for (unsigned i = 0; i < s->fault_count; i++)
        json_array_append_new(list, fault_json(sum, i));
    json_object_set_new(root, "faults", list);
}

void hil_summary_print_faults(const struct hil_summary *sum, FILE *to)
{
    const struct hil_system *s = sum->scenario->system;

    for (unsigned i = 0; i < s->fault_count; i++) {
        const struct hil_fault *f = &s->faults[i];
        const struct fault_span span = fault_span_of(sum, i);
        char why[HIL_ABSENT_BYTES] = "";
        fprintf(to, "  fault       %s: %s of %s, ", f->name, hil_fault_kinds[f->kind].name, f->on);
        if (!span.nodes)
            fprintf(to, "which never began%s%s\n",
                    hil_fault_is_absent(sum->scenario, sum->state, i, why) ? ": " : "", why);
        else if (span.ended)
            fprintf(to, "%.6g to %.6g s\n", (double)span.begin_ns * 1e-9,
                    (double)span.end_ns * 1e-9);
        else
            fprintf(to, "from %.6g s to the end\n", (double)span.begin_ns * 1e-9);
    }
}
