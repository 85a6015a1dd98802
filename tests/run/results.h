/*
 * What a run leaves: its summary and its trace, read here with jansson and HDF5 alone.
 */
#ifndef TEST_RESULTS_H
#define TEST_RESULTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* The summary of the results in `folder`; the test fails where there is none. */
json_t *summary_of(const char *folder);

/* What is at "links.1.age_us.p50"; the number there: NAN for null. */
json_t *json_at(json_t *root, const char *path);
double number_at(json_t *root, const char *path);

/* A dataset of the trace: rows x width numbers. */
struct column {
    size_t rows, width;
    double *at;
};

struct column column_of(const char *folder, const char *dataset); /* "controller/output_v" */
bool has_column(const char *folder, const char *dataset);
char *column_text(const char *folder, const char *dataset, const char *attribute);

/* A number that a group has, as "controller" has period_ns. */
double group_number(const char *folder, const char *group, const char *attribute);

#endif
