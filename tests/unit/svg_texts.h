/*
 * The texts of a figure that gnuplot drew as SVG, and whether the picture has room for them.
 */
#ifndef TEST_SVG_TEXTS_H
#define TEST_SVG_TEXTS_H

/* Each text lies inside the picture. The letters' widths are estimated as they are in the PNG,
 * which has more room for none of them. `figure` is for messages. */
void expect_texts_inside(const char *svg, const char *figure);

/* Of two plots side by side, what is written beside the right one does not reach into the left one,
 * which ends at a tic. */
void expect_plots_apart(const char *svg, const char *figure);

#endif
