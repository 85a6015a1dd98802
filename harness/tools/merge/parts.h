/* The parts of a run after reading, for the files that merge them. */
#ifndef HIL_MERGE_PARTS_H
#define HIL_MERGE_PARTS_H

#include <jansson.h>

#include "../../h5/trace_reader.h"
#include "../../launch/part.h"
#include "merge.h"

struct merge_part {
    const struct hil_merge_from *from;
    bool reported; /* the part came to its end and reported; otherwise only its record exists */
    struct hil_part is;
    struct hil_trace_reader *record;
    bool *nodes;     /* the nodes that it ran */
    json_t *summary; /* NULL: none */
};

struct merge_parts {
    const struct hil_merge *merge;
    struct merge_part *at;
    unsigned count;
    bool *absent; /* nodes without a part */
    char absent_names[HIL_NODES_NAME_BYTES];
};

/* Reads all parts, and checks that they are from one run. Returns 0, or a negative errno after a
 * line to `messages`. Call merge_parts_close in any case. */
int merge_parts_open(struct merge_parts *parts, const struct hil_merge *merge, FILE *messages);
void merge_parts_close(struct merge_parts *parts);

/* "controller, converter[0-19]" */
void merge_names(const struct hil_system *system, const bool *nodes,
                 char text[HIL_NODES_NAME_BYTES]);

/* Checks that the parts' records are of the scenario. Returns 0, or a negative errno after a line
 * to `messages`. */
int merge_check_records(const struct merge_parts *parts, FILE *messages);

/* Writes OUT/trace.h5. Returns 0 or a negative errno. */
int merge_record(const struct merge_parts *parts, const struct hil_state *state, const char *out);

/* The parts in a summary: an object with clocks, parts and missing. */
json_t *merge_tell(const struct merge_parts *parts);

#endif
