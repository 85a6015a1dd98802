/*
 * A record's signals by their names, as a scenario calls them: where in the file each has its
 * numbers.
 */
#ifndef HIL_RECORDED_H
#define HIL_RECORDED_H

#include "trace_reader.h"

/* A signal, or a measure, in a record. */
struct hil_recorded {
    unsigned stream, column;
    unsigned place;           /* in a row of the column */
    unsigned component, part; /* "cell[component].input[part]"; 0 where it has no number */
};

/*
 * Finds "cell[3].current_a", all of "cell[*].current_a", or the measure "output_v", in the order of
 * their numbers. What several nodes recorded is taken from the first, or from `node` ("hub", or
 * "cell" for the nodes of an array) where that is not NULL. Returns how many there are in *found,
 * an array to be freed, or -ENOMEM.
 */
int hil_recorded_find(struct hil_recorded **found, const struct hil_trace_reader *record,
                      const char *name, const char *node);

/* All signals and measures that there are, each once, as hil_recorded_find() does. */
int hil_recorded_all(struct hil_recorded **found, const struct hil_trace_reader *record);

/* What the scenario calls it. */
enum { HIL_RECORDED_NAME_BYTES = 512 };
void hil_recorded_name(const struct hil_trace_reader *record, const struct hil_recorded *one,
                       char name[HIL_RECORDED_NAME_BYTES]);

/* The numbers of a signal, in the order of time. */
struct hil_recorded_series {
    double *times_s, *values;
    size_t count;
};

/* Reads them. Returns 0, -ENOMEM, or -EBADMSG where the record cannot be read. */
int hil_recorded_read(struct hil_recorded_series *series, const struct hil_trace_reader *record,
                      const struct hil_recorded *one);
void hil_recorded_series_free(struct hil_recorded_series *series);

/* What there is to be found, for a message: "cell[*].current_a, output_v". */
void hil_recorded_say(const struct hil_trace_reader *record, char *text, size_t size);

#endif
