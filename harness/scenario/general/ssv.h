/*
 * Reads files of parameters in the SSV format of the standard SSP (System Structure and
 * Parameterization), versions 1.0 and 2.0: names, each with a value and optionally a unit.
 */
#ifndef HIL_SSV_H
#define HIL_SSV_H

#include "../../base/units.h"
#include "../yaml/scenario_tree.h"

struct hil_pool;

enum ssv_type { SSV_REAL, SSV_INTEGER, SSV_BOOLEAN, SSV_STRING, SSV_ENUMERATION };

struct ssv_parameter {
    const char *name; /* "motor.resistance_ohm" */
    enum ssv_type type;
    const char *text;      /* the value as written; for an enumeration, the item's name */
    double number;         /* 0 for a string */
    bool is_number;        /* also for an item of an enumeration if the file gives its number */
    const char *unit_name; /* NULL: not given */
    struct hil_unit unit;
    bool unit_known;
    struct scenario_place at; /* place of the value */
    bool taken;               /* something in the scenario uses it */
};

/* The contents of several files in order. */
struct ssv {
    struct hil_pool *pool;
    struct ssv_parameter *at;
    unsigned count;
};

/*
 * Reads the files; a value in a later file replaces one in an earlier file. Mistakes are reported.
 * Returns 0, -EINVAL or -ENOMEM. Call ssv_close in any case.
 */
int ssv_open(struct ssv *ssv, const char *const *paths, size_t count,
             struct scenario_report *report);
void ssv_close(struct ssv *ssv);

/* The value as a scalar of a scenario, in this unit ("": any unit). If the value is not a number,
 * or its unit cannot be converted, reports that and returns NULL with 0 in *rc. Returns NULL with
 * -ENOMEM in *rc when memory runs out. */
struct scenario_node *ssv_number(const struct ssv_parameter *parameter, const char *unit, int *rc,
                                 struct scenario_report *report);

#endif
