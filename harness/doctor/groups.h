/*
 * The control group of this process, and its parent groups.
 */
#ifndef HIL_DOCTOR_GROUPS_H
#define HIL_DOCTOR_GROUPS_H

#include <stdbool.h>

struct hil_group {
    char path[480]; /* "/sys/fs/cgroup/user.slice" */
    unsigned top;   /* length of the mount point of the hierarchy at the start of `path` */
    bool is_old;    /* the group is in a cgroup v1 hierarchy that has the requested controller */
};

/* Finds this process's group for the controller; false when the kernel does not tell. */
bool hil_group_own(const char *root, const char *controller, struct hil_group *group);

/* Whether it is the root of its hierarchy. */
bool hil_group_is_root(const struct hil_group *group);

/* Replaces the group by its parent; false when it was the root. */
bool hil_group_leave(struct hil_group *group);

#endif
