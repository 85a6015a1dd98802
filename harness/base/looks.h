/*
 * The colours of everything that hiloco draws: one table, from which the styles of figures, of
 * reports and of the scope are made. A colour has one meaning in all three.
 */
#ifndef HIL_LOOKS_H
#define HIL_LOOKS_H

#include <stdint.h>
#include <stdio.h>

/* Runs of a sweep: blues settle and oranges do not, a pair that everybody can tell apart. Each goes
 * from light to dark. */
enum hil_look_ramp { HIL_LOOK_SETTLES, HIL_LOOK_SWINGS };

/* The colour at `share`, 0 to 1, of a ramp: 0xRRGGBB. */
uint32_t hil_look_ramp(enum hil_look_ramp ramp, double share);

/* gnuplot's variables: ink = '#1d232a', and so on; array hues[8] has the colours of curves. */
void hil_looks_gnuplot(FILE *to);

/* A page's style: variables --ink and so on, --series-1 to --series-8 for curves, and --map-1 to
 * --map-4, for bright and for dark pages; then `css`. A page of class "paper" is always bright. To
 * be freed; NULL: no memory. */
char *hil_looks_style(const char *css);

#endif
