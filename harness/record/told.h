/*
 * What summary.json tells of a run. The file may be anybody's, and there may be none: a figure that
 * it does not tell is no number.
 */
#ifndef HIL_TOLD_H
#define HIL_TOLD_H

#include <jansson.h>
#include <stdbool.h>

struct hil_told {
    json_t *root; /* NULL: there is no summary */
};

/* Reads DIR/summary.json. */
struct hil_told hil_told_of_run(const char *dir);
void hil_told_close(struct hil_told *told);

/* The figures of a measure after the run's last event; overshoot_pct is the greatest of all. */
struct hil_told_figures {
    bool settled;
    double settling_ms, overshoot_pct, mean, pp, band;
    double from_s, to_s; /* the window of its steady state */
};

/* A measure; or an array of them, with the figures of the worst. Texts are the summary's. */
struct hil_told_measure {
    const char *name, *unit;
    bool array;
    bool judged, settled; /* whether that is told; of an array: all have */
    int worst;            /* of an array: which is; -1: not told */
    struct hil_told_figures figures;
    double startup_ms; /* from the start, until it had settled; NAN of an array */
};

/* The measure of this name; false, with figures that are none, where there is none. */
bool hil_told_measure(const struct hil_told *told, const char *name, struct hil_told_measure *m);

/* The first one, and the first array of them: those that a run is shown by. */
bool hil_told_first(const struct hil_told *told, bool array, struct hil_told_measure *m);

/* The nodes of array `i`, all together: steps that did not end in time, of those that were due.
 * False: there are no more. */
struct hil_told_nodes {
    const char *name;
    double missed, due;
};
bool hil_told_nodes(const struct hil_told *told, unsigned i, struct hil_told_nodes *nodes);

/* The first round trip that was measured: its median, and what 1 % and 0.1 % exceed, in us. */
void hil_told_round_trip(const struct hil_told *told, double us[3]);

/* Whether the run is valid: -1 where it is not told. And the first reason why not, or "". */
int hil_told_valid(const struct hil_told *told);
const char *hil_told_invalid(const struct hil_told *told);

/* A number in an object; NAN: there is none. */
double hil_told_number(const json_t *object, const char *key);

#endif
