/*
 * The kernel puts the processes of each session (setsid) into a group of their own, an autogroup,
 * and first shares the cores among the groups. Priorities of ordinary processes, SCHED_IDLE
 * included, only count within a group. So what runs beside the loops stays in their session, and
 * the group as a whole has precedence over other sessions while the loops run.
 */
#ifndef HIL_AUTOGROUP_H
#define HIL_AUTOGROUP_H

/* The nice of an autogroup that cannot be raised, or that others have raised. */
enum { HIL_AUTOGROUP_KEPT = 100 };

struct hil_autogroup {
    int usual; /* the nice to put back; HIL_AUTOGROUP_KEPT: none */
    int line;  /* to the keeper; -1: there is none */
};

/* The nice that the text of a /proc/PID/autogroup tells; HIL_AUTOGROUP_KEPT if it tells none. */
int hil_autogroup_parse(const char *text);

/* Gives the group precedence, if the kernel permits. The group may be that of somebody's shell, so
 * if this process is killed before it puts the nice back, a keeper does: a small process that waits
 * for its end. */
void hil_autogroup_raise(struct hil_autogroup *group);
void hil_autogroup_put_back(struct hil_autogroup *group);

#endif
