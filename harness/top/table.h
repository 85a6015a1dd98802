/*
 * The nodes as lines of text.
 */
#ifndef HIL_TABLE_H
#define HIL_TABLE_H

#include "sample.h"

/* What the lines may be sorted by. */
enum hil_table_key {
    HIL_BY_NODE,
    HIL_BY_MISSED,
    HIL_BY_LATE_P99,
    HIL_BY_LATE_RECENT,
    HIL_BY_LATE_MAX,
    HIL_BY_INPUT_AGE,
    HIL_TABLE_KEYS,
};

struct hil_table_order {
    enum hil_table_key key;
    bool reversed; /* the least first; of nodes the last */
};

enum { HIL_TABLE_WIDTH = 80 };

/* A time in three digits and a unit, six characters at most: "7ns", "12.3us", "1.25ms", "3.00s".
 * "-" for NAN. */
void hil_format_time(double ns, char *text, size_t size);

/* A count in `width` characters: past what fits, in thousands or millions. */
void hil_format_count(uint64_t count, int width, char *text, size_t size);

/* Sorts them; what is equal stays in the nodes' order. Greatest first, but for nodes. */
void hil_table_sort(struct hil_sample *sample, const struct hil_table_order *order);

/* The line above, in which what it is sorted by has a mark; and a node's line. */
void hil_table_head(const struct hil_table_order *order, char *text, size_t size);
void hil_table_row(const struct hil_node_sample *node, char *text, size_t size);

/* "late p99" */
const char *hil_table_key_name(enum hil_table_key key);

#endif
