/*
 * A page in a browser without a window: Chromium, driven by its DevTools protocol over a pipe.
 */
#ifndef TEST_BROWSER_H
#define TEST_BROWSER_H

#include <jansson.h>
#include <stdbool.h>

struct browser;

/* A browser, or the test is skipped, with the reason why there is none. It is in dark or light, and
 * its window has this size. Closed after the test in any case, by browser_close(). */
struct browser *browser_open(int width, int height, bool dark);
void browser_close(struct browser *browser);

/* Opens a file, or an address, and waits until the page, for which the expression is true then, is
 * there. */
void browser_go(struct browser *browser, const char *path, const char *until);
void browser_visit(struct browser *browser, const char *address, const char *until);

/* Waits until the expression is true. */
void browser_wait(struct browser *browser, const char *until);

/* Collects the garbage of the page's scripts; how many bytes they use then. */
double browser_heap(struct browser *browser);

/* The value of an expression of JavaScript, which may be a promise; of a type that JSON has. The
 * test fails where it throws. */
json_t *browser_value(struct browser *browser, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
double browser_number(struct browser *browser, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
char *browser_text(struct browser *browser, const char *format, ...) /* to be freed */
    __attribute__((format(printf, 2, 3)));

/* What the mouse does at a place of the window: "mouseMoved", "mousePressed", "mouseReleased"; and
 * the wheel. And a key: "ArrowRight". */
void browser_mouse(struct browser *browser, const char *what, double x, double y);
void browser_wheel(struct browser *browser, double x, double y, double by);
void browser_key(struct browser *browser, const char *key);

/* How many requests the page has made besides that of itself; and the errors that the
 * browser has told, a line each. */
unsigned browser_requests(const struct browser *browser);
const char *browser_complaints(const struct browser *browser);

/* What the page hands out goes to this folder. */
void browser_downloads(struct browser *browser, const char *folder);

/* Lays the page out for "print", or "screen" again. */
void browser_media(struct browser *browser, const char *media);

/* Prints the page, to nowhere. */
void browser_print(struct browser *browser);

#endif
