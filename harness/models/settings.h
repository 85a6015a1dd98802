/*
 * A provider's settings, read by a table: which keys there may be, of what kind, and where in a
 * structure each value goes.
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
    HIL_SETTING_WORD,   /* int: which of words[] */
    HIL_SETTING_LIST,   /* nothing: a list, which is read entry by entry */
};

struct hil_setting_key {
    const char *key;
    enum hil_setting_kind kind;
    size_t at; /* offset in the structure */
    double min, max;
    const char *const *words; /* ended by NULL */
};

/*
 * Reads what stands under `prefix` ("write.0.", or "" for the outermost) to a structure that has
 * the defaults. Returns 0, or -EINVAL after it has said what is wrong: a key that the table (ended
 * by one without a key) does not have, or a value that is not of its kind. Texts stay the
 * settings'.
 */
int hil_settings_read(void *to, const struct hil_setting_key *keys,
                      const struct hil_settings *settings, const char *prefix,
                      const struct hil_said *said);

/* How many entries the list "PREFIXKEY" has; of "frames.0." and "signals" those of
 * "frames.0.signals". */
unsigned hil_settings_count(const struct hil_settings *settings, const char *prefix,
                            const char *key);

#endif
