#include "fmu_library.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#define LIBRARY_CPU "x86_64"
#elif defined(__aarch64__)
#define LIBRARY_CPU "aarch64"
#elif defined(__riscv)
#define LIBRARY_CPU "riscv64"
#else
#define LIBRARY_CPU "unknown"
#endif

enum { LIBRARY_NEIGHBOURS_MAX = 64, LIBRARY_NAME_BYTES = 256 };

/* --- finding the library ---------------------------------------------------------------------- */

/* FMI 2.0 has a different name for this platform; some tools use the name of 3.0 there. */
static const char *library_platform(unsigned version)
{
    return version == 2 && strcmp(LIBRARY_CPU, "x86_64") == 0 ? "linux64" : LIBRARY_CPU "-linux";
}

/* The path of the library, which the caller frees; NULL: memory ran out. */
static char *library_path(const char *folder, const char *platform, const char *identifier)
{
    char *path;

    return asprintf(&path, "%s/binaries/%s/%s.so", folder, platform, identifier) < 0 ? NULL : path;
}

static void library_list_platforms(const char *folder, char *text, size_t size)
{
    char path[4200];
    size_t used = 0;

    text[0] = '\0';
    snprintf(path, sizeof path, "%s/binaries", folder);
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && (e = readdir(dir)) && used < size;)
        if (e->d_name[0] != '.')
            used +=
                (size_t)snprintf(text + used, size - used, "%s%.40s", used ? ", " : "", e->d_name);
    if (dir)
        closedir(dir);
    if (!used)
        snprintf(text, size, "none, as one of source code alone");
}

/* The names of the libraries in the folder of this platform; "": it is not there. */
static void library_list_files(const char *folder, const char *platform, char *text, size_t size)
{
    char path[4200];
    size_t used = 0;

    text[0] = '\0';
    snprintf(path, sizeof path, "%s/binaries/%s", folder, platform);
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && (e = readdir(dir)) && used < size;) {
        const size_t length = strlen(e->d_name);
        if (length > 3 && strcmp(e->d_name + length - 3, ".so") == 0)
            used +=
                (size_t)snprintf(text + used, size - used, "%s%.80s", used ? ", " : "", e->d_name);
    }
    if (dir)
        closedir(dir);
}

int fmu_library_find(char **path, const char *folder, const struct fmu_description *d,
                     const struct hil_said *said)
{
    const char *platform = library_platform(d->version);
    char there[256];

    for (unsigned version = d->version; version <= 3; version++) {
        *path = library_path(folder, library_platform(version), d->identifier);
        if (!*path)
            return hil_say_no_memory(said);
        if (access(*path, R_OK) == 0)
            return 0;
        free(*path);
        library_list_files(folder, library_platform(version), there, sizeof there);
        if (*there)
            return hil_say(said, -ENOEXEC,
                           "its library in binaries/%s is called %s; allowed: %s.so, after its "
                           "modelIdentifier",
                           library_platform(version), there, d->identifier);
    }
    library_list_platforms(folder, there, sizeof there);
    hil_say(said, -ENOEXEC,
            "it has no binaries/%s/%s.so, for this platform; it has %s; allowed: an FMU with it",
            platform, d->identifier, there);
    return -ENOEXEC;
}

/* --- its dependencies ------------------------------------------------------------------------- */

/* The loader's error begins with the name of the missing library. */
static bool library_missing(const char *error, char name[LIBRARY_NAME_BYTES])
{
    const char *end = strstr(error, ": cannot open shared object file");
    const char *begin = error;

    for (const char *c = error; end && c < end; c++)
        if (*c == ' ')
            begin = c + 1;
    if (!end || end - begin >= LIBRARY_NAME_BYTES)
        return false;
    memcpy(name, begin, (size_t)(end - begin));
    name[end - begin] = '\0';
    return true;
}

/* Opens a library that another one needs if it lies beside that one. The loader then has it. */
static bool library_open_neighbour(const char *path, const char *name, unsigned depth);

/* Like dlopen(). The name of a library that is still missing is written to name[]. */
static void *library_open_with_neighbours(const char *path, unsigned depth,
                                          char name[LIBRARY_NAME_BYTES])
{
    char before[LIBRARY_NAME_BYTES] = "";

    for (unsigned tries = 0; tries < LIBRARY_NEIGHBOURS_MAX; tries++) {
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (library || !library_missing(dlerror(), name) || strcmp(before, name) == 0)
            return library;
        memcpy(before, name, sizeof before);
        if (!library_open_neighbour(path, name, depth + 1))
            return NULL;
    }
    return NULL;
}

static bool library_open_neighbour(const char *path, const char *name, unsigned depth)
{
    const char *slash = strrchr(path, '/');
    char neighbour[4200], missing[LIBRARY_NAME_BYTES];

    if (depth > LIBRARY_NEIGHBOURS_MAX || !slash || strchr(name, '/'))
        return false;
    snprintf(neighbour, sizeof neighbour, "%.*s/%s", (int)(slash - path), path, name);
    return access(neighbour, R_OK) == 0 &&
           library_open_with_neighbours(neighbour, depth, missing) != NULL;
}

static int library_say_why(const char *path, const struct hil_said *said)
{
    char name[LIBRARY_NAME_BYTES];

    dlopen(path, RTLD_NOW | RTLD_LOCAL); /* again, to get the reason */
    const char *error = dlerror();
    if (error && library_missing(error, name))
        return hil_say(
            said, -ENOEXEC,
            "it needs the library %s, which is neither in it nor where the loader looks; "
            "allowed: one that is installed, or named by LD_LIBRARY_PATH",
            name);
    return hil_say(said, -ENOEXEC, "its library cannot be loaded (%s); allowed: one that can",
                   error ? error : "no reason given");
}

/* --- exported functions ----------------------------------------------------------------------- */

int fmu_library_open(void **library, const char *path, const char *prefix,
                     const char *const *symbols, unsigned needed, void **functions,
                     const struct hil_said *said)
{
    char name[LIBRARY_NAME_BYTES];

    *library = library_open_with_neighbours(path, 0, name);
    if (!*library)
        return library_say_why(path, said);
    for (unsigned i = 0; symbols[i]; i++) {
        snprintf(name, sizeof name, "%s%s", prefix, symbols[i]);
        functions[i] = dlsym(*library, name);
        if (functions[i] || i >= needed)
            continue;
        dlclose(*library);
        return hil_say(said, -ENOEXEC, "its library exports no %s; allowed: all of FMI", name);
    }
    return 0;
}
