/* What the writer of a text that is not a number most likely meant. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario_report.h"
#include "value_units.h"

void scenario_number_remark(const char *text, const char *unit, char remark[SCENARIO_REMARK_BYTES])
{
    char *end, *last, number[SCENARIO_VALUE_BYTES], why[SCENARIO_UNIT_WHY_BYTES];

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
    if (!scenario_value_convert(number, text, unit, why) && *why)
        snprintf(remark, SCENARIO_REMARK_BYTES, " (%s)", why);
}
