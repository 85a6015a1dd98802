#include "native.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "../../base/installed.h"
#include "native_component.h"
#include "native_needs.h"
#include "tables.h"

static bool native_is(const char *name)
{
    const size_t length = strlen(name);

    return strchr(name, '/') || (length > 3 && strcmp(name + length - 3, ".so") == 0);
}

/* --- the file ------------------------------------------------------------------------------- */

/* The folder in which `make install` puts models; "": unknown. */
static void installed_folder(char *folder, size_t size)
{
    char self[PATH_MAX];

    folder[0] = '\0';
    if (hil_installed_self(self))
        snprintf(folder, size, "%s/lib/hiloco/models", dirname(dirname(self)));
}

/* The path of `name` in a folder, or NULL if it is not there. */
static char *path_in(const char *folder, size_t length, const char *name)
{
    char *joined, *path = NULL;

    if (asprintf(&joined, "%.*s/%s", (int)length, folder, name) < 0)
        return NULL;
    path = realpath(joined, NULL);
    free(joined);
    return path;
}

static char *path_in_list(const char *folders, const char *name)
{
    char *path = NULL;

    while (!path && *folders) {
        const size_t length = strcspn(folders, ":");
        if (length)
            path = path_in(folders, length, name);
        folders += length + (folders[length] == ':');
    }
    return path;
}

int hil_model_file(char **path, const char *name, const char *folder, const struct hil_said *said)
{
    const char *folders = getenv("HILOCO_MODELS");
    char installed[PATH_MAX + 32];

    if (name[0] == '/') {
        *path = realpath(name, NULL);
        return *path ? 0
                     : hil_say(said, -errno, "it cannot be found (%s); allowed: a file",
                               strerror(errno));
    }
    installed_folder(installed, sizeof installed);
    *path = path_in(folder, strlen(folder), name);
    if (!*path && folders)
        *path = path_in_list(folders, name);
    if (!*path)
        *path = path_in(installed, strlen(installed), name);
    return *path ? 0
                 : hil_say(said, -ENOENT,
                           "there is no such file; allowed: one in %s, in HILOCO_MODELS (%s) or "
                           "in %s",
                           folder, folders && *folders ? folders : "not set", installed);
}

/* --- checking the file for this machine ----------------------------------------------------- */

static const char *machine_name(unsigned machine, char *number, size_t size)
{
    switch (machine) {
    case EM_X86_64:
        return "x86-64";
    case EM_386:
        return "x86";
    case EM_AARCH64:
        return "AArch64";
    case EM_ARM:
        return "ARM";
    case EM_RISCV:
        return "RISC-V";
    case EM_PPC64:
        return "PowerPC64";
    default:
        snprintf(number, size, "machine %u", machine);
        return number;
    }
}

static void say_machine(const ElfW(Ehdr) * header, char *text, size_t size)
{
    const bool big = header->e_ident[EI_DATA] == ELFDATA2MSB;
    const unsigned char *at = (const unsigned char *)&header->e_machine;
    const unsigned machine = (unsigned)(big ? at[0] << 8 | at[1] : at[1] << 8 | at[0]);
    char number[24];

    snprintf(text, size, "%s, %s bits, %s-endian", machine_name(machine, number, sizeof number),
             header->e_ident[EI_CLASS] == ELFCLASS32 ? "32" : "64", big ? "big" : "little");
}

static bool read_header(int file, ElfW(Ehdr) * header)
{
    return pread(file, header, sizeof *header, 0) == (ssize_t)sizeof *header &&
           memcmp(header->e_ident, ELFMAG, SELFMAG) == 0;
}

/* Our program's own ELF header tells what it can load. */
static int check_machine(const ElfW(Ehdr) * header, const struct hil_said *said)
{
    const int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    char theirs[64], ours[64];
    ElfW(Ehdr) own;
    const bool read = self >= 0 && read_header(self, &own);

    if (self >= 0)
        close(self);
    if (!read || (memcmp(header->e_ident, own.e_ident, EI_VERSION) == 0 &&
                  header->e_machine == own.e_machine))
        return 0;
    say_machine(header, theirs, sizeof theirs);
    say_machine(&own, ours, sizeof ours);
    return hil_say(said, -ENOEXEC, "it is for another machine (%s); allowed: %s", theirs, ours);
}

/* The loader maps what the header declares; if the file is shorter, the program would crash. */
static int check_length(int file, const ElfW(Ehdr) * header, uint64_t length,
                        const struct hil_said *said)
{
    for (unsigned i = 0; i < header->e_phnum; i++) {
        ElfW(Phdr) part;
        const off_t at = (off_t)(header->e_phoff + i * sizeof part);
        if (pread(file, &part, sizeof part, at) == (ssize_t)sizeof part &&
            part.p_offset <= length && part.p_filesz <= length - part.p_offset)
            continue;
        return hil_say(said, -ENOEXEC, "its end is missing; allowed: a whole shared library");
    }
    return 0;
}

static int check_elf(int file, const struct hil_said *said)
{
    ElfW(Ehdr) header;
    struct stat s;

    if (fstat(file, &s))
        return hil_say(said, -errno, "it cannot be read (%s); allowed: a shared library",
                       strerror(errno));
    if (!S_ISREG(s.st_mode) || !read_header(file, &header))
        return hil_say(said, -ENOEXEC,
                       "it is not a shared library (ELF)%s; allowed: one that exports hiloco_model",
                       S_ISDIR(s.st_mode) ? " but a folder" : "");
    int rc = check_machine(&header, said);
    if (!rc && header.e_type != ET_DYN)
        rc = hil_say(said, -ENOEXEC, "it is not a shared library; allowed: one made by cc -shared");
    return rc ? rc : check_length(file, &header, (uint64_t)s.st_size, said);
}

int hil_model_file_hash(int file, uint64_t *hash, const struct hil_said *said)
{
    XXH3_state_t *state = XXH3_createState();
    char block[65536];
    ssize_t got = 0;

    if (!state)
        return hil_say_no_memory(said);
    XXH3_64bits_reset(state);
    for (off_t at = 0; (got = pread(file, block, sizeof block, at)) > 0; at += got)
        XXH3_64bits_update(state, block, (size_t)got);
    *hash = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    return got ? hil_say(said, -EIO, "it cannot be read; allowed: a file that can") : 0;
}

static int check_file(const char *path, uint64_t *hash, const struct hil_said *said)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* it could be a pipe */

    if (file < 0)
        return hil_say(said, -errno, "it cannot be opened (%s); allowed: a file that can",
                       strerror(errno));
    int rc = check_elf(file, said);
    if (!rc)
        rc = hil_model_file_hash(file, hash, said);
    close(file);
    return rc;
}

/* --- the model ------------------------------------------------------------------------------ */

static int wrap_model(struct hil_loaded *made, const struct hil_model *original,
                      const struct hil_said *said)
{
    struct hil_native *native = calloc(1, sizeof *native);

    if (!native)
        return hil_say_no_memory(said);
    const int rc = hil_native_open(native, made->name, original);
    if (rc) {
        free(native);
        return hil_say(said, rc, "it cannot be copied (%s); allowed: a file that can",
                       strerror(-rc));
    }
    made->own = native;
    made->model = &native->model;
    return 0;
}

/* The library itself stays loaded for its tables. */
static int open_model(struct hil_loaded *made, const struct hil_said *said)
{
    char wrong[256];
    void *library = dlopen(made->name, RTLD_NOW | RTLD_LOCAL);

    if (!library)
        return hil_say(said, -ENOEXEC,
                       "it cannot be loaded (%s); allowed: a shared library "
                       "that needs no more than the loader finds",
                       dlerror());
    const struct hil_model *original = dlsym(library, "hiloco_model");
    int rc = 0;
    if (!original)
        rc = hil_say(said, -ENOEXEC,
                     "it exports no hiloco_model; allowed: one struct hil_model of that name");
    else if (hil_model_check(original, wrong, sizeof wrong))
        rc = hil_say_wrong_model(said, wrong);
    else
        rc = wrap_model(made, original, said);
    made->once = hil_native_needs_beside(library);
    if (rc)
        dlclose(library);
    return rc;
}

static int native_settings(struct hil_loaded *made, const struct hil_said *said)
{
    for (unsigned i = 0; i < made->settings.count; i++) {
        const struct hil_setting *s = &made->settings.at[i];
        if (strcmp(s->key, "apart") != 0)
            return hil_say(said, -EINVAL, "%s is not a setting of a shared library; allowed: apart",
                           s->key);
        made->apart = strcmp(s->text, "true") == 0;
        if (!made->apart && strcmp(s->text, "false") != 0)
            return hil_say(said, -EINVAL, "its setting apart is %s; allowed: true or false",
                           s->text);
    }
    return 0;
}

static int native_load(struct hil_loaded *made, const struct hil_said *said)
{
    int rc = native_settings(made, said);

    if (rc)
        return rc;
    rc = check_file(made->name, &made->hash, said);
    return rc ? rc : open_model(made, said);
}

static void native_unload(struct hil_loaded *made)
{
    struct hil_native *native = made->own;

    hil_native_close(native);
    free(native);
}

const struct hil_provider hil_native_provider = {
    .example = "a shared library such as ./my.so",
    .takes = native_is,
    .locate = hil_model_file,
    .load = native_load,
    .unload = native_unload,
};
