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

/* The nice that the text of a /proc/PID/autogroup tells; HIL_AUTOGROUP_KEPT if it tells none. */
int hil_autogroup_parse(const char *text);

/* The nice of this process's group while no loops run. */
int hil_autogroup_usual(void);

/* Gives the group precedence, if the kernel permits. The loops' process takes it back after its
 * loops; the launcher does so, too, as the process may have been killed. */
void hil_autogroup_raise(void);
void hil_autogroup_put_back(int usual);

#endif
