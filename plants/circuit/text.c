#include "text.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INCLUDE_DEPTH = 16 };

struct cir_block {
    struct cir_block *next;
    max_align_t bytes[];
};

/* Reads one file. */
struct reader {
    struct cir_text *text;
    const struct cir_said *said;
    const char *folder; /* of the netlist */
    const char *path;   /* of this file */
    const char *name;
    unsigned line, depth;
    bool control; /* between .control and .endc */
    bool ended;   /* after .end */
};

/* --- memory and messages ---------------------------------------------------------------------- */

void *cir_allocate(struct cir_block **blocks, size_t size)
{
    struct cir_block *block = calloc(1, sizeof *block + size);

    if (!block)
        return NULL;
    block->next = *blocks;
    *blocks = block;
    return block->bytes;
}

void cir_free_all(struct cir_block **blocks)
{
    while (*blocks) {
        struct cir_block *next = (*blocks)->next;
        free(*blocks);
        *blocks = next;
    }
}

int cir_grow(void *array, unsigned count, size_t entry)
{
    void **at = array;

    if (count & (count - 1)) /* it has room up to the next power of two */
        return 0;
    void *more = realloc(*at, (count ? 2 * (size_t)count : 1) * entry);
    if (!more)
        return -ENOMEM;
    *at = more;
    return 0;
}

int cir_refuse(const struct cir_said *said, const struct cir_token *at, const char *format, ...)
{
    const int used = snprintf(said->text, said->size, "%s:%u:%u: ", at->file, at->line, at->column);
    va_list args;

    va_start(args, format);
    if (used >= 0 && (size_t)used < said->size)
        vsnprintf(said->text + used, said->size - (size_t)used, format, args);
    va_end(args);
    return -EINVAL;
}

int cir_say_no_memory(const struct cir_said *said)
{
    snprintf(said->text, said->size, "there is no memory for it");
    return -ENOMEM;
}

static char *copy_of(struct reader *r, const char *from, size_t length)
{
    char *copy = cir_allocate(&r->text->blocks, length + 1);

    return copy ? memcpy(copy, from, length) : NULL;
}

/* --- tokens ----------------------------------------------------------------------------------- */

static int add_statement(struct reader *r)
{
    struct cir_text *text = r->text;

    if (cir_grow(&text->at, text->count, sizeof *text->at))
        return cir_say_no_memory(r->said);
    text->at[text->count++] = (struct cir_statement){0};
    return 0;
}

/* Adds a token to the last statement. */
static int add_token(struct reader *r, const char *text, size_t length, unsigned column)
{
    struct cir_statement *s = &r->text->at[r->text->count - 1];

    if (cir_grow(&s->at, s->count, sizeof *s->at))
        return cir_say_no_memory(r->said);
    const char *copy = copy_of(r, text, length);
    if (!copy)
        return cir_say_no_memory(r->said);
    s->at[s->count++] = (struct cir_token){copy, r->name, r->line, column};
    return 0;
}

/* {...} and '...': both become {...}. Returns the length with both ends, or 0. */
static size_t expression_length(const char *at)
{
    const char *end = at + 1;
    int depth = 1;

    if (*at == '\'') {
        end = strchr(at + 1, '\'');
        return end ? (size_t)(end - at) + 1 : 0;
    }
    for (; *end && depth; end++)
        depth += (*end == '{') - (*end == '}');
    return depth ? 0 : (size_t)(end - at);
}

static int split_expression(struct reader *r, char *at, size_t *length, unsigned column)
{
    const struct cir_token here = {at, r->name, r->line, column};

    *length = expression_length(at);
    if (!*length)
        return cir_refuse(r->said, &here, "found %c without its end; allowed: {EXPRESSION}", *at);
    at[0] = '{';
    at[*length - 1] = '}';
    return add_token(r, at, *length, column);
}

static int split(struct reader *r, char *line, char *at)
{
    while (*at) {
        const unsigned column = (unsigned)(at - line) + 1;
        size_t length = 1;
        int rc = 0;

        if (isspace((unsigned char)*at) || *at == ',') {
            at++;
            continue;
        }
        if (*at == '{' || *at == '\'') {
            rc = split_expression(r, at, &length, column);
        } else {
            if (!strchr("()=", *at))
                length = strcspn(at, " \t\v\f,()={'");
            rc = add_token(r, at, length, column);
        }
        if (rc)
            return rc;
        at += length;
    }
    return 0;
}

/* --- lines ------------------------------------------------------------------------------------ */

static int read_file(struct reader *r);

/* Comments at the end of a line: "; ...", " $ ...", " // ...". */
static void cut_comment(char *line)
{
    for (char *at = line; *at; at++)
        if (*at == ';' || (at > line && isspace((unsigned char)at[-1]) &&
                           (*at == '$' || (at[0] == '/' && at[1] == '/')))) {
            *at = '\0';
            return;
        }
}

/* The file beside the netlist, else beside the file that names it. */
static int find_file(struct reader *r, const char *name, size_t length, char *path, size_t size)
{
    const char *slash = strrchr(r->path, '/');
    FILE *file;

    if (name[0] == '/')
        snprintf(path, size, "%.*s", (int)length, name);
    else
        snprintf(path, size, "%s/%.*s", r->folder, (int)length, name);
    file = fopen(path, "r");
    if (!file && name[0] != '/' && slash) {
        snprintf(path, size, "%.*s/%.*s", (int)(slash - r->path), r->path, (int)length, name);
        file = fopen(path, "r");
    }
    if (!file)
        return -ENOENT;
    fclose(file);
    return 0;
}

static int include(struct reader *r, char *line, char *rest)
{
    rest += strspn(rest, " \t");
    const struct cir_token here = {rest, r->name, r->line, (unsigned)(rest - line) + 1};
    const char quote = *rest == '"' || *rest == '\'' ? *rest++ : '\0';
    const size_t length = quote ? strcspn(rest, (char[]){quote, '\0'}) : strcspn(rest, " \t");
    char path[PATH_MAX];

    if (!length)
        return cir_refuse(r->said, &here, "found no file; allowed: .include FILE");
    if (r->depth == INCLUDE_DEPTH)
        return cir_refuse(r->said, &here, "found %d files that include one another; allowed: %d",
                          INCLUDE_DEPTH + 1, INCLUDE_DEPTH);
    if (find_file(r, rest, length, path, sizeof path))
        return cir_refuse(r->said, &here,
                          "there is no file %.*s; allowed: one beside the netlist or beside this "
                          "file",
                          (int)length, rest);
    struct reader inner = {
        .text = r->text, .said = r->said, .folder = r->folder, .depth = r->depth + 1};
    inner.path = copy_of(r, path, strlen(path));
    if (!inner.path)
        return cir_say_no_memory(r->said);
    return read_file(&inner);
}

/* "*hiloco REST" keeps the case of REST. */
static int take_declaration(struct reader *r, char *line)
{
    const char *rest = line + 7 + strspn(line + 7, " \t");
    int rc = add_statement(r);

    if (!rc)
        rc = add_token(r, "*hiloco", 7, 1);
    return rc ? rc : add_token(r, rest, strlen(rest), (unsigned)(rest - line) + 1);
}

static bool begins_with_word(const char *text, const char *word)
{
    const size_t length = strlen(word);

    return strncasecmp(text, word, length) == 0 &&
           (!text[length] || isspace((unsigned char)text[length]));
}

static int take_line(struct reader *r, char *line)
{
    char *at = line + strspn(line, " \t");

    if (begins_with_word(at, ".endc"))
        r->control = false;
    else if (begins_with_word(at, ".control"))
        r->control = true;
    if (r->control || begins_with_word(at, ".endc"))
        return 0;
    if (begins_with_word(line, "*hiloco"))
        return take_declaration(r, line);
    cut_comment(line);
    if (*at == '*' || !*at)
        return 0;
    if (begins_with_word(at, ".include") || begins_with_word(at, ".inc"))
        return include(r, line, at + strcspn(at, " \t"));
    if (begins_with_word(at, ".end")) {
        r->ended = true;
        return 0;
    }
    for (char *c = at; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    if (*at != '+') {
        const int rc = add_statement(r);
        return rc ? rc : split(r, line, at);
    }
    const struct cir_token here = {at, r->name, r->line, (unsigned)(at - line) + 1};
    if (!r->text->count || strcmp(r->text->at[r->text->count - 1].at[0].text, "*hiloco") == 0)
        return cir_refuse(r->said, &here, "found + without a line before it; allowed: an element");
    return split(r, line, at + 1);
}

/* The first line of a netlist is its title, unless hiloco reads it. */
static int take_title(struct reader *r, char *line)
{
    const char *title = line + strspn(line, "* \t");

    if (begins_with_word(line, "*hiloco"))
        return take_line(r, line);
    r->text->title = copy_of(r, title, strlen(title));
    return r->text->title ? 0 : cir_say_no_memory(r->said);
}

static int read_lines(struct reader *r, FILE *file)
{
    char *line = NULL;
    size_t size = 0;
    int rc = 0;

    while (!rc && !r->ended && getline(&line, &size, file) >= 0) {
        r->line++;
        if (r->line == 1 && strncmp(line, "\xef\xbb\xbf", 3) == 0) /* a mark of UTF-8 */
            memmove(line, line + 3, strlen(line + 3) + 1);
        line[strcspn(line, "\r\n")] = '\0';
        rc = r->line == 1 && r->depth == 0 ? take_title(r, line) : take_line(r, line);
    }
    free(line);
    if (!rc && ferror(file)) {
        snprintf(r->said->text, r->said->size, "%s cannot be read; allowed: a text file", r->name);
        rc = -EIO;
    }
    return rc;
}

static int read_file(struct reader *r)
{
    const char *slash = strrchr(r->path, '/');
    FILE *file = fopen(r->path, "r");

    r->name = copy_of(r, slash ? slash + 1 : r->path, strlen(slash ? slash + 1 : r->path));
    if (!file || !r->name) {
        const int rc = file ? -ENOMEM : -errno;
        snprintf(r->said->text, r->said->size, "%s cannot be opened (%s); allowed: a text file",
                 r->path, strerror(-rc));
        if (file)
            fclose(file);
        return rc;
    }
    const int rc = read_lines(r, file);
    fclose(file);
    return rc;
}

int cir_text_read(struct cir_text *text, const char *path, const struct cir_said *said)
{
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX];

    *text = (struct cir_text){0};
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    struct reader r = {.text = text, .said = said, .folder = folder, .path = path};
    int rc = read_file(&r);
    if (!rc && !text->title) {
        text->title = copy_of(&r, "a circuit", 9);
        rc = text->title ? 0 : cir_say_no_memory(said);
    }
    if (rc)
        cir_text_close(text);
    return rc;
}

void cir_text_close(struct cir_text *text)
{
    for (unsigned i = 0; i < text->count; i++)
        free(text->at[i].at);
    free(text->at);
    cir_free_all(&text->blocks);
    *text = (struct cir_text){0};
}

void cir_text_write(const struct cir_text *text, FILE *to)
{
    fprintf(to, "%s\n", text->title);
    for (unsigned i = 0; i < text->count; i++) {
        const struct cir_statement *s = &text->at[i];

        for (unsigned k = 0; k < s->count; k++)
            fprintf(to, "%s%s", k ? " " : "", s->at[k].text);
        fputc('\n', to);
    }
}
