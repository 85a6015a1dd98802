#include "foreign.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "result_file.h"

/* Enough for the summaries of about ten thousand runs of a sweep. */
enum { JSON_BYTES_MAX = 512 << 20, JSON_MEMORY_MAX = 1 << 30 };

/* What jansson takes for an object, for each entry of one, and for each entry of a list. */
enum { JSON_OBJECT_BYTES = 240, JSON_ENTRY_BYTES = 100, JSON_ITEM_BYTES = 40 };

bool hil_foreign_fits(uint64_t count, uint64_t each, uint64_t room)
{
    uint64_t all;

    return !__builtin_mul_overflow(count, each, &all) && all <= room;
}

int hil_foreign_index(double number, int most)
{
    return number >= 0 && number <= most ? (int)number : -1; /* NaN compares false, too */
}

bool hil_foreign_is_entry(const char *name)
{
    for (const char *c = name; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            return false;
    return name[0] != '\0' && !strchr(name, '/') && strcmp(name, ".") != 0 &&
           strcmp(name, "..") != 0;
}

/* --- text ------------------------------------------------------------------------------------- */

/* Size in bytes of the character that begins here; 0: it must not be shown on a terminal. */
static size_t character_at(const unsigned char *text, size_t length)
{
    static const struct {
        unsigned char mask, lead;
        uint32_t least;
    } kinds[] = {
        {0x80, 0x00, 0x20}, {0xe0, 0xc0, 0xa0}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    size_t bytes = 0;

    while (bytes < 4 && (text[0] & kinds[bytes].mask) != kinds[bytes].lead)
        bytes++;
    if (bytes == 4 || bytes + 1 > length)
        return 0;
    uint32_t point = text[0] & (unsigned char)~kinds[bytes].mask;
    for (size_t i = 1; i <= bytes; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        point = point << 6 | (text[i] & 0x3f);
    }
    const bool shown = point >= kinds[bytes].least && (point < 0x7f || point > 0x9f) &&
                       point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
    return shown ? bytes + 1 : 0;
}

const char *hil_foreign_text(char *to, size_t size, const char *text, size_t length)
{
    const size_t end = strnlen(text, length);
    size_t used = 0;

    for (size_t at = 0; at < end;) {
        const size_t bytes = character_at((const unsigned char *)text + at, end - at);
        const size_t step = bytes ? bytes : 1;

        if (used + step >= size)
            break;
        if (bytes)
            memcpy(to + used, text + at, bytes);
        else
            to[used] = '?';
        used += step;
        at += step;
    }
    to[used] = '\0';
    return to;
}

void hil_foreign_tame(char *text, char instead, char kept)
{
    size_t left = strlen(text);

    while (left) {
        const size_t bytes = character_at((const unsigned char *)text, left);
        const size_t step = bytes ? bytes : 1;
        if (!bytes && *text != kept)
            *text = instead;
        text += step;
        left -= step;
    }
}

/* --- JSON ------------------------------------------------------------------------------------- */

static json_t *foreign_refuse(json_error_t *error, const char *why)
{
    *error = (json_error_t){.line = 1, .column = 1};
    snprintf(error->text, sizeof(error->text), "%s", why);
    return NULL;
}

/* About how much memory the values take. A few bytes of the file may take hundreds. */
static uint64_t foreign_memory(FILE *stream)
{
    uint64_t bytes = 0;
    bool quoted = false;

    for (int c = getc_unlocked(stream); c != EOF; c = getc_unlocked(stream)) {
        if (quoted && c == '\\')
            getc_unlocked(stream);
        else if (c == '"')
            quoted = !quoted;
        else if (!quoted)
            bytes += c == '{'               ? JSON_OBJECT_BYTES
                     : c == ':'             ? JSON_ENTRY_BYTES
                     : c == ',' || c == '[' ? JSON_ITEM_BYTES
                                            : 0;
    }
    rewind(stream);
    return bytes;
}

/* Reads through a stream, because json_loadfd reads one byte at a time. Closes the file. */
static json_t *foreign_read(int file, json_error_t *error)
{
    FILE *stream = fdopen(file, "r");

    if (!stream) {
        foreign_refuse(error, strerror(errno));
        close(file);
        return NULL;
    }
    json_t *read = foreign_memory(stream) <= JSON_MEMORY_MAX
                       ? json_loadf(stream, 0, error)
                       : foreign_refuse(error, "it has too many values: they would take more than "
                                               "1 GiB of memory");
    fclose(stream);
    return read;
}

json_t *hil_foreign_json(const char *path, json_error_t *error)
{
    const int file = hil_result_open(path, O_RDONLY);
    struct stat status;

    if (file < 0)
        return foreign_refuse(error, hil_result_words(file));
    if (fstat(file, &status) == 0 && status.st_size <= JSON_BYTES_MAX)
        return foreign_read(file, error);
    foreign_refuse(error, "it is larger than 512 MiB");
    close(file);
    return NULL;
}
