/* How numbers of any unit are shown to a person. */
#ifndef HIL_DIGITS_H
#define HIL_DIGITS_H

/* How many decimals show a number of this size in so many digits, and beside it, with as many, how
 * far it strays: 240 V in five digits is 240.00 V, and its ripple of a picovolt 0.00 V. */
int hil_decimals(double size, int digits);

/* "240.00 V"; "0.5000" where there is no unit. Returns the text. */
enum { HIL_VALUE_BYTES = 64 };
const char *hil_value(char text[HIL_VALUE_BYTES], double value, int decimals, const char *unit);

#endif
