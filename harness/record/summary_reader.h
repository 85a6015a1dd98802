/*
 * Reads the results of a run from summary.json. The file is not trusted, and may be missing:
 * figures that are not in it are NAN.
 */
#ifndef HIL_SUMMARY_READER_H
#define HIL_SUMMARY_READER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

struct hil_summary_reader {
    json_t *root; /* NULL: there is no summary */
};

/* Reads DIR/summary.json. If it is there and cannot be read, hil_summary_reader_read says why. */
struct hil_summary_reader hil_summary_reader_of_run(const char *dir);
struct hil_summary_reader hil_summary_reader_read(const char *dir, FILE *messages);
void hil_summary_reader_close(struct hil_summary_reader *told);

/* The figures of a measure. Of the whole run they are the longest settling and rise times and the
 * greatest overshoot of all events, and the steady state after the last. */
struct hil_summary_reader_figures {
    bool settled;
    double settling_ms, overshoot_pct, mean, pp, band;
    double rise_time_ms, steady_error;
    double deviation_pct; /* only after one event */
    double from_s, to_s;  /* the steady-state window */
};

/* An event of the run. */
struct hil_summary_reader_event {
    int number;            /* -1: unknown */
    const char *name;      /* "load 10 to 8 Ohm" */
    double time_s, over_s; /* when it begins, and when its ramps are over */
};

/* A measure; or an array of measures, with the figures of the worst. Texts belong to the
 * summary. */
struct hil_summary_reader_measure {
    const char *name, *unit;
    bool array;
    bool judged, settled; /* whether it was judged, and settled; for an array: all of them */
    int worst;            /* for an array: index of the worst; -1: unknown */
    struct hil_summary_reader_figures figures;
    struct hil_summary_reader_event settling_event,
        overshoot_event; /* the events that they belong to */
    double startup_ms;   /* settling time from the start; NAN for an array */
};

/* Finds the measure of this name. Without it, returns false and figures that are NAN. */
bool hil_summary_reader_measure(const struct hil_summary_reader *told, const char *name,
                                struct hil_summary_reader_measure *m);

/* Finds the first measure, or the first array of measures. A run is represented by these. */
bool hil_summary_reader_first(const struct hil_summary_reader *told, bool array,
                              struct hil_summary_reader_measure *m);

/* The number of events that the run reached. */
unsigned hil_summary_reader_event_count(const struct hil_summary_reader *told);

/* Event `number`, and the figures of the measure after it, or of the worst of an array. Without
 * them returns false and figures that are NAN. */
bool hil_summary_reader_after(const struct hil_summary_reader *told, int number,
                              const char *measure, struct hil_summary_reader_event *event,
                              struct hil_summary_reader_figures *figures);

/* "load 10 to 8 Ohm at 0.2 s"; "" if the event is unknown. */
enum { HIL_EVENT_WORDS_BYTES = 200 };
void hil_summary_reader_event_words(const struct hil_summary_reader_event *event,
                                    char words[HIL_EVENT_WORDS_BYTES]);

/* Array `i` of nodes as a whole: steps that did not end in time, out of those due. Returns false if
 * there are no more. */
struct hil_summary_reader_nodes {
    const char *name;
    double missed, due, period_us;
};
bool hil_summary_reader_nodes(const struct hil_summary_reader *told, unsigned i,
                              struct hil_summary_reader_nodes *nodes);

/* The first measured round trip in us: its median, and the times exceeded by 1 % and 0.1 %. */
void hil_summary_reader_round_trip(const struct hil_summary_reader *told, double us[3]);

/* Whether the run is valid, or -1 if that is unknown; and the first reason why it is not, or "". */
int hil_summary_reader_valid(const struct hil_summary_reader *told);
const char *hil_summary_reader_invalid(const struct hil_summary_reader *told);

/* Whether the loops kept their periods: none missed more steps than the scenario allows. */
bool hil_summary_reader_held(const struct hil_summary_reader *told);

/* A number in an object; NAN: missing. */
double hil_summary_reader_number(const json_t *object, const char *key);

#endif
