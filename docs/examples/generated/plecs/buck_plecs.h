/* A PI law in the shape of PLECS Coder's code. */
#ifndef PLECS_HEADER_buck_plecs_h_
#define PLECS_HEADER_buck_plecs_h_

#include <stdbool.h>
#include <stdint.h>

/* Model floating point type */
typedef double buck_plecs_FloatType;

/* Model checksum */
extern const char *const buck_plecs_checksum;

/* Model error status */
extern const char *buck_plecs_errorStatus;

/* Model sample time */
extern const double buck_plecs_sampleTime;

/* External inputs */
typedef struct {
    double meas[2]; /* buck_plecs/meas: reference and voltage */
    bool Enable;    /* buck_plecs/Enable */
} buck_plecs_ExternalInputs;
extern buck_plecs_ExternalInputs buck_plecs_U;

/* External outputs */
typedef struct {
    double duty; /* buck_plecs/duty */
} buck_plecs_ExternalOutputs;
extern buck_plecs_ExternalOutputs buck_plecs_Y;

/* Model entry point functions */
void buck_plecs_initialize(double time);
void buck_plecs_step(void);
void buck_plecs_terminate(void);

#endif
