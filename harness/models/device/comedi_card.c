#include "comedi_card.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Interval of retries: the guardian of a dead node may still hold a channel. */
static const struct timespec CARD_NAP = {.tv_nsec = 5000000};
enum { CARD_NAPS = 200 };

struct hil_comedi_scaling hil_comedi_scale(const struct hil_comedi_channel *c, double low,
                                           double high, lsampl_t greatest)
{
    const double per_unit = (double)greatest / (high - low);

    return (struct hil_comedi_scaling){
        .gain = per_unit / c->scale,
        .zero = -per_unit * (c->offset / c->scale + low),
        .min = c->min,
        .max = c->max,
        .greatest = greatest,
    };
}

/* --- finding a channel ----------------------------------------------------------------------- */

static const char *card_kind_name(const struct hil_comedi_channel *c, bool written)
{
    static const char *const names[][2] = {{"analogue input", "analogue output"},
                                           {"digital input", "digital output"}};

    return names[c->kind][written];
}

/* Whether a subdevice of this type has such channels. */
static bool card_type_fits(const struct hil_comedi_channel *c, bool written, int type)
{
    if (c->kind == HIL_COMEDI_ANALOG)
        return type == (written ? COMEDI_SUBD_AO : COMEDI_SUBD_AI);
    return type == COMEDI_SUBD_DIO || type == (written ? COMEDI_SUBD_DO : COMEDI_SUBD_DI);
}

static int card_find_subdevice(comedi_t *device, const struct hil_comedi_channel *c, bool written,
                               const struct hil_said *said)
{
    const int count = comedi_get_n_subdevices(device);

    if (c->subdevice >= count)
        return hil_say(said, -ENODEV, "%s is on subdevice %d, but the card has %d", c->name,
                       (int)c->subdevice, count);
    if (c->subdevice >= 0)
        return card_type_fits(c, written, comedi_get_subdevice_type(device, (unsigned)c->subdevice))
                   ? (int)c->subdevice
                   : hil_say(said, -ENODEV, "%s is on subdevice %d, which has no %s", c->name,
                             (int)c->subdevice, card_kind_name(c, written));
    for (int i = 0; i < count; i++)
        if (card_type_fits(c, written, comedi_get_subdevice_type(device, (unsigned)i)))
            return i;
    return hil_say(said, -ENODEV, "%s is a channel that the card (%s) lacks: it has no %s", c->name,
                   comedi_get_board_name(device), card_kind_name(c, written));
}

/* Whether the subdevice has this channel with this range and reference. */
static int card_check_channel(comedi_t *device, const struct hil_comedi_channel *c,
                              unsigned subdevice, const struct hil_said *said)
{
    static const int references[] = {SDF_GROUND, SDF_COMMON, SDF_DIFF, SDF_OTHER};
    const int channels = comedi_get_n_channels(device, subdevice);
    const int flags = comedi_get_subdevice_flags(device, subdevice);

    if (c->channel >= channels)
        return hil_say(said, -ENODEV, "%s is on channel %d, but subdevice %u has %d", c->name,
                       (int)c->channel, subdevice, channels);
    if (c->kind == HIL_COMEDI_DIGITAL)
        return 0;
    const int ranges = comedi_get_n_ranges(device, subdevice, (unsigned)c->channel);
    if (c->range >= ranges)
        return hil_say(said, -ENODEV, "%s has range %d, but its channel has %d", c->name,
                       (int)c->range, ranges);
    if ((flags & (SDF_GROUND | SDF_COMMON | SDF_DIFF | SDF_OTHER)) &&
        !(flags & references[c->aref]))
        return hil_say(said, -ENODEV, "%s has an aref that subdevice %u lacks", c->name, subdevice);
    return 0;
}

/* --- lists ----------------------------------------------------------------------------------- */

static int card_scaling(struct hil_comedi_scaling *to, comedi_t *device,
                        const struct hil_comedi_channel *c, unsigned subdevice,
                        const struct hil_said *said)
{
    const unsigned channel = (unsigned)c->channel;

    if (c->kind == HIL_COMEDI_DIGITAL) {
        *to = hil_comedi_scale(c, 0, 1, 1);
        return 0;
    }
    const comedi_range *r = comedi_get_range(device, subdevice, channel, (unsigned)c->range);
    const lsampl_t greatest = comedi_get_maxdata(device, subdevice, channel);
    if (!r || !(r->min < r->max) || greatest == 0)
        return hil_say(said, -ENODEV, "%s has a channel that does not say its range", c->name);
    *to = hil_comedi_scale(c, r->min, r->max, greatest);
    return 0;
}

static int card_add(comedi_t *device, struct hil_comedi_list *list,
                    const struct hil_comedi_channel *c, bool written, const struct hil_said *said)
{
    const unsigned i = list->count;
    const int found = card_find_subdevice(device, c, written, said);

    if (found < 0)
        return found;
    int rc = card_check_channel(device, c, (unsigned)found, said);
    if (!rc)
        rc = card_scaling(&list->scalings[i], device, c, (unsigned)found, said);
    if (rc)
        return rc;
    list->insns[i] = (comedi_insn){
        .insn = written ? INSN_WRITE : INSN_READ,
        .n = 1,
        .data = &list->samples[i],
        .subdev = (unsigned)found,
        .chanspec = CR_PACK((unsigned)c->channel, (unsigned)c->range, (unsigned)c->aref),
    };
    list->count++;
    return 0;
}

static int card_add_all(struct hil_comedi_card *card, const struct hil_comedi_wanted *wanted,
                        const struct hil_said *said)
{
    int rc = 0;

    for (unsigned i = 0; !rc && i < wanted->write_count; i++)
        rc = card_add(card->device, &card->write, &wanted->write[i], true, said);
    for (unsigned i = 0; !rc && i < wanted->read_count; i++)
        rc = card_add(card->device, &card->read, &wanted->read[i], false, said);
    return rc;
}

/* Refuses a safe value that the card cannot output. */
static int card_plan_safe(struct hil_comedi_card *card, const struct hil_comedi_wanted *wanted,
                          const struct hil_said *said)
{
    for (unsigned i = 0; i < card->write.count; i++) {
        const struct hil_comedi_scaling *s = &card->write.scalings[i];
        const double exact = s->gain * wanted->write[i].safe + s->zero;
        if (exact < -0.5 || exact > (double)s->greatest + 0.5)
            return hil_say(said, -ERANGE, "the safe value of %s, %g, is beyond its range: %g to %g",
                           wanted->write[i].name, wanted->write[i].safe,
                           fmin(hil_comedi_signal(s, 0), hil_comedi_signal(s, s->greatest)),
                           fmax(hil_comedi_signal(s, 0), hil_comedi_signal(s, s->greatest)));
        card->safe[i] = (struct hil_safe_act){
            .kind = HIL_SAFE_COMEDI,
            .comedi = {card->write.insns[i].subdev, card->write.insns[i].chanspec,
                       hil_comedi_sample(s, wanted->write[i].safe)}};
    }
    return 0;
}

/* --- reserving and preparing ----------------------------------------------------------------- */

static int card_lock(comedi_t *device, unsigned subdevice, const struct hil_said *said)
{
    int rc = comedi_lock(device, subdevice) < 0 ? -errno : 0;

    for (unsigned i = 0; rc == -EBUSY && i < CARD_NAPS; i++) {
        nanosleep(&CARD_NAP, NULL);
        rc = comedi_lock(device, subdevice) < 0 ? -errno : 0;
    }
    return rc == -EBUSY
               ? hil_say(said, rc, "its subdevice %u is busy: another program has it", subdevice)
           : rc ? hil_say(said, rc, "its subdevice %u cannot be reserved: %s", subdevice,
                          strerror(-rc))
                : 0;
}

/* Locks the written subdevices, each once. */
static int card_lock_all(const struct hil_comedi_card *card, const struct hil_said *said)
{
    uint64_t locked[4] = {0};
    int rc = 0;

    for (unsigned i = 0; !rc && i < card->write.count; i++) {
        const unsigned subdevice = card->write.insns[i].subdev;
        if (subdevice >= 64 * sizeof locked / sizeof locked[0])
            return hil_say(said, -ENODEV, "its subdevice %u is beyond 255", subdevice);
        if (locked[subdevice / 64] >> subdevice % 64 & 1)
            continue;
        locked[subdevice / 64] |= 1ull << subdevice % 64;
        rc = card_lock(card->device, subdevice, said);
    }
    return rc;
}

static bool card_writes(const struct hil_comedi_card *card, const comedi_insn *read)
{
    for (unsigned i = 0; i < card->write.count; i++)
        if (card->write.insns[i].subdev == read->subdev &&
            CR_CHAN(card->write.insns[i].chanspec) == CR_CHAN(read->chanspec))
            return true;
    return false;
}

static int card_direct(const struct hil_comedi_card *card, const comedi_insn *insn, int direction)
{
    if (comedi_get_subdevice_type(card->device, insn->subdev) != COMEDI_SUBD_DIO)
        return 0;
    return comedi_dio_config(card->device, insn->subdev, CR_CHAN(insn->chanspec),
                             (unsigned)direction) < 0
               ? -errno
               : 0;
}

/* Sets the direction of bidirectional digital channels. A channel that is also written reads back
 * its output. */
static int card_direct_all(const struct hil_comedi_card *card)
{
    int rc = 0;

    for (unsigned i = 0; !rc && i < card->write.count; i++)
        rc = card_direct(card, &card->write.insns[i], COMEDI_OUTPUT);
    for (unsigned i = 0; !rc && i < card->read.count; i++)
        if (!card_writes(card, &card->read.insns[i]))
            rc = card_direct(card, &card->read.insns[i], COMEDI_INPUT);
    return rc;
}

int hil_comedi_card_make_safe(const struct hil_comedi_card *card)
{
    return hil_safe_do(comedi_fileno(card->device), card->safe, card->write.count);
}

/* Writes the safe values before a channel becomes an output, for cards that keep the value until
 * then, and again afterwards. */
static int card_begin(struct hil_comedi_card *card, const char *name, const struct hil_said *said)
{
    int rc = 0;

    if (card->write.count)
        rc = hil_guardian_open(&card->guardian, name, comedi_fileno(card->device), card->safe,
                               card->write.count);
    if (rc)
        return hil_say(said, rc, "its guardian cannot be started: %s", strerror(-rc));
    rc = hil_comedi_card_make_safe(card);
    if (!rc)
        rc = card_direct_all(card);
    if (!rc)
        rc = hil_comedi_card_make_safe(card);
    return rc ? hil_say(said, rc, "its safe values cannot be written: %s", strerror(-rc)) : 0;
}

/* --- opening and closing --------------------------------------------------------------------- */

static int card_open(struct hil_comedi_card *card, const struct hil_comedi_wanted *wanted,
                     const struct hil_said *said)
{
    comedi_loglevel(0);
    errno = 0;
    card->device = comedi_open(wanted->path);
    if (!card->device) {
        const int rc = errno ? -errno : -ENODEV;
        return hil_say(said, rc, "%s cannot be opened: %s", wanted->path,
                       rc == -ENOTTY ? "it is no Comedi device" : strerror(-rc));
    }
    int rc = card_add_all(card, wanted, said);
    if (!rc)
        rc = card_plan_safe(card, wanted, said);
    if (!rc)
        rc = card_lock_all(card, said);
    return rc ? rc : card_begin(card, wanted->name, said);
}

int hil_comedi_card_open(struct hil_comedi_card **opened, const struct hil_comedi_wanted *wanted,
                         const struct hil_said *said)
{
    struct hil_comedi_card *card = calloc(1, sizeof *card);

    if (!card)
        return hil_say_no_memory(said);
    card->guardian.line = -1;
    const int rc = card_open(card, wanted, said);
    if (rc)
        hil_comedi_card_close(card);
    else
        *opened = card;
    return rc;
}

int hil_comedi_card_close(struct hil_comedi_card *card)
{
    int rc = 0;

    if (card->guardian.process && hil_guardian_close(&card->guardian))
        rc = hil_comedi_card_make_safe(card);
    if (card->device)
        comedi_close(card->device);
    free(card);
    return rc;
}

/* --- in a step ------------------------------------------------------------------------------- */

static int card_do(const struct hil_comedi_card *card, struct hil_comedi_list *list)
{
    comedi_insnlist all = {.n_insns = list->count, .insns = list->insns};

    if (list->count == 0)
        return 0;
    const int done = comedi_do_insnlist(card->device, &all);
    return done == (int)list->count ? 0 : done < 0 ? -errno : -EIO;
}

int hil_comedi_card_write(struct hil_comedi_card *card, const double *signals)
{
    if (card->write.count && !hil_guardian_is_there(&card->guardian))
        return -EOWNERDEAD;
    for (unsigned i = 0; i < card->write.count; i++)
        card->write.samples[i] = isfinite(signals[i])
                                     ? hil_comedi_sample(&card->write.scalings[i], signals[i])
                                     : card->safe[i].comedi.sample;
    return card_do(card, &card->write);
}

int hil_comedi_card_read(struct hil_comedi_card *card, double *signals)
{
    const int rc = card_do(card, &card->read);

    for (unsigned i = 0; !rc && i < card->read.count; i++)
        signals[i] = hil_comedi_signal(&card->read.scalings[i], card->read.samples[i]);
    return rc;
}
