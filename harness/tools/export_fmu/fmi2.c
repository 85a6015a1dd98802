/* The FMI 2.0 interface for one of our models: libhiloco-fmi2.so, which becomes the binary of an
 * FMU. */
#include "../../models/fmu/fmi2.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "instance.h"

/* Unsupported functions do not use their arguments. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

struct fmi2_instance {
    struct hil_fmu_instance *f;
    const fmi2CallbackFunctions *functions;
    char *name;
};

static void fmi2_log(void *arg, enum hil_fmu_status status, const char *text)
{
    const struct fmi2_instance *i = arg;

    if (i->functions->logger)
        i->functions->logger(i->functions->componentEnvironment, i->name, (fmi2Status)status,
                             status == HIL_FMU_DISCARD ? "logStatusDiscard" : "logStatusError",
                             "%s", text);
}

static struct hil_fmu_instance *of(fmi2Component c)
{
    return ((struct fmi2_instance *)c)->f;
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
    return fmi2OK; /* errors are always logged, and nothing else is */
}

/* --- life ----------------------------------------------------------------------------------- */

static void free_instance(struct fmi2_instance *i)
{
    hil_fmu_free(i->f);
    free(i->name);
    free(i);
}

fmi2Component fmi2Instantiate(fmi2String instanceName, fmi2Type fmuType, fmi2String fmuGUID,
                              fmi2String fmuResourceLocation,
                              const fmi2CallbackFunctions *functions, fmi2Boolean visible,
                              fmi2Boolean loggingOn)
{
    struct fmi2_instance *i = functions ? calloc(1, sizeof *i) : NULL;

    if (!i)
        return NULL;
    i->functions = functions;
    i->name = strdup(instanceName ? instanceName : "");
    if (fmuType != fmi2CoSimulation)
        fmi2_log(i, HIL_FMU_ERROR, "it is for co-simulation only");
    else if (i->name)
        i->f = hil_fmu_instantiate(fmuGUID, false, fmi2_log, i);
    if (i->f)
        return i;
    free_instance(i);
    return NULL;
}

void fmi2FreeInstance(fmi2Component c)
{
    if (c)
        free_instance(c);
}

/* The standard sets only the times here; everything else happens at the end of
 * initialization. */
fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean toleranceDefined, fmi2Real tolerance,
                               fmi2Real startTime, fmi2Boolean stopTimeDefined, fmi2Real stopTime)
{
    return (fmi2Status)hil_fmu_set_times(of(c), startTime, stopTimeDefined ? stopTime : INFINITY);
}

fmi2Status fmi2EnterInitializationMode(fmi2Component c)
{
    return (fmi2Status)hil_fmu_enter_initialization(of(c));
}

fmi2Status fmi2ExitInitializationMode(fmi2Component c)
{
    return (fmi2Status)hil_fmu_exit_initialization(of(c));
}

fmi2Status fmi2Terminate(fmi2Component c)
{
    return fmi2OK;
}

fmi2Status fmi2Reset(fmi2Component c)
{
    return (fmi2Status)hil_fmu_reset(of(c));
}

/* --- variables ------------------------------------------------------------------------------ */

fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, fmi2Real value[])
{
    enum hil_fmu_status status = HIL_FMU_OK;

    for (size_t i = 0; i < nvr && !status; i++) {
        const struct hil_fmu_variable *v = hil_fmu_variable(of(c), vr[i], false);
        status = v ? hil_fmu_get(of(c), v, &value[i]) : HIL_FMU_ERROR;
    }
    return (fmi2Status)status;
}

fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t nvr,
                       const fmi2Real value[])
{
    enum hil_fmu_status status = HIL_FMU_OK;

    for (size_t i = 0; i < nvr && !status; i++) {
        const struct hil_fmu_variable *v = hil_fmu_variable(of(c), vr[i], false);
        status = v ? hil_fmu_set(of(c), v, &value[i]) : HIL_FMU_ERROR;
    }
    return (fmi2Status)status;
}

fmi2Status fmi2GetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t nvr,
                          fmi2Integer value[])
{
    enum hil_fmu_status status = HIL_FMU_OK;

    for (size_t i = 0; i < nvr && !status; i++) {
        const struct hil_fmu_variable *v = hil_fmu_variable(of(c), vr[i], true);
        double whole = 0;
        status = v ? hil_fmu_get(of(c), v, &whole) : HIL_FMU_ERROR;
        value[i] = (fmi2Integer)whole;
    }
    return (fmi2Status)status;
}

fmi2Status fmi2SetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t nvr,
                          const fmi2Integer value[])
{
    enum hil_fmu_status status = HIL_FMU_OK;

    for (size_t i = 0; i < nvr && !status; i++) {
        const struct hil_fmu_variable *v = hil_fmu_variable(of(c), vr[i], true);
        const double whole = value[i];
        status = v ? hil_fmu_set(of(c), v, &whole) : HIL_FMU_ERROR;
    }
    return (fmi2Status)status;
}

/* There are no variables of these types. */
static fmi2Status none(fmi2Component c, size_t count)
{
    if (count == 0)
        return fmi2OK;
    return (fmi2Status)hil_fmu_say(of(c), HIL_FMU_ERROR, "there is no variable of that type");
}

fmi2Status fmi2GetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t nvr,
                          fmi2Boolean value[])
{
    return none(c, nvr);
}

fmi2Status fmi2SetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t nvr,
                          const fmi2Boolean value[])
{
    return none(c, nvr);
}

fmi2Status fmi2GetString(fmi2Component c, const fmi2ValueReference vr[], size_t nvr,
                         fmi2String value[])
{
    return none(c, nvr);
}

fmi2Status fmi2SetString(fmi2Component c, const fmi2ValueReference vr[], size_t nvr,
                         const fmi2String value[])
{
    return none(c, nvr);
}

/* --- steps ---------------------------------------------------------------------------------- */

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real currentCommunicationPoint,
                      fmi2Real communicationStepSize, fmi2Boolean noSetFMUStatePriorToCurrentPoint)
{
    return (fmi2Status)hil_fmu_do_step(of(c), currentCommunicationPoint, communicationStepSize);
}

fmi2Status fmi2CancelStep(fmi2Component c)
{
    return (fmi2Status)hil_fmu_say(of(c), HIL_FMU_ERROR, "no step is pending");
}

/* Queries about a step: only the end time of the last step is known, and whether it was the end. */
static fmi2Status unknown(fmi2Component c)
{
    return (fmi2Status)hil_fmu_say(of(c), HIL_FMU_DISCARD, "that status is not known");
}

fmi2Status fmi2GetStatus(fmi2Component c, const fmi2StatusKind s, fmi2Status *value)
{
    return unknown(c);
}

fmi2Status fmi2GetRealStatus(fmi2Component c, const fmi2StatusKind s, fmi2Real *value)
{
    if (s != fmi2LastSuccessfulTime)
        return unknown(c);
    *value = hil_fmu_time(of(c));
    return fmi2OK;
}

fmi2Status fmi2GetIntegerStatus(fmi2Component c, const fmi2StatusKind s, fmi2Integer *value)
{
    return unknown(c);
}

fmi2Status fmi2GetBooleanStatus(fmi2Component c, const fmi2StatusKind s, fmi2Boolean *value)
{
    if (s != fmi2Terminated)
        return unknown(c);
    *value = hil_fmu_has_ended(of(c));
    return fmi2OK;
}

fmi2Status fmi2GetStringStatus(fmi2Component c, const fmi2StatusKind s, fmi2String *value)
{
    return unknown(c);
}

/* --- states --------------------------------------------------------------------------------- */

fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *FMUstate)
{
    return (fmi2Status)hil_fmu_get_state(of(c), (struct hil_fmu_state **)FMUstate);
}

fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate FMUstate)
{
    return (fmi2Status)hil_fmu_set_state(of(c), FMUstate);
}

fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *FMUstate)
{
    free(*FMUstate);
    *FMUstate = NULL;
    return fmi2OK;
}

fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate FMUstate, size_t *size)
{
    *size = ((struct hil_fmu_state *)FMUstate)->size;
    return fmi2OK;
}

fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate FMUstate, fmi2Byte serializedState[],
                                 size_t size)
{
    const struct hil_fmu_state *state = FMUstate;

    if (size < state->size)
        return (fmi2Status)hil_fmu_say(of(c), HIL_FMU_ERROR, "there is no room for the state");
    memcpy(serializedState, state, state->size);
    return fmi2OK;
}

fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte serializedState[], size_t size,
                                   fmi2FMUstate *FMUstate)
{
    return (fmi2Status)hil_fmu_read_state(of(c), serializedState, size,
                                          (struct hil_fmu_state **)FMUstate);
}

/* --- derivatives ---------------------------------------------------------------------------- */

static fmi2Status no_derivatives(fmi2Component c)
{
    return (fmi2Status)hil_fmu_say(of(c), HIL_FMU_ERROR, "there are no derivatives");
}

fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference vUnknown_ref[],
                                        size_t nUnknown, const fmi2ValueReference vKnown_ref[],
                                        size_t nKnown, const fmi2Real dvKnown[],
                                        fmi2Real dvUnknown[])
{
    return no_derivatives(c);
}

fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t nvr,
                                       const fmi2Integer order[], const fmi2Real value[])
{
    return no_derivatives(c);
}

fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t nvr,
                                        const fmi2Integer order[], fmi2Real value[])
{
    return no_derivatives(c);
}

/* --- model exchange --------------------------------------------------------------------------- */

/* No instance of this kind exists, but tools look for each function of the standard. */
#define CANNOT(name, ...)                                                                          \
    fmi2Status fmi2##name(fmi2Component c, ##__VA_ARGS__)                                          \
    {                                                                                              \
        return (fmi2Status)hil_fmu_say(of(c), HIL_FMU_ERROR, "it is for co-simulation only");      \
    }

CANNOT(SetTime, fmi2Real time)
CANNOT(SetContinuousStates, const fmi2Real x[], size_t nx)
CANNOT(EnterEventMode)
CANNOT(NewDiscreteStates, fmi2EventInfo *eventInfo)
CANNOT(EnterContinuousTimeMode)
CANNOT(CompletedIntegratorStep, fmi2Boolean noSetFMUStatePriorToCurrentPoint,
       fmi2Boolean *enterEventMode, fmi2Boolean *terminateSimulation)
CANNOT(GetDerivatives, fmi2Real derivatives[], size_t nx)
CANNOT(GetEventIndicators, fmi2Real eventIndicators[], size_t ni)
CANNOT(GetContinuousStates, fmi2Real x[], size_t nx)
CANNOT(GetNominalsOfContinuousStates, fmi2Real x_nominal[], size_t nx)
