/*
 * The power_controller form of a scenario, which has `controller:` and `converters:` instead of
 * nodes, components and connections. It makes an instance of the control law for each converter:
 *
 *      reference ------> reference_v +-----+ duty ---> duty +-------+ voltage_v ---+
 *                 +----> voltage_v   | law |                | plant | current_a --+|
 *                 |+---> current_a   +-----+                +-------+             ||
 *                 |+--------------------------------------------------------------+|
 *                 +----------------------------------------------------------------+
 *
 * The plant's other inputs are constants from converters.parameters, but load: and input_voltage:
 * may vary load_ohm and input_voltage_v.
 *
 * The form_*.c files check that the models fit (form_models.c), make the schema (form_schema.c,
 * form_quantities.c) and the defaults (form_defaults.c), calculate the numbers of each converter
 * (form_resolve.c, form_converters.c, form_profiles.c, form_nodes.c), and write the result in the
 * general form (form_expand.c). No other code knows this form.
 */
#ifndef HIL_FORM_H
#define HIL_FORM_H

#include "../../base/pool.h"
#include "../profile.h"
#include "../yaml/scenario_resolve.h"
#include "form_schema.h"

/* --- suitable models ------------------------------------------------------------------------- */

/* Whether a model can be the plant, or the law. If not, `why` has the reason: "it has no output
 * voltage_v". */
enum { FORM_WHY_BYTES = 256 };
bool form_plant_fits(const struct hil_model *model, char why[FORM_WHY_BYTES]);
bool form_law_fits(const struct hil_model *model, char why[FORM_WHY_BYTES]);

/* The suitable model of this name; NULL if there is none, or no name. */
const struct hil_model *form_plant_named(const char *name);
const struct hil_model *form_law_named(const char *name);

/* The duty, or what enables it: inputs of the plant that the law feeds, which are not among
 * converters.parameters.
 */
bool form_is_duty(const char *input);

/* A parameter of a law that belongs to controller.limits, not to controller.gains. */
bool form_is_limit(const char *parameter);

/* --- its defaults ---------------------------------------------------------------------------- */

/* Fills overrides that have another plant. Call it first, because the defaults of the common plant
 * do not apply to them. Works on a tree with mistakes too. Returns 0 or -ENOMEM. */
int form_fill_overrides(struct scenario_node *root);

/* Adds the drawn multipliers, and the placement, to a tree without mistakes. Returns 0 or
 * -ENOMEM. */
int form_fill_derived(const struct form_schema *schema, struct scenario_node *root);

/* --- its numbers ----------------------------------------------------------------------------- */

struct form_controller {
    const struct hil_model *law;
    double *parameters; /* gains and limits, in the order of law->parameters */
};

struct form_converter {
    const struct hil_model *plant;
    double *parameters; /* in the order of plant->parameters */
    double *inputs;     /* constant inputs, in the order of plant->inputs */
    double *states;     /* initial states, in the order of plant->states */
    double duty_initial;
    uint64_t period_ns, phase_ns;
    /* The converter's own factor on the load and input-voltage profiles. */
    double load_factor, input_voltage_factor;
};

/* Values that depend on several keys. The rest of the file goes into the general form unchanged. */
struct form {
    struct form_controller controller;
    struct form_converter *converters;
    unsigned converter_count;
    struct hil_profile reference;     /* V, the same for each converter */
    struct hil_profile load;          /* ohm; count 0: each converter's own constant */
    struct hil_profile input_voltage; /* V; count 0: each converter's own constant */
    struct hil_pool *pool;            /* holds the models' numbers */
};

/* A loaded file in this form, and the report for its mistakes. */
struct form_loaded {
    const struct scenario_schema *schema;
    struct scenario_node *root; /* has the places of mistakes */
    const struct form_file *file;
    struct scenario_report *report;
};

/*
 * Calculates the numbers, and reports mistakes that involve two values. Returns 0, -EINVAL or
 * -ENOMEM. Call form_free in any case.
 */
int form_resolve(const struct form_loaded *loaded, struct form *form);
void form_free(struct form *form);

/* The steps of this, each in its own file. They report mistakes, and return 0 or -ENOMEM. */
int form_resolve_profiles(const struct form_loaded *loaded, struct form *form);
int form_resolve_converters(const struct form_loaded *loaded, struct form *form);
int form_check_nodes(const struct form_loaded *loaded);

/* Writes the general form. Returns 0, or -ENOMEM with nothing left allocated. */
int form_expand(const struct form_loaded *loaded, const struct form *form,
                struct scenario_node **root);

/* Reports a mistake at the value with this path, such as "converters.overrides.0.id". */
__attribute__((format(printf, 3, 4))) void form_mistake(const struct form_loaded *loaded,
                                                        const char *path, const char *format, ...);

#endif
