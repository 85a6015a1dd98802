#include "summary_ages.h"

#include "summary_values.h"

static const char *const ages_actions[] = {"hold", "value", "safe", "end"};

static json_t *ages_input(const struct hil_summary *sum, unsigned i)
{
    const struct hil_age_limit *limit = &sum->scenario->system->ages[i];
    const struct hil_age_state *age = &sum->state->ages[i];
    const bool found = atomic_load(&age->trips);
    char name[HIL_SIGNAL_NAME_BYTES];

    hil_age_name(sum->scenario->system, i, name);
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "input", name, "on_old",
                     ages_actions[limit->action], "limit_us",
                     hil_json_number(summary_us(limit->limit_ns)), "times",
                     summary_whole(atomic_load(&age->trips)), "recovered",
                     summary_whole(age->recoveries), "first_s",
                     found ? summary_seconds(age->first_ns) : json_null(), "answer_us",
                     found ? hil_json_number(summary_us(age->answer_ns)) : json_null(), "out_us",
                     age->recoveries ? hil_json_number(summary_us(age->out_ns)) : json_null());
}

void hil_summary_add_ages(const struct hil_summary *sum, json_t *root)
{
    uint64_t times = 0, recovered = 0;
    json_t *each = json_array();

    for (unsigned i = 0; i < sum->scenario->system->age_count; i++) {
        times += atomic_load(&sum->state->ages[i].trips);
        recovered += sum->state->ages[i].recoveries;
        json_array_append_new(each, ages_input(sum, i));
    }
    json_object_set_new(root, "old_inputs",
                        json_pack("{s:o, s:o, s:o}", "count", summary_whole(times), "recovered",
                                  summary_whole(recovered), "each", each));
}

void hil_summary_print_ages(const struct hil_summary *sum, FILE *to)
{
    for (unsigned i = 0; i < sum->scenario->system->age_count; i++) {
        const struct hil_age_state *age = &sum->state->ages[i];
        char name[HIL_SIGNAL_NAME_BYTES];
        if (!atomic_load(&age->trips))
            continue;
        hil_age_name(sum->scenario->system, i, name);
        fprintf(to, "  too old     %s, %llu times; answered within %.6g us (%s)\n", name,
                (unsigned long long)atomic_load(&age->trips), (double)age->answer_ns * 1e-3,
                ages_actions[sum->scenario->system->ages[i].action]);
    }
}
