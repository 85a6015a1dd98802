#include "fuzz.h"

#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/temporary.h"

/* With FUZZ_CPU_S the fuzzer ends in order once it has had so many seconds of processor time: by
 * SIGUSR1, for which libFuzzer does so. Its own limit counts also the time that others had. */
__attribute__((constructor)) static void limit_processor_time(void)
{
    struct sigevent end = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    const char *seconds = getenv("FUZZ_CPU_S");
    struct itimerspec after = {.it_value.tv_sec = seconds ? atol(seconds) : 0};
    timer_t timer;

    if (after.it_value.tv_sec > 0 && (timer_create(CLOCK_PROCESS_CPUTIME_ID, &end, &timer) ||
                                      timer_settime(timer, 0, &after, NULL)))
        abort();
}

static char folder[TEMPORARY_SIZE];
static pid_t owner;

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
    (void)status, (void)type, (void)where;
    return remove(path);
}

static void remove_folder(void)
{
    if (getpid() == owner)
        nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *fuzz_folder(void)
{
    if (owner)
        return folder;
    if (!temporary_folder(folder) || setenv("PATH", "/nonexistent", 1) || atexit(remove_folder))
        abort();
    owner = getpid();
    return folder;
}

const char *fuzz_file(const char *name, const void *data, size_t size)
{
    static char path[256];

    snprintf(path, sizeof path, "%s/%s", fuzz_folder(), name);
    FILE *file = data ? fopen(path, "w") : NULL;
    if (data && (!file || fwrite(data, 1, size, file) != size || fclose(file)))
        abort();
    return path;
}

FILE *fuzz_messages(void)
{
    static FILE *messages;

    if (!messages)
        messages = fopen("/dev/null", "w");
    return messages;
}

uint64_t fuzz_take(const uint8_t **data, size_t *size, size_t bytes)
{
    uint64_t number = 0;

    if (*size < bytes) {
        *size = 0;
        return 0;
    }
    memcpy(&number, *data, bytes);
    *data += bytes;
    *size -= bytes;
    return number;
}
