#include "autogroup.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "reap.h"

static const char AUTOGROUP[] = "/proc/self/autogroup";

enum { AUTOGROUP_FIRST = -20 };

int hil_autogroup_parse(const char *text)
{
    int nice;

    return sscanf(text, "/autogroup-%*d nice %d", &nice) == 1 ? nice : HIL_AUTOGROUP_KEPT;
}

static int autogroup_read(void)
{
    char text[64] = "";
    FILE *f = fopen(AUTOGROUP, "re");

    if (f && !fgets(text, sizeof text, f))
        text[0] = '\0';
    if (f)
        fclose(f);
    return hil_autogroup_parse(text);
}

static void autogroup_write(int nice)
{
    FILE *f = fopen(AUTOGROUP, "we");

    if (!f)
        return;
    fprintf(f, "%d", nice);
    fclose(f);
}

/* --- the keeper ------------------------------------------------------------------------------- */

/* A line means that nothing is to be put back; an end without one, that the process was killed. The
 * shell that was started ends at once, and leaves the one that waits to init. */
static char keeper_script[] =
    "trap '' HUP INT QUIT TERM; exec 3<&0; { read x <&3 || echo \"$0\" >/proc/self/autogroup; } &";

/* A shell, because a fork would copy the loop's locked memory. In the session, but in a process
 * group of its own, which no kill of a shell's job reaches. */
static int keeper_spawn(int theirs, int usual)
{
    char nice[16];
    char *const argv[] = {"sh", "-c", keeper_script, nice, NULL}, *const environment[] = {NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    pid_t shell;
    int status;

    snprintf(nice, sizeof nice, "%d", usual);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    int rc = posix_spawn_file_actions_adddup2(&files, theirs, 0);
    if (!rc)
        rc = posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_RDWR, 0);
    if (!rc)
        rc = posix_spawn_file_actions_adddup2(&files, 1, 2);
    if (!rc)
        rc = posix_spawn_file_actions_addclosefrom_np(&files, 3);
    if (!rc)
        rc = posix_spawn(&shell, "/bin/sh", &files, &attributes, argv, environment);
    if (!rc)
        hil_reap(shell, 0, &status);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return -rc;
}

/* Returns the line to it, or a negative errno. */
static int keeper_start(int usual)
{
    int line[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, line))
        return -errno;
    const int rc = keeper_spawn(line[1], usual);
    close(line[1]);
    if (!rc)
        return line[0];
    close(line[0]);
    return rc;
}

static void keeper_dismiss(int line)
{
    send(line, "\n", 1, MSG_NOSIGNAL);
    close(line);
}

/* --- the group -------------------------------------------------------------------------------- */

void hil_autogroup_raise(struct hil_autogroup *group)
{
    const int usual = autogroup_read();

    *group = (struct hil_autogroup){.usual = HIL_AUTOGROUP_KEPT, .line = -1};
    if (usual == HIL_AUTOGROUP_KEPT || usual == AUTOGROUP_FIRST)
        return;
    autogroup_write(AUTOGROUP_FIRST);
    if (autogroup_read() != AUTOGROUP_FIRST)
        return;
    group->usual = usual;
    group->line = keeper_start(usual);
    if (group->line < 0)
        hil_autogroup_put_back(group);
}

void hil_autogroup_put_back(struct hil_autogroup *group)
{
    if (group->usual == HIL_AUTOGROUP_KEPT)
        return;
    autogroup_write(group->usual);
    if (group->line >= 0)
        keeper_dismiss(group->line);
    group->usual = HIL_AUTOGROUP_KEPT;
}
