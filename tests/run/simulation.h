/*
 * The reference's timing, written down a second time and as plainly as it goes: what the
 * program leaves in virtual time is held against it.
 *
 * The averaged plants and the PID are the equations of the reference, worked out here; the
 * other plants and laws are the models themselves, which tests/unit holds to account.
 */
#ifndef TEST_SIMULATION_H
#define TEST_SIMULATION_H

#include <stddef.h>

#include "harness/scenario/scenario.h"

/* A converter's own record: a row for each of its steps. */
struct simulated_converter {
    size_t rows;
    double *time_s, *voltage_v, *current_a, *duty;
};

/* The controller's record: a row for each step, columns by converter. */
struct simulated {
    size_t rows, count;
    double *time_s, *output_v, *voltage_v, *duty;
    struct simulated_converter *converters;
};

struct simulated simulate(const struct hil_scenario *scenario);

#endif
