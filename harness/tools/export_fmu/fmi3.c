/* The FMI 3.0 interface for one of our models: libhiloco-fmi3.so, which becomes the binary of an
 * FMU. */
#include "../../models/fmu/fmi3.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "instance.h"

/* Unsupported functions do not use their arguments. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

struct fmi3_instance {
    struct hil_fmu_instance *f;
    fmi3InstanceEnvironment environment;
    fmi3LogMessageCallback log;
};

static void fmi3_log(void *arg, enum hil_fmu_status status, const char *text)
{
    const struct fmi3_instance *i = arg;

    if (i->log)
        i->log(i->environment, (fmi3Status)status,
               status == HIL_FMU_DISCARD ? "logStatusDiscard" : "logStatusError", text);
}

static struct hil_fmu_instance *of(fmi3Instance instance)
{
    return ((struct fmi3_instance *)instance)->f;
}

const char *fmi3GetVersion(void)
{
    return fmi3Version;
}

fmi3Status fmi3SetDebugLogging(fmi3Instance instance, fmi3Boolean loggingOn, size_t nCategories,
                               const fmi3String categories[])
{
    return fmi3OK; /* errors are always logged, and nothing else is */
}

/* --- life ----------------------------------------------------------------------------------- */

static void free_instance(struct fmi3_instance *i)
{
    hil_fmu_free(i->f);
    free(i);
}

fmi3Instance fmi3InstantiateCoSimulation(
    fmi3String instanceName, fmi3String instantiationToken, fmi3String resourcePath,
    fmi3Boolean visible, fmi3Boolean loggingOn, fmi3Boolean eventModeUsed,
    fmi3Boolean earlyReturnAllowed, const fmi3ValueReference requiredIntermediateVariables[],
    size_t nRequiredIntermediateVariables, fmi3InstanceEnvironment instanceEnvironment,
    fmi3LogMessageCallback logMessage, fmi3IntermediateUpdateCallback intermediateUpdate)
{
    struct fmi3_instance *i = calloc(1, sizeof *i);

    if (!i)
        return NULL;
    i->environment = instanceEnvironment;
    i->log = logMessage;
    if (eventModeUsed)
        fmi3_log(i, HIL_FMU_ERROR, "there is no event mode");
    else
        i->f = hil_fmu_instantiate(instantiationToken, true, fmi3_log, i);
    if (i->f)
        return i;
    free_instance(i);
    return NULL;
}

/* Our models are for co-simulation only. */
static fmi3Instance refuse_kind(fmi3InstanceEnvironment environment, fmi3LogMessageCallback log)
{
    const struct fmi3_instance asked = {.environment = environment, .log = log};

    fmi3_log((void *)&asked, HIL_FMU_ERROR, "it is for co-simulation only");
    return NULL;
}

fmi3Instance fmi3InstantiateModelExchange(fmi3String instanceName, fmi3String instantiationToken,
                                          fmi3String resourcePath, fmi3Boolean visible,
                                          fmi3Boolean loggingOn,
                                          fmi3InstanceEnvironment instanceEnvironment,
                                          fmi3LogMessageCallback logMessage)
{
    return refuse_kind(instanceEnvironment, logMessage);
}

fmi3Instance fmi3InstantiateScheduledExecution(
    fmi3String instanceName, fmi3String instantiationToken, fmi3String resourcePath,
    fmi3Boolean visible, fmi3Boolean loggingOn, fmi3InstanceEnvironment instanceEnvironment,
    fmi3LogMessageCallback logMessage, fmi3ClockUpdateCallback clockUpdate,
    fmi3LockPreemptionCallback lockPreemption, fmi3UnlockPreemptionCallback unlockPreemption)
{
    return refuse_kind(instanceEnvironment, logMessage);
}

void fmi3FreeInstance(fmi3Instance instance)
{
    if (instance)
        free_instance(instance);
}

fmi3Status fmi3EnterInitializationMode(fmi3Instance instance, fmi3Boolean toleranceDefined,
                                       fmi3Float64 tolerance, fmi3Float64 startTime,
                                       fmi3Boolean stopTimeDefined, fmi3Float64 stopTime)
{
    enum hil_fmu_status status =
        hil_fmu_set_times(of(instance), startTime, stopTimeDefined ? stopTime : INFINITY);

    return (fmi3Status)(status ? status : hil_fmu_enter_initialization(of(instance)));
}

fmi3Status fmi3ExitInitializationMode(fmi3Instance instance)
{
    return (fmi3Status)hil_fmu_exit_initialization(of(instance));
}

fmi3Status fmi3Terminate(fmi3Instance instance)
{
    return fmi3OK;
}

fmi3Status fmi3Reset(fmi3Instance instance)
{
    return (fmi3Status)hil_fmu_reset(of(instance));
}

/* --- variables ------------------------------------------------------------------------------ */

/* Finds the variable, and checks that the caller has room for its values. Returns NULL after a
 * message. */
static const struct hil_fmu_variable *variable(fmi3Instance instance, fmi3ValueReference reference,
                                               bool whole, size_t room)
{
    const struct hil_fmu_variable *v = hil_fmu_variable(of(instance), reference, whole);

    if (!v || v->count <= room)
        return v;
    hil_fmu_say(of(instance), HIL_FMU_ERROR, "%s has %u values, and %zu are left", v->name,
                v->count, room);
    return NULL;
}

fmi3Status fmi3GetFloat64(fmi3Instance instance, const fmi3ValueReference valueReferences[],
                          size_t nValueReferences, fmi3Float64 values[], size_t nValues)
{
    enum hil_fmu_status status = HIL_FMU_OK;

    for (size_t i = 0, at = 0; i < nValueReferences && !status; i++) {
        const struct hil_fmu_variable *v =
            variable(instance, valueReferences[i], false, nValues - at);
        if (!v)
            return fmi3Error;
        status = hil_fmu_get(of(instance), v, &values[at]);
        at += v->count;
    }
    return (fmi3Status)status;
}

fmi3Status fmi3SetFloat64(fmi3Instance instance, const fmi3ValueReference valueReferences[],
                          size_t nValueReferences, const fmi3Float64 values[], size_t nValues)
{
    enum hil_fmu_status status = HIL_FMU_OK;

    for (size_t i = 0, at = 0; i < nValueReferences && !status; i++) {
        const struct hil_fmu_variable *v =
            variable(instance, valueReferences[i], false, nValues - at);
        if (!v)
            return fmi3Error;
        status = hil_fmu_set(of(instance), v, &values[at]);
        at += v->count;
    }
    return (fmi3Status)status;
}

/* A wide parameter of whole numbers has one value per place. */
enum { WHOLES_MAX = 1024 };

fmi3Status fmi3GetInt32(fmi3Instance instance, const fmi3ValueReference valueReferences[],
                        size_t nValueReferences, fmi3Int32 values[], size_t nValues)
{
    enum hil_fmu_status status = HIL_FMU_OK;
    double wholes[WHOLES_MAX];

    for (size_t i = 0, at = 0; i < nValueReferences && !status; i++) {
        const struct hil_fmu_variable *v =
            variable(instance, valueReferences[i], true, nValues - at);
        if (!v || v->count > WHOLES_MAX)
            return fmi3Error;
        status = hil_fmu_get(of(instance), v, wholes);
        for (uint32_t k = 0; k < v->count; k++)
            values[at++] = (fmi3Int32)wholes[k];
    }
    return (fmi3Status)status;
}

fmi3Status fmi3SetInt32(fmi3Instance instance, const fmi3ValueReference valueReferences[],
                        size_t nValueReferences, const fmi3Int32 values[], size_t nValues)
{
    enum hil_fmu_status status = HIL_FMU_OK;
    double wholes[WHOLES_MAX];

    for (size_t i = 0, at = 0; i < nValueReferences && !status; i++) {
        const struct hil_fmu_variable *v =
            variable(instance, valueReferences[i], true, nValues - at);
        if (!v || v->count > WHOLES_MAX)
            return fmi3Error;
        for (uint32_t k = 0; k < v->count; k++)
            wholes[k] = values[at++];
        status = hil_fmu_set(of(instance), v, wholes);
    }
    return (fmi3Status)status;
}

/* There are no variables of these types. */
static fmi3Status none(fmi3Instance instance, size_t count)
{
    if (count == 0)
        return fmi3OK;
    return (fmi3Status)hil_fmu_say(of(instance), HIL_FMU_ERROR,
                                   "there is no variable of that type");
}

#define NONE(type)                                                                                 \
    fmi3Status fmi3Get##type(fmi3Instance instance, const fmi3ValueReference valueReferences[],    \
                             size_t nValueReferences, fmi3##type values[], size_t nValues)         \
    {                                                                                              \
        return none(instance, nValueReferences);                                                   \
    }                                                                                              \
                                                                                                   \
    fmi3Status fmi3Set##type(fmi3Instance instance, const fmi3ValueReference valueReferences[],    \
                             size_t nValueReferences, const fmi3##type values[], size_t nValues)   \
    {                                                                                              \
        return none(instance, nValueReferences);                                                   \
    }

NONE(Float32)
NONE(Int8)
NONE(UInt8)
NONE(Int16)
NONE(UInt16)
NONE(UInt32)
NONE(Int64)
NONE(UInt64)
NONE(Boolean)
NONE(String)

fmi3Status fmi3GetBinary(fmi3Instance instance, const fmi3ValueReference valueReferences[],
                         size_t nValueReferences, size_t valueSizes[], fmi3Binary values[],
                         size_t nValues)
{
    return none(instance, nValueReferences);
}

fmi3Status fmi3SetBinary(fmi3Instance instance, const fmi3ValueReference valueReferences[],
                         size_t nValueReferences, const size_t valueSizes[],
                         const fmi3Binary values[], size_t nValues)
{
    return none(instance, nValueReferences);
}

fmi3Status fmi3GetClock(fmi3Instance instance, const fmi3ValueReference valueReferences[],
                        size_t nValueReferences, fmi3Clock values[])
{
    return none(instance, nValueReferences);
}

fmi3Status fmi3SetClock(fmi3Instance instance, const fmi3ValueReference valueReferences[],
                        size_t nValueReferences, const fmi3Clock values[])
{
    return none(instance, nValueReferences);
}

/* --- steps ---------------------------------------------------------------------------------- */

fmi3Status fmi3DoStep(fmi3Instance instance, fmi3Float64 currentCommunicationPoint,
                      fmi3Float64 communicationStepSize,
                      fmi3Boolean noSetFMUStatePriorToCurrentPoint,
                      fmi3Boolean *eventHandlingNeeded, fmi3Boolean *terminateSimulation,
                      fmi3Boolean *earlyReturn, fmi3Float64 *lastSuccessfulTime)
{
    enum hil_fmu_status status =
        hil_fmu_do_step(of(instance), currentCommunicationPoint, communicationStepSize);

    const bool ended = status == HIL_FMU_DISCARD && hil_fmu_has_ended(of(instance));

    *eventHandlingNeeded = false;
    *lastSuccessfulTime = hil_fmu_time(of(instance));
    *terminateSimulation = ended;
    *earlyReturn = ended && *lastSuccessfulTime <
                                currentCommunicationPoint + communicationStepSize * (1 - 1e-9);
    return ended ? fmi3OK : (fmi3Status)status;
}

/* --- states --------------------------------------------------------------------------------- */

fmi3Status fmi3GetFMUState(fmi3Instance instance, fmi3FMUState *FMUState)
{
    return (fmi3Status)hil_fmu_get_state(of(instance), (struct hil_fmu_state **)FMUState);
}

fmi3Status fmi3SetFMUState(fmi3Instance instance, fmi3FMUState FMUState)
{
    return (fmi3Status)hil_fmu_set_state(of(instance), FMUState);
}

fmi3Status fmi3FreeFMUState(fmi3Instance instance, fmi3FMUState *FMUState)
{
    free(*FMUState);
    *FMUState = NULL;
    return fmi3OK;
}

fmi3Status fmi3SerializedFMUStateSize(fmi3Instance instance, fmi3FMUState FMUState, size_t *size)
{
    *size = ((struct hil_fmu_state *)FMUState)->size;
    return fmi3OK;
}

fmi3Status fmi3SerializeFMUState(fmi3Instance instance, fmi3FMUState FMUState,
                                 fmi3Byte serializedState[], size_t size)
{
    const struct hil_fmu_state *state = FMUState;

    if (size < state->size)
        return (fmi3Status)hil_fmu_say(of(instance), HIL_FMU_ERROR,
                                       "there is no room for the state");
    memcpy(serializedState, state, state->size);
    return fmi3OK;
}

fmi3Status fmi3DeserializeFMUState(fmi3Instance instance, const fmi3Byte serializedState[],
                                   size_t size, fmi3FMUState *FMUState)
{
    return (fmi3Status)hil_fmu_read_state(of(instance), serializedState, size,
                                          (struct hil_fmu_state **)FMUState);
}

/* --- unsupported functions ------------------------------------------------------------------ */

#define CANNOT(name, what, ...)                                                                    \
    fmi3Status fmi3##name(fmi3Instance instance, ##__VA_ARGS__)                                    \
    {                                                                                              \
        return (fmi3Status)hil_fmu_say(of(instance), HIL_FMU_ERROR, "there are no %s", what);      \
    }

#define OF_VARIABLES const fmi3ValueReference valueReferences[], size_t nValueReferences
#define OF_DERIVATIVES                                                                             \
    const fmi3ValueReference unknowns[], size_t nUnknowns, const fmi3ValueReference knowns[],      \
        size_t nKnowns, const fmi3Float64 seed[], size_t nSeed, fmi3Float64 sensitivity[],         \
        size_t nSensitivity

CANNOT(EnterConfigurationMode, "structural parameters")
CANNOT(ExitConfigurationMode, "structural parameters")
CANNOT(GetNumberOfVariableDependencies, "dependencies", fmi3ValueReference valueReference,
       size_t *nDependencies)
CANNOT(GetVariableDependencies, "dependencies", fmi3ValueReference dependent,
       size_t elementIndicesOfDependent[], fmi3ValueReference independents[],
       size_t elementIndicesOfIndependents[], fmi3DependencyKind dependencyKinds[],
       size_t nDependencies)
CANNOT(GetDirectionalDerivative, "derivatives", OF_DERIVATIVES)
CANNOT(GetAdjointDerivative, "derivatives", OF_DERIVATIVES)
CANNOT(GetOutputDerivatives, "derivatives", OF_VARIABLES, const fmi3Int32 orders[],
       fmi3Float64 values[], size_t nValues)
CANNOT(GetIntervalDecimal, "clocks", OF_VARIABLES, fmi3Float64 intervals[],
       fmi3IntervalQualifier qualifiers[])
CANNOT(GetIntervalFraction, "clocks", OF_VARIABLES, fmi3UInt64 counters[], fmi3UInt64 resolutions[],
       fmi3IntervalQualifier qualifiers[])
CANNOT(GetShiftDecimal, "clocks", OF_VARIABLES, fmi3Float64 shifts[])
CANNOT(GetShiftFraction, "clocks", OF_VARIABLES, fmi3UInt64 counters[], fmi3UInt64 resolutions[])
CANNOT(SetIntervalDecimal, "clocks", OF_VARIABLES, const fmi3Float64 intervals[])
CANNOT(SetIntervalFraction, "clocks", OF_VARIABLES, const fmi3UInt64 counters[],
       const fmi3UInt64 resolutions[])
CANNOT(SetShiftDecimal, "clocks", OF_VARIABLES, const fmi3Float64 shifts[])
CANNOT(SetShiftFraction, "clocks", OF_VARIABLES, const fmi3UInt64 counters[],
       const fmi3UInt64 resolutions[])
CANNOT(EnterEventMode, "events")
CANNOT(EnterStepMode, "events")
CANNOT(EvaluateDiscreteStates, "events")
CANNOT(UpdateDiscreteStates, "events", fmi3Boolean *discreteStatesNeedUpdate,
       fmi3Boolean *terminateSimulation, fmi3Boolean *nominalsOfContinuousStatesChanged,
       fmi3Boolean *valuesOfContinuousStatesChanged, fmi3Boolean *nextEventTimeDefined,
       fmi3Float64 *nextEventTime)

/* Those of model exchange and of scheduled execution. No instance of these kinds exists, but tools
 * look for each function of the standard. */
#define OF_STATES fmi3Float64 values[], size_t nContinuousStates

CANNOT(EnterContinuousTimeMode, "continuous states")
CANNOT(CompletedIntegratorStep, "continuous states", fmi3Boolean noSetFMUStatePriorToCurrentPoint,
       fmi3Boolean *enterEventMode, fmi3Boolean *terminateSimulation)
CANNOT(SetTime, "continuous states", fmi3Float64 time)
CANNOT(SetContinuousStates, "continuous states", const OF_STATES)
CANNOT(GetContinuousStateDerivatives, "continuous states", OF_STATES)
CANNOT(GetEventIndicators, "event indicators", fmi3Float64 indicators[], size_t nEventIndicators)
CANNOT(GetContinuousStates, "continuous states", OF_STATES)
CANNOT(GetNominalsOfContinuousStates, "continuous states", OF_STATES)
CANNOT(GetNumberOfEventIndicators, "event indicators", size_t *nEventIndicators)
CANNOT(GetNumberOfContinuousStates, "continuous states", size_t *nContinuousStates)
CANNOT(ActivateModelPartition, "model partitions", fmi3ValueReference clockReference,
       fmi3Float64 activationTime)
