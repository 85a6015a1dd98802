/* The keys of the short form. The converter leaves nothing out that a file has. */
#include <stdio.h>
#include <string.h>

#include "rewriting.h"

enum { SHORT_PATH_BYTES = 128, SHORT_WORDS_MAX = 32 };

#define LOOP                                                                                       \
    "period_us", "phase_us", "cpu", "priority", "scheduler", "wait", "overrun", "catch_up_limit",  \
        "resync_after_us", "input_age_limit_us", "on_stale_input", "age_limit_us", "on_old",       \
        "old_value", "bad_inputs_limit", "on_error"

/* The keys of each block; [] stands for each entry of a list. Other blocks are copied whole, and
 * checked afterwards. */
static const struct {
    const char *path;
    const char *keys[SHORT_WORDS_MAX];
} short_blocks[] = {
    {"", {"name",         "duration_s",  "mode",      "fabric", "rendezvous",    "on_lost",
          "hang_limit_s", "stop_ramp_s", "tuning",    "verbs",  "tcp",           "network",
          "controller",   "converters",  "reference", "load",   "input_voltage", "recording",
          "faults",       "limits",      "validity",  "trace",  "placement"}},
    {"controller",
     {LOOP, "law", "realtime_phase_us", "computation_delay", "shards", "shard_cpus", "limits",
      "gains"}},
    {"controller.limits", {"duty_min", "duty_max"}},
    {"converters",
     {LOOP, "count", "plant", "stagger_us", "duty_initial", "duty_safe", "parameters", "initial",
      "tolerance", "overrides"}},
    {"converters.overrides[]",
     {"id", "plant", "period_us", "phase_us", "duty_initial", "parameters", "initial"}},
    {"reference", {"voltage_v", "changes"}},
    {"reference.changes[]", {"time_s", "voltage_v", "ramp_s"}},
    {"load", {"changes"}},
    {"load.changes[]", {"time_s", "load_ohm", "ramp_s"}},
    {"input_voltage", {"changes"}},
    {"input_voltage.changes[]", {"time_s", "input_voltage_v", "ramp_s"}},
    {"network", {"latency_up_us", "latency_down_us", "jitter_us", "seed"}},
    {"recording", {"voltage", "duty", "decimation", "converter_decimation", "on_error"}},
    {"placement[]", {"controller", "converters", "cpu", "priority", "scheduler", "wait"}},
    {"verbs.nodes[]", {"controller", "converters", "address"}},
    {"tcp.nodes[]", {"controller", "converters", "address"}},
};

static const char *const *short_keys_of(const char *path)
{
    for (size_t i = 0; i < sizeof short_blocks / sizeof short_blocks[0]; i++)
        if (strcmp(short_blocks[i].path, path) == 0)
            return short_blocks[i].keys;
    return NULL;
}

static bool short_is_one_of(const char *const *keys, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

static void short_check_keys(const struct scenario_node *block, const char *path,
                             struct scenario_report *report)
{
    const char *const *keys = short_keys_of(path);
    char choice[SCENARIO_CHOICE_BYTES];
    size_t count = 0;

    while (keys && count < SHORT_WORDS_MAX && keys[count])
        count++;
    for (size_t i = 0; keys && i < block->count; i++) {
        const struct scenario_entry *e = &block->entries[i];
        if (short_is_one_of(keys, count, e->key))
            continue;
        scenario_say_choice(e->key, keys, count, choice);
        scenario_mistake(report, &e->at, "unknown key '%.60s' in %s%s", e->key,
                         *path ? path : "the scenario", choice);
    }
}

static void short_check_node(const struct scenario_node *node, const char *path,
                             struct scenario_report *report)
{
    if (node->kind == SCENARIO_MAPPING)
        short_check_keys(node, path, report);
    for (size_t i = 0; i < node->count && !scenario_report_is_full(report); i++) {
        char below[SHORT_PATH_BYTES];
        if (node->kind == SCENARIO_SEQUENCE)
            snprintf(below, sizeof below, "%s[]", path);
        else
            snprintf(below, sizeof below, "%.60s%s%.60s", path, *path ? "." : "",
                     node->entries[i].key);
        short_check_node(node->entries[i].value, below, report);
    }
}

void short_check(const struct scenario_node *root, struct scenario_report *report)
{
    short_check_node(root, "", report);
}
