/*
 * The signals that a run recorded, in groups: those of one array of components and one row of its
 * model, as one node recorded them, or each node of an array.
 */
#ifndef HIL_PLOT_SIGNALS_H
#define HIL_PLOT_SIGNALS_H

#include "plot_data.h"

enum { PLOT_NAME_BYTES = 65 };

struct plot_column {
    unsigned stream, column;
};

struct plot_group {
    char node[PLOT_NAME_BYTES]; /* or the array of nodes */
    char component[PLOT_NAME_BYTES], row[PLOT_NAME_BYTES];
    const struct hil_column *like; /* the first of its columns */
    bool own;                      /* each node of an array recorded its own */
    bool indexed, wide;            /* components have an index; the row has several places */
    bool array;                    /* several signals, or an array of one */
    bool again;                    /* another node's group has the same, and all of them */
    unsigned count;                /* signals */
    struct plot_column *columns;
    unsigned column_count;
};

struct plot_groups {
    struct plot_group *at;
    unsigned count;
};

/* Returns 0 or -ENOMEM. Freed in any case. */
int plot_groups_open(struct plot_groups *groups, const struct plot_run *run);
void plot_groups_close(struct plot_groups *groups);

/* "current"; "Current of each cell"; and what each of them is: "cell". */
void plot_group_words(const struct plot_group *group, char text[PLOT_TEXT_BYTES]);
void plot_group_title(const struct plot_group *group, char text[PLOT_TEXT_BYTES]);
void plot_group_each(const struct plot_group *group, char text[PLOT_TEXT_BYTES]);

#endif
