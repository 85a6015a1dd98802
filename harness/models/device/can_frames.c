#include "can_frames.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../provider/settings.h"

/* --- keys ------------------------------------------------------------------------------------ */

static const char *const frames_bools[] = {"false", "true", NULL};
static const char *const frames_directions[] = {"send", "receive", NULL};
static const char *const frames_orders[] = {"little", "big", NULL};

static const struct hil_setting_key frames_keys[] = {{.key = "frames", .kind = HIL_SETTING_LIST},
                                                     {0}};

#define KEY(of, name, member, of_kind, ...)                                                        \
    {                                                                                              \
        .key = name, .kind = of_kind, .at = offsetof(struct of, member), __VA_ARGS__               \
    }

static const struct hil_setting_key frame_keys[] = {
    KEY(hil_can_frame, "id", id, HIL_SETTING_WHOLE, .max = CAN_EFF_MASK),
    KEY(hil_can_frame, "extended", extended, HIL_SETTING_WORD, .words = frames_bools),
    KEY(hil_can_frame, "fd", fd, HIL_SETTING_WORD, .words = frames_bools),
    KEY(hil_can_frame, "direction", direction, HIL_SETTING_WORD, .words = frames_directions),
    KEY(hil_can_frame, "length", length, HIL_SETTING_WHOLE, .max = CANFD_MAX_DLEN),
    KEY(hil_can_frame, "period_us", period_us, HIL_SETTING_NUMBER, .max = 1e9),
    KEY(hil_can_frame, "age_limit_us", age_limit_us, HIL_SETTING_NUMBER, .max = 1e9),
    {.key = "signals", .kind = HIL_SETTING_LIST},
    {0}};

#define SIGNAL_KEYS                                                                                \
    KEY(hil_can_signal, "name", name, HIL_SETTING_TEXT),                                           \
        KEY(hil_can_signal, "unit", unit, HIL_SETTING_TEXT),                                       \
        KEY(hil_can_signal, "start", start, HIL_SETTING_WHOLE, .max = 511),                        \
        KEY(hil_can_signal, "length", length, HIL_SETTING_WHOLE, .min = 1, .max = 64),             \
        KEY(hil_can_signal, "byte_order", big_endian, HIL_SETTING_WORD, .words = frames_orders),   \
        KEY(hil_can_signal, "signed", is_signed, HIL_SETTING_WORD, .words = frames_bools),         \
        KEY(hil_can_signal, "scale", scale, HIL_SETTING_NUMBER, .min = -1e12, .max = 1e12),        \
        KEY(hil_can_signal, "offset", offset, HIL_SETTING_NUMBER, .min = -1e12, .max = 1e12),      \
        KEY(hil_can_signal, "initial", initial, HIL_SETTING_NUMBER, .min = -1e12, .max = 1e12)

static const struct hil_setting_key signal_keys[][13] = {
    {SIGNAL_KEYS, KEY(hil_can_signal, "min", min, HIL_SETTING_NUMBER, .min = -1e12, .max = 1e12),
     KEY(hil_can_signal, "max", max, HIL_SETTING_NUMBER, .min = -1e12, .max = 1e12),
     KEY(hil_can_signal, "safe", safe, HIL_SETTING_NUMBER, .min = -1e12, .max = 1e12)},
    {SIGNAL_KEYS},
};

/* --- signals --------------------------------------------------------------------------------- */

static int signal_check(const struct hil_can_signal *s, const struct hil_can_frame *f,
                        const char *prefix, const struct hil_said *said)
{
    if (!s->name)
        return hil_say(said, -EINVAL, "%sname is missing; allowed: the name of a signal", prefix);
    if (s->start < 0 || s->length == 0)
        return hil_say(said, -EINVAL, "%s%s is missing; allowed: a number of bits", prefix,
                       s->start < 0 ? "start" : "length");
    if (hil_can_bit(s, 0, (unsigned)f->length) < 0 ||
        hil_can_bit(s, (unsigned)s->length - 1, (unsigned)f->length) < 0)
        return hil_say(said, -EINVAL,
                       "%sstart is %d, and with it %d bits go beyond its frame; allowed: within "
                       "its %d bytes",
                       prefix, (int)s->start, (int)s->length, (int)f->length);
    if (s->scale == 0)
        return hil_say(said, -EINVAL, "%sscale is 0; allowed: another number", prefix);
    if (!(s->min < s->max))
        return hil_say(said, -EINVAL, "%smin is not below its max; allowed: min below max", prefix);
    if (s->initial < s->min || s->initial > s->max)
        return hil_say(said, -EINVAL, "%sinitial is %g; allowed: %g to %g, its min to its max",
                       prefix, s->initial, s->min, s->max);
    if (s->safe < s->min || s->safe > s->max)
        return hil_say(said, -EINVAL, "%ssafe is %g; allowed: %g to %g, its min to its max", prefix,
                       s->safe, s->min, s->max);
    return 0;
}

/* Each bit of a sent frame belongs to one signal. */
static int signal_claim(const struct hil_can_signal *s, uint64_t taken[8], const char *prefix,
                        const struct hil_said *said)
{
    for (unsigned i = 0; i < s->length; i++) {
        const unsigned bit = (unsigned)hil_can_bit(s, i, CANFD_MAX_DLEN);
        if (taken[bit / 64] >> bit % 64 & 1)
            return hil_say(said, -EINVAL,
                           "%sstart is %d, and with it bit %u is in two signals; allowed: each bit "
                           "in one",
                           prefix, (int)s->start, bit);
        taken[bit / 64] |= 1ull << bit % 64;
    }
    return 0;
}

static int signal_read(struct hil_can_frames *frames, struct hil_can_frame *f, uint64_t taken[8],
                       const struct hil_settings *settings, const char *prefix,
                       const struct hil_said *said)
{
    unsigned *count = &frames->signal_count[f->direction];

    if (*count == HIL_DEVICE_MAX)
        return hil_say(said, -EINVAL, "there are more signals than %d that are %s; allowed: %d",
                       HIL_DEVICE_MAX, f->direction == HIL_CAN_SEND ? "sent" : "received",
                       HIL_DEVICE_MAX);
    struct hil_can_signal *s = &frames->signals[f->direction][(*count)++];
    *s = (struct hil_can_signal){.start = -1, .scale = 1, .min = -1e12, .max = 1e12, .safe = NAN};
    int rc = hil_settings_read(s, signal_keys[f->direction], settings, prefix, said);
    if (!rc)
        rc = signal_check(s, f, prefix, said);
    if (!rc && f->direction == HIL_CAN_SEND)
        rc = signal_claim(s, taken, prefix, said);
    f->count++;
    return rc;
}

/* --- frames ---------------------------------------------------------------------------------- */

static bool frame_has_length(const struct hil_can_frame *f)
{
    static const uint8_t longer[] = {12, 16, 20, 24, 32, 48, 64};
    bool fits = f->length <= CAN_MAX_DLEN;

    for (unsigned i = 0; f->fd && i < sizeof longer; i++)
        fits |= f->length == longer[i];
    return fits;
}

static int frame_check(const struct hil_can_frames *frames, const struct hil_can_frame *f,
                       const char *prefix, const struct hil_said *said)
{
    if (f->id < 0)
        return hil_say(said, -EINVAL, "%sid is missing; allowed: an identifier such as 0x123",
                       prefix);
    if (f->direction < 0)
        return hil_say(said, -EINVAL, "%sdirection is missing; allowed: send, receive", prefix);
    if (!f->extended && f->id > CAN_SFF_MASK)
        return hil_say(said, -EINVAL,
                       "%sid is 0x%x; allowed: 0 to 0x7ff, or with extended: true to 0x1fffffff",
                       prefix, (unsigned)f->id);
    if (!frame_has_length(f))
        return hil_say(said, -EINVAL, "%slength is %d; allowed: 0 to 8%s", prefix, (int)f->length,
                       f->fd ? ", 12, 16, 20, 24, 32, 48, 64" : ", or with fd: true up to 64");
    if (f->direction == HIL_CAN_SEND ? f->age_limit_us > 0 : f->period_us > 0)
        return hil_say(said, -EINVAL, "%s%s is of a frame that is %s; allowed: none", prefix,
                       f->direction == HIL_CAN_SEND ? "age_limit_us" : "period_us",
                       f->direction == HIL_CAN_SEND ? "sent" : "received");
    for (const struct hil_can_frame *other = frames->frames; other < f; other++)
        if (other->direction == f->direction && hil_can_id(other) == hil_can_id(f))
            return hil_say(said, -EINVAL,
                           "%sid is 0x%x, which another frame has; allowed: each once", prefix,
                           (unsigned)f->id);
    return 0;
}

static int frame_read(struct hil_can_frames *frames, unsigned number,
                      const struct hil_settings *settings, const struct hil_said *said)
{
    struct hil_can_frame *f = &frames->frames[number];
    uint64_t taken[8] = {0};
    char prefix[48];

    snprintf(prefix, sizeof prefix, "frames.%u.", number);
    *f = (struct hil_can_frame){.id = -1, .direction = -1, .length = CAN_MAX_DLEN};
    int rc = hil_settings_read(f, frame_keys, settings, prefix, said);
    if (!rc)
        rc = frame_check(frames, f, prefix, said);
    if (rc)
        return rc;
    f->first = frames->signal_count[f->direction];
    const unsigned signals = hil_settings_count(settings, prefix, "signals");
    for (unsigned i = 0; !rc && i < signals; i++) {
        snprintf(prefix, sizeof prefix, "frames.%u.signals.%u.", number, i);
        rc = signal_read(frames, f, taken, settings, prefix, said);
    }
    return rc;
}

int hil_can_frames_read(struct hil_can_frames *frames, const struct hil_settings *settings,
                        const struct hil_said *said)
{
    int rc = hil_settings_read(NULL, frames_keys, settings, "", said);

    *frames = (struct hil_can_frames){.count = hil_settings_count(settings, "", "frames")};
    if (!rc && (frames->count == 0 || frames->count > HIL_DEVICE_MAX))
        rc = hil_say(said, -EINVAL, "it has %u frames in its settings; allowed: 1 to %d",
                     frames->count, HIL_DEVICE_MAX);
    for (unsigned i = 0; !rc && i < frames->count; i++)
        rc = frame_read(frames, i, settings, said);
    return rc;
}
