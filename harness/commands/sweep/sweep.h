/*
 * A sweep: each key has a list of values, each combination of values is a point, and the scenario
 * runs once at each point.
 */
#ifndef HIL_SWEEP_H
#define HIL_SWEEP_H

#include "../../launch/jobs.h"
#include "../../launch/verdict_files.h"
#include "../../record/summary_reader.h"
#include "../commands.h"

enum { SWEEP_POINTS_MAX = 100000, SWEEP_BISECTIONS_MAX = 20 };

/*
 * A value that is drawn anew for each run: uniform in nominal +- spread, or normal with the spread
 * as its standard deviation.
 */
struct sweep_draw {
    double nominal, spread;
    bool normal;
};

/* A --set and its values: "key" and "a", "b", "c". */
struct sweep_axis {
    char *key;
    char **values;
    unsigned count;
    bool drawn; /* the values were drawn, one per run */
    struct sweep_draw draw;
};

struct sweep_point {
    char **sets;                    /* "key=value", by axis */
    char *name;                     /* its folder name: the sets of the keys that vary */
    struct hil_summary_reader told; /* the results of its run, once it has ended */
};

/* A range of steps, and the neighbouring points between which the verdict changes: the last known
 * to pass, and the last known to fail. */
struct sweep_bisection {
    double from, step;
    unsigned steps, passes, fails;
    unsigned step_of[SWEEP_BISECTIONS_MAX + 2]; /* by point */
    unsigned try_of[SWEEP_BISECTIONS_MAX + 2];  /* by point: its position in the order of trials */
    bool told;                                  /* every run passed or failed */
    bool ends_differ;                           /* one end of the range passes, the other fails */
};

struct sweep_arguments {
    struct hil_arguments given;
    const char *out, *junit, *tap;
    const char *bisect; /* "KEY=FROM:TO:STEP" */
    unsigned jobs;
    unsigned runs; /* with drawn values; 0: not given */
    uint64_t seed; /* of the drawn values */
    bool seed_given;
};

struct sweep {
    const struct sweep_arguments *arguments;
    struct sweep_axis *axes;
    unsigned axis_count;
    unsigned runs; /* runs per combination of the values that are not drawn */
    struct sweep_point *points;
    struct hil_jobs jobs; /* by point */
    unsigned point_count;
    struct sweep_bisection bisection;
    struct hil_verdict_files verdicts;
    bool has_limits, real_time;
    char name[200]; /* the scenario's */
    char out[4096];
};

/* Functions that return an int return 0, or a negative errno after a message on stderr. */

/* --- values ---------------------------------------------------------------------------------- */

/* Reads "KEY=VALUES". */
int sweep_axis_read(struct sweep_axis *axis, const char *set);
/* Adds a value with this many digits; a time is in whole ns. */
int sweep_axis_add(struct sweep_axis *axis, double value, int digits);
/* Adds a value of a range of steps. A time that is not in whole ns is refused. */
int sweep_axis_add_step(struct sweep_axis *axis, double value);
int sweep_check_step(const char *key, double value);
void sweep_axis_free(struct sweep_axis *axis);

/* The text after KEY= with each value that has a unit as a number without one, also in FROM:TO:STEP
 * and in NOMINAL~SPREAD, where a percentage stays. The caller frees it. NULL: memory ran out. */
char *sweep_without_units(const char *key, const char *text);

/* Reads FROM:TO:STEP. Returns the number of steps, or 0 if the text is not such a range. */
unsigned sweep_range_read(const char *text, double *from, double *step);

/* --- drawn values ---------------------------------------------------------------------------- */

/* Reads "NOMINAL~SPREAD" or "NOMINAL~PERCENT%", with an optional ":normal" or ":uniform" after it.
 * Returns 1, 0 if the text does not begin like this, or -EINVAL after a message. */
int sweep_draw_read(struct sweep_draw *draw, const char *key, const char *text);

/* Draws the values of each drawn axis, one per run, in the order of the runs. */
int sweep_draw_values(struct sweep *s);

/* --- points ---------------------------------------------------------------------------------- */

int sweep_make_axes(struct sweep *s);
int sweep_make_points(struct sweep *s);
int sweep_make_point(const struct sweep *s, unsigned number);

/* Loads the scenario of each point, so that nothing starts unless all are right. */
int sweep_check_points(struct sweep *s);
void sweep_free(struct sweep *s);

/* --- runs ------------------------------------------------------------------------------------ */

void sweep_run(struct sweep *s);

/* --- results --------------------------------------------------------------------------------- */

/* Writes sweep.json. It includes the results of the runs if they have `ended`. */
int sweep_write_index(const struct sweep *s, bool ended);
int sweep_write_csv(const struct sweep *s); /* sweep.csv, and distribution.csv */
void sweep_print_table(const struct sweep *s);

/* "passed"; "" if the run left no verdict. */
const char *sweep_verdict(const struct hil_summary_reader *told);

/* Whether the run reached its end, is valid, and kept its limits, if any. */
bool sweep_passed(const struct sweep *s, unsigned point);

/* The greatest number of events of a run. */
unsigned sweep_event_count(const struct sweep *s);

/* How many steps the first nodes missed: in a control loop, the controller's. */
double sweep_missed(const struct hil_summary_reader *told);

/* Writes a cell. A value that is not a number gives an empty one. */
void sweep_csv_number(FILE *to, double value);

/* --- distributions of runs that differ only by chance ---------------------------------------- */

bool sweep_has_distribution(const struct sweep *s);
void sweep_print_distributions(const struct sweep *s);
json_t *sweep_distributions_json(const struct sweep *s);
void sweep_put_distributions(const struct sweep *s, FILE *to);

/* --- bisection ------------------------------------------------------------------------------- */

/* Makes the points of --bisect, beginning with the ends of the range. */
int sweep_make_bisection(struct sweep *s);

/* Runs the points between the ends, once the ends have been run. */
void sweep_bisect(struct sweep *s);
bool sweep_bisection_found(const struct sweep *s);

enum { SWEEP_WORDS_BYTES = 512 };
void sweep_bisection_words(const struct sweep *s, char words[SWEEP_WORDS_BYTES]);
json_t *sweep_bisection_json(const struct sweep *s);

#endif
