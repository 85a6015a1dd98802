/*
 * A sweep: the values that its keys go through, a point for each combination of them, and a run of
 * the scenario at each point.
 */
#ifndef HIL_SWEEP_H
#define HIL_SWEEP_H

#include "../../launch/jobs.h"
#include "../../record/told.h"
#include "../commands.h"

enum { SWEEP_POINTS_MAX = 100000, SWEEP_BISECTIONS_MAX = 20 };

/* A --set and its values: "key" and "a", "b", "c". */
struct sweep_axis {
    char *key;
    char **values;
    unsigned count;
};

struct sweep_point {
    char **sets;          /* "key=value", by axis */
    char *name;           /* its folder: the sets of the keys that vary */
    struct hil_told told; /* of its run, once that has ended */
};

/* A range in steps; the last one known to pass, and the first known to fail. */
struct sweep_bisection {
    double from, step;
    unsigned steps, passes, fails;
    bool told;  /* whether each run passed or failed */
    bool found; /* the two are a step apart */
};

struct sweep {
    const struct hil_arguments *arguments;
    struct sweep_axis *axes;
    unsigned axis_count;
    struct sweep_point *points;
    struct hil_jobs jobs; /* by point */
    unsigned point_count;
    struct sweep_bisection bisection;
    bool has_limits, real_time;
    char name[200]; /* the scenario's */
    char out[4096];
};

/* Functions that return an int return 0, or a negative errno after a message on stderr. */

/* --- values ---------------------------------------------------------------------------------- */

/* Reads "KEY=VALUES". */
int sweep_axis_read(struct sweep_axis *axis, const char *set);
int sweep_axis_add(struct sweep_axis *axis, double value);
void sweep_axis_free(struct sweep_axis *axis);

/* Reads FROM:TO:STEP. Returns the number of steps; 0: it is no such range. */
unsigned sweep_range_read(const char *text, double *from, double *step);
double sweep_range_value(double from, double step, unsigned i);

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

int sweep_write_index(const struct sweep *s); /* sweep.json */
int sweep_write_csv(const struct sweep *s);   /* sweep.csv */
void sweep_print_table(const struct sweep *s);

/* "passed"; "": the run left none. */
const char *sweep_verdict(const struct hil_told *told);

/* How many steps the first nodes missed: in a control loop, those of who controls. */
double sweep_missed(const struct hil_told *told);

/* --- bisection ------------------------------------------------------------------------------- */

/* Makes the points of --bisect: at first the ends of the range. */
int sweep_make_bisection(struct sweep *s);

/* When the ends have been run: runs what is between. */
void sweep_bisect(struct sweep *s);
void sweep_print_bisection(const struct sweep *s);

#endif
