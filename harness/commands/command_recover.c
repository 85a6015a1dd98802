#include <errno.h>
#include <stdio.h>

#include "../base/in_child.h"
#include "../launch/progress.h"
#include "../record/recover.h"
#include "commands.h"

static const char help[] =
    "usage: hiloco recover DIR\n"
    "\n"
    "Makes the record of the run in DIR, DIR/trace.h5, from its journal, if the run could not,\n"
    "because all its processes were killed at once, the disk was full, or it was interrupted. The\n"
    "record then has all rows up to at most 100 ms before. The journal stays until the record is\n"
    "complete, so this may be interrupted, too. If there is no DIR/summary.json, it is made from "
    "the record, and says that the run\n"
    "was recovered and is not valid. hiloco plot draws what is there. A complete record is not\n"
    "changed, nor is an existing summary.\n"
    "\n"
    "Exit status: 0; 1 if the record cannot be made, because the disk is full or the journal is\n"
    "damaged, and the files stay as they were; 2 if DIR is not the folder of a run, or a run\n"
    "writes to it now.\n";

struct recovered {
    const char *dir;
    struct hil_progress_bar bar;
};

static bool show_progress(void *recovered, double share)
{
    struct recovered *r = recovered;

    hil_progress_show_record(&r->bar, r->dir, share);
    return true;
}

/* Runs in a child, since the record may be damaged. */
static int recover(const void *dir)
{
    struct recovered r = {.dir = dir};
    const struct hil_trace_watch watch = {.goes_on = show_progress, .arg = &r};

    hil_progress_begin_record(&r.bar, true);
    const int rc = hil_recover(dir, &watch, stderr);

    return !rc                                               ? HIL_EXIT_OK
           : rc == -ENOENT || rc == -ENOTDIR || rc == -EBUSY ? HIL_EXIT_USAGE
                                                             : HIL_EXIT_FAILED;
}

int hil_command_recover(int argc, char **argv)
{
    struct hil_arguments a = {0};
    int rc = hil_arguments_parse(&a, &(struct hil_command){help, NULL, 1, 1}, argc, argv);
    int status =
        rc ? hil_arguments_status(rc) : hil_in_child(recover, a.scenario, a.scenario, stderr);

    hil_arguments_free(&a);
    return status;
}
