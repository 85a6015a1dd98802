#include "comedi.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../provider/settings.h"
#include "comedi_card.h"

static const char COMEDI_PREFIX[] = "comedi:";

/* A model of this provider. */
struct comedi_model {
    struct hil_model model;
    const char *path;
    struct hil_comedi_channel write[HIL_DEVICE_MAX], read[HIL_DEVICE_MAX];
    struct hil_quantity inputs[HIL_DEVICE_MAX], outputs[HIL_DEVICE_MAX];
};

/* A component. */
struct comedi_component {
    const struct comedi_model *of;
    struct hil_comedi_card *card; /* NULL: a trial */
    hil_log_fn *log;
    void *log_arg;
};

static const struct comedi_model *comedi_model_of(const struct hil_model *model)
{
    return (const struct comedi_model *)model; /* its first member */
}

/* --- components ------------------------------------------------------------------------------ */

static int comedi_create(void **self, const struct hil_config *config)
{
    const struct comedi_model *m = comedi_model_of(config->model);
    struct comedi_component *c = calloc(1, sizeof *c);
    char wrong[512];

    if (!c)
        return -ENOMEM;
    *c = (struct comedi_component){.of = m, .log = config->log, .log_arg = config->log_arg};
    const struct hil_comedi_wanted wanted = {.name = m->model.name,
                                             .path = m->path,
                                             .write = m->write,
                                             .read = m->read,
                                             .write_count = m->model.inputs.count,
                                             .read_count = m->model.outputs.count};
    int rc = config->trial ? 0
                           : hil_comedi_card_open(&c->card, &wanted,
                                                  &(struct hil_said){wrong, sizeof wrong, NULL});
    if (rc) {
        config->log(config->log_arg, wrong);
        free(c);
        return rc;
    }
    *self = c;
    return 0;
}

static void comedi_destroy(void *self)
{
    struct comedi_component *c = self;

    if (c->card && hil_comedi_card_close(c->card))
        c->log(c->log_arg, "its safe values could not be written");
    free(c);
}

static int comedi_output(const void *self, const double *in, double *out)
{
    const struct comedi_component *c = self;
    int rc = 0;

    (void)in;
    for (unsigned i = 0; i < c->of->model.outputs.count; i++)
        out[i] = 0;
    if (c->card)
        rc = hil_comedi_card_read(c->card, out);
    if (!rc)
        return 0;
    hil_comedi_card_make_safe(c->card);
    c->log(c->log_arg,
           rc == -EBUSY ? "it cannot be read: another program has it" : "it cannot be read");
    return rc;
}

static int comedi_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    (void)t_ns;
    return comedi_output(self, in, out);
}

static int comedi_apply(void *self, const double *in)
{
    struct comedi_component *c = self;
    const int rc = c->card ? hil_comedi_card_write(c->card, in) : 0;

    if (!rc)
        return 0;
    hil_comedi_card_make_safe(c->card);
    c->log(c->log_arg,
           rc == -EOWNERDEAD ? "the guardian of its safe values is gone" : "it cannot be written");
    return rc;
}

/* --- settings -------------------------------------------------------------------------------- */

static const char *const comedi_kinds[] = {"analog", "digital", NULL};
static const char *const comedi_arefs[] = {"ground", "common", "diff", "other", NULL};

static const struct hil_setting_key comedi_keys[] = {
    {.key = "write", .kind = HIL_SETTING_LIST}, {.key = "read", .kind = HIL_SETTING_LIST}, {0}};

#define KEY(member, of_kind, ...)                                                                  \
    {                                                                                              \
        .key = #member, .kind = of_kind, .at = offsetof(struct hil_comedi_channel, member),        \
        __VA_ARGS__                                                                                \
    }

/* The keys of an entry of `read`; an entry of `write` has more. */
#define COMEDI_READ_KEYS                                                                           \
    KEY(name, HIL_SETTING_TEXT), KEY(unit, HIL_SETTING_TEXT),                                      \
        KEY(kind, HIL_SETTING_WORD, .words = comedi_kinds),                                        \
        KEY(subdevice, HIL_SETTING_WHOLE, .max = 255),                                             \
        KEY(channel, HIL_SETTING_WHOLE, .max = 65535), KEY(range, HIL_SETTING_WHOLE, .max = 255),  \
        KEY(aref, HIL_SETTING_WORD, .words = comedi_arefs),                                        \
        KEY(scale, HIL_SETTING_NUMBER, .min = -1e12, .max = 1e12),                                 \
        KEY(offset, HIL_SETTING_NUMBER, .min = -1e12, .max = 1e12)

static const struct hil_setting_key comedi_read_keys[] = {COMEDI_READ_KEYS, {0}};
static const struct hil_setting_key comedi_write_keys[] = {
    COMEDI_READ_KEYS,
    KEY(min, HIL_SETTING_NUMBER, .min = -1e12, .max = 1e12),
    KEY(max, HIL_SETTING_NUMBER, .min = -1e12, .max = 1e12),
    KEY(safe, HIL_SETTING_NUMBER, .min = -1e12, .max = 1e12),
    {0}};

static int comedi_check(const struct hil_comedi_channel *c, const char *prefix,
                        const struct hil_said *said)
{
    if (!c->name)
        return hil_say(said, -EINVAL, "%sname is missing; allowed: the name of a signal", prefix);
    if (c->channel < 0)
        return hil_say(said, -EINVAL, "%schannel is missing; allowed: a channel of the card",
                       prefix);
    if (c->scale == 0)
        return hil_say(said, -EINVAL, "%sscale is 0; allowed: another number", prefix);
    if (!(c->min < c->max))
        return hil_say(said, -EINVAL, "%smin is not below its max; allowed: min below max", prefix);
    if (c->safe < c->min || c->safe > c->max)
        return hil_say(said, -EINVAL, "%ssafe is %g; allowed: %g to %g, its min to its max", prefix,
                       c->safe, c->min, c->max);
    return 0;
}

/* Refuses a channel that is in a list twice. */
static int comedi_check_once(const struct hil_comedi_channel *list, unsigned i, const char *prefix,
                             const struct hil_said *said)
{
    for (unsigned k = 0; k < i; k++)
        if (list[k].kind == list[i].kind && list[k].subdevice == list[i].subdevice &&
            list[k].channel == list[i].channel)
            return hil_say(said, -EINVAL, "%schannel is %d, which %s has; allowed: each once",
                           prefix, (int)list[i].channel, list[k].name);
    return 0;
}

static int comedi_read_list(struct hil_comedi_channel *list, const struct hil_setting_key *keys,
                            const char *key, const struct hil_settings *settings, unsigned count,
                            const struct hil_said *said)
{
    int rc = 0;

    if (count > HIL_DEVICE_MAX)
        return hil_say(said, -EINVAL, "%s has %u entries; allowed: at most %d", key, count,
                       HIL_DEVICE_MAX);
    for (unsigned i = 0; !rc && i < count; i++) {
        char prefix[32];
        snprintf(prefix, sizeof prefix, "%s.%u.", key, i);
        list[i] = (struct hil_comedi_channel){
            .subdevice = -1, .channel = -1, .scale = 1, .min = -1e12, .max = 1e12};
        rc = hil_settings_read(&list[i], keys, settings, prefix, said);
        if (!rc)
            rc = comedi_check(&list[i], prefix, said);
        if (!rc)
            rc = comedi_check_once(list, i, prefix, said);
    }
    return rc;
}

/* The settings of a card without settings. */
static const struct hil_setting comedi_natural[] = {
    {"write.0.name", "ao0_v"}, {"write.0.channel", "0"}, {"write.1.name", "ao1_v"},
    {"write.1.channel", "1"},  {"read.0.name", "ai0_v"}, {"read.0.channel", "0"},
    {"read.1.name", "ai1_v"},  {"read.1.channel", "1"},  {"read.2.name", "ai2_v"},
    {"read.2.channel", "2"},   {"read.3.name", "ai3_v"}, {"read.3.channel", "3"},
};

static int comedi_settings(struct comedi_model *m, const struct hil_settings *settings,
                           const struct hil_said *said)
{
    static const struct hil_settings natural = {comedi_natural,
                                                sizeof comedi_natural / sizeof comedi_natural[0]};

    if (settings->count == 0)
        settings = &natural;
    m->model.inputs.count = hil_settings_count(settings, "", "write");
    m->model.outputs.count = hil_settings_count(settings, "", "read");
    int rc = hil_settings_read(NULL, comedi_keys, settings, "", said);
    if (!rc)
        rc = comedi_read_list(m->write, comedi_write_keys, "write", settings, m->model.inputs.count,
                              said);
    if (!rc)
        rc = comedi_read_list(m->read, comedi_read_keys, "read", settings, m->model.outputs.count,
                              said);
    return rc;
}

/* --- tables ---------------------------------------------------------------------------------- */

static struct hil_quantity comedi_row(const struct hil_comedi_channel *c, bool written)
{
    static const char *const docs[][2] = {{"an analogue input", "an analogue output"},
                                          {"a digital input", "a digital output"}};

    return (struct hil_quantity){
        .name = c->name,
        .unit = c->unit                        ? c->unit
                : c->kind == HIL_COMEDI_ANALOG ? "V"
                                               : "",
        .value = written ? c->safe : 0,
        .min = c->min,
        .max = c->max,
        .doc = docs[c->kind][written],
    };
}

static void comedi_tables(struct comedi_model *m)
{
    for (unsigned i = 0; i < m->model.inputs.count; i++)
        m->inputs[i] = comedi_row(&m->write[i], true);
    for (unsigned i = 0; i < m->model.outputs.count; i++)
        m->outputs[i] = comedi_row(&m->read[i], false);
    m->model.inputs.at = m->inputs;
    m->model.outputs.at = m->outputs;
    m->model.inputs.row_size = m->model.outputs.row_size = sizeof(struct hil_quantity);
}

/* --- the provider ---------------------------------------------------------------------------- */

static bool comedi_takes(const char *name)
{
    return strncmp(name, COMEDI_PREFIX, strlen(COMEDI_PREFIX)) == 0;
}

static int comedi_locate(char **whole, const char *name, const char *folder,
                         const struct hil_said *said)
{
    (void)folder;
    if (name[strlen(COMEDI_PREFIX)] != '/')
        return hil_say(said, -EINVAL,
                       "it names no device; allowed: a name such as comedi:/dev/comedi0");
    return hil_whole_is(whole, name, said);
}

static int comedi_load(struct hil_loaded *made, const struct hil_said *said)
{
    struct comedi_model *m = calloc(1, sizeof *m);

    if (!m)
        return hil_say_no_memory(said);
    m->model = (struct hil_model){
        .abi = HIL_MODEL_ABI,
        .size = sizeof m->model,
        .name = made->name,
        .doc = "A card that Comedi drives",
        .kind = HIL_CONTINUOUS,
        .width_max = 1,
        .create = comedi_create,
        .output = comedi_output,
        .step = comedi_step,
        .destroy = comedi_destroy,
        .apply = comedi_apply,
    };
    m->path = made->name + strlen(COMEDI_PREFIX);
    const int rc = comedi_settings(m, &made->settings, said);
    if (rc) {
        free(m);
        return rc;
    }
    comedi_tables(m);
    made->own = m;
    made->model = &m->model;
    return 0;
}

static void comedi_unload(struct hil_loaded *made)
{
    free(made->own);
}

const struct hil_provider hil_comedi_provider = {
    .example = "a card such as comedi:/dev/comedi0",
    .takes = comedi_takes,
    .locate = comedi_locate,
    .load = comedi_load,
    .unload = comedi_unload,
    .not_real_time = "each step makes system calls to a device",
    .not_virtual = "it is a device",
};
