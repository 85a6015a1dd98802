/* The figure of times: a histogram of each measured time, or its tail. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "../base/foreign.h"
#include "bars.h"
#include "plot_run.h"

/* With three digits, and never an exponent. */
static void quantile_words(char text[16], const struct hil_histogram *histogram, double quantile)
{
    const double us = (double)hil_histogram_quantile(histogram, quantile) * 1e-3;

    snprintf(text, 16, us < 1000 ? "%.3g" : "%.0f", us);
}

/* Sets an indexed variable: gnuplot finds label_3 by its name. Returns the length of the text. */
__attribute__((format(printf, 4, 5))) static int
numbered_text(struct hil_figure *figure, const char *variable, unsigned i, const char *format, ...)
{
    char name[32], text[PLOT_TEXT_BYTES];
    va_list arguments;

    va_start(arguments, format);
    const int length = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    snprintf(name, sizeof(name), "%s_%u", variable, i);
    hil_figure_text(figure, name, "%s", text);
    return length;
}

/* The greatest numbers of letters in the names, and in the words under them. */
struct histogram_room {
    unsigned label, words;
};

static void make_room(unsigned *room, int letters)
{
    *room = (unsigned)letters > *room ? (unsigned)letters : *room;
}

/* --- nodes of histograms ---------------------------------------------------------------------- */

/* The arrays of nodes found so far. */
enum { NODES_MAX = 32 };

struct nodes {
    char at[NODES_MAX][PLOT_NAME_BYTES];
    unsigned count;
};

/* Sets text to the node of the histogram: "controller" for "controller_late", and for the age of
 * values that it receives. Returns false if it belongs to no single node, like a round trip. */
static bool read_node(const char *name, char text[PLOT_NAME_BYTES])
{
    static const char *const ends[] = {"_late", "_step", "_period", "_age"};
    const size_t length = strlen(name);

    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        const size_t end = strlen(ends[i]);
        if (length <= end || strcmp(name + length - end, ends[i]) != 0)
            continue;
        snprintf(text, PLOT_NAME_BYTES, "%.*s", (int)(length - end), name);
        const char *to = strstr(text, "_to_");
        if (to)
            memmove(text, to + 4, strlen(to + 4) + 1);
        return true;
    }
    return false;
}

/* The node's number in the order of appearance, from 1; 0: no single node. */
static unsigned node_number(struct nodes *nodes, const char *histogram)
{
    char name[PLOT_NAME_BYTES];
    unsigned i = 0;

    if (!read_node(histogram, name))
        return 0;
    while (i < nodes->count && strcmp(nodes->at[i], name) != 0)
        i++;
    if (i == NODES_MAX)
        return 0;
    if (i == nodes->count)
        memcpy(nodes->at[nodes->count++], name, sizeof name);
    return i + 1;
}

/* --- drawing ---------------------------------------------------------------------------------- */

static void plot_histogram(struct hil_figure *figure, unsigned i, const char *name,
                           const struct hil_histogram *histogram, struct histogram_room *room)
{
    static const double quantiles[] = {0.5, 0.99, 0.999, 1};
    char words[PLOT_TEXT_BYTES], us[4][16];

    snprintf(words, sizeof(words), "%s", name);
    for (char *c = words; *c != '\0'; c++)
        if (*c == '_')
            *c = ' ';
    make_room(&room->label, numbered_text(figure, "label", i, "%s", words));
    for (int k = 0; k < 4; k++)
        quantile_words(us[k], histogram, quantiles[k]);
    make_room(&room->words, numbered_text(figure, "middle", i, "p50 %s, p99 %s", us[0], us[1]));
    make_room(&room->words, numbered_text(figure, "tail", i, "p99.9 %s, max %s", us[2], us[3]));
    hil_figure_bars(figure, "bars", i, histogram);
    hil_figure_tail(figure, "tail", i, histogram);
}

/* Draws histograms with values other than zero. Returns their number, or a negative errno. */
static int plot_histograms(const struct plot_run *run, struct hil_figure *figure)
{
    struct hil_histogram *histogram = malloc(sizeof(*histogram));
    struct histogram_room room = {0};
    struct nodes nodes = {0};
    char shown[PLOT_TEXT_BYTES];
    const char *name;
    int rc = histogram ? 0 : plot_no_memory(run);
    int drawn = 0;

    for (unsigned i = 0; !rc && (name = hil_trace_histogram_name(run->trace, i)); i++) {
        rc = hil_trace_read_histogram(run->trace, name, histogram);
        if (rc)
            fprintf(run->messages, "%s/trace.h5: %s: %s\n", run->dir,
                    hil_foreign_text(shown, sizeof(shown), name, strlen(name)), strerror(-rc));
        if (rc || histogram->max == 0)
            continue;
        plot_histogram(figure, (unsigned)++drawn, name, histogram, &room);
        fprintf(figure->values, "node_%d = %u\n", drawn, node_number(&nodes, name));
    }
    free(histogram);
    fprintf(figure->values, "label_letters = %u\nwords_letters = %u\n", room.label, room.words);
    return rc ? rc : drawn;
}

int plot_run_draw_histograms(const struct plot_run *run, const char *name, const char *title,
                             const char *script)
{
    struct hil_figure figure;
    const int rc = plot_views_open(&figure, run, name, title);
    if (rc)
        return rc;

    const int drawn = plot_histograms(run, &figure);
    if (drawn <= 0) {
        hil_figure_drop(&figure);
        return drawn;
    }
    fprintf(figure.values, "n = %d\n", drawn);
    return hil_figure_draw(&figure, script);
}
