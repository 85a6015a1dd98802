/*
 * Finds the signals of a record by the names that the scenario gives them.
 */
#ifndef HIL_RECORDED_H
#define HIL_RECORDED_H

#include "trace_reader.h"

/* The place of a signal, or of a measure, in a record. */
struct hil_recorded {
    unsigned stream, column;
    unsigned place;           /* in a row of the column */
    unsigned component, part; /* "cell[component].input[part]"; 0 where the name has no index */
};

/*
 * Finds "cell[3].current_a", all of "cell[*].current_a", or the measure "output_v", in order of
 * index. A signal that several nodes recorded is taken from the first of them, or from `node`
 * ("hub", or "cell" for the nodes of an array) if that is not NULL. Returns how many were found, in
 * the array *found that the caller frees, or -ENOMEM.
 */
int hil_recorded_find(struct hil_recorded **found, const struct hil_trace_reader *record,
                      const char *name, const char *node);

/* Finds all signals and measures, each once, as hil_recorded_find() does. */
int hil_recorded_all(struct hil_recorded **found, const struct hil_trace_reader *record);

/* Writes the signal's name as in the scenario. */
enum { HIL_RECORDED_NAME_BYTES = 512 };
void hil_recorded_name(const struct hil_trace_reader *record, const struct hil_recorded *one,
                       char name[HIL_RECORDED_NAME_BYTES]);

/* The samples of a signal in order of time. */
struct hil_recorded_series {
    double *times_s, *values;
    size_t count;
};

/* Reads them. Returns 0, -ENOMEM, or -EBADMSG if the record cannot be read. */
int hil_recorded_read(struct hil_recorded_series *series, const struct hil_trace_reader *record,
                      const struct hil_recorded *one);
void hil_recorded_series_free(struct hil_recorded_series *series);

/* Lists the names that can be found, for a message: "cell[*].current_a, output_v". */
void hil_recorded_say(const struct hil_trace_reader *record, char *text, size_t size);

#endif
