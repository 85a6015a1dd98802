/* What was read of the parts of a run, for the files that bring them together. */
#ifndef HIL_MERGE_PARTS_H
#define HIL_MERGE_PARTS_H

#include <jansson.h>

#include "../h5/trace_reader.h"
#include "merge.h"
#include "part.h"

struct merge_part {
    const struct hil_merge_from *from;
    bool told; /* it came to an end, and told of itself; else there is its record alone */
    struct hil_part is;
    struct hil_trace_reader *record;
    bool *nodes;     /* that it ran */
    json_t *summary; /* NULL: none */
};

struct merge_parts {
    const struct hil_merge *merge;
    struct merge_part *at;
    unsigned count;
    bool *absent; /* nodes of which there is no part */
    char absent_names[HIL_NODES_NAME_BYTES];
};

/* Reads them all, and checks that they are parts of one run. Returns 0 or a negative errno after a
 * line to `messages`; merge_parts_close in any case. */
int merge_parts_open(struct merge_parts *parts, const struct hil_merge *merge, FILE *messages);
void merge_parts_close(struct merge_parts *parts);

/* "controller, converter[0-19]" */
void merge_names(const struct hil_system *system, const bool *nodes,
                 char text[HIL_NODES_NAME_BYTES]);

/* Whether the parts' records are of the scenario. Returns 0 or a negative errno after a line to
 * `messages`. */
int merge_check_records(const struct merge_parts *parts, FILE *messages);

/* Writes OUT/trace.h5. Returns 0 or a negative errno. */
int merge_record(const struct merge_parts *parts, const struct hil_state *state, const char *out);

/* What a summary has of them: an object of clocks, parts and missing. */
json_t *merge_tell(const struct merge_parts *parts);

#endif
