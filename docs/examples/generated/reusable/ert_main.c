/*
 * The example main program, in the shape of Embedded Coder's. A model does not need it, but for the
 * rates that it has:
 *
 * Attach rt_OneStep to a timer or interrupt service routine with
 * period 2.0E-5 seconds (base rate of the model) here.
 */
#include <stddef.h>

#include "buck_fix.h"

static RT_MODEL_buck_fix_T buck_fix_M_;
static DW_buck_fix_T buck_fix_DW;
static ExtU_buck_fix_T buck_fix_U;
static ExtY_buck_fix_T buck_fix_Y;

void rt_OneStep(RT_MODEL_buck_fix_T *const buck_fix_M);
void rt_OneStep(RT_MODEL_buck_fix_T *const buck_fix_M)
{
    static boolean_T OverrunFlags[2] = {0, 0};
    static boolean_T eventFlags[2] = {0, 0}; /* Model has 2 rates */
    static int_T taskCounter[2] = {0, 0};

    if (OverrunFlags[0]++)
        return;
    if (taskCounter[1] == 0)
        eventFlags[1] = 1;
    taskCounter[1]++;
    if (taskCounter[1] == 5) {
        taskCounter[1] = 0;
    }

    /* Step the model for base rate */
    buck_fix_step0(buck_fix_M, &buck_fix_U, &buck_fix_Y);
    OverrunFlags[0]--;

    /* Step the model for subrate */
    if (eventFlags[1]) {
        buck_fix_step1(buck_fix_M, &buck_fix_U);
        eventFlags[1] = 0;
    }
}

int_T main(void)
{
    RT_MODEL_buck_fix_T *const buck_fix_M = &buck_fix_M_;

    buck_fix_M->dwork = &buck_fix_DW;
    buck_fix_M->defaultParam = &buck_fix_P;
    buck_fix_initialize(buck_fix_M, &buck_fix_U, &buck_fix_Y);
    while (rtmGetErrorStatus(buck_fix_M) == (NULL))
        rt_OneStep(buck_fix_M);
    return 0;
}
