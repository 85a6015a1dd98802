/* How numbers of any unit are shown, to a person or to another program. */
#ifndef HIL_DIGITS_H
#define HIL_DIGITS_H

/* How many decimals show a number of this size in so many digits, and beside it, with as many, how
 * far it strays: 240 V in five digits is 240.00 V, and its ripple of a picovolt 0.00 V. */
int hil_decimals(double size, int digits);

/* "240.00 V"; "0.5000" where there is no unit. Returns the text. */
enum { HIL_VALUE_BYTES = 64 };
const char *hil_value(char text[HIL_VALUE_BYTES], double value, int decimals, const char *unit);

/* The number for another program, which reads back the same: in fifteen digits where they are
 * enough, so that 0.1 is not 0.10000000000000001. Returns the text. */
enum { HIL_NUMBER_BYTES = 32 };
const char *hil_number(char text[HIL_NUMBER_BYTES], double value);

#endif
