/* Converts values of parameters to the notation of a scenario. */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../yaml/scenario_schema.h"
#include "ssv.h"

static bool ssv_is_pure(const struct hil_unit *unit)
{
    return memcmp(unit->exponents, (int[HIL_BASES]){0}, sizeof unit->exponents) == 0;
}

/* A product of decimals may miss a decimal by a rounding error, and is then replaced by it: 100 uH
 * are 1e-4 H, not 9.999999999999999e-5. */
static double ssv_convert(double value, const struct hil_unit *from, const struct hil_unit *to)
{
    char text[SCENARIO_NUMBER_BYTES];

    value = (value * from->factor + from->offset - to->offset) / to->factor;
    snprintf(text, sizeof text, "%.15g", value);
    const double decimal = strtod(text, NULL);
    return fabs(decimal - value) <= 2 * DBL_EPSILON * fabs(value) ? decimal : value;
}

/* Converts the value to another unit. As with connections, a pure number fits any unit, and any
 * unit fits a pure number. */
static bool ssv_tell_in(const struct ssv_parameter *p, const char *unit_name, double *value)
{
    struct hil_unit to = {.factor = 1};

    if (!p->unit_name)
        return true;
    const bool known = !*unit_name || hil_unit_read(&to, unit_name);
    if (p->unit_known && known &&
        memcmp(p->unit.exponents, to.exponents, sizeof to.exponents) == 0) {
        if (p->unit.factor != to.factor || p->unit.offset != to.offset)
            *value = ssv_convert(*value, &p->unit, &to);
        return true;
    }
    return !*unit_name || strcmp(p->unit_name, unit_name) == 0 ||
           (p->unit_known && ssv_is_pure(&p->unit) && p->unit.factor == 1);
}

struct scenario_node *ssv_number(const struct ssv_parameter *p, const char *unit, int *rc,
                                 struct scenario_report *report)
{
    char text[SCENARIO_NUMBER_BYTES];
    double value = p->number;

    *rc = 0;
    if (!p->is_number) {
        scenario_mistake(report, &p->at, "%.100s is the text '%.60s'; allowed: a number", p->name,
                         p->text);
        return NULL;
    }
    if (!ssv_tell_in(p, unit, &value)) {
        scenario_mistake(report, &p->at, "%.100s is in %.60s%s; allowed: %s, or %s", p->name,
                         p->unit_name, p->unit_known ? "" : ", which is no known unit", unit,
                         p->unit_known ? "what can be told in it"
                                       : "a unit that the file's Units define");
        return NULL;
    }
    scenario_number_text(text, value);
    struct scenario_node *node = scenario_node_new(SCENARIO_SCALAR, text, &p->at);
    *rc = node ? 0 : -ENOMEM;
    return node;
}
