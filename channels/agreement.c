#include "loco/agreement.h"

#include <string.h>

/* Copies the line at `at`, cut to LOCO_LINE_MAX, and returns where the next one begins. */
static const char *agreement_line(const char *at, const char *end, char line[LOCO_LINE_MAX])
{
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    size_t length = (size_t)((stop ? stop : end) - at);
    size_t kept = length < LOCO_LINE_MAX ? length : LOCO_LINE_MAX - 1;

    memcpy(line, at, kept);
    line[kept] = '\0';
    return stop ? stop + 1 : end;
}

void loco_agreement_take(const struct loco_agreement *a, uint64_t offset, char *text, size_t size)
{
    const char *end = a->lines + a->length, *at = offset < a->length ? a->lines + offset : end;
    char line[LOCO_LINE_MAX];
    size_t used = 0;

    while (at < end) {
        at = agreement_line(at, end, line);
        size_t length = strlen(line);
        if (used + length + 2 > size)
            break;
        memcpy(text + used, line, length);
        used += length;
        text[used++] = '\n';
    }
    memset(text + used, 0, size - used);
}

bool loco_agreement_differs(const struct loco_agreement *a, uint64_t *offset, const char *text,
                            struct loco_difference *d)
{
    const char *end = a->lines + a->length, *text_end = text + strlen(text);
    const char *at = *offset < a->length ? a->lines + *offset : end;
    bool both_end = at == end && text == text_end;

    do {
        const char *next = agreement_line(at, end, d->here);
        text = agreement_line(text, text_end, d->there);
        if (strcmp(d->here, d->there) != 0)
            return true;
        at = next;
        *offset = (uint64_t)(at - a->lines);
    } while (text < text_end);
    return both_end;
}
