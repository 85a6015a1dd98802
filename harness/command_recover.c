#include <errno.h>
#include <stdio.h>

#include "commands.h"
#include "record/recover.h"

static const char help[] =
    "usage: hiloco recover DIR\n"
    "\n"
    "Makes the record of the run in DIR whole that was cut off: all of the run's processes were\n"
    "killed at once, or the disk was too full to end the record. DIR/trace.h5 then has all rows "
    "up\n"
    "to at most 100 ms before. A record that is whole stays as it is.\n"
    "\n"
    "Exit status: 0; 1 when it cannot be made whole, as when the disk is full: what is there "
    "stays;\n"
    "2 when DIR is not the folder of a run, or a run writes to it now.\n";

int hil_command_recover(int argc, char **argv)
{
    struct hil_arguments a;
    int rc = hil_arguments_parse(&a, HIL_TAKES_DIRECTORY, help, argc, argv);
    int status = hil_arguments_status(rc);

    if (!rc) {
        rc = hil_recover(a.scenario, stderr);
        status = !rc                                               ? HIL_EXIT_OK
                 : rc == -ENOENT || rc == -ENOTDIR || rc == -EBUSY ? HIL_EXIT_USAGE
                                                                   : HIL_EXIT_FAILED;
    }
    hil_arguments_free(&a);
    return status;
}
