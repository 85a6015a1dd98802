#include "tags.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../base/tool.h"

static const char *const options[] = {
    "ctags",       "--options=NONE",    "--output-format=json", "--language-force=C",
    "--sort=no",   "--kinds-C=psmtxeu", "--fields=NFKZtSn",     "--fields-C=-{properties}",
    "--quiet=yes",
};
enum { OPTIONS = sizeof options / sizeof options[0], CTAGS_S = 60 };

static int tags_run(const char *folder, const glob_t *headers, const char *to)
{
    char said[500], file[100];
    char **arguments = calloc(OPTIONS + headers->gl_pathc + 3, sizeof *arguments);
    unsigned n = 0;

    if (!arguments)
        return -ENOMEM;
    for (; n < OPTIONS; n++)
        arguments[n] = (char *)options[n];
    snprintf(file, sizeof file, "%s", to);
    arguments[n++] = "-o";
    arguments[n++] = file;
    for (size_t i = 0; i < headers->gl_pathc; i++)
        arguments[n++] = strrchr(headers->gl_pathv[i], '/') + 1;
    const int rc = hil_tool_run(folder, arguments, CTAGS_S, said, sizeof said);
    free(arguments);
    if (rc == -ENOENT)
        fprintf(stderr, "hiloco wrap: ctags is not installed (Debian: universal-ctags)\n");
    else if (rc)
        fprintf(stderr, "hiloco wrap: ctags failed: %s\n", rc < 0 ? strerror(-rc) : said);
    return rc < 0 ? rc : rc ? -EIO : 0;
}

static const char *tags_text(const json_t *line, const char *key)
{
    const char *text = json_string_value(json_object_get(line, key));

    return text ? text : "";
}

static int tags_add(struct wrap_tags *tags, json_t *line)
{
    struct wrap_tag *more = reallocarray(tags->at, tags->count + 1, sizeof *more);

    if (!more || json_array_append_new(tags->lines, line))
        return -ENOMEM;
    tags->at = more;
    const char *type = tags_text(line, "typeref"), *colon = strchr(type, ':');
    tags->at[tags->count++] = (struct wrap_tag){
        .name = tags_text(line, "name"),
        .kind = tags_text(line, "kind"),
        .type = colon ? colon + 1 : type,
        .scope = tags_text(line, "scope"),
        .signature = tags_text(line, "signature"),
        .file = tags_text(line, "path"),
        .line = (unsigned)json_integer_value(json_object_get(line, "line")),
    };
    return 0;
}

static int tags_load(struct wrap_tags *tags, const char *path)
{
    FILE *file = fopen(path, "re");
    json_t *line;
    int rc = 0;

    tags->lines = json_array();
    if (!file || !tags->lines)
        rc = -EIO;
    while (!rc && (line = json_loadf(file, JSON_DISABLE_EOF_CHECK, NULL)))
        rc = tags_add(tags, line);
    if (file)
        fclose(file);
    return rc;
}

int wrap_tags_read(struct wrap_tags *tags, const char *folder)
{
    char pattern[4200], to[] = "/tmp/hiloco-wrap.XXXXXX";
    glob_t headers;

    *tags = (struct wrap_tags){0};
    snprintf(pattern, sizeof pattern, "%s/*.h", folder);
    if (glob(pattern, 0, NULL, &headers) != 0) {
        fprintf(stderr, "hiloco wrap: %s has no headers; allowed: a folder with *.h\n", folder);
        return -EINVAL;
    }
    const int file = mkstemp(to);
    int rc = file < 0 ? -errno : 0;
    if (!rc) {
        close(file);
        rc = tags_run(folder, &headers, to);
        if (!rc)
            rc = tags_load(tags, to);
        unlink(to);
    }
    globfree(&headers);
    return rc;
}

void wrap_tags_free(struct wrap_tags *tags)
{
    json_decref(tags->lines);
    free(tags->at);
    *tags = (struct wrap_tags){0};
}

const struct wrap_tag *wrap_tag_find(const struct wrap_tags *tags, const char *kind,
                                     const char *name)
{
    for (unsigned i = 0; i < tags->count; i++)
        if (strcmp(tags->at[i].kind, kind) == 0 && strcmp(tags->at[i].name, name) == 0)
            return &tags->at[i];
    return NULL;
}

static bool tags_has_members(const struct wrap_tags *tags, const char *scope)
{
    for (unsigned i = 0; i < tags->count; i++)
        if (strcmp(tags->at[i].kind, "member") == 0 && strcmp(tags->at[i].scope, scope) == 0)
            return true;
    return false;
}

const char *wrap_structure(const struct wrap_tags *tags, const char *type)
{
    const struct wrap_tag *named;

    if (strncmp(type, "struct ", 7) == 0)
        type += 7;
    for (unsigned depth = 0; depth < 8; depth++) {
        if (tags_has_members(tags, type))
            return type;
        named = wrap_tag_find(tags, "typedef", type);
        if (!named)
            return NULL;
        type = named->type;
    }
    return NULL;
}

void wrap_tag_comment(const struct wrap_tag *tag, const char *folder, char *text, size_t size)
{
    char path[4200], line[1000] = "";

    snprintf(path, sizeof path, "%s/%s", folder, tag->file);
    FILE *file = fopen(path, "re");
    for (unsigned i = 0; file && i < tag->line; i++)
        if (!fgets(line, sizeof line, file))
            line[0] = '\0';
    if (file)
        fclose(file);
    const char *begin = strstr(line, "/*");
    begin = begin ? begin + 2 + strspn(begin + 2, " *<") : "";
    const char *end = strstr(begin, "*/");
    size_t length = end ? (size_t)(end - begin) : strcspn(begin, "\n");
    while (length && strchr(" \r\n", begin[length - 1]))
        length--;
    snprintf(text, size, "%.*s", (int)length, begin);
    for (char *c = text; *c; c++) /* it is written into a string */
        if (*c == '"' || *c == '\\' || (unsigned char)*c < ' ')
            *c = '\'';
}
