#include "csv.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "foreign.h"

/* A sign may begin a number, which is no formula. */
static bool csv_is_formula(const char *text)
{
    char *end;

    if (*text == '\0' || !strchr("=+-@", *text))
        return false;
    strtod(text, &end);
    return end == text || *end != '\0';
}

void hil_csv_text(FILE *to, const char *text)
{
    char shown[1024];

    hil_foreign_text(shown, sizeof shown, text, strlen(text));
    const bool plain = strcspn(shown, ",\"") == strlen(shown);

    if (!plain)
        putc('"', to);
    if (csv_is_formula(shown))
        putc('\'', to);
    for (const char *c = shown; *c; c++) {
        if (*c == '"')
            putc('"', to);
        putc(*c, to);
    }
    if (!plain)
        putc('"', to);
}
