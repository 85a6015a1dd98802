/* Lists the figures of signals that a run has: the name of each, and what it shows. */
#ifndef HIL_PLOT_NAMES_H
#define HIL_PLOT_NAMES_H

#include "plot_signals.h"

enum plot_shows { PLOT_SHOWS_MEASURE, PLOT_SHOWS_ARRAY, PLOT_SHOWS_NODE };

struct plot_named {
    enum plot_shows shows;
    unsigned number; /* number of the measure or group; for a node, the first of its groups */
    char name[PLOT_TEXT_BYTES];
};

struct plot_names {
    struct plot_groups groups;
    struct plot_named *at; /* in drawing order */
    unsigned count;
};

/* Returns 0 or -ENOMEM. Close it in any case. */
int plot_names_open(struct plot_names *names, const struct plot_run *run);
void plot_names_close(struct plot_names *names);

/* The figure that shows a measure or a column of the record; NULL if none does. */
const char *plot_name_of_column(const struct plot_names *names, const struct plot_run *run,
                                unsigned stream, unsigned column);
const char *plot_name_of_measure(const struct plot_names *names, const struct plot_run *run,
                                 const char *measure);

#endif
