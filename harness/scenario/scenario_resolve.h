/*
 * From the blocks of the file to the scenario that runs.
 */
#ifndef HIL_SCENARIO_RESOLVE_H
#define HIL_SCENARIO_RESOLVE_H

#include "scenario_schema.h"

/* What is known of a scenario that has been loaded, and where to complain about it. */
struct scenario_loaded {
    const struct scenario_schema *schema;
    struct scenario_node *root; /* for the places of mistakes */
    const struct scenario_file *file;
    struct scenario_report *report;
};

/*
 * Fills *scenario, all but `resolved`, and reports every mistake that lies in two values
 * together. Returns 0, -EINVAL or -ENOMEM; what it allocated is hil_scenario_free's.
 */
int scenario_resolve(const struct scenario_loaded *loaded, struct hil_scenario *scenario);

/* The parts of it, each in its own file. They report, and return -ENOMEM or 0. */
int scenario_resolve_converters(const struct scenario_loaded *loaded,
                                struct hil_scenario *scenario);
int scenario_check_placement(const struct scenario_loaded *loaded);
int scenario_resolve_verbs(const struct scenario_loaded *loaded, struct hil_scenario *scenario);
void scenario_free_verbs(struct hil_scenario *scenario);
int scenario_resolve_profiles(const struct scenario_loaded *loaded, struct hil_scenario *scenario);

/*
 * A list whose entries together name each node exactly once: `list` is its path, and what an
 * entry gives a node is `gift`.
 */
struct scenario_roll {
    const struct scenario_loaded *loaded;
    const char *list, *gift;
    bool controller;  /* named so far */
    bool *converters; /* by id; calloc'ed and freed by the owner of the roll */
};

/* Notes who entry `index` names, and reports who was named before, or that it names nobody.
 * first..last become its converters: 1..0 when there are none. */
void scenario_roll_call(struct scenario_roll *roll, unsigned index, bool controller,
                        const char *converters, unsigned *first, unsigned *last);
/* Reports the first who was not named. */
void scenario_roll_end(const struct scenario_roll *roll);

/* The same of the controller and of the converters: `role` is the path of their block. */
void scenario_resolve_late(const struct scenario_loaded *loaded, const char *role,
                           const struct file_late *file, struct hil_timing *timing,
                           struct hil_stale_config *stale);

/*
 * Makes a component, to see whether the model takes these numbers together. Returns 0, or a
 * negative errno with the model's reason in `why`.
 */
enum { SCENARIO_REASON_BYTES = 256 };
int scenario_try(const struct hil_model *model, unsigned width, const double *parameters,
                 const double *states, uint64_t period_ns, char why[SCENARIO_REASON_BYTES]);

/* The general form of a scenario in the power_controller form. Returns 0, or -ENOMEM with nothing
 * left. */
int scenario_expand(const struct scenario_loaded *loaded, const struct hil_scenario *scenario,
                    struct scenario_node **root);

/* Fills what both forms have: the run, validity, tracing. Returns 0 or -ENOMEM. */
int scenario_resolve_run(const struct scenario_loaded *loaded, struct hil_scenario *scenario);

/* Reports a mistake at the value with this path, such as "converters.overrides.0.id". */
__attribute__((format(printf, 3, 4))) void scenario_mistake_in(const struct scenario_loaded *loaded,
                                                               const char *path, const char *format,
                                                               ...);

#endif
