/* For the test of the runner itself (tests/tcp/limits.sh): what it has to tell apart. */
#include <criterion/criterion.h>
#include <unistd.h>

#include "tests/nodes.h"

Test(runner, one_hangs)
{
    if (getenv("TEST_HANGS"))
        fork();
    while (getenv("TEST_HANGS"))
        pause();
}

Test(runner, one_moves)
{
    for (int i = 0; i < 15; i++) {
        usleep(200000);
        test_moved();
    }
}
