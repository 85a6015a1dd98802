/*
 * What may be changed while a run goes on (`tuning: true`): the parameters that a component's model
 * declares tunable, and the values of sources.
 */
#ifndef HIL_TUNABLES_H
#define HIL_TUNABLES_H

#include "system.h"

struct hil_tunable {
    bool is_source;
    unsigned component, place; /* for a parameter: index among the component's */
    unsigned source;
    double min, max;       /* inclusive; for a source, within the ranges of all inputs that it
                            * feeds */
    const unsigned *nodes; /* nodes that it affects, ascending: the component's, or all that the
                            * source feeds */
    unsigned node_count;
};

/* Makes the system's list: the parameters, then the sources. Returns 0 or -ENOMEM. */
int hil_tunables_make(struct hil_system *system);

/* "cell[3].resistance_ohm", "reference"; one of several sources with one name: "replay[2]". */
void hil_tunable_name(const struct hil_system *system, const struct hil_tunable *tunable,
                      char text[HIL_SIGNAL_NAME_BYTES]);

/* The row of the model's table; NULL for a source. */
const struct hil_quantity *hil_tunable_row(const struct hil_system *system,
                                           const struct hil_tunable *tunable);
const char *hil_tunable_unit(const struct hil_system *system, const struct hil_tunable *tunable);

/* Whether the tunable affects this node. */
bool hil_tunable_concerns(const struct hil_tunable *tunable, unsigned node);

/* The source that feeds the input of this name without scale or offset; -1: none does. */
int hil_tunable_of_input(const struct hil_system *system, const char *name);

/* Whether the model lets this parameter change between two steps. */
static inline bool hil_may_tune(const struct hil_model *model, const struct hil_quantity *row)
{
    return model->tune && row->flags & HIL_TUNABLE;
}

#endif
