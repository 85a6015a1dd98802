#include "svg_texts.h"

#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct box {
    double left, right, top, bottom;
};

static unsigned letters_of(const char *text, size_t bytes)
{
    unsigned letters = 0;

    for (size_t i = 0; i < bytes; i++) {
        letters += ((unsigned char)text[i] & 0xc0) != 0x80;
        if (text[i] == '&') /* an entity such as &amp; is one letter */
            i += strcspn(text + i, ";");
    }
    return letters;
}

/* The extent of a text at x, y with this anchor along its line. */
static void span(double at, double length, const char *anchor, double *from, double *to)
{
    const double before = strncmp(anchor, "end", 3) == 0   ? 1
                          : strncmp(anchor, "mid", 3) == 0 ? 0.5
                                                           : 0;

    *from = at - before * length;
    *to = at + (1 - before) * length;
}

static struct box box_of(const char *group, const char *text)
{
    const char *anchor = strstr(group, "text-anchor=\"") + strlen("text-anchor=\"");
    const double size = strtod(strstr(group, "font-size=\"") + strlen("font-size=\""), NULL);
    const char *bold = strstr(group, "font-weight=\"bold\""), *turned = strstr(group, "rotate(");
    const double letter = size * (bold && bold < text ? 0.76 : 0.72);
    const double length = letter * letters_of(text, strcspn(text, "<"));
    char *comma;
    const double x = strtod(group + strlen("<g transform=\"translate("), &comma);
    const double y = strtod(comma + 1, NULL);
    struct box b = {x - size, x + size / 4, y - size, y + size / 4};

    if (turned && turned < text)
        span(y, length, anchor, &b.top, &b.bottom);
    else
        span(x, length, anchor, &b.left, &b.right);
    return b;
}

static double size_in(const char *svg, const char *name)
{
    const char *at = strstr(svg, name);

    cr_assert(at, "no %s in the SVG", name);
    return strtod(at + strlen(name), NULL);
}

/* Finds the next text that is not empty, from `at` on. NULL: there is none. */
static const char *next_text(const char *at, const char **text)
{
    while ((at = strstr(at, "<g transform=\"translate(")) != NULL) {
        *text = strstr(at, "<text>");
        if (*text && (*text)[6] != '<')
            return at;
        at++;
    }
    return NULL;
}

static bool is_anchored(const char *group, const char *at)
{
    const char *anchor = strstr(group, "text-anchor=\"") + strlen("text-anchor=\"");

    return strncmp(anchor, at, strlen(at)) == 0;
}

static double x_of(const char *group)
{
    return strtod(group + strlen("<g transform=\"translate("), NULL);
}

void expect_texts_inside(const char *svg, const char *figure)
{
    const double width = size_in(svg, " width=\""), height = size_in(svg, " height=\"");
    unsigned texts = 0;

    const char *text;

    for (const char *g = svg; (g = next_text(g, &text)); g++) {
        const struct box b = box_of(g, text + 6);
        cr_expect(b.left >= 0 && b.right <= width && b.top >= 0 && b.bottom <= height,
                  "%s: \"%.*s\" takes %.0f to %.0f of %.0f, %.0f to %.0f of %.0f", figure,
                  (int)strcspn(text + 6, "<"), text + 6, b.left, b.right, width, b.top, b.bottom,
                  height);
        texts++;
    }
    cr_expect_gt(texts, 3, "%s: no texts", figure);
}

void expect_plots_apart(const char *svg, const char *figure)
{
    const double middle = size_in(svg, " width=\"") / 2;
    double reaches = middle, tics_at = 0, left_ends = 0;
    const char *text;

    for (const char *g = svg; (g = next_text(g, &text)); g++)
        if (is_anchored(g, "end") && x_of(g) > middle / 2) {
            const double from = box_of(g, text + 6).left;
            reaches = from < reaches ? from : reaches;
            tics_at = x_of(g);
        }
    for (const char *g = svg; (g = next_text(g, &text)); g++)
        if (is_anchored(g, "middle") && x_of(g) < tics_at && x_of(g) > left_ends)
            left_ends = x_of(g);
    cr_assert(tics_at > 0 && left_ends > 0, "%s: no two plots", figure);
    cr_expect_geq(reaches, left_ends, "%s: tics reach to %.0f, the left plot to %.0f", figure,
                  reaches, left_ends);
}
