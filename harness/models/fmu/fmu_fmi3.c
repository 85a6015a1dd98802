/* Calls instances of FMI 3.0, without event mode and without early return. */
#include <stdlib.h>
#include <string.h>

#include "fmu_log.h"

/* The functions to set and get a type are in the order of enum fmu_type. */
enum fmi3_function {
    FMI3_SET,
    FMI3_SET_STRING = FMI3_SET + FMU_ENUMERATION,
    FMI3_GET,
    FMI3_INSTANTIATE = FMI3_GET + FMU_ENUMERATION,
    FMI3_FREE_INSTANCE,
    FMI3_ENTER_INITIALIZATION,
    FMI3_EXIT_INITIALIZATION,
    FMI3_TERMINATE,
    FMI3_DO_STEP,
    FMI3_NEEDED,
    FMI3_ENTER_CONFIGURATION = FMI3_NEEDED,
    FMI3_EXIT_CONFIGURATION,
    FMI3_FUNCTIONS,
};

#define FMI3_OF_EACH_TYPE(first, what)                                                             \
    [(first) + FMU_FLOAT64] = what "Float64", [(first) + FMU_FLOAT32] = what "Float32",            \
               [(first) + FMU_INT8] = what "Int8", [(first) + FMU_UINT8] = what "UInt8",           \
               [(first) + FMU_INT16] = what "Int16", [(first) + FMU_UINT16] = what "UInt16",       \
               [(first) + FMU_INT32] = what "Int32", [(first) + FMU_UINT32] = what "UInt32",       \
               [(first) + FMU_INT64] = what "Int64", [(first) + FMU_UINT64] = what "UInt64",       \
               [(first) + FMU_BOOLEAN] = what "Boolean"

static const char *const fmi3_symbols[] = {
    FMI3_OF_EACH_TYPE(FMI3_SET, "Set"),
    FMI3_OF_EACH_TYPE(FMI3_GET, "Get"),
    [FMI3_SET_STRING] = "SetString",
    [FMI3_INSTANTIATE] = "InstantiateCoSimulation",
    [FMI3_FREE_INSTANCE] = "FreeInstance",
    [FMI3_ENTER_INITIALIZATION] = "EnterInitializationMode",
    [FMI3_EXIT_INITIALIZATION] = "ExitInitializationMode",
    [FMI3_TERMINATE] = "Terminate",
    [FMI3_DO_STEP] = "DoStep",
    [FMI3_ENTER_CONFIGURATION] = "EnterConfigurationMode",
    [FMI3_EXIT_CONFIGURATION] = "ExitConfigurationMode",
    [FMI3_FUNCTIONS] = NULL,
};

/* An instance's function with its type. Functions after FMI3_NEEDED may be NULL. */
#define FMI3(i, function, type) ((type *)(i)->functions[function])

/* --- life ------------------------------------------------------------------------------------- */

static void fmi3_log(fmi3InstanceEnvironment instance, fmi3Status status, fmi3String category,
                     fmi3String message)
{
    struct fmu_instance *i = fmu_log_enter(instance);

    (void)category;
    if (!i)
        return;
    fmu_log_write(i, (int)status, message);
    fmu_log_leave();
}

static void *fmi3_instantiate(struct fmu_instance *i)
{
    return FMI3(i, FMI3_INSTANTIATE, fmi3InstantiateCoSimulationTYPE)(
        i->name, i->fmu->description.token, i->fmu->resources, fmi3False, i->fmu->debug_log,
        fmi3False, fmi3False, NULL, 0, i, fmi3_log, NULL);
}

static void fmi3_free_instance(struct fmu_instance *i)
{
    FMI3(i, FMI3_FREE_INSTANCE, fmi3FreeInstanceTYPE)(i->handle);
}

static int fmi3_enter_configuration(struct fmu_instance *i)
{
    fmi3EnterConfigurationModeTYPE *enter =
        FMI3(i, FMI3_ENTER_CONFIGURATION, fmi3EnterConfigurationModeTYPE);

    return enter ? (int)enter(i->handle) : FMU_ERROR;
}

static int fmi3_exit_configuration(struct fmu_instance *i)
{
    fmi3ExitConfigurationModeTYPE *leave =
        FMI3(i, FMI3_EXIT_CONFIGURATION, fmi3ExitConfigurationModeTYPE);

    return leave ? (int)leave(i->handle) : FMU_ERROR;
}

/* FMI 3.0 has no separate set-up: the next call passes its values. */
static int fmi3_set_up(struct fmu_instance *i)
{
    (void)i;
    return FMU_OK;
}

static int fmi3_enter_initialization(struct fmu_instance *i)
{
    const double tolerance = i->fmu->description.tolerance;

    return (int)FMI3(i, FMI3_ENTER_INITIALIZATION, fmi3EnterInitializationModeTYPE)(
        i->handle, tolerance > 0, tolerance, i->fmu->start_s, fmi3False, 0);
}

static int fmi3_exit_initialization(struct fmu_instance *i)
{
    return (int)FMI3(i, FMI3_EXIT_INITIALIZATION, fmi3ExitInitializationModeTYPE)(i->handle);
}

static int fmi3_terminate(struct fmu_instance *i)
{
    return (int)FMI3(i, FMI3_TERMINATE, fmi3TerminateTYPE)(i->handle);
}

/* --- values ----------------------------------------------------------------------------------- */

/* Enumerations are got and set as Int64. */
static enum fmu_type fmi3_type(const struct fmu_group *g)
{
    return g->first->type == FMU_ENUMERATION ? FMU_INT64 : g->first->type;
}

/* Numbers beyond 2^53 are whole in any case; 2^64 does not fit in a UInt64. */
static fmi3UInt64 fmi3_uint64(double number)
{
    const double max = 0x1.fffffffffffffp63;

    if (!(number > 0))
        return 0;
    return (fmi3UInt64)(number < max ? number + 0.5 : max);
}

/* Stores a number as element k of an array of the FMU's type. */
static void fmi3_store(enum fmu_type type, void *values, unsigned k, double number)
{
    switch (type) {
    case FMU_FLOAT64:
        ((fmi3Float64 *)values)[k] = number;
        break;
    case FMU_FLOAT32:
        ((fmi3Float32 *)values)[k] = (fmi3Float32)number;
        break;
    case FMU_INT8:
        ((fmi3Int8 *)values)[k] = (fmi3Int8)fmu_whole(number, INT8_MIN, INT8_MAX);
        break;
    case FMU_UINT8:
        ((fmi3UInt8 *)values)[k] = (fmi3UInt8)fmu_whole(number, 0, UINT8_MAX);
        break;
    case FMU_INT16:
        ((fmi3Int16 *)values)[k] = (fmi3Int16)fmu_whole(number, INT16_MIN, INT16_MAX);
        break;
    case FMU_UINT16:
        ((fmi3UInt16 *)values)[k] = (fmi3UInt16)fmu_whole(number, 0, UINT16_MAX);
        break;
    case FMU_INT32:
        ((fmi3Int32 *)values)[k] = (fmi3Int32)fmu_whole(number, INT32_MIN, INT32_MAX);
        break;
    case FMU_UINT32:
        ((fmi3UInt32 *)values)[k] = (fmi3UInt32)fmu_whole(number, 0, UINT32_MAX);
        break;
    case FMU_INT64:
        ((fmi3Int64 *)values)[k] = fmu_whole(number, -0x1p63, 0x1.fffffffffffffp62);
        break;
    case FMU_UINT64:
        ((fmi3UInt64 *)values)[k] = fmi3_uint64(number);
        break;
    default:
        ((fmi3Boolean *)values)[k] = number >= 0.5;
        break;
    }
}

/* Element k of an array of the FMU's type, as a number. */
static double fmi3_load(enum fmu_type type, const void *values, unsigned k)
{
    switch (type) {
    case FMU_FLOAT64:
        return ((const fmi3Float64 *)values)[k];
    case FMU_FLOAT32:
        return ((const fmi3Float32 *)values)[k];
    case FMU_INT8:
        return ((const fmi3Int8 *)values)[k];
    case FMU_UINT8:
        return ((const fmi3UInt8 *)values)[k];
    case FMU_INT16:
        return ((const fmi3Int16 *)values)[k];
    case FMU_UINT16:
        return ((const fmi3UInt16 *)values)[k];
    case FMU_INT32:
        return ((const fmi3Int32 *)values)[k];
    case FMU_UINT32:
        return ((const fmi3UInt32 *)values)[k];
    case FMU_INT64:
        return (double)((const fmi3Int64 *)values)[k];
    case FMU_UINT64:
        return (double)((const fmi3UInt64 *)values)[k];
    default:
        return ((const fmi3Boolean *)values)[k];
    }
}

/* Calls the FMU's function of the type for the group, with i->values as its array. */
#define FMI3_CALL(i, g, first, type)                                                               \
    FMI3(i, (first) + fmi3_type(g), type)                                                          \
    ((i)->handle, (g)->references, (g)->reference_count, (i)->values, (g)->value_count)

static fmi3Status fmi3_call_set(const struct fmu_instance *i, const struct fmu_group *g)
{
    switch (fmi3_type(g)) {
    case FMU_FLOAT64:
        return FMI3_CALL(i, g, FMI3_SET, fmi3SetFloat64TYPE);
    case FMU_FLOAT32:
        return FMI3_CALL(i, g, FMI3_SET, fmi3SetFloat32TYPE);
    case FMU_INT8:
        return FMI3_CALL(i, g, FMI3_SET, fmi3SetInt8TYPE);
    case FMU_UINT8:
        return FMI3_CALL(i, g, FMI3_SET, fmi3SetUInt8TYPE);
    case FMU_INT16:
        return FMI3_CALL(i, g, FMI3_SET, fmi3SetInt16TYPE);
    case FMU_UINT16:
        return FMI3_CALL(i, g, FMI3_SET, fmi3SetUInt16TYPE);
    case FMU_INT32:
        return FMI3_CALL(i, g, FMI3_SET, fmi3SetInt32TYPE);
    case FMU_UINT32:
        return FMI3_CALL(i, g, FMI3_SET, fmi3SetUInt32TYPE);
    case FMU_INT64:
        return FMI3_CALL(i, g, FMI3_SET, fmi3SetInt64TYPE);
    case FMU_UINT64:
        return FMI3_CALL(i, g, FMI3_SET, fmi3SetUInt64TYPE);
    default:
        return FMI3_CALL(i, g, FMI3_SET, fmi3SetBooleanTYPE);
    }
}

static fmi3Status fmi3_call_get(const struct fmu_instance *i, const struct fmu_group *g)
{
    switch (fmi3_type(g)) {
    case FMU_FLOAT64:
        return FMI3_CALL(i, g, FMI3_GET, fmi3GetFloat64TYPE);
    case FMU_FLOAT32:
        return FMI3_CALL(i, g, FMI3_GET, fmi3GetFloat32TYPE);
    case FMU_INT8:
        return FMI3_CALL(i, g, FMI3_GET, fmi3GetInt8TYPE);
    case FMU_UINT8:
        return FMI3_CALL(i, g, FMI3_GET, fmi3GetUInt8TYPE);
    case FMU_INT16:
        return FMI3_CALL(i, g, FMI3_GET, fmi3GetInt16TYPE);
    case FMU_UINT16:
        return FMI3_CALL(i, g, FMI3_GET, fmi3GetUInt16TYPE);
    case FMU_INT32:
        return FMI3_CALL(i, g, FMI3_GET, fmi3GetInt32TYPE);
    case FMU_UINT32:
        return FMI3_CALL(i, g, FMI3_GET, fmi3GetUInt32TYPE);
    case FMU_INT64:
        return FMI3_CALL(i, g, FMI3_GET, fmi3GetInt64TYPE);
    case FMU_UINT64:
        return FMI3_CALL(i, g, FMI3_GET, fmi3GetUInt64TYPE);
    default:
        return FMI3_CALL(i, g, FMI3_GET, fmi3GetBooleanTYPE);
    }
}

static int fmi3_set(struct fmu_instance *i, const struct fmu_group *g, const double *values)
{
    for (unsigned k = 0; k < g->value_count; k++)
        fmi3_store(fmi3_type(g), i->values, k, values[k]);
    return (int)fmi3_call_set(i, g);
}

static int fmi3_get(struct fmu_instance *i, const struct fmu_group *g, double *values)
{
    const fmi3Status status = fmi3_call_get(i, g);

    for (unsigned k = 0; k < g->value_count && status <= fmi3Warning; k++)
        values[k] = fmi3_load(fmi3_type(g), i->values, k);
    return (int)status;
}

static int fmi3_set_string(struct fmu_instance *i, uint32_t reference, const char *text)
{
    return (int)FMI3(i, FMI3_SET_STRING, fmi3SetStringTYPE)(i->handle, &reference, 1, &text, 1);
}

/* --- steps ------------------------------------------------------------------------------------ */

/* Without event mode the FMU handles its events itself. If it returns early nevertheless, the step
 * was not done. */
static int fmi3_do_step(struct fmu_instance *i, double t_s, double step_s,
                        struct fmu_progress *progress)
{
    fmi3Boolean event = fmi3False, ends = fmi3False, early = fmi3False;
    double until_s = t_s + step_s;
    const fmi3Status status = FMI3(i, FMI3_DO_STEP, fmi3DoStepTYPE)(
        i->handle, t_s, step_s, fmi3True, &event, &ends, &early, &until_s);

    early &= !(until_s >= t_s + step_s * (1 - 1e-9));
    progress->ends = ends;
    progress->known = early || ends || status == fmi3Discard;
    progress->until_s = until_s;
    progress->wants_event = event;
    return status <= fmi3Warning && early && !ends ? FMU_DISCARD : (int)status;
}

const struct fmu_speech fmu_fmi3 = {
    .prefix = "fmi3",
    .symbols = fmi3_symbols,
    .needed = FMI3_NEEDED,
    .instantiate = fmi3_instantiate,
    .free_instance = fmi3_free_instance,
    .enter_configuration = fmi3_enter_configuration,
    .exit_configuration = fmi3_exit_configuration,
    .set_up = fmi3_set_up,
    .enter_initialization = fmi3_enter_initialization,
    .exit_initialization = fmi3_exit_initialization,
    .terminate = fmi3_terminate,
    .set = fmi3_set,
    .get = fmi3_get,
    .set_string = fmi3_set_string,
    .do_step = fmi3_do_step,
};
