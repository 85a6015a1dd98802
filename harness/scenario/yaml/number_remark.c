/* What the writer of a text that is not a number most likely meant. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/units.h"
#include "scenario_report.h"

/* "m" is milli in front of a unit. Units that are read whole, such as "us" or "mOhm", come first.
 */
static bool remark_read_unit(struct hil_unit *unit, const char *text)
{
    static const char prefixes[] = "pnumkMG";
    static const double factors[] = {1e-12, 1e-9, 1e-6, 1e-3, 1e3, 1e6, 1e9};
    const char *prefix = *text ? strchr(prefixes, *text) : NULL;

    if (hil_unit_read(unit, text))
        return true;
    if (!prefix || !hil_unit_read(unit, text + 1))
        return false;
    unit->factor *= factors[prefix - prefixes];
    return true;
}

/* The number of `unit` that "20us" or "1 mH" stand for; NAN: they stand for none. */
static double remark_in_unit(double value, const char *theirs, const char *unit)
{
    struct hil_unit from, to;

    if (strcmp(theirs, unit) == 0)
        return value;
    if (!*unit || !*theirs || !remark_read_unit(&from, theirs) || !hil_unit_read(&to, unit) ||
        memcmp(from.exponents, to.exponents, sizeof to.exponents) != 0 || from.offset != to.offset)
        return NAN;
    return value * from.factor / to.factor;
}

void scenario_number_remark(const char *text, const char *unit, char remark[SCENARIO_REMARK_BYTES])
{
    char *end, *last;

    remark[0] = '\0';
    const double value = strtod(text, &end);
    if (end == text || !isfinite(value))
        return;
    const double more = strtod(end + (*end == '-' || *end == ','), &last);
    if (*end == '-' && last > end + 1 && *last == '\0') {
        snprintf(remark, SCENARIO_REMARK_BYTES,
                 " (for a range: hiloco sweep --set KEY=%.9g:%.9g:STEP)", value, more);
        return;
    }
    if (*end == ',' && last > end + 1 && *last == '\0' && strspn(end + 1, "0123456789") > 0) {
        snprintf(remark, SCENARIO_REMARK_BYTES, " (did you mean '%.*s.%.20s'?)",
                 (int)(end - text < 20 ? end - text : 20), text, end + 1);
        return;
    }
    if (*end == '\0')
        return;
    const double in_unit = remark_in_unit(value, end + strspn(end, " "), unit);
    if (isfinite(in_unit))
        snprintf(remark, SCENARIO_REMARK_BYTES, " (did you mean '%.9g'? Numbers are without units)",
                 in_unit);
}
