/* Which figures of signals a run has, what each is called, and what it shows. */
#ifndef HIL_PLOT_NAMES_H
#define HIL_PLOT_NAMES_H

#include "plot_signals.h"

enum plot_shows { PLOT_SHOWS_MEASURE, PLOT_SHOWS_ARRAY, PLOT_SHOWS_NODE };

struct plot_named {
    enum plot_shows shows;
    unsigned number; /* of the measure, or of the group; of a node's the first of its groups */
    char name[PLOT_TEXT_BYTES];
};

struct plot_names {
    struct plot_groups groups;
    struct plot_named *at; /* in the order in which they are drawn */
    unsigned count;
};

/* Returns 0 or -ENOMEM. Closed in any case. */
int plot_names_open(struct plot_names *names, const struct plot_run *run);
void plot_names_close(struct plot_names *names);

/* The figure that shows a column of the record, or a measure; NULL: none does. */
const char *plot_name_of_column(const struct plot_names *names, const struct plot_run *run,
                                unsigned stream, unsigned column);
const char *plot_name_of_measure(const struct plot_names *names, const struct plot_run *run,
                                 const char *measure);

#endif
