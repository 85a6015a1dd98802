/*
 * What of a scenario is recorded: a stream for the controller, and one for each converter
 * where the scenario asks for it.
 *
 * The order of a row's numbers is known here alone: a role asks at its start where a column is.
 */
#ifndef HIL_STREAMS_H
#define HIL_STREAMS_H

#include "../run/state.h"
#include "../scenario/scenario.h"
#include "recorder.h"

enum { HIL_COLUMNS_MAX = 8 };

/* The columns of the node's stream, in their order. Returns how many there are. */
unsigned hil_streams_columns(const struct hil_scenario *scenario, unsigned node,
                             struct hil_column columns[HIL_COLUMNS_MAX]);

/* Where in a row of the node a column begins; -1 where the scenario has none of that name. */
int hil_streams_place(const struct hil_scenario *scenario, unsigned node, const char *column);

/* Puts a number there; nowhere, if that is -1. */
static inline void hil_row_put(double *row, int place, double value)
{
    if (place >= 0)
        row[place] = value;
}

/* Which of the recorder's streams is the node's. */
unsigned hil_streams_index(const struct hil_scenario *scenario, unsigned node);

/* Opens a recorder on the file, with a stream for each node, by its number. Returns 0 or a
 * negative errno. */
int hil_streams_open(struct hil_recorder **recorder, const char *path,
                     const struct hil_scenario *scenario);

/* Adds the loops' histograms to the trace: those that counted anything, so none of how late steps
 * were in virtual time. */
int hil_streams_add_histograms(struct hil_trace *trace, const struct hil_state *state);

#endif
