/*
 * A sweep: the values that its keys go through, a point for each combination of them, and a run of
 * the scenario at each point.
 */
#ifndef HIL_SWEEP_H
#define HIL_SWEEP_H

#include "../../launch/jobs.h"
#include "../../record/told.h"
#include "../../summary/verdicts.h"
#include "../commands.h"

enum { SWEEP_POINTS_MAX = 100000, SWEEP_BISECTIONS_MAX = 20 };

/* A value that is drawn for each run: uniform in nominal +- spread, or normal with that deviation.
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
    bool drawn; /* there is a value for each run */
    struct sweep_draw draw;
};

struct sweep_point {
    char **sets;          /* "key=value", by axis */
    char *name;           /* its folder: the sets of the keys that vary */
    struct hil_told told; /* of its run, once that has ended */
};

/* A range in steps; the points that are next to each other, of those where it is known that they
 * pass, and that they fail. */
struct sweep_bisection {
    double from, step;
    unsigned steps, passes, fails;
    unsigned step_of[SWEEP_BISECTIONS_MAX + 2]; /* by point */
    unsigned try_of[SWEEP_BISECTIONS_MAX + 2];  /* by point: its place among all that were tried */
    bool told;                                  /* each run passed or failed */
    bool ends_differ;                           /* one end of the range passes, the other fails */
};

struct sweep {
    const struct hil_arguments *arguments;
    struct sweep_axis *axes;
    unsigned axis_count;
    unsigned runs; /* of each combination of the values that are not drawn */
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
/* In so many digits; of a time, in whole ns. */
int sweep_axis_add(struct sweep_axis *axis, double value, int digits);
void sweep_axis_free(struct sweep_axis *axis);

/* Reads FROM:TO:STEP. Returns the number of steps; 0: it is no such range. */
enum { SWEEP_RANGE_DIGITS = 12 }; /* those after them are rounding errors of the steps */
unsigned sweep_range_read(const char *text, double *from, double *step);

/* --- values that are drawn ------------------------------------------------------------------- */

/* Reads "NOMINAL~SPREAD", "NOMINAL~PERCENT%", and either with ":normal" or ":uniform" behind it.
 * Returns 1; 0 where the text begins otherwise; or -EINVAL after a message. */
int sweep_draw_read(struct sweep_draw *draw, const char *key, const char *text);

/* Gives each axis that is drawn a value for each run, in the order of the runs. */
int sweep_draw_values(struct sweep *s);

/* --- points ---------------------------------------------------------------------------------- */

int sweep_make_axes(struct sweep *s);
int sweep_make_points(struct sweep *s);
int sweep_make_point(const struct sweep *s, unsigned number);

/* Loads the scenario of each point, so that nothing starts before all are right. */
int sweep_check_points(struct sweep *s);
void sweep_free(struct sweep *s);

/* --- runs ------------------------------------------------------------------------------------ */

void sweep_run(struct sweep *s);

/* --- results --------------------------------------------------------------------------------- */

/* sweep.json. What the runs came to is in it when they have ended. */
int sweep_write_index(const struct sweep *s, bool ended);
int sweep_write_csv(const struct sweep *s); /* sweep.csv, and distribution.csv */
void sweep_print_table(const struct sweep *s);

/* "passed"; "": the run left none. */
const char *sweep_verdict(const struct hil_told *told);

/* Whether the run came to its end, is valid, and kept the limits that it has. */
bool sweep_passed(const struct sweep *s, unsigned point);

/* How many steps the first nodes missed: in a control loop, those of who controls. */
double sweep_missed(const struct hil_told *told);

/* A field; what is no number is empty. */
void sweep_csv_text(FILE *to, const char *text);
void sweep_csv_number(FILE *to, double value);

/* --- distributions: of runs that differ by chance alone -------------------------------------- */

bool sweep_has_distribution(const struct sweep *s);
void sweep_print_distributions(const struct sweep *s);
json_t *sweep_distributions_json(const struct sweep *s);
void sweep_put_distributions(const struct sweep *s, FILE *to);

/* --- bisection ------------------------------------------------------------------------------- */

/* Makes the points of --bisect: at first the ends of the range. */
int sweep_make_bisection(struct sweep *s);

/* When the ends have been run: runs what is between. */
void sweep_bisect(struct sweep *s);
bool sweep_bisection_found(const struct sweep *s);

enum { SWEEP_WORDS_BYTES = 512 };
void sweep_bisection_words(const struct sweep *s, char words[SWEEP_WORDS_BYTES]);
json_t *sweep_bisection_json(const struct sweep *s);

#endif
