/*
 * The C interface of FMI 3.0 (Functional Mock-up Interface, fmi-standard.org), declared by hand
 * from the standard: sections 2.2 and 2.3 have what all kinds of FMU share, section 3.2 has model
 * exchange, section 4.2 has co-simulation, section 5.2 has scheduled execution; parts are named
 * here by its headings. Names and the order of values are the standard's.
 *
 * Each function is declared twice: its type (fmi3DoStepTYPE) is for code that loads an FMU, and the
 * function itself (fmi3DoStep) is for code that implements one. This header stands alone; it is
 * C11, and C++11.
 */
#ifndef HIL_FMI3_H
#define HIL_FMI3_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- types: "Platform Dependent Definitions" -------------------------------------------------- */

typedef void *fmi3Instance;            /* an instance of the FMU, opaque to the importer */
typedef void *fmi3InstanceEnvironment; /* the importer's object, passed back in callbacks */
typedef void *fmi3FMUState;
typedef uint32_t fmi3ValueReference;
typedef float fmi3Float32;
typedef double fmi3Float64;
typedef int8_t fmi3Int8;
typedef uint8_t fmi3UInt8;
typedef int16_t fmi3Int16;
typedef uint16_t fmi3UInt16;
typedef int32_t fmi3Int32;
typedef uint32_t fmi3UInt32;
typedef int64_t fmi3Int64;
typedef uint64_t fmi3UInt64;
typedef bool fmi3Boolean;
typedef char fmi3Char;
typedef const fmi3Char *fmi3String;
typedef uint8_t fmi3Byte;
typedef const fmi3Byte *fmi3Binary;
typedef bool fmi3Clock;

#define fmi3True        true
#define fmi3False       false
#define fmi3ClockActive true
#define fmi3Version     "3.0"

/* --- status, callbacks: "Status Returned by Functions" ---------------------------------------- */

typedef enum {
    fmi3OK,
    fmi3Warning, /* continue; a message was logged */
    fmi3Discard, /* not done, the FMU is unchanged: try another value or a smaller step */
    fmi3Error,   /* this instance is lost */
    fmi3Fatal,   /* all instances of this FMU are lost */
} fmi3Status;

/* The message is plain text, not a format. */
typedef void (*fmi3LogMessageCallback)(fmi3InstanceEnvironment instanceEnvironment,
                                       fmi3Status status, fmi3String category, fmi3String message);
typedef void (*fmi3IntermediateUpdateCallback)(
    fmi3InstanceEnvironment instanceEnvironment, fmi3Float64 intermediateUpdateTime,
    fmi3Boolean intermediateVariableSetRequested, fmi3Boolean intermediateVariableGetAllowed,
    fmi3Boolean intermediateStepFinished, fmi3Boolean canReturnEarly,
    fmi3Boolean *earlyReturnRequested, fmi3Float64 *earlyReturnTime);
typedef void (*fmi3ClockUpdateCallback)(fmi3InstanceEnvironment instanceEnvironment);
typedef void (*fmi3LockPreemptionCallback)(void);
typedef void (*fmi3UnlockPreemptionCallback)(void);

/* --- from instantiation to the end: "State Machines" ------------------------------------------ */

typedef const char *fmi3GetVersionTYPE(void);
typedef fmi3Status fmi3SetDebugLoggingTYPE(fmi3Instance instance, fmi3Boolean loggingOn,
                                           size_t nCategories, const fmi3String categories[]);

/* resourcePath is the absolute path of the unpacked folder `resources`, with a separator at its
 * end, or NULL if there is none. logMessage and intermediateUpdate may be NULL. Returns NULL on
 * failure. */
typedef fmi3Instance fmi3InstantiateCoSimulationTYPE(
    fmi3String instanceName, fmi3String instantiationToken, fmi3String resourcePath,
    fmi3Boolean visible, fmi3Boolean loggingOn, fmi3Boolean eventModeUsed,
    fmi3Boolean earlyReturnAllowed, const fmi3ValueReference requiredIntermediateVariables[],
    size_t nRequiredIntermediateVariables, fmi3InstanceEnvironment instanceEnvironment,
    fmi3LogMessageCallback logMessage, fmi3IntermediateUpdateCallback intermediateUpdate);
typedef fmi3Instance fmi3InstantiateModelExchangeTYPE(fmi3String instanceName,
                                                      fmi3String instantiationToken,
                                                      fmi3String resourcePath, fmi3Boolean visible,
                                                      fmi3Boolean loggingOn,
                                                      fmi3InstanceEnvironment instanceEnvironment,
                                                      fmi3LogMessageCallback logMessage);
typedef fmi3Instance fmi3InstantiateScheduledExecutionTYPE(
    fmi3String instanceName, fmi3String instantiationToken, fmi3String resourcePath,
    fmi3Boolean visible, fmi3Boolean loggingOn, fmi3InstanceEnvironment instanceEnvironment,
    fmi3LogMessageCallback logMessage, fmi3ClockUpdateCallback clockUpdate,
    fmi3LockPreemptionCallback lockPreemption, fmi3UnlockPreemptionCallback unlockPreemption);
typedef void fmi3FreeInstanceTYPE(fmi3Instance instance);

typedef fmi3Status fmi3EnterInitializationModeTYPE(fmi3Instance instance,
                                                   fmi3Boolean toleranceDefined,
                                                   fmi3Float64 tolerance, fmi3Float64 startTime,
                                                   fmi3Boolean stopTimeDefined,
                                                   fmi3Float64 stopTime);
typedef fmi3Status fmi3ExitInitializationModeTYPE(fmi3Instance instance);
typedef fmi3Status fmi3EnterConfigurationModeTYPE(fmi3Instance instance);
typedef fmi3Status fmi3ExitConfigurationModeTYPE(fmi3Instance instance);
typedef fmi3Status fmi3TerminateTYPE(fmi3Instance instance);
typedef fmi3Status fmi3ResetTYPE(fmi3Instance instance);

/* --- variables: "Getting and Setting Variable Values" -------------------------------------------
 *
 * nValues is the sum of the variables' sizes: an array counts with all its elements, row by row.
 */

#define FMI3_GET_SET(type)                                                                         \
    typedef fmi3Status fmi3Get##type##TYPE(                                                        \
        fmi3Instance instance, const fmi3ValueReference valueReferences[],                         \
        size_t nValueReferences, fmi3##type values[], size_t nValues);                             \
    typedef fmi3Status fmi3Set##type##TYPE(                                                        \
        fmi3Instance instance, const fmi3ValueReference valueReferences[],                         \
        size_t nValueReferences, const fmi3##type values[], size_t nValues)

FMI3_GET_SET(Float32);
FMI3_GET_SET(Float64);
FMI3_GET_SET(Int8);
FMI3_GET_SET(UInt8);
FMI3_GET_SET(Int16);
FMI3_GET_SET(UInt16);
FMI3_GET_SET(Int32);
FMI3_GET_SET(UInt32);
FMI3_GET_SET(Int64);
FMI3_GET_SET(UInt64);
FMI3_GET_SET(Boolean);
FMI3_GET_SET(String);

#undef FMI3_GET_SET

typedef fmi3Status fmi3GetBinaryTYPE(fmi3Instance instance,
                                     const fmi3ValueReference valueReferences[],
                                     size_t nValueReferences, size_t valueSizes[],
                                     fmi3Binary values[], size_t nValues);
typedef fmi3Status fmi3SetBinaryTYPE(fmi3Instance instance,
                                     const fmi3ValueReference valueReferences[],
                                     size_t nValueReferences, const size_t valueSizes[],
                                     const fmi3Binary values[], size_t nValues);
typedef fmi3Status fmi3GetClockTYPE(fmi3Instance instance,
                                    const fmi3ValueReference valueReferences[],
                                    size_t nValueReferences, fmi3Clock values[]);
typedef fmi3Status fmi3SetClockTYPE(fmi3Instance instance,
                                    const fmi3ValueReference valueReferences[],
                                    size_t nValueReferences, const fmi3Clock values[]);

/* --- optional: "Dependencies of Variables", "Complete FMU State", "Partial Derivatives" ------- */

typedef enum {
    fmi3Independent,
    fmi3Constant,
    fmi3Fixed,
    fmi3Tunable,
    fmi3Discrete,
    fmi3Dependent,
} fmi3DependencyKind;

typedef fmi3Status fmi3GetNumberOfVariableDependenciesTYPE(fmi3Instance instance,
                                                           fmi3ValueReference valueReference,
                                                           size_t *nDependencies);
typedef fmi3Status fmi3GetVariableDependenciesTYPE(
    fmi3Instance instance, fmi3ValueReference dependent, size_t elementIndicesOfDependent[],
    fmi3ValueReference independents[], size_t elementIndicesOfIndependents[],
    fmi3DependencyKind dependencyKinds[], size_t nDependencies);

typedef fmi3Status fmi3GetFMUStateTYPE(fmi3Instance instance, fmi3FMUState *FMUState);
typedef fmi3Status fmi3SetFMUStateTYPE(fmi3Instance instance, fmi3FMUState FMUState);
typedef fmi3Status fmi3FreeFMUStateTYPE(fmi3Instance instance, fmi3FMUState *FMUState);
typedef fmi3Status fmi3SerializedFMUStateSizeTYPE(fmi3Instance instance, fmi3FMUState FMUState,
                                                  size_t *size);
typedef fmi3Status fmi3SerializeFMUStateTYPE(fmi3Instance instance, fmi3FMUState FMUState,
                                             fmi3Byte serializedState[], size_t size);
typedef fmi3Status fmi3DeserializeFMUStateTYPE(fmi3Instance instance,
                                               const fmi3Byte serializedState[], size_t size,
                                               fmi3FMUState *FMUState);

typedef fmi3Status
fmi3GetDirectionalDerivativeTYPE(fmi3Instance instance, const fmi3ValueReference unknowns[],
                                 size_t nUnknowns, const fmi3ValueReference knowns[],
                                 size_t nKnowns, const fmi3Float64 seed[], size_t nSeed,
                                 fmi3Float64 sensitivity[], size_t nSensitivity);
typedef fmi3Status fmi3GetAdjointDerivativeTYPE(fmi3Instance instance,
                                                const fmi3ValueReference unknowns[],
                                                size_t nUnknowns, const fmi3ValueReference knowns[],
                                                size_t nKnowns, const fmi3Float64 seed[],
                                                size_t nSeed, fmi3Float64 sensitivity[],
                                                size_t nSensitivity);

/* --- event mode only: "Clocks", "Event Mode" -------------------------------------------------- */

typedef enum {
    fmi3IntervalNotYetKnown,
    fmi3IntervalUnchanged,
    fmi3IntervalChanged,
} fmi3IntervalQualifier;

typedef fmi3Status fmi3GetIntervalDecimalTYPE(fmi3Instance instance,
                                              const fmi3ValueReference valueReferences[],
                                              size_t nValueReferences, fmi3Float64 intervals[],
                                              fmi3IntervalQualifier qualifiers[]);
typedef fmi3Status fmi3GetIntervalFractionTYPE(fmi3Instance instance,
                                               const fmi3ValueReference valueReferences[],
                                               size_t nValueReferences, fmi3UInt64 counters[],
                                               fmi3UInt64 resolutions[],
                                               fmi3IntervalQualifier qualifiers[]);
typedef fmi3Status fmi3GetShiftDecimalTYPE(fmi3Instance instance,
                                           const fmi3ValueReference valueReferences[],
                                           size_t nValueReferences, fmi3Float64 shifts[]);
typedef fmi3Status fmi3GetShiftFractionTYPE(fmi3Instance instance,
                                            const fmi3ValueReference valueReferences[],
                                            size_t nValueReferences, fmi3UInt64 counters[],
                                            fmi3UInt64 resolutions[]);
typedef fmi3Status fmi3SetIntervalDecimalTYPE(fmi3Instance instance,
                                              const fmi3ValueReference valueReferences[],
                                              size_t nValueReferences,
                                              const fmi3Float64 intervals[]);
typedef fmi3Status fmi3SetIntervalFractionTYPE(fmi3Instance instance,
                                               const fmi3ValueReference valueReferences[],
                                               size_t nValueReferences, const fmi3UInt64 counters[],
                                               const fmi3UInt64 resolutions[]);
typedef fmi3Status fmi3SetShiftDecimalTYPE(fmi3Instance instance,
                                           const fmi3ValueReference valueReferences[],
                                           size_t nValueReferences, const fmi3Float64 shifts[]);
typedef fmi3Status fmi3SetShiftFractionTYPE(fmi3Instance instance,
                                            const fmi3ValueReference valueReferences[],
                                            size_t nValueReferences, const fmi3UInt64 counters[],
                                            const fmi3UInt64 resolutions[]);

typedef fmi3Status fmi3EnterEventModeTYPE(fmi3Instance instance);
typedef fmi3Status fmi3EvaluateDiscreteStatesTYPE(fmi3Instance instance);
typedef fmi3Status fmi3UpdateDiscreteStatesTYPE(
    fmi3Instance instance, fmi3Boolean *discreteStatesNeedUpdate, fmi3Boolean *terminateSimulation,
    fmi3Boolean *nominalsOfContinuousStatesChanged, fmi3Boolean *valuesOfContinuousStatesChanged,
    fmi3Boolean *nextEventTimeDefined, fmi3Float64 *nextEventTime);

/* --- co-simulation: 4.2, "Co-Simulation API" -------------------------------------------------- */

typedef fmi3Status fmi3EnterStepModeTYPE(fmi3Instance instance);
typedef fmi3Status fmi3GetOutputDerivativesTYPE(fmi3Instance instance,
                                                const fmi3ValueReference valueReferences[],
                                                size_t nValueReferences, const fmi3Int32 orders[],
                                                fmi3Float64 values[], size_t nValues);
typedef fmi3Status fmi3DoStepTYPE(fmi3Instance instance, fmi3Float64 currentCommunicationPoint,
                                  fmi3Float64 communicationStepSize,
                                  fmi3Boolean noSetFMUStatePriorToCurrentPoint,
                                  fmi3Boolean *eventHandlingNeeded,
                                  fmi3Boolean *terminateSimulation, fmi3Boolean *earlyReturn,
                                  fmi3Float64 *lastSuccessfulTime);

/* --- model exchange: 3.2, "Model Exchange API" ------------------------------------------------ */

typedef fmi3Status fmi3EnterContinuousTimeModeTYPE(fmi3Instance instance);
typedef fmi3Status fmi3CompletedIntegratorStepTYPE(fmi3Instance instance,
                                                   fmi3Boolean noSetFMUStatePriorToCurrentPoint,
                                                   fmi3Boolean *enterEventMode,
                                                   fmi3Boolean *terminateSimulation);
typedef fmi3Status fmi3SetTimeTYPE(fmi3Instance instance, fmi3Float64 time);
typedef fmi3Status fmi3SetContinuousStatesTYPE(fmi3Instance instance,
                                               const fmi3Float64 continuousStates[],
                                               size_t nContinuousStates);
typedef fmi3Status fmi3GetContinuousStateDerivativesTYPE(fmi3Instance instance,
                                                         fmi3Float64 derivatives[],
                                                         size_t nContinuousStates);
typedef fmi3Status fmi3GetEventIndicatorsTYPE(fmi3Instance instance, fmi3Float64 eventIndicators[],
                                              size_t nEventIndicators);
typedef fmi3Status fmi3GetContinuousStatesTYPE(fmi3Instance instance,
                                               fmi3Float64 continuousStates[],
                                               size_t nContinuousStates);
typedef fmi3Status fmi3GetNominalsOfContinuousStatesTYPE(fmi3Instance instance,
                                                         fmi3Float64 nominals[],
                                                         size_t nContinuousStates);
typedef fmi3Status fmi3GetNumberOfEventIndicatorsTYPE(fmi3Instance instance,
                                                      size_t *nEventIndicators);
typedef fmi3Status fmi3GetNumberOfContinuousStatesTYPE(fmi3Instance instance,
                                                       size_t *nContinuousStates);

/* --- scheduled execution: 5.2, "Scheduled Execution API" -------------------------------------- */

typedef fmi3Status fmi3ActivateModelPartitionTYPE(fmi3Instance instance,
                                                  fmi3ValueReference clockReference,
                                                  fmi3Float64 activationTime);

/* --- functions that every FMU exports, whatever its kind -------------------------------------- */

#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

extern fmi3GetVersionTYPE fmi3GetVersion;
extern fmi3SetDebugLoggingTYPE fmi3SetDebugLogging;
extern fmi3InstantiateModelExchangeTYPE fmi3InstantiateModelExchange;
extern fmi3InstantiateCoSimulationTYPE fmi3InstantiateCoSimulation;
extern fmi3InstantiateScheduledExecutionTYPE fmi3InstantiateScheduledExecution;
extern fmi3FreeInstanceTYPE fmi3FreeInstance;
extern fmi3EnterInitializationModeTYPE fmi3EnterInitializationMode;
extern fmi3ExitInitializationModeTYPE fmi3ExitInitializationMode;
extern fmi3EnterConfigurationModeTYPE fmi3EnterConfigurationMode;
extern fmi3ExitConfigurationModeTYPE fmi3ExitConfigurationMode;
extern fmi3TerminateTYPE fmi3Terminate;
extern fmi3ResetTYPE fmi3Reset;
extern fmi3GetFloat32TYPE fmi3GetFloat32;
extern fmi3GetFloat64TYPE fmi3GetFloat64;
extern fmi3GetInt8TYPE fmi3GetInt8;
extern fmi3GetUInt8TYPE fmi3GetUInt8;
extern fmi3GetInt16TYPE fmi3GetInt16;
extern fmi3GetUInt16TYPE fmi3GetUInt16;
extern fmi3GetInt32TYPE fmi3GetInt32;
extern fmi3GetUInt32TYPE fmi3GetUInt32;
extern fmi3GetInt64TYPE fmi3GetInt64;
extern fmi3GetUInt64TYPE fmi3GetUInt64;
extern fmi3GetBooleanTYPE fmi3GetBoolean;
extern fmi3GetStringTYPE fmi3GetString;
extern fmi3GetBinaryTYPE fmi3GetBinary;
extern fmi3GetClockTYPE fmi3GetClock;
extern fmi3SetFloat32TYPE fmi3SetFloat32;
extern fmi3SetFloat64TYPE fmi3SetFloat64;
extern fmi3SetInt8TYPE fmi3SetInt8;
extern fmi3SetUInt8TYPE fmi3SetUInt8;
extern fmi3SetInt16TYPE fmi3SetInt16;
extern fmi3SetUInt16TYPE fmi3SetUInt16;
extern fmi3SetInt32TYPE fmi3SetInt32;
extern fmi3SetUInt32TYPE fmi3SetUInt32;
extern fmi3SetInt64TYPE fmi3SetInt64;
extern fmi3SetUInt64TYPE fmi3SetUInt64;
extern fmi3SetBooleanTYPE fmi3SetBoolean;
extern fmi3SetStringTYPE fmi3SetString;
extern fmi3SetBinaryTYPE fmi3SetBinary;
extern fmi3SetClockTYPE fmi3SetClock;
extern fmi3GetNumberOfVariableDependenciesTYPE fmi3GetNumberOfVariableDependencies;
extern fmi3GetVariableDependenciesTYPE fmi3GetVariableDependencies;
extern fmi3GetFMUStateTYPE fmi3GetFMUState;
extern fmi3SetFMUStateTYPE fmi3SetFMUState;
extern fmi3FreeFMUStateTYPE fmi3FreeFMUState;
extern fmi3SerializedFMUStateSizeTYPE fmi3SerializedFMUStateSize;
extern fmi3SerializeFMUStateTYPE fmi3SerializeFMUState;
extern fmi3DeserializeFMUStateTYPE fmi3DeserializeFMUState;
extern fmi3GetDirectionalDerivativeTYPE fmi3GetDirectionalDerivative;
extern fmi3GetAdjointDerivativeTYPE fmi3GetAdjointDerivative;
extern fmi3GetIntervalDecimalTYPE fmi3GetIntervalDecimal;
extern fmi3GetIntervalFractionTYPE fmi3GetIntervalFraction;
extern fmi3GetShiftDecimalTYPE fmi3GetShiftDecimal;
extern fmi3GetShiftFractionTYPE fmi3GetShiftFraction;
extern fmi3SetIntervalDecimalTYPE fmi3SetIntervalDecimal;
extern fmi3SetIntervalFractionTYPE fmi3SetIntervalFraction;
extern fmi3SetShiftDecimalTYPE fmi3SetShiftDecimal;
extern fmi3SetShiftFractionTYPE fmi3SetShiftFraction;
extern fmi3EnterEventModeTYPE fmi3EnterEventMode;
extern fmi3EvaluateDiscreteStatesTYPE fmi3EvaluateDiscreteStates;
extern fmi3UpdateDiscreteStatesTYPE fmi3UpdateDiscreteStates;
extern fmi3EnterStepModeTYPE fmi3EnterStepMode;
extern fmi3GetOutputDerivativesTYPE fmi3GetOutputDerivatives;
extern fmi3DoStepTYPE fmi3DoStep;
extern fmi3EnterContinuousTimeModeTYPE fmi3EnterContinuousTimeMode;
extern fmi3CompletedIntegratorStepTYPE fmi3CompletedIntegratorStep;
extern fmi3SetTimeTYPE fmi3SetTime;
extern fmi3SetContinuousStatesTYPE fmi3SetContinuousStates;
extern fmi3GetContinuousStateDerivativesTYPE fmi3GetContinuousStateDerivatives;
extern fmi3GetEventIndicatorsTYPE fmi3GetEventIndicators;
extern fmi3GetContinuousStatesTYPE fmi3GetContinuousStates;
extern fmi3GetNominalsOfContinuousStatesTYPE fmi3GetNominalsOfContinuousStates;
extern fmi3GetNumberOfEventIndicatorsTYPE fmi3GetNumberOfEventIndicators;
extern fmi3GetNumberOfContinuousStatesTYPE fmi3GetNumberOfContinuousStates;
extern fmi3ActivateModelPartitionTYPE fmi3ActivateModelPartition;

#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
