/*
 * The signals that a run recorded, in groups. A group holds the signals of one array of components
 * and one row of its model, as recorded by one node or by each node of an array.
 */
#ifndef HIL_PLOT_SIGNALS_H
#define HIL_PLOT_SIGNALS_H

#include "plot_data.h"

enum { PLOT_NAME_BYTES = 65 };

struct plot_column {
    unsigned stream, column;
};

struct plot_group {
    char node[PLOT_NAME_BYTES]; /* or the name of an array of nodes */
    char component[PLOT_NAME_BYTES], row[PLOT_NAME_BYTES];
    const struct hil_column *like; /* the first of its columns */
    bool own;                      /* each node of an array recorded its own signal */
    bool indexed, wide;            /* components have an index; the row has several elements */
    bool array;                    /* several signals, or an array of one */
    bool again;                    /* another node's group already has all of these signals */
    unsigned count;                /* signals */
    struct plot_column *columns;
    unsigned column_count;
};

struct plot_groups {
    struct plot_group *at;
    unsigned count;
};

/* Returns 0 or -ENOMEM. Free it in any case. */
int plot_groups_open(struct plot_groups *groups, const struct plot_run *run);
void plot_groups_close(struct plot_groups *groups);

/* "current"; "Current of each cell"; and the name of one of them: "cell". */
void plot_group_words(const struct plot_group *group, char text[PLOT_TEXT_BYTES]);
void plot_group_title(const struct plot_group *group, char text[PLOT_TEXT_BYTES]);
void plot_group_each(const struct plot_group *group, char text[PLOT_TEXT_BYTES]);

#endif
