#include "fuzz.h"

#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/hiloco-fuzz-XXXXXX";
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
    if (!mkdtemp(folder) || setenv("PATH", "/nonexistent", 1) || atexit(remove_folder))
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
