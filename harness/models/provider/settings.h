/*
 * Reads a provider's settings by a table of the allowed keys, with their types and the places of
 * their values in a structure.
 *
 * Settings are flat: a list of mappings is "write.0.channel", "write.1.channel".
 */
#ifndef HIL_SETTINGS_H
#define HIL_SETTINGS_H

#include "provider.h"

enum hil_setting_kind {
    HIL_SETTING_TEXT,   /* const char * */
    HIL_SETTING_NUMBER, /* double, in min..max */
    HIL_SETTING_WHOLE,  /* int64_t, in min..max; also as 0x1f */
    HIL_SETTING_WORD,   /* int: index in words[] */
    HIL_SETTING_LIST,   /* no value: a list that is read entry by entry */
};

struct hil_setting_key {
    const char *key;
    enum hil_setting_kind kind;
    size_t at; /* offset in the structure */
    double min, max;
    const char *const *words; /* ended by NULL */
};

/*
 * Reads the settings under `prefix` ("write.0.", or "" for the outermost) into a structure that
 * already has the defaults. The table ends with an entry without a key. Returns 0, or -EINVAL after
 * a message if a key is not in the table or a value is not of its type. Texts still belong to the
 * settings.
 */
int hil_settings_read(void *to, const struct hil_setting_key *keys,
                      const struct hil_settings *settings, const char *prefix,
                      const struct hil_said *said);

/* The number of entries in the list "PREFIXKEY". With prefix "frames.0." and key "signals" these
 * are the entries of "frames.0.signals". */
unsigned hil_settings_count(const struct hil_settings *settings, const char *prefix,
                            const char *key);

#endif
