/* A Comedi card, opened for some channels. */
#ifndef HIL_COMEDI_CARD_H
#define HIL_COMEDI_CARD_H

#include <comedilib.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "../provider/provider.h"
#include "guardian.h"

enum hil_comedi_kind { HIL_COMEDI_ANALOG, HIL_COMEDI_DIGITAL };

/* A channel as described in the settings. */
struct hil_comedi_channel {
    const char *name, *unit;
    int kind;
    int64_t subdevice; /* -1: the first suitable one */
    int64_t channel, range;
    int aref;
    double scale, offset; /* signal = scale x + offset, where x is in the card's unit */
    double min, max;      /* range to which a written signal is limited */
    double safe;
};

/* Conversion between a signal and a card's samples: sample = gain signal + zero. */
struct hil_comedi_scaling {
    double gain, zero, min, max;
    lsampl_t greatest; /* largest sample */
};

/* For a channel whose samples 0..greatest stand for the range `low` to `high`, including both ends.
 */
struct hil_comedi_scaling hil_comedi_scale(const struct hil_comedi_channel *channel, double low,
                                           double high, lsampl_t greatest);

/* The nearest sample to the signal. */
static inline lsampl_t hil_comedi_sample(const struct hil_comedi_scaling *s, double signal)
{
    signal = signal < s->min ? s->min : signal > s->max ? s->max : signal;
    const double sample = s->gain * signal + s->zero;

    return sample <= 0 ? 0 : sample >= (double)s->greatest ? s->greatest : (lsampl_t)(sample + 0.5);
}

static inline double hil_comedi_signal(const struct hil_comedi_scaling *s, lsampl_t sample)
{
    return ((double)sample - s->zero) / s->gain;
}

/* The channels of one direction, with an instruction for each. */
struct hil_comedi_list {
    unsigned count;
    comedi_insn insns[HIL_DEVICE_MAX];
    lsampl_t samples[HIL_DEVICE_MAX];
    struct hil_comedi_scaling scalings[HIL_DEVICE_MAX];
};

struct hil_comedi_card {
    comedi_t *device;
    struct hil_guardian guardian;
    struct hil_safe_act safe[HIL_DEVICE_MAX];
    struct hil_comedi_list write, read;
};

/* The requested use of a card. */
struct hil_comedi_wanted {
    const char *name; /* name of the model */
    const char *path;
    const struct hil_comedi_channel *write, *read;
    unsigned write_count, read_count;
};

/* Opens the card, reserves the channels to write, makes them safe, and starts the guardian. Returns
 * 0, or a negative errno after a message. */
int hil_comedi_card_open(struct hil_comedi_card **card, const struct hil_comedi_wanted *wanted,
                         const struct hil_said *said);

/* Makes the outputs safe and closes the card. Returns 0, or a negative errno if they may not be
 * safe. */
int hil_comedi_card_close(struct hil_comedi_card *card);

/* Each takes one system call. */
int hil_comedi_card_write(struct hil_comedi_card *card, const double *signals);
int hil_comedi_card_read(struct hil_comedi_card *card, double *signals);

/* Makes the outputs safe now. */
int hil_comedi_card_make_safe(const struct hil_comedi_card *card);

#endif
