/* What providers say of a model. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "provider.h"

int hil_say(const struct hil_said *said, int rc, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(said->text, said->size, format, args);
    va_end(args);
    for (char *c = said->text; *c; c++) /* it may quote a file from elsewhere */
        *c = (unsigned char)*c < ' ' || *c == 127 ? '?' : *c;
    return rc;
}

void hil_warn(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;

    if (used)
        used += (size_t)snprintf(text + used, size - used, "; ");
    va_start(args, format);
    if (used < size)
        vsnprintf(text + used, size - used, format, args);
    va_end(args);
}

int hil_say_no_memory(const struct hil_said *said)
{
    return hil_say(said, -ENOMEM, "there is no memory for it");
}

int hil_whole_is(char **whole, const char *name, const struct hil_said *said)
{
    *whole = strdup(name);
    return *whole ? 0 : hil_say_no_memory(said);
}

int hil_say_wrong_model(const struct hil_said *said, const char *wrong)
{
    return hil_say(said, -EINVAL, "%s%s", wrong,
                   strstr(wrong, "allowed: ") ? "" : "; allowed: what hiloco/model.h says");
}
