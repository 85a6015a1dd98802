/* How much time a hypervisor has taken from the cpus of this machine, if it is a guest. */
#ifndef HIL_STEAL_H
#define HIL_STEAL_H

#include <stdbool.h>

/* Ticks of a cpu since boot: all of them, and the part that a hypervisor took while there was work.
 */
struct hil_steal {
    unsigned long long stolen, all;
};

/* `root` is prefixed to the path of /proc/stat; "" means this machine. False when unknown. */
bool hil_steal_read(const char *root, int cpu, struct hil_steal *s);

/* Seconds that a hypervisor has taken from the cpu since boot; negative when unknown. */
double hil_stolen_s(const char *root, int cpu);

#endif
