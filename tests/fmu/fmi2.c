/* FMI 2.0 for the tests' FMUs. */
#include "harness/models/fmu/fmi2.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmu.h"

/* The functions' arguments, which those that can do nothing do not look at. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

enum mode { INSTANTIATED, INITIALIZATION, STEP };

struct fmu {
    char *name, *resources;
    const fmi2CallbackFunctions *functions;
    enum mode mode;
    bool ends, odd;
    double until;  /* of a step that was discarded */
    double self[]; /* the model's */
};

void fmu_log_of(struct fmu *fmu, void *environment, enum fmu_status status, const char *text)
{
    if (fmu->functions->logger)
        fmu->functions->logger(environment, fmu->name, (fmi2Status)status,
                               status < FMU_ERROR ? "logStatusWarning" : "logStatusError", "%s",
                               text);
}

void fmu_log(struct fmu *fmu, enum fmu_status status, const char *text)
{
    fmu_log_of(fmu, fmu->functions->componentEnvironment, status, text);
}

void fmu_odd_later(struct fmu *fmu)
{
    fmu->odd = true;
}

const char *fmu_resources(const struct fmu *fmu)
{
    return fmu->resources;
}

const char *fmi2GetTypesPlatform(void)
{
    return fmi2TypesPlatform;
}

const char *fmi2GetVersion(void)
{
    return fmi2Version;
}

fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean loggingOn, size_t nCategories,
                               const fmi2String categories[])
{
    return fmi2OK;
}

/* --- life --------------------------------------------------------------------------------- */

/* The path of a "file:" URI, with a '/' at its end; NULL: it is none. */
static char *path_of(const char *uri)
{
    if (!uri || strncmp(uri, "file:///", 8) != 0)
        return NULL;
    char *path = malloc(strlen(uri) + 2), *to = path;
    for (const char *from = uri + 7; path && *from; from++) {
        unsigned character;
        const bool escaped = *from == '%' && sscanf(from + 1, "%2x", &character) == 1;
        *to++ = escaped ? (char)character : *from;
        from += escaped ? 2 : 0;
    }
    if (path)
        memcpy(to, "/", 2);
    return path;
}

fmi2Component fmi2Instantiate(fmi2String instanceName, fmi2Type fmuType, fmi2String fmuGUID,
                              fmi2String fmuResourceLocation,
                              const fmi2CallbackFunctions *functions, fmi2Boolean visible,
                              fmi2Boolean loggingOn)
{
    if (!functions || !instanceName || !*instanceName || fmuType != fmi2CoSimulation)
        return NULL;
    if (!fmuGUID || strcmp(fmuGUID, fmu_model.token) != 0) {
        if (functions->logger)
            functions->logger(functions->componentEnvironment, instanceName, fmi2Error,
                              "logStatusError", "the guid is %s, not %s",
                              fmuGUID ? fmuGUID : "missing", fmu_model.token);
        return NULL;
    }
    struct fmu *fmu = calloc(1, sizeof *fmu + fmu_model.size);
    if (!fmu)
        return NULL;
    fmu->name = strdup(instanceName);
    fmu->resources = path_of(fmuResourceLocation);
    fmu->functions = functions;
    fmu_model.begin(fmu->self);
    return fmu;
}

void fmi2FreeInstance(fmi2Component c)
{
    struct fmu *fmu = c;

    if (!fmu)
        return;
    fmu_model.end(fmu->self);
    free(fmu->name);
    free(fmu->resources);
    free(fmu);
}

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean toleranceDefined, fmi2Real tolerance,
                               fmi2Real startTime, fmi2Boolean stopTimeDefined, fmi2Real stopTime)
{
    const struct fmu *fmu = c;

    return fmu->mode == INSTANTIATED ? fmi2OK : fmi2Error;
}

static fmi2Status go(struct fmu *fmu, enum mode from, enum mode to)
{
    if (fmu->mode != from) {
        fmu_log(fmu, FMU_ERROR, "called in another mode than the standard has it");
        return fmi2Error;
    }
    fmu->mode = to;
    return fmi2OK;
}

fmi2Status fmi2EnterInitializationMode(fmi2Component c)
{
    return go(c, INSTANTIATED, INITIALIZATION);
}

fmi2Status fmi2ExitInitializationMode(fmi2Component c)
{
    struct fmu *fmu = c;
    fmi2Status status = go(fmu, INITIALIZATION, STEP);

    return status ? status : (fmi2Status)fmu_model.initialize(fmu, fmu->self);
}

fmi2Status fmi2Terminate(fmi2Component c)
{
    return fmi2OK;
}

fmi2Status fmi2Reset(fmi2Component c)
{
    struct fmu *fmu = c;

    fmu_model.end(fmu->self);
    memset(fmu->self, 0, fmu_model.size);
    fmu_model.begin(fmu->self);
    fmu->mode = INSTANTIATED;
    return fmi2OK;
}

/* --- variables ------------------------------------------------------------------------------ */

/* A variable of 2.0 is one number. */
static void *place(struct fmu *fmu, fmi2ValueReference vr, enum fmu_type type)
{
    size_t count = 0;
    void *at = fmu_place(fmu->self, vr, type, &count);

    if (!at || count != 1)
        fmu_log(fmu, FMU_ERROR, "there is no such variable");
    return count == 1 ? at : NULL;
}

fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, fmi2Real value[])
{
    for (size_t i = 0; i < nvr; i++) {
        const double *at = place(c, vr[i], FMU_FLOAT64);
        if (!at)
            return fmi2Error;
        value[i] = *at;
    }
    return ((struct fmu *)c)->odd ? (fmi2Status)FMU_ODD : fmi2OK;
}

fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t nvr,
                       const fmi2Real value[])
{
    for (size_t i = 0; i < nvr; i++) {
        double *at = place(c, vr[i], FMU_FLOAT64);
        if (!at)
            return fmi2Error;
        *at = value[i];
    }
    return fmi2OK;
}

/* Where it is, as one of the two types that are whole numbers here. */
static void integer_place(struct fmu *fmu, fmi2ValueReference vr, int32_t **whole, int64_t **named)
{
    size_t count;

    *named = fmu_place(fmu->self, vr, FMU_ENUMERATION, &count);
    *whole = *named ? NULL : place(fmu, vr, FMU_INT32);
}

fmi2Status fmi2GetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t nvr,
                          fmi2Integer value[])
{
    for (size_t i = 0; i < nvr; i++) {
        int32_t *whole;
        int64_t *named;
        integer_place(c, vr[i], &whole, &named);
        if (!whole && !named)
            return fmi2Error;
        value[i] = named ? (int)*named : *whole;
    }
    return fmi2OK;
}

fmi2Status fmi2SetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t nvr,
                          const fmi2Integer value[])
{
    for (size_t i = 0; i < nvr; i++) {
        int32_t *whole;
        int64_t *named;
        integer_place(c, vr[i], &whole, &named);
        if (named)
            *named = value[i];
        else if (whole)
            *whole = value[i];
        else
            return fmi2Error;
    }
    return fmi2OK;
}

fmi2Status fmi2GetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t nvr,
                          fmi2Boolean value[])
{
    for (size_t i = 0; i < nvr; i++) {
        const bool *at = place(c, vr[i], FMU_BOOLEAN);
        if (!at)
            return fmi2Error;
        value[i] = *at ? fmi2True : fmi2False;
    }
    return fmi2OK;
}

fmi2Status fmi2SetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t nvr,
                          const fmi2Boolean value[])
{
    for (size_t i = 0; i < nvr; i++) {
        bool *at = place(c, vr[i], FMU_BOOLEAN);
        if (!at)
            return fmi2Error;
        *at = value[i] != fmi2False;
    }
    return fmi2OK;
}

fmi2Status fmi2GetString(fmi2Component c, const fmi2ValueReference vr[], size_t nvr,
                         fmi2String value[])
{
    for (size_t i = 0; i < nvr; i++) {
        value[i] = place(c, vr[i], FMU_STRING);
        if (!value[i])
            return fmi2Error;
    }
    return fmi2OK;
}

fmi2Status fmi2SetString(fmi2Component c, const fmi2ValueReference vr[], size_t nvr,
                         const fmi2String value[])
{
    for (size_t i = 0; i < nvr; i++) {
        char *at = place(c, vr[i], FMU_STRING);
        if (!at)
            return fmi2Error;
        snprintf(at, FMU_TEXT, "%s", value[i]);
    }
    return fmi2OK;
}

/* --- steps ---------------------------------------------------------------------------------- */

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real currentCommunicationPoint,
                      fmi2Real communicationStepSize, fmi2Boolean noSetFMUStatePriorToCurrentPoint)
{
    struct fmu *fmu = c;

    if (fmu->mode != STEP)
        return go(fmu, STEP, STEP);
    const enum fmu_status status =
        fmu_model.step(fmu, fmu->self, currentCommunicationPoint, communicationStepSize);
    fmu->ends = status == FMU_ENDS;
    fmu->until = currentCommunicationPoint;
    if (status == FMU_STOPS_SHORT)
        fmu->until += communicationStepSize / 2;
    return status > FMU_FATAL ? fmi2Discard : (fmi2Status)status;
}

fmi2Status fmi2GetRealStatus(fmi2Component c, const fmi2StatusKind s, fmi2Real *value)
{
    *value = ((struct fmu *)c)->until;
    return s == fmi2LastSuccessfulTime ? fmi2OK : fmi2Discard;
}

fmi2Status fmi2GetBooleanStatus(fmi2Component c, const fmi2StatusKind s, fmi2Boolean *value)
{
    *value = ((struct fmu *)c)->ends;
    return s == fmi2Terminated ? fmi2OK : fmi2Discard;
}

/* --- what these FMUs cannot do --------------------------------------------------------------- */

#define CANNOT(name, status, ...)                                                                  \
    fmi2Status fmi2##name(__VA_ARGS__)                                                             \
    {                                                                                              \
        return status;                                                                             \
    }

CANNOT(GetFMUstate, fmi2Error, fmi2Component c, fmi2FMUstate *FMUstate)
CANNOT(SetFMUstate, fmi2Error, fmi2Component c, fmi2FMUstate FMUstate)
CANNOT(FreeFMUstate, fmi2Error, fmi2Component c, fmi2FMUstate *FMUstate)
CANNOT(SerializedFMUstateSize, fmi2Error, fmi2Component c, fmi2FMUstate FMUstate, size_t *size)
CANNOT(SerializeFMUstate, fmi2Error, fmi2Component c, fmi2FMUstate FMUstate,
       fmi2Byte serializedState[], size_t size)
CANNOT(DeSerializeFMUstate, fmi2Error, fmi2Component c, const fmi2Byte serializedState[],
       size_t size, fmi2FMUstate *FMUstate)
CANNOT(GetDirectionalDerivative, fmi2Error, fmi2Component c,
       const fmi2ValueReference vUnknown_ref[], size_t nUnknown,
       const fmi2ValueReference vKnown_ref[], size_t nKnown, const fmi2Real dvKnown[],
       fmi2Real dvUnknown[])
CANNOT(SetRealInputDerivatives, fmi2Error, fmi2Component c, const fmi2ValueReference vr[],
       size_t nvr, const fmi2Integer order[], const fmi2Real value[])
CANNOT(GetRealOutputDerivatives, fmi2Error, fmi2Component c, const fmi2ValueReference vr[],
       size_t nvr, const fmi2Integer order[], fmi2Real value[])
CANNOT(CancelStep, fmi2Error, fmi2Component c)
CANNOT(GetStatus, fmi2Discard, fmi2Component c, const fmi2StatusKind s, fmi2Status *value)
CANNOT(GetIntegerStatus, fmi2Discard, fmi2Component c, const fmi2StatusKind s, fmi2Integer *value)
CANNOT(GetStringStatus, fmi2Discard, fmi2Component c, const fmi2StatusKind s, fmi2String *value)
