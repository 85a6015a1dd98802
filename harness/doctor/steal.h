#ifndef HIL_DOCTOR_STEAL_H
#define HIL_DOCTOR_STEAL_H

/* Seconds that a hypervisor has taken from the cpu since boot; negative when unknown. */
double hil_stolen_s(const char *root, int cpu);

#endif
