/*
 * A controller law: what turns measurements into a duty cycle. The controller node makes
 * one instance of its law for each converter.
 *
 *      create --> step --> step --> ... --> destroy
 *
 * The inputs that a law may name, and the harness knows how to feed:
 *      reference_v   the voltage that this converter should give
 *      voltage_v     the newest voltage that it reported
 *      current_a     the newest inductor current that it reported
 * The one output is duty, already clamped to the limits.
 *
 * Gains are fixed in continuous time and discretised here with the period, so that a
 * longer period acts as pure delay. A law keeps no state outside what create() returned,
 * and one instance is used by one thread at a time. step() neither allocates nor blocks
 * nor calls the system.
 */
#ifndef HILOCO_CONTROLLER_H
#define HILOCO_CONTROLLER_H

#include <stdint.h>

#include "../plants/quantity.h"

/* The version of this interface; a law states the one it was built for. */
#define CONTROLLER_ABI 1u

struct controller_limits {
    double duty_min, duty_max; /* 0 <= duty_min < duty_max <= 1 */
};

struct controller_law {
    uint32_t abi; /* CONTROLLER_ABI */
    const char *name;
    const char *doc; /* one line, no full stop */

    struct hil_quantities gains;
    struct hil_quantities inputs; /* in the order of in[] */

    /*
     * Makes an instance. gains[] follows the table and has been checked against its
     * ranges. Returns 0, or -ENOMEM, or -EDOM when the gains together make no sense;
     * *controller is set on success only.
     */
    int (*create)(void **controller, const double *gains, const struct controller_limits *limits,
                  double period_s);

    /* One period's work: the duty cycle for these inputs. */
    double (*step)(void *controller, const double *in);

    void (*destroy)(void *controller);
};

/* The laws built in, ended by NULL. */
extern const struct controller_law *const controller_laws[];

/* The law called `name`, or NULL. */
const struct controller_law *controller_law_find(const char *name);

#endif
