#include <errno.h>
#include <stdio.h>

#include "../base/in_child.h"
#include "../record/recover.h"
#include "commands.h"

static const char help[] =
    "usage: hiloco recover DIR\n"
    "\n"
    "Rebuilds the record of the run in DIR if it was cut off, because all processes of the run\n"
    "were killed at once or the disk was full. DIR/trace.h5 then has all rows up to at most 100 "
    "ms\n"
    "before. If there is no DIR/summary.json, it is made from the record, and says that the run\n"
    "was recovered and is not valid. hiloco plot draws what is there. A complete record is not\n"
    "changed, nor is an existing summary.\n"
    "\n"
    "Exit status: 0; 1 if the record cannot be rebuilt, because the disk is full or the record is\n"
    "damaged, and the files stay as they were; 2 if DIR is not the folder of a run, or a run\n"
    "writes to it now.\n";

/* Runs in a child, since the record may be damaged. */
static int recover(const void *dir)
{
    const int rc = hil_recover(dir, stderr);

    return !rc                                               ? HIL_EXIT_OK
           : rc == -ENOENT || rc == -ENOTDIR || rc == -EBUSY ? HIL_EXIT_USAGE
                                                             : HIL_EXIT_FAILED;
}

int hil_command_recover(int argc, char **argv)
{
    struct hil_arguments a;
    int rc = hil_arguments_parse(&a, HIL_TAKES_DIRECTORY, help, argc, argv);
    int status =
        rc ? hil_arguments_status(rc) : hil_in_child(recover, a.scenario, a.scenario, stderr);

    hil_arguments_free(&a);
    return status;
}
