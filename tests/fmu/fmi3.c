/* FMI 3.0 for the tests' FMUs. */
#include "harness/models/fmu/fmi3.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmu.h"

/* The functions' arguments, which those that can do nothing do not look at. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

enum mode { INSTANTIATED, CONFIGURATION, INITIALIZATION, STEP };

struct fmu {
    char *resources;
    fmi3LogMessageCallback log;
    fmi3InstanceEnvironment environment;
    enum mode mode;
    bool odd;
    double self[]; /* the model's */
};

void fmu_log_of(struct fmu *fmu, void *environment, enum fmu_status status, const char *text)
{
    if (fmu->log)
        fmu->log(environment, (fmi3Status)status,
                 status < FMU_ERROR ? "logStatusWarning" : "logStatusError", text);
}

void fmu_log(struct fmu *fmu, enum fmu_status status, const char *text)
{
    fmu_log_of(fmu, fmu->environment, status, text);
}

void fmu_odd_later(struct fmu *fmu)
{
    fmu->odd = true;
}

const char *fmu_resources(const struct fmu *fmu)
{
    return fmu->resources;
}

const char *fmi3GetVersion(void)
{
    return fmi3Version;
}

fmi3Status fmi3SetDebugLogging(fmi3Instance instance, fmi3Boolean loggingOn, size_t nCategories,
                               const fmi3String categories[])
{
    return fmi3OK;
}

/* --- life --------------------------------------------------------------------------------- */

fmi3Instance fmi3InstantiateCoSimulation(
    fmi3String instanceName, fmi3String instantiationToken, fmi3String resourcePath,
    fmi3Boolean visible, fmi3Boolean loggingOn, fmi3Boolean eventModeUsed,
    fmi3Boolean earlyReturnAllowed, const fmi3ValueReference requiredIntermediateVariables[],
    size_t nRequiredIntermediateVariables, fmi3InstanceEnvironment instanceEnvironment,
    fmi3LogMessageCallback logMessage, fmi3IntermediateUpdateCallback intermediateUpdate)
{
    const char *wrong = NULL;

    if (!instantiationToken || strcmp(instantiationToken, fmu_model.token) != 0)
        wrong = "the instantiation token is not this FMU's";
    else if (!instanceName || !*instanceName)
        wrong = "the instance has no name";
    else if (eventModeUsed)
        wrong = "there is no event mode";
    if (wrong) {
        if (logMessage)
            logMessage(instanceEnvironment, fmi3Error, "logStatusError", wrong);
        return NULL;
    }
    struct fmu *fmu = calloc(1, sizeof *fmu + fmu_model.size);
    if (!fmu)
        return NULL;
    fmu->resources = resourcePath ? strdup(resourcePath) : NULL;
    fmu->log = logMessage;
    fmu->environment = instanceEnvironment;
    fmu_model.begin(fmu->self);
    return fmu;
}

void fmi3FreeInstance(fmi3Instance instance)
{
    struct fmu *fmu = instance;

    if (!fmu)
        return;
    fmu_model.end(fmu->self);
    free(fmu->resources);
    free(fmu);
}

static fmi3Status go(struct fmu *fmu, enum mode from, enum mode to)
{
    if (fmu->mode != from) {
        fmu_log(fmu, FMU_ERROR, "called in another mode than the standard has it");
        return fmi3Error;
    }
    fmu->mode = to;
    return fmi3OK;
}

fmi3Status fmi3EnterConfigurationMode(fmi3Instance instance)
{
    return go(instance, INSTANTIATED, CONFIGURATION);
}

fmi3Status fmi3ExitConfigurationMode(fmi3Instance instance)
{
    return go(instance, CONFIGURATION, INSTANTIATED);
}

fmi3Status fmi3EnterInitializationMode(fmi3Instance instance, fmi3Boolean toleranceDefined,
                                       fmi3Float64 tolerance, fmi3Float64 startTime,
                                       fmi3Boolean stopTimeDefined, fmi3Float64 stopTime)
{
    return go(instance, INSTANTIATED, INITIALIZATION);
}

fmi3Status fmi3ExitInitializationMode(fmi3Instance instance)
{
    struct fmu *fmu = instance;
    fmi3Status status = go(fmu, INITIALIZATION, STEP);

    return status ? status : (fmi3Status)fmu_model.initialize(fmu, fmu->self);
}

fmi3Status fmi3Terminate(fmi3Instance instance)
{
    return fmi3OK;
}

fmi3Status fmi3Reset(fmi3Instance instance)
{
    struct fmu *fmu = instance;

    fmu_model.end(fmu->self);
    memset(fmu->self, 0, fmu_model.size);
    fmu_model.begin(fmu->self);
    fmu->mode = INSTANTIATED;
    return fmi3OK;
}

/* --- variables ------------------------------------------------------------------------------ */

/* Copies one variable's elements, from or to what the model keeps. Returns how many there are, or 0
 * when there is no such variable, or no room for it. */
static size_t copy(struct fmu *fmu, fmi3ValueReference vr, enum fmu_type type, size_t size,
                   const void *from, void *to, size_t room)
{
    size_t count = 0;
    void *at = fmu_place(fmu->self, vr, type, &count);

    if (!at || count > room) {
        fmu_log(fmu, FMU_ERROR, at ? "there are too few values" : "there is no such variable");
        return 0;
    }
    memcpy(to ? to : at, to ? at : from, count * size);
    return count;
}

#define GET_SET(name, TYPE)                                                                        \
    fmi3Status fmi3Get##name(fmi3Instance instance, const fmi3ValueReference valueReferences[],    \
                             size_t nValueReferences, fmi3##name values[], size_t nValues)         \
    {                                                                                              \
        size_t at = 0;                                                                             \
        for (size_t i = 0, n; i < nValueReferences; i++, at += n)                                  \
            if ((n = copy(instance, valueReferences[i], TYPE, sizeof values[0], NULL, values + at, \
                          nValues - at)) == 0)                                                     \
                return fmi3Error;                                                                  \
        return ((struct fmu *)instance)->odd ? (fmi3Status)FMU_ODD                                 \
               : at == nValues               ? fmi3OK                                              \
                                             : fmi3Error;                                                        \
    }                                                                                              \
                                                                                                   \
    fmi3Status fmi3Set##name(fmi3Instance instance, const fmi3ValueReference valueReferences[],    \
                             size_t nValueReferences, const fmi3##name values[], size_t nValues)   \
    {                                                                                              \
        size_t at = 0;                                                                             \
        for (size_t i = 0, n; i < nValueReferences; i++, at += n)                                  \
            if ((n = copy(instance, valueReferences[i], TYPE, sizeof values[0], values + at, NULL, \
                          nValues - at)) == 0)                                                     \
                return fmi3Error;                                                                  \
        return at == nValues ? fmi3OK : fmi3Error;                                                 \
    }

/* An enumeration is set and read as an Int64; the value references of both are distinct. */
static enum fmu_type whole64(void *instance, fmi3ValueReference vr)
{
    struct fmu *fmu = instance;
    size_t count;

    return fmu_place(fmu->self, vr, FMU_ENUMERATION, &count) ? FMU_ENUMERATION : FMU_INT64;
}

GET_SET(Float32, FMU_FLOAT32)
GET_SET(Float64, FMU_FLOAT64)
GET_SET(Int8, FMU_INT8)
GET_SET(UInt8, FMU_UINT8)
GET_SET(Int16, FMU_INT16)
GET_SET(UInt16, FMU_UINT16)
GET_SET(Int32, FMU_INT32)
GET_SET(UInt32, FMU_UINT32)
GET_SET(Int64, whole64(instance, valueReferences[i]))
GET_SET(UInt64, FMU_UINT64)
GET_SET(Boolean, FMU_BOOLEAN)

fmi3Status fmi3GetString(fmi3Instance instance, const fmi3ValueReference valueReferences[],
                         size_t nValueReferences, fmi3String values[], size_t nValues)
{
    struct fmu *fmu = instance;
    size_t count;

    for (size_t i = 0; i < nValueReferences; i++) {
        values[i] = fmu_place(fmu->self, valueReferences[i], FMU_STRING, &count);
        if (!values[i])
            return fmi3Error;
    }
    return fmi3OK;
}

fmi3Status fmi3SetString(fmi3Instance instance, const fmi3ValueReference valueReferences[],
                         size_t nValueReferences, const fmi3String values[], size_t nValues)
{
    struct fmu *fmu = instance;
    size_t count;

    for (size_t i = 0; i < nValueReferences; i++) {
        char *at = fmu_place(fmu->self, valueReferences[i], FMU_STRING, &count);
        if (!at)
            return fmi3Error;
        snprintf(at, FMU_TEXT, "%s", values[i]);
    }
    return fmi3OK;
}

/* --- steps ---------------------------------------------------------------------------------- */

fmi3Status fmi3DoStep(fmi3Instance instance, fmi3Float64 currentCommunicationPoint,
                      fmi3Float64 communicationStepSize,
                      fmi3Boolean noSetFMUStatePriorToCurrentPoint,
                      fmi3Boolean *eventHandlingNeeded, fmi3Boolean *terminateSimulation,
                      fmi3Boolean *earlyReturn, fmi3Float64 *lastSuccessfulTime)
{
    struct fmu *fmu = instance;

    *eventHandlingNeeded = *terminateSimulation = *earlyReturn = false;
    *lastSuccessfulTime = currentCommunicationPoint;
    if (fmu->mode != STEP)
        return go(fmu, STEP, STEP);
    const enum fmu_status status =
        fmu_model.step(fmu, fmu->self, currentCommunicationPoint, communicationStepSize);
    *terminateSimulation = status == FMU_ENDS;
    *earlyReturn = status == FMU_STOPS_SHORT;
    if (status <= FMU_WARNING)
        *lastSuccessfulTime += communicationStepSize;
    if (status == FMU_STOPS_SHORT)
        *lastSuccessfulTime += communicationStepSize / 2;
    return status > FMU_FATAL ? fmi3OK : (fmi3Status)status;
}

/* --- what these FMUs cannot do --------------------------------------------------------------- */

#define CANNOT(name, ...)                                                                          \
    fmi3Status fmi3##name(__VA_ARGS__)                                                             \
    {                                                                                              \
        return fmi3Error;                                                                          \
    }

#define OF_VARIABLES                                                                               \
    fmi3Instance instance, const fmi3ValueReference valueReferences[], size_t nValueReferences
#define DERIVATIVE                                                                                 \
    fmi3Instance instance, const fmi3ValueReference unknowns[], size_t nUnknowns,                  \
        const fmi3ValueReference knowns[], size_t nKnowns, const fmi3Float64 seed[], size_t nSeed, \
        fmi3Float64 sensitivity[], size_t nSensitivity

CANNOT(GetBinary, OF_VARIABLES, size_t valueSizes[], fmi3Binary values[], size_t nValues)
CANNOT(SetBinary, OF_VARIABLES, const size_t valueSizes[], const fmi3Binary values[],
       size_t nValues)
CANNOT(GetClock, OF_VARIABLES, fmi3Clock values[])
CANNOT(SetClock, OF_VARIABLES, const fmi3Clock values[])
CANNOT(GetNumberOfVariableDependencies, fmi3Instance instance, fmi3ValueReference valueReference,
       size_t *nDependencies)
CANNOT(GetVariableDependencies, fmi3Instance instance, fmi3ValueReference dependent,
       size_t elementIndicesOfDependent[], fmi3ValueReference independents[],
       size_t elementIndicesOfIndependents[], fmi3DependencyKind dependencyKinds[],
       size_t nDependencies)
CANNOT(GetFMUState, fmi3Instance instance, fmi3FMUState *FMUState)
CANNOT(SetFMUState, fmi3Instance instance, fmi3FMUState FMUState)
CANNOT(FreeFMUState, fmi3Instance instance, fmi3FMUState *FMUState)
CANNOT(SerializedFMUStateSize, fmi3Instance instance, fmi3FMUState FMUState, size_t *size)
CANNOT(SerializeFMUState, fmi3Instance instance, fmi3FMUState FMUState, fmi3Byte serializedState[],
       size_t size)
CANNOT(DeserializeFMUState, fmi3Instance instance, const fmi3Byte serializedState[], size_t size,
       fmi3FMUState *FMUState)
CANNOT(GetDirectionalDerivative, DERIVATIVE)
CANNOT(GetAdjointDerivative, DERIVATIVE)
CANNOT(GetIntervalDecimal, OF_VARIABLES, fmi3Float64 intervals[],
       fmi3IntervalQualifier qualifiers[])
CANNOT(GetIntervalFraction, OF_VARIABLES, fmi3UInt64 counters[], fmi3UInt64 resolutions[],
       fmi3IntervalQualifier qualifiers[])
CANNOT(GetShiftDecimal, OF_VARIABLES, fmi3Float64 shifts[])
CANNOT(GetShiftFraction, OF_VARIABLES, fmi3UInt64 counters[], fmi3UInt64 resolutions[])
CANNOT(SetIntervalDecimal, OF_VARIABLES, const fmi3Float64 intervals[])
CANNOT(SetIntervalFraction, OF_VARIABLES, const fmi3UInt64 counters[],
       const fmi3UInt64 resolutions[])
CANNOT(SetShiftDecimal, OF_VARIABLES, const fmi3Float64 shifts[])
CANNOT(SetShiftFraction, OF_VARIABLES, const fmi3UInt64 counters[], const fmi3UInt64 resolutions[])
CANNOT(EnterEventMode, fmi3Instance instance)
CANNOT(EvaluateDiscreteStates, fmi3Instance instance)
CANNOT(UpdateDiscreteStates, fmi3Instance instance, fmi3Boolean *discreteStatesNeedUpdate,
       fmi3Boolean *terminateSimulation, fmi3Boolean *nominalsOfContinuousStatesChanged,
       fmi3Boolean *valuesOfContinuousStatesChanged, fmi3Boolean *nextEventTimeDefined,
       fmi3Float64 *nextEventTime)
CANNOT(EnterStepMode, fmi3Instance instance)
CANNOT(GetOutputDerivatives, OF_VARIABLES, const fmi3Int32 orders[], fmi3Float64 values[],
       size_t nValues)
