#include "standard_files.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../base/exit_status.h"

int hil_standard_files_end(int status)
{
    const bool lost_before = ferror(stdout);

    if (!fflush(stdout) && !lost_before)
        return status;
    fprintf(stderr, "standard output: %s\n", lost_before ? "cannot be written" : strerror(errno));
    return status ? status : HIL_EXIT_FAILED;
}
