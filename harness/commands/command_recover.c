#include <errno.h>
#include <stdio.h>

#include "../base/apart.h"
#include "../record/recover.h"
#include "commands.h"

static const char help[] =
    "usage: hiloco recover DIR\n"
    "\n"
    "Makes the record of the run in DIR whole that was cut off: all of the run's processes were\n"
    "killed at once, or the disk was too full to end the record. DIR/trace.h5 then has all rows\n"
    "up to at most 100 ms before. Where the run left no DIR/summary.json, that is written from "
    "the\n"
    "record: it says that the run was recovered and is not valid. hiloco plot draws what is "
    "there.\n"
    "A record that is whole stays as it is, and so does a summary.\n"
    "\n"
    "Exit status: 0; 1 when it cannot be made whole, as when the disk is full or the record is\n"
    "damaged: what is there stays;\n"
    "2 when DIR is not the folder of a run, or a run writes to it now.\n";

/* Of a record that may be damaged. */
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
    int status = rc ? hil_arguments_status(rc) : hil_apart(recover, a.scenario, a.scenario, stderr);

    hil_arguments_free(&a);
    return status;
}
