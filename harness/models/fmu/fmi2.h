/*
 * The C interface of FMI 2.0 (Functional Mock-up Interface, fmi-standard.org), declared by hand
 * from the standard, version 2.0.4: section 2.1 has what both kinds of FMU share, section 3.2 has
 * model exchange, section 4.2 has co-simulation. Names and the order of values are the standard's.
 *
 * Each function is declared twice: its type (fmi2DoStepTYPE) is for code that loads an FMU, and the
 * function itself (fmi2DoStep) is for code that implements one. This header stands alone; it is
 * C11, and C++11.
 */
#ifndef HIL_FMI2_H
#define HIL_FMI2_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- types: 2.1.2 ----------------------------------------------------------------------------- */

typedef void *fmi2Component;            /* an instance of the FMU, opaque to the importer */
typedef void *fmi2ComponentEnvironment; /* the importer's object, passed back in callbacks */
typedef void *fmi2FMUstate;
typedef unsigned fmi2ValueReference;
typedef double fmi2Real;
typedef int fmi2Integer;
typedef int fmi2Boolean;
typedef char fmi2Char;
typedef const fmi2Char *fmi2String;
typedef char fmi2Byte;

#define fmi2True          1
#define fmi2False         0
#define fmi2TypesPlatform "default"
#define fmi2Version       "2.0"

/* --- status, callbacks: 2.1.3, 2.1.5 ---------------------------------------------------------- */

typedef enum {
    fmi2OK,
    fmi2Warning, /* continue; a message was logged */
    fmi2Discard, /* not done, the FMU is unchanged; see fmi2GetXXXStatus */
    fmi2Error,   /* this instance is lost */
    fmi2Fatal,   /* all instances of this FMU are lost */
    fmi2Pending, /* doStep continues in the background: canRunAsynchronuously (so spelled) */
} fmi2Status;

/* The message is a printf format, and its arguments follow. In it, #r7# stands for the name of the
 * Real variable 7 (also #i, #b, #s), and ## for a #. */
typedef void (*fmi2CallbackLogger)(fmi2ComponentEnvironment componentEnvironment,
                                   fmi2String instanceName, fmi2Status status, fmi2String category,
                                   fmi2String message, ...);
typedef void *(*fmi2CallbackAllocateMemory)(size_t nobj, size_t size); /* as calloc() */
typedef void (*fmi2CallbackFreeMemory)(void *obj);
typedef void (*fmi2StepFinished)(fmi2ComponentEnvironment componentEnvironment, fmi2Status status);

/* stepFinished may be NULL. The structure must remain unchanged during the life of the instance. */
typedef struct {
    fmi2CallbackLogger logger;
    fmi2CallbackAllocateMemory allocateMemory;
    fmi2CallbackFreeMemory freeMemory;
    fmi2StepFinished stepFinished;
    fmi2ComponentEnvironment componentEnvironment;
} fmi2CallbackFunctions;

/* --- about the FMU: 2.1.4 --------------------------------------------------------------------- */

typedef const char *fmi2GetTypesPlatformTYPE(void);
typedef const char *fmi2GetVersionTYPE(void);

/* --- from instantiation to the end: 2.1.5, 2.1.6 ---------------------------------------------- */

typedef enum {
    fmi2ModelExchange,
    fmi2CoSimulation,
} fmi2Type;

/* fmuResourceLocation is the URI of the unpacked folder `resources`, file:///..., without a '/' at
 * its end. Returns NULL on failure, after a message to the logger. */
typedef fmi2Component fmi2InstantiateTYPE(fmi2String instanceName, fmi2Type fmuType,
                                          fmi2String fmuGUID, fmi2String fmuResourceLocation,
                                          const fmi2CallbackFunctions *functions,
                                          fmi2Boolean visible, fmi2Boolean loggingOn);
typedef void fmi2FreeInstanceTYPE(fmi2Component c);
typedef fmi2Status fmi2SetDebugLoggingTYPE(fmi2Component c, fmi2Boolean loggingOn,
                                           size_t nCategories, const fmi2String categories[]);

typedef fmi2Status fmi2SetupExperimentTYPE(fmi2Component c, fmi2Boolean toleranceDefined,
                                           fmi2Real tolerance, fmi2Real startTime,
                                           fmi2Boolean stopTimeDefined, fmi2Real stopTime);
typedef fmi2Status fmi2EnterInitializationModeTYPE(fmi2Component c);
typedef fmi2Status fmi2ExitInitializationModeTYPE(fmi2Component c);
typedef fmi2Status fmi2TerminateTYPE(fmi2Component c);
typedef fmi2Status fmi2ResetTYPE(fmi2Component c);

/* --- variables: 2.1.7 ------------------------------------------------------------------------- */

typedef fmi2Status fmi2GetRealTYPE(fmi2Component c, const fmi2ValueReference vr[], size_t nvr,
                                   fmi2Real value[]);
typedef fmi2Status fmi2GetIntegerTYPE(fmi2Component c, const fmi2ValueReference vr[], size_t nvr,
                                      fmi2Integer value[]);
typedef fmi2Status fmi2GetBooleanTYPE(fmi2Component c, const fmi2ValueReference vr[], size_t nvr,
                                      fmi2Boolean value[]);
typedef fmi2Status fmi2GetStringTYPE(fmi2Component c, const fmi2ValueReference vr[], size_t nvr,
                                     fmi2String value[]);

typedef fmi2Status fmi2SetRealTYPE(fmi2Component c, const fmi2ValueReference vr[], size_t nvr,
                                   const fmi2Real value[]);
typedef fmi2Status fmi2SetIntegerTYPE(fmi2Component c, const fmi2ValueReference vr[], size_t nvr,
                                      const fmi2Integer value[]);
typedef fmi2Status fmi2SetBooleanTYPE(fmi2Component c, const fmi2ValueReference vr[], size_t nvr,
                                      const fmi2Boolean value[]);
typedef fmi2Status fmi2SetStringTYPE(fmi2Component c, const fmi2ValueReference vr[], size_t nvr,
                                     const fmi2String value[]);

/* --- the FMU's state, derivatives: 2.1.8, 2.1.9 (optional capabilities) ----------------------- */

typedef fmi2Status fmi2GetFMUstateTYPE(fmi2Component c, fmi2FMUstate *FMUstate);
typedef fmi2Status fmi2SetFMUstateTYPE(fmi2Component c, fmi2FMUstate FMUstate);
typedef fmi2Status fmi2FreeFMUstateTYPE(fmi2Component c, fmi2FMUstate *FMUstate);
typedef fmi2Status fmi2SerializedFMUstateSizeTYPE(fmi2Component c, fmi2FMUstate FMUstate,
                                                  size_t *size);
typedef fmi2Status fmi2SerializeFMUstateTYPE(fmi2Component c, fmi2FMUstate FMUstate,
                                             fmi2Byte serializedState[], size_t size);
typedef fmi2Status fmi2DeSerializeFMUstateTYPE(fmi2Component c, const fmi2Byte serializedState[],
                                               size_t size, fmi2FMUstate *FMUstate);

typedef fmi2Status
fmi2GetDirectionalDerivativeTYPE(fmi2Component c, const fmi2ValueReference vUnknown_ref[],
                                 size_t nUnknown, const fmi2ValueReference vKnown_ref[],
                                 size_t nKnown, const fmi2Real dvKnown[], fmi2Real dvUnknown[]);

/* --- co-simulation: 4.2.1, 4.2.2, 4.2.3 ------------------------------------------------------- */

typedef fmi2Status fmi2SetRealInputDerivativesTYPE(fmi2Component c, const fmi2ValueReference vr[],
                                                   size_t nvr, const fmi2Integer order[],
                                                   const fmi2Real value[]);
typedef fmi2Status fmi2GetRealOutputDerivativesTYPE(fmi2Component c, const fmi2ValueReference vr[],
                                                    size_t nvr, const fmi2Integer order[],
                                                    fmi2Real value[]);

typedef fmi2Status fmi2DoStepTYPE(fmi2Component c, fmi2Real currentCommunicationPoint,
                                  fmi2Real communicationStepSize,
                                  fmi2Boolean noSetFMUStatePriorToCurrentPoint);
typedef fmi2Status fmi2CancelStepTYPE(fmi2Component c);

typedef enum {
    fmi2DoStepStatus,       /* for GetStatus */
    fmi2PendingStatus,      /* for GetStringStatus */
    fmi2LastSuccessfulTime, /* for GetRealStatus: where a discarded step ended */
    fmi2Terminated,         /* for GetBooleanStatus: whether the FMU wants to end */
} fmi2StatusKind;

typedef fmi2Status fmi2GetStatusTYPE(fmi2Component c, const fmi2StatusKind s, fmi2Status *value);
typedef fmi2Status fmi2GetRealStatusTYPE(fmi2Component c, const fmi2StatusKind s, fmi2Real *value);
typedef fmi2Status fmi2GetIntegerStatusTYPE(fmi2Component c, const fmi2StatusKind s,
                                            fmi2Integer *value);
typedef fmi2Status fmi2GetBooleanStatusTYPE(fmi2Component c, const fmi2StatusKind s,
                                            fmi2Boolean *value);
typedef fmi2Status fmi2GetStringStatusTYPE(fmi2Component c, const fmi2StatusKind s,
                                           fmi2String *value);

/* --- model exchange: 3.2.1, 3.2.2 ------------------------------------------------------------- */

typedef struct {
    fmi2Boolean newDiscreteStatesNeeded;
    fmi2Boolean terminateSimulation;
    fmi2Boolean nominalsOfContinuousStatesChanged;
    fmi2Boolean valuesOfContinuousStatesChanged;
    fmi2Boolean nextEventTimeDefined;
    fmi2Real nextEventTime;
} fmi2EventInfo;

typedef fmi2Status fmi2SetTimeTYPE(fmi2Component c, fmi2Real time);
typedef fmi2Status fmi2SetContinuousStatesTYPE(fmi2Component c, const fmi2Real x[], size_t nx);
typedef fmi2Status fmi2EnterEventModeTYPE(fmi2Component c);
typedef fmi2Status fmi2NewDiscreteStatesTYPE(fmi2Component c, fmi2EventInfo *eventInfo);
typedef fmi2Status fmi2EnterContinuousTimeModeTYPE(fmi2Component c);
typedef fmi2Status fmi2CompletedIntegratorStepTYPE(fmi2Component c,
                                                   fmi2Boolean noSetFMUStatePriorToCurrentPoint,
                                                   fmi2Boolean *enterEventMode,
                                                   fmi2Boolean *terminateSimulation);
typedef fmi2Status fmi2GetDerivativesTYPE(fmi2Component c, fmi2Real derivatives[], size_t nx);
typedef fmi2Status fmi2GetEventIndicatorsTYPE(fmi2Component c, fmi2Real eventIndicators[],
                                              size_t ni);
typedef fmi2Status fmi2GetContinuousStatesTYPE(fmi2Component c, fmi2Real x[], size_t nx);
typedef fmi2Status fmi2GetNominalsOfContinuousStatesTYPE(fmi2Component c, fmi2Real x_nominal[],
                                                         size_t nx);

/* --- functions that every FMU exports, whatever its capabilities ------------------------------ */

#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

extern fmi2GetTypesPlatformTYPE fmi2GetTypesPlatform;
extern fmi2GetVersionTYPE fmi2GetVersion;
extern fmi2SetDebugLoggingTYPE fmi2SetDebugLogging;
extern fmi2InstantiateTYPE fmi2Instantiate;
extern fmi2FreeInstanceTYPE fmi2FreeInstance;
extern fmi2SetupExperimentTYPE fmi2SetupExperiment;
extern fmi2EnterInitializationModeTYPE fmi2EnterInitializationMode;
extern fmi2ExitInitializationModeTYPE fmi2ExitInitializationMode;
extern fmi2TerminateTYPE fmi2Terminate;
extern fmi2ResetTYPE fmi2Reset;
extern fmi2GetRealTYPE fmi2GetReal;
extern fmi2GetIntegerTYPE fmi2GetInteger;
extern fmi2GetBooleanTYPE fmi2GetBoolean;
extern fmi2GetStringTYPE fmi2GetString;
extern fmi2SetRealTYPE fmi2SetReal;
extern fmi2SetIntegerTYPE fmi2SetInteger;
extern fmi2SetBooleanTYPE fmi2SetBoolean;
extern fmi2SetStringTYPE fmi2SetString;
extern fmi2GetFMUstateTYPE fmi2GetFMUstate;
extern fmi2SetFMUstateTYPE fmi2SetFMUstate;
extern fmi2FreeFMUstateTYPE fmi2FreeFMUstate;
extern fmi2SerializedFMUstateSizeTYPE fmi2SerializedFMUstateSize;
extern fmi2SerializeFMUstateTYPE fmi2SerializeFMUstate;
extern fmi2DeSerializeFMUstateTYPE fmi2DeSerializeFMUstate;
extern fmi2GetDirectionalDerivativeTYPE fmi2GetDirectionalDerivative;
extern fmi2SetRealInputDerivativesTYPE fmi2SetRealInputDerivatives;
extern fmi2GetRealOutputDerivativesTYPE fmi2GetRealOutputDerivatives;
extern fmi2DoStepTYPE fmi2DoStep;
extern fmi2CancelStepTYPE fmi2CancelStep;
extern fmi2GetStatusTYPE fmi2GetStatus;
extern fmi2GetRealStatusTYPE fmi2GetRealStatus;
extern fmi2GetIntegerStatusTYPE fmi2GetIntegerStatus;
extern fmi2GetBooleanStatusTYPE fmi2GetBooleanStatus;
extern fmi2GetStringStatusTYPE fmi2GetStringStatus;
extern fmi2SetTimeTYPE fmi2SetTime;
extern fmi2SetContinuousStatesTYPE fmi2SetContinuousStates;
extern fmi2EnterEventModeTYPE fmi2EnterEventMode;
extern fmi2NewDiscreteStatesTYPE fmi2NewDiscreteStates;
extern fmi2EnterContinuousTimeModeTYPE fmi2EnterContinuousTimeMode;
extern fmi2CompletedIntegratorStepTYPE fmi2CompletedIntegratorStep;
extern fmi2GetDerivativesTYPE fmi2GetDerivatives;
extern fmi2GetEventIndicatorsTYPE fmi2GetEventIndicators;
extern fmi2GetContinuousStatesTYPE fmi2GetContinuousStates;
extern fmi2GetNominalsOfContinuousStatesTYPE fmi2GetNominalsOfContinuousStates;

#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
