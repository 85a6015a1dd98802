/*
 * The control group that this process is in, and those around it.
 */
#ifndef HIL_DOCTOR_GROUPS_H
#define HIL_DOCTOR_GROUPS_H

#include <stdbool.h>

struct hil_group {
    char path[480]; /* "/sys/fs/cgroup/user.slice" */
    unsigned top;   /* the length of its path without the group: where the hierarchy is mounted */
    bool is_old;    /* of cgroup v1, whose hierarchy has the controller that was asked for */
};

/* This process's group under the controller; false when the kernel does not tell. */
bool hil_group_own(const char *root, const char *controller, struct hil_group *group);

/* Whether it is the first of its hierarchy. */
bool hil_group_is_root(const struct hil_group *group);

/* Makes it the group that it is in; false when it was the first. */
bool hil_group_leave(struct hil_group *group);

#endif
