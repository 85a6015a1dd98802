/*
 * A run as data of a page, from the contents of its folder.
 *
 *      {label, dir, tested, status: only for a test; summary, scenario, trace,
 *       record: {duration_s, figures, histograms, events}; or null, and why as no_record}
 */
#ifndef HIL_PAGE_RUN_H
#define HIL_PAGE_RUN_H

#include <jansson.h>
#include <stdbool.h>

struct hil_page_run {
    char *dir, *label;
    json_t *point; /* its entry in the index of a sweep or of tests, borrowed; NULL: a single run */
    int sweep;     /* number of its sweep; -1: none */
    bool is_drawn; /* the figures of its sweep show its curves */
};

void hil_page_run_free(struct hil_page_run *run);

/* With about `most` bytes of curves; a test that did not fail only has the curves of its measures.
 * NULL: memory ran out. */
json_t *hil_page_run_json(const struct hil_page_run *run, size_t most);

/* {duration_s, figures} with the figures of the measures; null, with the reason in *why, if there
 * is no record. */
json_t *hil_page_measures(const char *dir, size_t most, json_t **why);

/* The text of the run's scenario, or null. */
json_t *hil_page_scenario(const char *dir);

#endif
