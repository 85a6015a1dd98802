/* The numbers that a run in virtual time goes on from, between two instants. */
#ifndef HIL_LINEAR_NUMBERS_H
#define HIL_LINEAR_NUMBERS_H

#include "../../run/virtual_time.h"
#include "linearize.h"

struct linear_output {
    linear_name name;
    double **at; /* y is their sum */
    unsigned count;
};

struct linear_numbers {
    const struct hil_system *system;
    struct hil_node **nodes; /* by their numbers */
    double **at;
    struct linear_quantity *is; /* their values are those of last time */
    unsigned count;
    struct linear_output *outputs;
    unsigned output_count;
    int rc; /* of finding them */
};

/* Finds them. Returns 0 or a negative errno. linear_numbers_free frees, in any case. */
int linear_numbers_find(struct linear_numbers *numbers, const struct hil_system *system,
                        const struct hil_between *between);
void linear_numbers_free(struct linear_numbers *numbers);

double linear_output_now(const struct linear_output *output);

/* The next steps latch the values of all sources, whatever is held now. */
void linear_renew_sources(const struct linear_numbers *numbers);

/* Adds to a source, from now on. */
void linear_move_source(const struct linear_numbers *numbers, unsigned source, double by);

#endif
