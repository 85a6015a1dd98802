/* A PI law in the shape of Embedded Coder's code: reusable, two rates, fixed point. */
#ifndef RTW_HEADER_buck_fix_h_
#define RTW_HEADER_buck_fix_h_

#include "rtwtypes.h"

typedef struct tag_RTM_buck_fix_T RT_MODEL_buck_fix_T;

/* Block states (default storage) for system '<Root>' */
typedef struct {
    int32_T Integrator_DSTATE; /* '<Root>/Integrator' */
    int16_T Filter_DSTATE;     /* '<Root>/Filter' */
    int16_T Reference;         /* '<Root>/Rate Transition' */
} DW_buck_fix_T;

/* External inputs (root inputs with default storage) */
typedef struct {
    int16_T reference; /* '<Root>/reference' */
    int16_T voltage;   /* '<Root>/voltage' */
} ExtU_buck_fix_T;

/* External outputs (root outputs with default storage) */
typedef struct {
    uint16_T duty; /* '<Root>/duty' */
} ExtY_buck_fix_T;

/* Parameters (default storage) */
typedef struct P_buck_fix_T_ {
    int16_T Kp; /* Variable: Kp */
    int16_T Ki; /* Variable: Ki */
} P_buck_fix_T;

/* Real-time Model Data Structure */
struct tag_RTM_buck_fix_T {
    const char_T *errorStatus;
    DW_buck_fix_T *dwork;
    P_buck_fix_T *defaultParam;
    struct {
        struct {
            uint8_T TID[2];
        } TaskCounters;
    } Timing;
};

extern P_buck_fix_T buck_fix_P;

/* Model entry point functions */
extern void buck_fix_initialize(RT_MODEL_buck_fix_T *const buck_fix_M, ExtU_buck_fix_T *buck_fix_U,
                                ExtY_buck_fix_T *buck_fix_Y);
extern void buck_fix_step0(RT_MODEL_buck_fix_T *const buck_fix_M, ExtU_buck_fix_T *buck_fix_U,
                           ExtY_buck_fix_T *buck_fix_Y);
extern void buck_fix_step1(RT_MODEL_buck_fix_T *const buck_fix_M, ExtU_buck_fix_T *buck_fix_U);
extern void buck_fix_terminate(RT_MODEL_buck_fix_T *const buck_fix_M);

#define rtmGetErrorStatus(rtm) ((rtm)->errorStatus)

#endif
