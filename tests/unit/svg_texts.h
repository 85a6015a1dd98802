/*
 * The texts of a figure that gnuplot drew as SVG, and whether the picture has room for them.
 */
#ifndef TEST_SVG_TEXTS_H
#define TEST_SVG_TEXTS_H

/* Checks that each text lies inside the picture. Widths of letters are estimated as they are in the
 * PNG, which never has more room than the SVG. `figure` is for messages. */
void expect_texts_inside(const char *svg, const char *figure);

/* Checks, for two plots side by side, that no text of the right plot reaches into the left one,
 * which ends at a tic. */
void expect_plots_apart(const char *svg, const char *figure);

#endif
