#include "buck_pi.h"

P_buck_pi_T buck_pi_P = {0.001, 20.0, {0.0, 0.95}};
DW_buck_pi_T buck_pi_DW;
ExtU_buck_pi_T buck_pi_U;
ExtY_buck_pi_T buck_pi_Y;

static RT_MODEL_buck_pi_T buck_pi_M_;
RT_MODEL_buck_pi_T *const buck_pi_M = &buck_pi_M_;

/* Model step function: every 20 us */
void buck_pi_step(void)
{
    real_T rtb_Error, rtb_Integral, rtb_Sum;

    rtb_Error = buck_pi_U.reference_v - buck_pi_U.voltage_v;
    rtb_Integral = buck_pi_DW.Integrator_DSTATE + buck_pi_P.Ki * 2.0E-5 * rtb_Error;
    rtb_Sum = buck_pi_P.Kp * rtb_Error + rtb_Integral;
    if (!((rtb_Sum > buck_pi_P.limits[1] && rtb_Error > 0.0) ||
          (rtb_Sum < buck_pi_P.limits[0] && rtb_Error < 0.0)))
        buck_pi_DW.Integrator_DSTATE = rtb_Integral;
    if (rtb_Sum > buck_pi_P.limits[1])
        buck_pi_Y.duty = buck_pi_P.limits[1];
    else if (rtb_Sum < buck_pi_P.limits[0])
        buck_pi_Y.duty = buck_pi_P.limits[0];
    else
        buck_pi_Y.duty = rtb_Sum;
}

void buck_pi_initialize(void)
{
    buck_pi_DW.Integrator_DSTATE = 0.0;
}

void buck_pi_terminate(void)
{
}
