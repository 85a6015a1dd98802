#include "pages.h"

#include <errno.h>
#include <string.h>

#include "../base/embed.h"

EMBED(model_pages, HIL_MODEL_PAGES);

/* A page begins with "@NAME FILE", and ends before the next one. */
static const char *page_find(const char *name)
{
    const size_t length = strlen(name);

    for (const char *at = model_pages; at && *at; at = strstr(at, "\n@")) {
        at += *at == '\n';
        if (strncmp(at + 1, name, length) == 0 && at[1 + length] == ' ')
            return at + 2 + length;
    }
    return NULL;
}

int hil_model_page_print(const char *name, FILE *to)
{
    const char *file = page_find(name);

    if (!file)
        return -ENOENT;
    const char *line = strchr(file, '\n') + 1;
    fprintf(to, "  from %.*s:\n\n", (int)(line - file - 1), file);
    while (*line && *line != '@') {
        const size_t length = strcspn(line, "\n");
        fprintf(to, "%s%.*s\n", length ? "  " : "", (int)length, line);
        line += length + (line[length] == '\n');
    }
    return 0;
}
