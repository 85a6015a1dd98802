#include "results.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static int make_directories(const char *path)
{
    char part[4096];

    if (strlen(path) >= sizeof part)
        return -ENAMETOOLONG;
    strcpy(part, path);
    for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(part, 0777) && errno != EEXIST)
            return -errno;
        *slash = '/';
    }
    return mkdir(part, 0777) && errno != EEXIST ? -errno : 0;
}

/* A second run within the second gets a name of its own. */
static int make_default(char *path, size_t size, const char *name)
{
    char stamp[32];
    time_t now = time(NULL);
    struct tm local;

    strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", localtime_r(&now, &local));
    int rc = make_directories("results");
    for (int i = 1; !rc && i < 1000; i++) {
        if (i == 1)
            snprintf(path, size, "results/%s-%s", name, stamp);
        else
            snprintf(path, size, "results/%s-%s-%d", name, stamp, i);
        if (mkdir(path, 0777) == 0)
            return 0;
        if (errno != EEXIST)
            return -errno;
    }
    return rc ? rc : -EEXIST;
}

static int write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    if (!f)
        return -errno;
    int rc = fputs(text, f) == EOF ? -EIO : 0;
    return fclose(f) == EOF && !rc ? -errno : rc;
}

int hil_results_directory(char *path, size_t size, const char *wanted, const char *name)
{
    snprintf(path, size, "%s", wanted ? wanted : "results");
    return wanted ? make_directories(wanted) : make_default(path, size, name);
}

int hil_results_make(char *path, size_t size, const char *wanted, const struct hil_scenario *s)
{
    char file[4200];
    int rc = hil_results_directory(path, size, wanted, s->name);

    if (rc)
        return rc;
    snprintf(file, sizeof file, "%s/scenario.yaml", path);
    return write_text(file, s->resolved);
}
