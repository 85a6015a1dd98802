/*
 * An instance of a model's FMU, independent of the FMI version (fmi2.c, fmi3.c). This code runs
 * inside the tool that imports the FMU, in a library of its own: libhiloco-fmi2.so or
 * libhiloco-fmi3.so.
 *
 * A communication step is a whole number of the component's periods, during which inputs are held.
 * Step n of a continuous model goes from n to n + 1 periods. A sampled model computes at the
 * beginning of its step from the inputs at that time, and holds its outputs. Both kinds therefore
 * see the same times as in hiloco.
 */
#ifndef HIL_EXPORT_FMU_INSTANCE_H
#define HIL_EXPORT_FMU_INSTANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "variables.h"

/* The same numbers as in fmi2Status and fmi3Status. */
enum hil_fmu_status { HIL_FMU_OK, HIL_FMU_DISCARD = 2, HIL_FMU_ERROR = 3 };

typedef void hil_fmu_log_fn(void *arg, enum hil_fmu_status status, const char *text);

struct hil_fmu_instance;

/* Makes an instance of the model that the label beside this library names. Returns NULL after a
 * message to the log. The log may be called until the instance is freed. */
struct hil_fmu_instance *hil_fmu_instantiate(const char *token, bool arrays, hil_fmu_log_fn *log,
                                             void *log_arg);
void hil_fmu_free(struct hil_fmu_instance *instance);

/* Logs a message. Returns `status`. */
enum hil_fmu_status hil_fmu_say(const struct hil_fmu_instance *instance, enum hil_fmu_status status,
                                const char *format, ...) __attribute__((format(printf, 3, 4)));

/* `stop_s` is infinite if the tool defined no stop time. A step past it is an error. */
enum hil_fmu_status hil_fmu_set_times(struct hil_fmu_instance *instance, double start_s,
                                      double stop_s);
enum hil_fmu_status hil_fmu_enter_initialization(struct hil_fmu_instance *instance);
enum hil_fmu_status hil_fmu_exit_initialization(struct hil_fmu_instance *instance);
enum hil_fmu_status hil_fmu_reset(struct hil_fmu_instance *instance);

/* Finds the variable with this value reference. `whole` says whether it must hold whole numbers.
 * Returns NULL after a message if there is none. */
const struct hil_fmu_variable *hil_fmu_variable(const struct hil_fmu_instance *instance,
                                                uint32_t reference, bool whole);

/* All elements of a variable. A value out of its range is discarded, and nothing is set. */
enum hil_fmu_status hil_fmu_get(struct hil_fmu_instance *instance,
                                const struct hil_fmu_variable *variable, double *values);
enum hil_fmu_status hil_fmu_set(struct hil_fmu_instance *instance,
                                const struct hil_fmu_variable *variable, const double *values);

/* A model may end the simulation in a step, which is then discarded. */
enum hil_fmu_status hil_fmu_do_step(struct hil_fmu_instance *instance, double from_s,
                                    double size_s);
bool hil_fmu_has_ended(const struct hil_fmu_instance *instance);

/* The time at which the last step ended. */
double hil_fmu_time(const struct hil_fmu_instance *instance);

/*
 * The state as a block of bytes that begins with its size. *state is reused if it is not NULL; the
 * caller frees it with free(). Only for models with save() and restore().
 */
struct hil_fmu_state {
    uint64_t size; /* of the whole block */
};
enum hil_fmu_status hil_fmu_get_state(struct hil_fmu_instance *instance,
                                      struct hil_fmu_state **state);
enum hil_fmu_status hil_fmu_set_state(struct hil_fmu_instance *instance,
                                      const struct hil_fmu_state *state);

/* Makes a state from bytes that another instance may have written. */
enum hil_fmu_status hil_fmu_read_state(struct hil_fmu_instance *instance, const void *bytes,
                                       size_t size, struct hil_fmu_state **state);

#endif
