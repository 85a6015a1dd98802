/*
 * Files of parameters, in the format SSV of the standard SSP (System Structure and
 * Parameterization), versions 1.0 and 2.0: names, each with a value and perhaps its unit.
 */
#ifndef HIL_SSV_H
#define HIL_SSV_H

#include "../base/units.h"
#include "yaml/scenario_tree.h"

struct hil_pool;

enum ssv_type { SSV_REAL, SSV_INTEGER, SSV_BOOLEAN, SSV_STRING, SSV_ENUMERATION };

struct ssv_parameter {
    const char *name; /* "motor.resistance_ohm" */
    enum ssv_type type;
    const char *text;      /* the value, as it is written; of an enumeration the item's name */
    double number;         /* of a string 0 */
    bool is_number;        /* an item of an enumeration is one where the file says which */
    const char *unit_name; /* NULL: none is said */
    struct hil_unit unit;
    bool unit_known;
    struct scenario_place at; /* of the value */
    bool taken;               /* by something of the scenario */
};

/* All that some files say, in their order. */
struct ssv {
    struct hil_pool *pool;
    struct ssv_parameter *at;
    unsigned count;
};

/*
 * Reads files, of which a later one's value is in place of an earlier one's. Mistakes are reported.
 * Returns 0, -EINVAL or -ENOMEM; ssv_close in any case.
 */
int ssv_open(struct ssv *ssv, const char *const *paths, size_t count,
             struct scenario_report *report);
void ssv_close(struct ssv *ssv);

/* The value as a scenario writes it, in this unit ("": whichever it has). Reports one that is no
 * number, or whose unit cannot be told in the other, and returns NULL then with 0; NULL with
 * -ENOMEM in *rc when there is no memory. */
struct scenario_node *ssv_number(const struct ssv_parameter *parameter, const char *unit, int *rc,
                                 struct scenario_report *report);

#endif
