/* Formats numbers with any unit, for people or for other programs; reads whole numbers. */
#ifndef HIL_DIGITS_H
#define HIL_DIGITS_H

#include <stdbool.h>
#include <stdint.h>

/* How many decimals show a number of this size with `digits` digits. Its deviation is shown with as
 * many decimals: 240 V in five digits is 240.00 V, and its ripple of a picovolt is 0.00 V. */
int hil_decimals(double size, int digits);

/* "240.00 V", or "0.5000" without a unit. Returns the text. */
enum { HIL_VALUE_BYTES = 64 };
const char *hil_value(char text[HIL_VALUE_BYTES], double value, int decimals, const char *unit);

/* Formats a number for another program, which reads back the same value. Uses fifteen digits if
 * they are enough, so that 0.1 is not 0.10000000000000001. Returns the text. */
enum { HIL_NUMBER_BYTES = 32 };
const char *hil_number(char text[HIL_NUMBER_BYTES], double value);

/* Whether the text is a whole number of at most `most`: decimal digits, and nothing else. *number
 * gets it. */
bool hil_whole_number(const char *text, uint64_t most, uint64_t *number);

#endif
