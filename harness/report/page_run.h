/*
 * A run as a page has it: what its folder holds.
 *
 *      {label, dir, tested, status: of one of tests; summary, scenario, trace,
 *       record: {duration_s, figures, histograms, events}; or null, and why as no_record}
 */
#ifndef HIL_PAGE_RUN_H
#define HIL_PAGE_RUN_H

#include <jansson.h>
#include <stdbool.h>

struct hil_page_run {
    char *dir, *label;
    json_t *point; /* of a sweep's or of tests' index, borrowed; NULL: it is a run by itself */
    int sweep;     /* the number of the sweep that it is of; -1: none */
    bool is_drawn; /* a sweep's figures have its curves */
};

void hil_page_run_free(struct hil_page_run *run);

/* With about `most` bytes of curves; of tests that did not fail those of the measures. NULL: no
 * memory. */
json_t *hil_page_run_json(const struct hil_page_run *run, size_t most);

/* {duration_s, figures}, those of the measures; null where there is no record, and *why is. */
json_t *hil_page_measures(const char *dir, size_t most, json_t **why);

/* The text of the run's scenario, or null. */
json_t *hil_page_scenario(const char *dir);

#endif
