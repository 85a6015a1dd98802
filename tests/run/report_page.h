/*
 * The page that `hiloco report` makes, as a browser shows it.
 */
#ifndef TEST_REPORT_PAGE_H
#define TEST_REPORT_PAGE_H

#include "browser.h"

/* True in a page that is drawn, and all of its plots are. */
extern const char report_complete[];

/* Makes the report of a folder of the workspace. Returns its path. */
const char *report_of(const char *folder);

/* Opens a report, in light. */
struct browser *shown(const char *path);

/* Closes the browser; the test fails if the page fetched something, or anything went wrong in it.
 */
void expect_quiet(struct browser *b);

bool is_shown(struct browser *b, const char *text);

/* Where the pixels lie that are coloured at a share of a plot's width, from 0 at its top to 1:
 * greys, the axes, do not count, nor what is transparent, as the inside of bars. -1: none is. */
double highest(struct browser *b, int plot, double x);
double lowest(struct browser *b, int plot, double x);

/* In the window: that of a value of x, in the middle of a plot's height. */
struct place {
    double x, y;
};
struct place place_of(struct browser *b, int plot, double x);

#endif
