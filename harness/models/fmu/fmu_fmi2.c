/* Calls instances of FMI 2.0. Section numbers are the standard's. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmu_log.h"

enum fmi2_function {
    FMI2_INSTANTIATE,
    FMI2_FREE_INSTANCE,
    FMI2_SETUP_EXPERIMENT,
    FMI2_ENTER_INITIALIZATION,
    FMI2_EXIT_INITIALIZATION,
    FMI2_TERMINATE,
    FMI2_SET_REAL,
    FMI2_SET_INTEGER,
    FMI2_SET_BOOLEAN,
    FMI2_SET_STRING,
    FMI2_GET_REAL,
    FMI2_GET_INTEGER,
    FMI2_GET_BOOLEAN,
    FMI2_DO_STEP,
    FMI2_NEEDED,
    FMI2_GET_REAL_STATUS = FMI2_NEEDED,
    FMI2_GET_BOOLEAN_STATUS,
    FMI2_FUNCTIONS,
};

static const char *const fmi2_symbols[] = {
    [FMI2_INSTANTIATE] = "Instantiate",
    [FMI2_FREE_INSTANCE] = "FreeInstance",
    [FMI2_SETUP_EXPERIMENT] = "SetupExperiment",
    [FMI2_ENTER_INITIALIZATION] = "EnterInitializationMode",
    [FMI2_EXIT_INITIALIZATION] = "ExitInitializationMode",
    [FMI2_TERMINATE] = "Terminate",
    [FMI2_SET_REAL] = "SetReal",
    [FMI2_SET_INTEGER] = "SetInteger",
    [FMI2_SET_BOOLEAN] = "SetBoolean",
    [FMI2_SET_STRING] = "SetString",
    [FMI2_GET_REAL] = "GetReal",
    [FMI2_GET_INTEGER] = "GetInteger",
    [FMI2_GET_BOOLEAN] = "GetBoolean",
    [FMI2_DO_STEP] = "DoStep",
    [FMI2_GET_REAL_STATUS] = "GetRealStatus",
    [FMI2_GET_BOOLEAN_STATUS] = "GetBooleanStatus",
    [FMI2_FUNCTIONS] = NULL,
};

/* An instance's function with its type. Functions after FMI2_NEEDED may be NULL. */
#define FMI2(i, function, type) ((type *)(i)->functions[function])

/* --- messages: 2.1.5 -------------------------------------------------------------------------- */

/* The name of the variable that a message refers to as #r12#; NULL: there is none. */
static const char *fmi2_variable_name(const struct fmu_description *d, char letter,
                                      unsigned long reference)
{
    for (unsigned k = 0; k < d->variable_count; k++) {
        const struct fmu_variable *v = &d->variables[k];
        const char own = v->type == FMU_FLOAT64   ? 'r'
                         : v->type == FMU_BOOLEAN ? 'b'
                         : v->type == FMU_STRING  ? 's'
                                                  : 'i';
        if (own == letter && v->reference == reference)
            return v->name;
    }
    return NULL;
}

/* Writes the message with the names of its variables; "##" becomes '#'. */
static void fmi2_write_names(const struct fmu_description *d, const char *from, char *to,
                             size_t size)
{
    const char *const end = to + size - 1;

    while (*from && to < end) {
        char *rest;
        if (from[0] != '#') {
            *to++ = *from++;
            continue;
        }
        const unsigned long reference = from[1] ? strtoul(from + 2, &rest, 10) : 0;
        const char *name = from[1] && isdigit((unsigned char)from[2]) && *rest == '#'
                               ? fmi2_variable_name(d, from[1], reference)
                               : NULL;
        if (name) {
            to += snprintf(to, (size_t)(end - to), "%s", name);
            to = to > end ? (char *)end : to;
            from = rest + 1;
            continue;
        }
        *to++ = *from;
        from += from[1] == '#' ? 2 : 1;
    }
    *to = '\0';
}

__attribute__((format(printf, 5, 6))) static void fmi2_log(fmi2ComponentEnvironment instance,
                                                           fmi2String name, fmi2Status status,
                                                           fmi2String category, fmi2String message,
                                                           ...)
{
    struct fmu_instance *i = fmu_log_enter(instance);
    char text[1024] = "", named[1024];
    va_list args;

    (void)name, (void)category;
    if (!i)
        return;
    va_start(args, message);
    if (message)
        vsnprintf(text, sizeof text, message, args);
    va_end(args);
    fmi2_write_names(&i->fmu->description, text, named, sizeof named);
    fmu_log_write(i, (int)status, named);
    fmu_log_leave();
}

/* --- life: 2.1.5, 2.1.6 ----------------------------------------------------------------------- */

static void *fmi2_instantiate(struct fmu_instance *i)
{
    i->callbacks = (fmi2CallbackFunctions){
        .logger = fmi2_log,
        .allocateMemory = calloc,
        .freeMemory = free,
        .componentEnvironment = i,
    };
    return FMI2(i, FMI2_INSTANTIATE, fmi2InstantiateTYPE)(
        i->name, fmi2CoSimulation, i->fmu->description.token,
        i->fmu->resources ? i->fmu->resources : "", &i->callbacks, fmi2False, i->fmu->debug_log);
}

static void fmi2_free_instance(struct fmu_instance *i)
{
    FMI2(i, FMI2_FREE_INSTANCE, fmi2FreeInstanceTYPE)(i->handle);
}

static int fmi2_set_up(struct fmu_instance *i)
{
    const double tolerance = i->fmu->description.tolerance;

    return (int)FMI2(i, FMI2_SETUP_EXPERIMENT, fmi2SetupExperimentTYPE)(
        i->handle, tolerance > 0, tolerance, i->fmu->start_s, fmi2False, 0);
}

static int fmi2_enter_initialization(struct fmu_instance *i)
{
    return (int)FMI2(i, FMI2_ENTER_INITIALIZATION, fmi2EnterInitializationModeTYPE)(i->handle);
}

static int fmi2_exit_initialization(struct fmu_instance *i)
{
    return (int)FMI2(i, FMI2_EXIT_INITIALIZATION, fmi2ExitInitializationModeTYPE)(i->handle);
}

static int fmi2_terminate(struct fmu_instance *i)
{
    return (int)FMI2(i, FMI2_TERMINATE, fmi2TerminateTYPE)(i->handle);
}

/* --- values: 2.1.7 ---------------------------------------------------------------------------- */

static int fmi2_set(struct fmu_instance *i, const struct fmu_group *g, const double *values)
{
    fmi2Integer *whole = i->values;

    if (g->first->type == FMU_FLOAT64)
        return (int)FMI2(i, FMI2_SET_REAL, fmi2SetRealTYPE)(i->handle, g->references,
                                                            g->reference_count, values);
    for (unsigned k = 0; k < g->value_count; k++)
        whole[k] = g->first->type == FMU_BOOLEAN
                       ? values[k] >= 0.5
                       : (fmi2Integer)fmu_whole(values[k], INT32_MIN, INT32_MAX);
    return g->first->type == FMU_BOOLEAN
               ? (int)FMI2(i, FMI2_SET_BOOLEAN, fmi2SetBooleanTYPE)(i->handle, g->references,
                                                                    g->reference_count, whole)
               : (int)FMI2(i, FMI2_SET_INTEGER, fmi2SetIntegerTYPE)(i->handle, g->references,
                                                                    g->reference_count, whole);
}

static int fmi2_get(struct fmu_instance *i, const struct fmu_group *g, double *values)
{
    fmi2Integer *whole = i->values;

    if (g->first->type == FMU_FLOAT64)
        return (int)FMI2(i, FMI2_GET_REAL, fmi2GetRealTYPE)(i->handle, g->references,
                                                            g->reference_count, values);
    const bool boolean = g->first->type == FMU_BOOLEAN;
    const fmi2Status status = boolean ? FMI2(i, FMI2_GET_BOOLEAN, fmi2GetBooleanTYPE)(
                                            i->handle, g->references, g->reference_count, whole)
                                      : FMI2(i, FMI2_GET_INTEGER, fmi2GetIntegerTYPE)(
                                            i->handle, g->references, g->reference_count, whole);
    for (unsigned k = 0; k < g->value_count && status <= fmi2Warning; k++)
        values[k] = boolean ? whole[k] != 0 : whole[k];
    return (int)status;
}

static int fmi2_set_string(struct fmu_instance *i, uint32_t reference, const char *text)
{
    return (int)FMI2(i, FMI2_SET_STRING, fmi2SetStringTYPE)(i->handle, &reference, 1, &text);
}

/* --- steps: 4.2.2, 4.2.3 ---------------------------------------------------------------------- */

/* Called after a discarded step. */
static void fmi2_ask_progress(struct fmu_instance *i, struct fmu_progress *progress)
{
    fmi2GetRealStatusTYPE *number = FMI2(i, FMI2_GET_REAL_STATUS, fmi2GetRealStatusTYPE);
    fmi2GetBooleanStatusTYPE *truth = FMI2(i, FMI2_GET_BOOLEAN_STATUS, fmi2GetBooleanStatusTYPE);
    fmi2Boolean ends = fmi2False;

    progress->known =
        number && number(i->handle, fmi2LastSuccessfulTime, &progress->until_s) <= fmi2Warning;
    progress->ends = truth && truth(i->handle, fmi2Terminated, &ends) <= fmi2Warning && ends;
}

static int fmi2_do_step(struct fmu_instance *i, double t_s, double step_s,
                        struct fmu_progress *progress)
{
    const fmi2Status status =
        FMI2(i, FMI2_DO_STEP, fmi2DoStepTYPE)(i->handle, t_s, step_s, fmi2True);

    if (status == fmi2Discard)
        fmi2_ask_progress(i, progress);
    return (int)status;
}

const struct fmu_speech fmu_fmi2 = {
    .prefix = "fmi2",
    .symbols = fmi2_symbols,
    .needed = FMI2_NEEDED,
    .instantiate = fmi2_instantiate,
    .free_instance = fmi2_free_instance,
    .set_up = fmi2_set_up,
    .enter_initialization = fmi2_enter_initialization,
    .exit_initialization = fmi2_exit_initialization,
    .terminate = fmi2_terminate,
    .set = fmi2_set,
    .get = fmi2_get,
    .set_string = fmi2_set_string,
    .do_step = fmi2_do_step,
};
