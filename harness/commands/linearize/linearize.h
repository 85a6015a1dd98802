/*
 * Small-signal models of scenarios: of a sampled loop from one period to the next.
 *
 *      x[k+1] = A x[k] + B u[k]        y[k] = C x[k] + D u[k]
 *
 * A period is one after which all nodes, and all signals, are where they were. x are the numbers
 * that the loop goes on from: states of components, and values that are held or on their way; u are
 * the scenario's sources; and y are its measures, as they stand at the end of the period.
 */
#ifndef HIL_LINEARIZE_H
#define HIL_LINEARIZE_H

#include <complex.h>
#include <stdio.h>

#include "../commands.h"

enum { LINEAR_NAME_BYTES = HIL_SIGNAL_NAME_BYTES + 32 };

typedef char linear_name[LINEAR_NAME_BYTES];

/* A quantity, and its value at the operating point. */
struct linear_quantity {
    linear_name name;
    unsigned component; /* whose it is; of states only */
    double value;
    double scale; /* the greatest magnitude that it had */
};

struct linear_model {
    struct linear_quantity *x, *u, *y;
    unsigned states, inputs, outputs;
    double *a, *b, *c, *d; /* row by row */
    uint64_t start_ns;     /* when the period began */
    uint64_t period_ns;
    unsigned periods; /* of all nodes' steps together: how many times that it is */
    double drift;     /* by how much of its size the state that moved most did in it */
    linear_name drifting;
};

/* How the loop moves by itself: z^k. */
struct linear_mode {
    double complex z;
    double frequency_hz; /* of its oscillation; 0: there is none */
    double damping;      /* 1 and above: none of its oscillations is seen */
    double time_s;       /* in which it falls, or grows, by e */
    unsigned count;      /* so many loops have it */
    unsigned part;       /* the first of them: a part that is coupled to no other */
};

struct linear_modes {
    struct linear_mode *at; /* the slowest first */
    unsigned count;
    unsigned gone;       /* eigenvalues that are zero: they end within the period */
    unsigned *part_of;   /* by state */
    unsigned part_count; /* parts that are not coupled */
};

/* --- the model -------------------------------------------------------------------------------- */

/* The period of all nodes' steps together; 0, after a message, if it is too long. */
uint64_t linear_common_ns(const struct hil_scenario *scenario);

/* Runs the scenario, whose duration is long enough (linear_duration_s), and makes its model at the
 * first period from `start_ns` on. Returns an exit status, after a message if it is not 0; if
 * `quiet`, without one if it has not settled. */
int linear_make(struct linear_model *model, const struct hil_scenario *scenario, uint64_t start_ns,
                bool quiet);
void linear_free(struct linear_model *model);

/* How long a run with this start has to be. */
double linear_duration_s(uint64_t common_ns, uint64_t start_ns);

/* Leaves out states that nothing depends on, and those that stay whatever happens. Returns 0 or
 * -ENOMEM. */
int linear_reduce(struct linear_model *model);

/* Its eigenvalues. Returns 0 or a negative errno. */
int linear_find_modes(struct linear_modes *modes, const struct linear_model *model);
void linear_free_modes(struct linear_modes *modes);

/* The greatest magnitude of an eigenvalue; and whether none of them grows by more than rounding. */
double linear_radius(const struct linear_modes *modes);
bool linear_is_stable(const struct linear_modes *modes);

/* --- results ---------------------------------------------------------------------------------- */

struct linear_largest {
    const char *node;
    double period_us; /* at which the loop would be at its limit; NAN: it was not sought, or there
                       * is none up to `most_us` */
    double most_us;
};

struct linear_results {
    const struct hil_scenario *scenario;
    const struct linear_model *model;
    const struct linear_modes *modes;
    const struct linear_largest *largest; /* NULL: it was not sought */
};

void linear_print(const struct linear_results *results, FILE *to);
void linear_print_json(const struct linear_results *results, FILE *to);

/* Writes linear.json, eigenvalues.csv and a figure. Returns an exit status. */
int linear_save(const struct linear_results *results, const char *folder);

/* --- the largest period ----------------------------------------------------------------------- */

/* Seeks the longest period of the node, or array of nodes, at which all modes fall. `radius` is
 * that of the scenario as it is. Returns an exit status. */
int linear_seek(struct linear_largest *largest, const struct hil_arguments *arguments,
                const struct hil_scenario *scenario, const struct linear_model *model,
                double radius);

#endif
