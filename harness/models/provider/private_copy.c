#include "private_copy.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

/* A library's file, mapped. */
struct file {
    const unsigned char *at;
    size_t size;
};

/* --- the image -------------------------------------------------------------------------------- */

static bool file_has(const struct file *f, uint64_t offset, uint64_t size)
{
    return offset <= f->size && size <= f->size - offset;
}

static int image_write(int image, const struct file *f, uint64_t offset, uint64_t size)
{
    while (size) {
        const ssize_t put = pwrite(image, f->at + offset, size, (off_t)offset);
        if (put < 0)
            return -errno;
        offset += (uint64_t)put;
        size -= (uint64_t)put;
    }
    return 0;
}

/* Writes only the parts that are loaded: information for debuggers can be large. */
static int image_write_parts(int image, const struct file *f, const ElfW(Ehdr) * header)
{
    const ElfW(Phdr) *parts = (const void *)(f->at + header->e_phoff);
    const size_t size = header->e_phnum * sizeof *parts;

    if (!file_has(f, header->e_phoff, size))
        return -ENOEXEC;
    int rc = image_write(image, f, 0, sizeof *header);
    if (!rc)
        rc = image_write(image, f, header->e_phoff, size);
    for (unsigned i = 0; !rc && i < header->e_phnum; i++)
        if (!file_has(f, parts[i].p_offset, parts[i].p_filesz))
            rc = -ENOEXEC;
        else if (parts[i].p_type == PT_LOAD)
            rc = image_write(image, f, parts[i].p_offset, parts[i].p_filesz);
    return rc;
}

/* A C++ compiler marks some variables, such as the static ones of inline functions, as unique in
 * the process. The mark is left out. */
static int image_unmark(int image, const struct file *f, const ElfW(Shdr) * section)
{
    const size_t at = offsetof(ElfW(Sym), st_info);
    int rc = 0;

    if (section->sh_type != SHT_DYNSYM || !file_has(f, section->sh_offset, section->sh_size))
        return 0;
    for (uint64_t i = 0; !rc && i < section->sh_size / sizeof(ElfW(Sym)); i++) {
        const uint64_t offset = section->sh_offset + i * sizeof(ElfW(Sym)) + at;
        const unsigned char info = f->at[offset];
        const unsigned char normal = (unsigned char)ELF64_ST_INFO(STB_GLOBAL, info);
        if (ELF64_ST_BIND(info) == STB_GNU_UNIQUE && pwrite(image, &normal, 1, (off_t)offset) != 1)
            rc = -errno;
    }
    return rc;
}

static int image_unmark_all(int image, const struct file *f, const ElfW(Ehdr) * header)
{
    const ElfW(Shdr) *sections = (const void *)(f->at + header->e_shoff);
    int rc = 0;

    if (!file_has(f, header->e_shoff, header->e_shnum * sizeof *sections))
        return 0;
    for (unsigned i = 0; !rc && i < header->e_shnum; i++)
        rc = image_unmark(image, f, &sections[i]);
    return rc;
}

static int image_fill(int image, const struct file *f)
{
    const ElfW(Ehdr) *header = (const void *)f->at;
    int rc = f->size < sizeof *header ? -ENOEXEC : image_write_parts(image, f, header);

    return rc ? rc : image_unmark_all(image, f, header);
}

static int file_open(struct file *f, const char *path)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat s;

    if (file < 0)
        return -errno;
    void *at = MAP_FAILED;
    if (!fstat(file, &s))
        at = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    const int rc = at == MAP_FAILED ? -errno : 0;
    close(file);
    *f = (struct file){at, (size_t)s.st_size};
    return rc;
}

int hil_private_image(const char *path)
{
    struct file f = {0};
    int rc = file_open(&f, path);

    if (rc)
        return rc;
    const int image = memfd_create("hiloco-model", MFD_CLOEXEC);
    rc = image < 0 ? -errno : image_fill(image, &f);
    munmap((void *)f.at, f.size);
    if (!rc)
        return image;
    if (image >= 0)
        close(image);
    return rc;
}

/* --- a copy ----------------------------------------------------------------------------------- */

static int copy_of(int image)
{
    const int copy = memfd_create("hiloco-model", MFD_CLOEXEC);
    off_t at = 0;
    ssize_t sent = 1;

    while (copy >= 0 && sent > 0)
        sent = sendfile(copy, image, &at, 1 << 30);
    if (copy < 0 || sent == 0)
        return copy;
    const int error = errno;
    close(copy);
    errno = error;
    return -1;
}

static bool copy_is_loaded(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);

    if (library)
        dlclose(library);
    return library;
}

/* The loader takes two files of one name for the same, even if the first has been closed. So each
 * name is different: the bits of a number tell what stands between the folder and the file. An FMU
 * has a number of its own, and may have used the name. */
static void copy_name(char path[128], int copy)
{
    static _Atomic unsigned copies;

    do {
        char *to = stpcpy(path, "/proc/self/fd/");
        for (unsigned number = copies++; number; number >>= 1)
            to = stpcpy(to, number & 1 ? "./" : "/");
        sprintf(to, "%d", copy);
    } while (copy_is_loaded(path));
}

/* Debuggers, and dladdr() in the model, find the file that the copy was made of. */
static void copy_call(void *library, const char *path)
{
    struct link_map *map;
    char *name = strdup(path);

    if (!name || dlinfo(library, RTLD_DI_LINKMAP, &map)) {
        free(name);
        return;
    }
    free(map->l_name); /* the loader frees ours */
    map->l_name = name;
}

void *hil_private_open(int image, const char *path)
{
    char name[128];

    dlerror(); /* forget what was before */
    const int copy = copy_of(image);
    if (copy < 0)
        return NULL;
    copy_name(name, copy);
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    close(copy);
    if (library)
        copy_call(library, path);
    return library;
}
