/* Loads a scenario from its file. */
#ifndef HIL_SCENARIO_LOAD_H
#define HIL_SCENARIO_LOAD_H

#include "../scenario.h"

/* Changes made by the command line. */
struct hil_scenario_options {
    const char *const *sets; /* "nodes.controller.period_us=20", applied in order */
    size_t set_count;
    bool realtime, virtual_time; /* --mode; neither: as the file says */
    const char *rendezvous;      /* for a scenario that does not say where its nodes are; or NULL */
    const char *const *parameters; /* files of parameters, applied to the file in this order */
    size_t parameter_count;
};

/*
 * Loads and checks a scenario. Returns 0, or a negative errno with one line for each mistake in
 * `message` (NUL-terminated, cut at `size`):
 *      FILE:LINE:COLUMN: what was found; what is allowed
 * FILE is --set for a value given there, or the name of a file of parameters for a value in it.
 * Nothing remains allocated on error. *scenario is set on success only.
 */
int hil_scenario_load(struct hil_scenario **scenario, const char *path,
                      const struct hil_scenario_options *options, char *message, size_t size);

/* Loads a scenario likewise, and makes its text in the language of today, which the caller frees:
 * controller: and converters: become nodes and components. Comments and defaults are not in it. */
int hil_scenario_convert(char **text, const char *path, const struct hil_scenario_options *options,
                         char *message, size_t size);

#endif
