#include "buck_fix.h"

/* Kp: 2^-20 1/V, Ki times the period: 2^-20 1/V */
P_buck_fix_T buck_fix_P = {1049, 419};

/* Model step function for TID0: every 20 us. Voltages have a slope of 2^-9 V, the duty cycle 2^-15.
 */
void buck_fix_step0(RT_MODEL_buck_fix_T *const buck_fix_M, ExtU_buck_fix_T *buck_fix_U,
                    ExtY_buck_fix_T *buck_fix_Y)
{
    DW_buck_fix_T *buck_fix_DW = buck_fix_M->dwork;
    P_buck_fix_T *buck_fix_P = buck_fix_M->defaultParam;
    int32_T rtb_Error, rtb_Integral, rtb_Sum;

    rtb_Error = buck_fix_DW->Reference - buck_fix_U->voltage;
    rtb_Integral = buck_fix_DW->Integrator_DSTATE + buck_fix_P->Ki * rtb_Error;
    rtb_Sum = (buck_fix_P->Kp * rtb_Error + rtb_Integral) / 16384;
    if (rtb_Sum > 31130)
        buck_fix_Y->duty = 31130U;
    else if (rtb_Sum < 0)
        buck_fix_Y->duty = 0U;
    else
        buck_fix_Y->duty = (uint16_T)rtb_Sum;
    if (!((rtb_Sum > 31130 && rtb_Error > 0) || (rtb_Sum < 0 && rtb_Error < 0)))
        buck_fix_DW->Integrator_DSTATE = rtb_Integral;
}

/* Model step function for TID1: every 100 us */
void buck_fix_step1(RT_MODEL_buck_fix_T *const buck_fix_M, ExtU_buck_fix_T *buck_fix_U)
{
    DW_buck_fix_T *buck_fix_DW = buck_fix_M->dwork;

    buck_fix_DW->Filter_DSTATE =
        (int16_T)(buck_fix_DW->Filter_DSTATE +
                  (buck_fix_U->reference - buck_fix_DW->Filter_DSTATE) / 2);
    buck_fix_DW->Reference = buck_fix_DW->Filter_DSTATE;
}

void buck_fix_initialize(RT_MODEL_buck_fix_T *const buck_fix_M, ExtU_buck_fix_T *buck_fix_U,
                         ExtY_buck_fix_T *buck_fix_Y)
{
    DW_buck_fix_T *buck_fix_DW = buck_fix_M->dwork;

    buck_fix_DW->Integrator_DSTATE = 0;
    buck_fix_DW->Filter_DSTATE = 0;
    buck_fix_DW->Reference = 0;
    buck_fix_U->reference = 0;
    buck_fix_U->voltage = 0;
    buck_fix_Y->duty = 0U;
}

void buck_fix_terminate(RT_MODEL_buck_fix_T *const buck_fix_M)
{
    (void)buck_fix_M;
}
