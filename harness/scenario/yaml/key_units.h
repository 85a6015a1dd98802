/* What is known of a key of the scenario by its dotted path alone. */
#ifndef HIL_SCENARIO_KEY_UNITS_H
#define HIL_SCENARIO_KEY_UNITS_H

/* The unit of the key with this dotted path, "us" or "1/(V s)"; "" if it has none. */
const char *hil_scenario_unit(const char *path);

/* The nearest possible value of this key: for a time, whole ns. */
double hil_scenario_rounded(const char *path, double value);

#endif
