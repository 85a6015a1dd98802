#include "standard_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "exit_status.h"

void hil_standard_files_open(void)
{
    int fd;

    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

int hil_standard_files_end(int status)
{
    const bool lost_before = ferror(stdout);

    if (!fflush(stdout) && !lost_before)
        return status;
    fprintf(stderr, "standard output: %s\n", lost_before ? "cannot be written" : strerror(errno));
    return status ? status : HIL_EXIT_FAILED;
}
