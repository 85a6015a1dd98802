/* A PI law in the shape of Embedded Coder's code: one instance, one rate, floating point. */
#ifndef RTW_HEADER_buck_pi_h_
#define RTW_HEADER_buck_pi_h_

#include "rtwtypes.h"

/* Block states (default storage) for system '<Root>' */
typedef struct {
    real_T Integrator_DSTATE; /* '<S1>/Integrator' */
} DW_buck_pi_T;

/* External inputs (root inputs with default storage) */
typedef struct {
    real_T reference_v; /* '<Root>/reference_v' */
    real_T voltage_v;   /* '<Root>/voltage_v' */
} ExtU_buck_pi_T;

/* External outputs (root outputs with default storage) */
typedef struct {
    real_T duty; /* '<Root>/duty' */
} ExtY_buck_pi_T;

/* Parameters (default storage) */
struct P_buck_pi_T_ {
    real_T Kp;        /* Variable: Kp
                       * Referenced by: '<S1>/Proportional' */
    real_T Ki;        /* Variable: Ki */
    real_T limits[2]; /* Variable: limits */
};
typedef struct P_buck_pi_T_ P_buck_pi_T;

/* Real-time Model Data Structure */
struct tag_RTM_buck_pi_T {
    const char_T *errorStatus;
};
typedef struct tag_RTM_buck_pi_T RT_MODEL_buck_pi_T;

extern P_buck_pi_T buck_pi_P;
extern DW_buck_pi_T buck_pi_DW;
extern ExtU_buck_pi_T buck_pi_U;
extern ExtY_buck_pi_T buck_pi_Y;

/* Model entry point functions */
extern void buck_pi_initialize(void);
extern void buck_pi_step(void);
extern void buck_pi_terminate(void);

extern RT_MODEL_buck_pi_T *const buck_pi_M;

#define rtmGetErrorStatus(rtm) ((rtm)->errorStatus)

#endif
