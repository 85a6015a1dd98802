/*
 * The nodes as lines of text.
 */
#ifndef HIL_TABLE_H
#define HIL_TABLE_H

#include "sample.h"

/* The sort keys. */
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
    bool reversed; /* least first; for nodes, last first */
};

enum { HIL_TABLE_WIDTH = 80 };

/* Formats a time with three digits and a unit, at most six characters: "7ns", "12.3us", "1.25ms",
 * "3.00s". NAN gives "-". */
void hil_format_time(double ns, char *text, size_t size);

/* Formats a count in `width` characters, in thousands or millions if it would not fit. */
void hil_format_count(uint64_t count, int width, char *text, size_t size);

/* Sorts the nodes stably: by number ascending, or by another key descending. */
void hil_table_sort(struct hil_sample *sample, const struct hil_table_order *order);

/* The head line, in which the sort key is marked; and the line of a node. */
void hil_table_head(const struct hil_table_order *order, char *text, size_t size);
void hil_table_row(const struct hil_node_sample *node, char *text, size_t size);

/* "late p99" */
const char *hil_table_key_name(enum hil_table_key key);

#endif
