#include "json_file.h"

#include <errno.h>

#include "file_save.h"

struct json_whole {
    const json_t *root;
    size_t flags;
};

static int json_file_put(const void *arg, FILE *to)
{
    const struct json_whole *whole = arg;

    return json_dumpf(whole->root, to, whole->flags | JSON_INDENT(2)) ? -EIO : 0;
}

int hil_json_file_write(const json_t *root, const char *path, size_t flags)
{
    const struct json_whole whole = {root, flags};

    return root ? hil_file_save(path, json_file_put, &whole) : -ENOMEM;
}
