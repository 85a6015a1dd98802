/*
 * A minimal tool that imports FMUs. It unpacks an FMU in the test's folder, finds variables by
 * their names in modelDescription.xml, and calls the library as the standard says. It shares only
 * the interface's declarations with hiloco.
 */
#ifndef TESTS_FMU_TOOL_H
#define TESTS_FMU_TOOL_H

#include <stdbool.h>
#include <stddef.h>

struct fmu_tool {
    int version;
    void *library;
    char *xml, folder[64], identifier[64], token[64];
    double stop; /* the stop time; 0: none */
};

/* Loads the FMU at `path`. Its folder must be the test's; NAME in it is removed at the end. */
void tool_open(struct fmu_tool *tool, const char *path, const char *name);
void tool_close(struct fmu_tool *tool);

/* The status numbers are the same in both versions. */
enum { TOOL_OK, TOOL_WARNING, TOOL_DISCARD, TOOL_ERROR, TOOL_FATAL };

/* The last message that FMUs logged, and the number of messages. */
extern char tool_said[1024];

void *tool_instantiate(const struct fmu_tool *tool, const char *token); /* NULL: the FMU's own */

/* Asks for another kind of instance: 0 for model exchange, 1 for scheduled execution. */
void *tool_instantiate_other(const struct fmu_tool *tool, unsigned kind);
void tool_free(const struct fmu_tool *tool, void *instance);

int tool_initialize(const struct fmu_tool *tool, void *instance, double start); /* both modes */
int tool_enter(const struct fmu_tool *tool, void *instance, double start);
int tool_exit(const struct fmu_tool *tool, void *instance);
int tool_reset(const struct fmu_tool *tool, void *instance);
int tool_step(const struct fmu_tool *tool, void *instance, double t, double h);

/* Makes a step in which the FMU ends the simulation as its standard says, early, at *last. Returns
 * false if it does not. */
bool tool_step_is_the_last(const struct fmu_tool *tool, void *instance, double t, double h,
                           double *last);

/* Access to a variable by its name: a real or a whole number or, in 3.0, also an array's elements.
 */
int tool_set(const struct fmu_tool *tool, void *instance, const char *name, const double *values,
             size_t count);
int tool_get(const struct fmu_tool *tool, void *instance, const char *name, double *values,
             size_t count);

int tool_get_state(const struct fmu_tool *tool, void *instance, void **state);
int tool_set_state(const struct fmu_tool *tool, void *instance, void *state);
int tool_free_state(const struct fmu_tool *tool, void *instance, void **state);

/* Saves the state as bytes and restores it in another instance. */
int tool_carry_state(const struct fmu_tool *tool, void *from, void *state, void *to, void **made);

#endif
