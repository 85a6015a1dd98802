/* Numbers have a decimal point, whatever locale a program that uses libhiloco, or the code of a
 * model, sets for the process. */
#ifndef HIL_PLAIN_LOCALE_H
#define HIL_PLAIN_LOCALE_H

#include <locale.h>

/* Gives the calling thread the locale "C". Each thread that reads or writes numbers begins with it.
 * Returns the locale before, for uselocale(). */
locale_t hil_plain_locale(void);

#endif
