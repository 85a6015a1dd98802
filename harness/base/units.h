/* A unit in terms of the SI's base units, as in FMI and SSP. */
#ifndef HIL_UNITS_H
#define HIL_UNITS_H

#include <stdbool.h>

enum hil_unit_base { HIL_KG, HIL_M, HIL_S, HIL_A, HIL_K, HIL_MOL, HIL_CD, HIL_RAD, HIL_BASES };

/* A value in base units is factor * value + offset. */
struct hil_unit {
    int exponents[HIL_BASES];
    double factor, offset;
};

/* "kg", "m", ...: names of the attributes. */
extern const char *const hil_unit_bases[HIL_BASES];

/* Reads a unit such as "V", "mOhm", "rad/s", "kg m2", "1/(V s)" or "Nm/A". Returns false if part of
 * it is unknown. */
bool hil_unit_read(struct hil_unit *unit, const char *text);

/* The unit as the end of a name: "1/(V s)" gives "per_v_s", and "%" gives "percent". */
enum { HIL_UNIT_ENDING_BYTES = 32 };
void hil_unit_ending(const char *unit, char ending[HIL_UNIT_ENDING_BYTES]);

#endif
