#include "settings.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- finding a key --------------------------------------------------------------------------- */

static const struct hil_setting_key *settings_key(const struct hil_setting_key *keys,
                                                  const char *name)
{
    for (; keys->key; keys++) {
        const size_t length = strlen(keys->key);
        if (strcmp(keys->key, name) == 0 && keys->kind != HIL_SETTING_LIST)
            return keys;
        if (keys->kind == HIL_SETTING_LIST && strncmp(keys->key, name, length) == 0 &&
            name[length] == '.' && isdigit((unsigned char)name[length + 1]))
            return keys;
    }
    return NULL;
}

/* `name` is the part of `key` that the table has. */
static int settings_unknown(const struct hil_setting_key *keys, const char *key, const char *name,
                            const struct hil_said *said)
{
    const size_t first = strcspn(name, ".");
    char allowed[512] = "";
    size_t used = 0;

    for (const struct hil_setting_key *k = keys; k->key; k++)
        if (k->kind == HIL_SETTING_LIST && strlen(k->key) == first &&
            strncmp(k->key, name, first) == 0)
            return hil_say(said, -EINVAL, "%.80s is not in a list; allowed: a list %s", key,
                           k->key);
    for (; keys->key && used < sizeof allowed; keys++)
        used += (size_t)snprintf(allowed + used, sizeof allowed - used, "%s%s", used ? ", " : "",
                                 keys->key);
    return hil_say(said, -EINVAL, "there is no setting %.80s; allowed: %s", key, allowed);
}

/* --- values ---------------------------------------------------------------------------------- */

static int settings_number(double *to, const struct hil_setting_key *k, const struct hil_setting *s,
                           const struct hil_said *said)
{
    char *end;
    const double value = strtod(s->text, &end);

    if (end == s->text || *end || !isfinite(value) || value < k->min || value > k->max)
        return hil_say(said, -EINVAL, "%.80s is '%.40s'; allowed: a number, %g to %g", s->key,
                       s->text, k->min, k->max);
    *to = value;
    return 0;
}

static int settings_whole(int64_t *to, const struct hil_setting_key *k, const struct hil_setting *s,
                          const struct hil_said *said)
{
    const bool hexadecimal = strncmp(s->text, "0x", 2) == 0;
    char *end;

    errno = 0;
    const int64_t value = strtoll(s->text, &end, hexadecimal ? 16 : 10);
    if (end == s->text || *end || errno || (double)value < k->min || (double)value > k->max)
        return hil_say(said, -EINVAL, "%.80s is '%.40s'; allowed: a whole number, %.0f to %.0f",
                       s->key, s->text, k->min, k->max);
    *to = value;
    return 0;
}

static int settings_word(int *to, const struct hil_setting_key *k, const struct hil_setting *s,
                         const struct hil_said *said)
{
    char allowed[256] = "";
    size_t used = 0;

    for (int i = 0; k->words[i]; i++) {
        if (strcmp(k->words[i], s->text) == 0) {
            *to = i;
            return 0;
        }
        used += (size_t)snprintf(allowed + used, sizeof allowed - used, "%s%s", i ? ", " : "",
                                 k->words[i]);
    }
    return hil_say(said, -EINVAL, "%.80s is '%.40s'; allowed: %s", s->key, s->text, allowed);
}

static int settings_take(void *to, const struct hil_setting_key *k, const struct hil_setting *s,
                         const struct hil_said *said)
{
    void *at = (char *)to + k->at;

    switch (k->kind) {
    case HIL_SETTING_TEXT:
        *(const char **)at = s->text;
        return 0;
    case HIL_SETTING_NUMBER:
        return settings_number(at, k, s, said);
    case HIL_SETTING_WHOLE:
        return settings_whole(at, k, s, said);
    case HIL_SETTING_WORD:
        return settings_word(at, k, s, said);
    default:
        return 0;
    }
}

/* --- all of them ----------------------------------------------------------------------------- */

int hil_settings_read(void *to, const struct hil_setting_key *keys,
                      const struct hil_settings *settings, const char *prefix,
                      const struct hil_said *said)
{
    const size_t length = strlen(prefix);
    int rc = 0;

    for (unsigned i = 0; !rc && i < settings->count; i++) {
        const struct hil_setting *s = &settings->at[i];
        if (strncmp(s->key, prefix, length) != 0)
            continue;
        const struct hil_setting_key *k = settings_key(keys, s->key + length);
        rc = k ? settings_take(to, k, s, said)
               : settings_unknown(keys, s->key, s->key + length, said);
    }
    return rc;
}

unsigned hil_settings_count(const struct hil_settings *settings, const char *prefix,
                            const char *key)
{
    const size_t length = strlen(prefix), own = strlen(key);
    unsigned count = 0;

    for (unsigned i = 0; i < settings->count; i++) {
        const char *name = settings->at[i].key;
        if (strncmp(name, prefix, length) != 0 || strncmp(name + length, key, own) != 0 ||
            name[length + own] != '.' || !isdigit((unsigned char)name[length + own + 1]))
            continue;
        const unsigned number = (unsigned)strtoul(name + length + own + 1, NULL, 10);
        count = number >= count ? number + 1 : count;
    }
    return count;
}
