/* Earlier names of keys, as --set may still have them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert.h"

/* The first that is the beginning of a key, up to a point, is replaced. */
static const char *const old_keys[][2] = {
    {"controller.law", "components.control.model"},
    {"controller.gains", "components.control.parameters"},
    {"controller.limits", "components.control.parameters"},
    {"controller.computation_delay", "components.control.computation_delay"},
    {"controller.on_error", "components.control.on_error"},
    {"controller.age_limit_us", "connections.0.age_limit_us"},
    {"controller.on_old", "connections.0.on_old"},
    {"controller.old_value", "connections.0.old_value"},
    {"controller", "nodes.controller"},
    {"converters.plant", "components.converter.model"},
    {"converters.parameters", "components.converter.parameters"},
    {"converters.initial", "components.converter.initial"},
    {"converters.tolerance", "components.converter.tolerance"},
    {"converters.overrides", "components.converter.overrides"},
    {"converters.on_error", "components.converter.on_error"},
    {"converters.duty_initial", "connections.1.initial"},
    {"converters.age_limit_us", "connections.1.age_limit_us"},
    {"converters.on_old", "connections.1.on_old"},
    {"converters.old_value", "connections.1.old_value"},
    {"converters", "nodes.converter"},
    {"recording.decimation", "record.0.decimation"},
    {"recording.on_error", "on_record_error"},
    {"reference.voltage_v", "sources.reference.constant"},
};

/* A safe duty cycle other than 0 has an effect while the gates are driven. */
static const char old_duty_safe[] = "converters.duty_safe=";
static const char *const safe_duties[] = {"components.control.safe.duty",
                                          "components.converter.safe.duty"};
static const char *const safe_enables[] = {"components.control.safe.enable=1",
                                           "components.converter.safe.enable=1"};

static int old_set(struct scenario_node *root, const char *key, const char *rest,
                   struct scenario_report *report)
{
    char *set = NULL;

    if (asprintf(&set, "%s%s", key, rest) < 0)
        return -ENOMEM;
    const int rc = scenario_tree_set(root, set, report);
    free(set);
    return rc;
}

static int old_set_safe(struct scenario_node *root, const char *value,
                        struct scenario_report *report)
{
    int rc = 0;

    for (unsigned i = 0; i < 2 && rc != -ENOMEM; i++)
        rc = old_set(root, safe_duties[i], value, report);
    for (unsigned i = 0; i < 2 && rc != -ENOMEM && strtod(value + 1, NULL) != 0; i++)
        rc = old_set(root, safe_enables[i], "", report);
    return rc;
}

int scenario_set_today(struct scenario_node *root, const char *set, struct scenario_report *report)
{
    const size_t safe = strlen(old_duty_safe);

    if (scenario_is_short_form(root))
        return scenario_tree_set(root, set, report);
    if (strncmp(set, old_duty_safe, safe) == 0)
        return old_set_safe(root, set + safe - 1, report);
    for (size_t i = 0; i < sizeof old_keys / sizeof old_keys[0]; i++) {
        const size_t length = strlen(old_keys[i][0]);
        if (strncmp(set, old_keys[i][0], length) == 0 && set[length] != '\0' &&
            strchr(".=", set[length]))
            return old_set(root, old_keys[i][1], set + length, report);
    }
    return scenario_tree_set(root, set, report);
}
