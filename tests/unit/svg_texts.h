/*
 * The texts of a figure that gnuplot drew as SVG, and whether the picture has room for them.
 */
#ifndef TEST_SVG_TEXTS_H
#define TEST_SVG_TEXTS_H

/* Each text lies inside the picture. The letters' widths are estimated as they are in the PNG,
 * which has more room for none of them. `figure` is for messages. */
void expect_texts_inside(const char *svg, const char *figure);

#endif
