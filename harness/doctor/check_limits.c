/* Checks what the kernel lets this user request. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "files.h"
#include "groups.h"

enum { CAPABILITY_IPC_LOCK = 14, CAPABILITY_SYS_NICE = 23 };

static bool is_capable(const char *root, int capability)
{
    char text[8192];

    if (hil_file_text(root, text, sizeof text, "/proc/self/status"))
        return false;
    const char *effective = hil_line_of(text, "CapEff");
    return effective && (strtoull(effective, NULL, 16) >> capability & 1);
}

/* The soft limit; -1: unlimited, -2: unknown. */
static long long limit_of(const char *root, const char *name)
{
    char text[8192];

    if (hil_file_text(root, text, sizeof text, "/proc/self/limits"))
        return -2;
    const char *value = hil_line_of(text, name);
    if (!value)
        return -2;
    return strncmp(value, "unlimited", 9) == 0 ? -1 : strtoll(value, NULL, 10);
}

static void raise_limit(struct hil_finding *f, const char *name, const char *value)
{
    const char *user = getenv("USER");

    hil_command(f, "echo '%s - %s %s' >>/etc/security/limits.d/hiloco.conf  # and log in anew",
                user ? user : "NAME", name, value);
}

void hil_check_rtprio(const struct hil_machine *p, struct hil_finding *f)
{
    char value[24];
    long long limit = limit_of(p->root, "Max realtime priority");

    snprintf(value, sizeof value, "%d", p->priority);
    if (p->priority == 0)
        hil_found(f, HIL_FINE, "no executor asks for SCHED_FIFO");
    else if (is_capable(p->root, CAPABILITY_SYS_NICE))
        hil_found(f, HIL_FINE, "SCHED_FIFO is allowed, by CAP_SYS_NICE");
    else if (limit == -2)
        hil_found(f, HIL_UNKNOWN, "/proc/self/limits cannot be read");
    else if (limit == -1 || limit >= p->priority)
        hil_found(f, HIL_FINE, "SCHED_FIFO %d is allowed", p->priority);
    else {
        hil_found(f, HIL_SERIOUS, "SCHED_FIFO is refused: priority %d asked for, %lld allowed",
                  p->priority, limit);
        raise_limit(f, "rtprio", value);
    }
}

/* Whether the scheduler first shares the cores among sessions. It does not for a process in a
 * control group that it shares them with. */
static bool groups_sessions(const char *root)
{
    struct hil_group group;
    long long enabled = 0;
    char text[32];

    if (hil_file_number(root, &enabled, "/proc/sys/kernel/sched_autogroup_enabled") || !enabled)
        return false;
    if (!hil_group_own(root, "cpu", &group) || hil_group_is_root(&group))
        return true;
    return !group.is_old && hil_file_text(root, text, sizeof text, "%s/cpu.weight", group.path);
}

void hil_check_sessions(const struct hil_machine *p, struct hil_finding *f)
{
    if (!groups_sessions(p->root))
        hil_found(f, HIL_FINE, "the kernel does not group processes by session");
    else if (is_capable(p->root, CAPABILITY_SYS_NICE) && p->priority > 0)
        hil_found(f, HIL_FINE, "the loops' session has precedence over others while they run");
    else {
        hil_found(f, HIL_WARNING,
                  "each other session gets as much of a core as the loops' session (autogroup)");
        hil_advice(f, p->priority > 0 ? "Run as root, or run nothing else meanwhile."
                                      : "Run nothing else meanwhile, or ask for a priority.");
    }
}

void hil_check_memlock(const struct hil_machine *p, struct hil_finding *f)
{
    long long limit = limit_of(p->root, "Max locked memory");

    if (is_capable(p->root, CAPABILITY_IPC_LOCK))
        hil_found(f, HIL_FINE, "memory may be locked, by CAP_IPC_LOCK");
    else if (limit == -2)
        hil_found(f, HIL_UNKNOWN, "/proc/self/limits cannot be read");
    else if (limit == -1)
        hil_found(f, HIL_FINE, "memory may be locked without a limit");
    else {
        hil_found(f, HIL_WARNING, "at most %lld KiB of memory may be locked", limit / 1024);
        raise_limit(f, "memlock", "unlimited");
    }
}
