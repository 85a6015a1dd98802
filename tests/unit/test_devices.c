/*
 * Tests the settings of cards and CAN buses and what is made of them: tables, mistakes, and the
 * numbers in samples and frames. No device is needed; tests/device has the tests with devices.
 */
#include "test_scenario.h"

#include <math.h>

#include "harness/models/device/can_frames.h"
#include "harness/models/device/comedi_card.h"
#include "harness/models/models.h"

enum { SETTINGS_MAX = 64 };

/* "key=value" texts, up to NULL, as settings. */
struct given {
    char texts[SETTINGS_MAX][96];
    struct hil_setting at[SETTINGS_MAX];
    struct hil_settings settings;
};

static const struct hil_settings *give(struct given *g, const char *const *texts)
{
    unsigned count = 0;

    for (; texts[count]; count++) {
        snprintf(g->texts[count], sizeof g->texts[count], "%s", texts[count]);
        char *equals = strchr(g->texts[count], '=');
        *equals = '\0';
        g->at[count] = (struct hil_setting){g->texts[count], equals + 1};
    }
    g->settings = (struct hil_settings){g->at, count};
    return &g->settings;
}

#define GIVEN(...)                                                                                 \
    give(&(struct given){.settings.count = 0}, (const char *const[]){__VA_ARGS__, NULL})

static const struct hil_model *loads(const char *name, const struct hil_settings *settings)
{
    const struct hil_loaded *loaded = NULL;
    char text[1024] = "";

    cr_assert_eq(
        hil_model_load(&loaded, name, ".", settings, &(struct hil_said){text, sizeof text, NULL}),
        0, "%s", text);
    return loaded->model;
}

static void refused(const char *name, const struct hil_settings *settings, const char *expected)
{
    const struct hil_loaded *loaded;
    char text[1024] = "";

    cr_expect_lt(
        hil_model_load(&loaded, name, ".", settings, &(struct hil_said){text, sizeof text, NULL}),
        0, "%s", expected);
    cr_expect_str_eq(text, expected);
}

/* --- cards ----------------------------------------------------------------------------------- */

static const char CARD[] = "comedi:/dev/comedi7";

Test(comedi, a_card_without_settings_has_its_natural_channels)
{
    const struct hil_model *m = loads(CARD, NULL);

    cr_assert_eq(m->inputs.count, 2);
    cr_expect_str_eq(m->inputs.at[1].name, "ao1_v");
    cr_expect_str_eq(m->inputs.at[1].unit, "V");
    cr_assert_eq(m->outputs.count, 4);
    cr_expect_str_eq(m->outputs.at[3].name, "ai3_v");
    cr_expect_eq(m->kind, HIL_CONTINUOUS);
}

Test(comedi, tables_come_from_settings)
{
    const struct hil_model *m =
        loads(CARD, GIVEN("write.0.name=torque_nm", "write.0.unit=N m", "write.0.channel=3",
                          "write.0.scale=2", "write.0.min=-4", "write.0.max=4", "write.0.safe=-1",
                          "read.0.name=limit", "read.0.kind=digital", "read.0.channel=0"));

    cr_assert_eq(m->inputs.count, 1);
    cr_expect_str_eq(m->inputs.at[0].name, "torque_nm");
    cr_expect_str_eq(m->inputs.at[0].unit, "N m");
    cr_expect_eq(m->inputs.at[0].value, -1);
    cr_expect_eq(m->inputs.at[0].min, -4);
    cr_expect_eq(m->inputs.at[0].max, 4);
    cr_assert_eq(m->outputs.count, 1);
    cr_expect_str_eq(m->outputs.at[0].unit, "");
    cr_expect_str_eq(m->outputs.at[0].doc, "a digital input");
}

Test(comedi, mistakes_in_settings)
{
    refused(CARD, GIVEN("writes.0.name=a"),
            "there is no setting writes.0.name; allowed: write, read");
    refused(CARD, GIVEN("write.name=a"), "write.name is not in a list; allowed: a list write");
    refused(CARD, GIVEN("write=a"), "write is not in a list; allowed: a list write");
    refused(CARD, GIVEN("write.0.chanel=1"),
            "there is no setting write.0.chanel; allowed: name, unit, kind, subdevice, channel, "
            "range, aref, scale, offset, min, max, safe");
    refused(CARD, GIVEN("read.0.safe=1"),
            "there is no setting read.0.safe; allowed: name, unit, kind, subdevice, channel, "
            "range, aref, scale, offset");
    refused(CARD, GIVEN("write.0.channel=1"),
            "write.0.name is missing; allowed: the name of a signal");
    refused(CARD, GIVEN("write.0.name=a"),
            "write.0.channel is missing; allowed: a channel of the card");
    refused(CARD, GIVEN("write.0.name=a", "write.0.channel=1.5"),
            "write.0.channel is '1.5'; allowed: a whole number, 0 to 65535");
    refused(CARD, GIVEN("write.0.name=a", "write.0.channel=-1"),
            "write.0.channel is '-1'; allowed: a whole number, 0 to 65535");
    refused(CARD, GIVEN("write.0.name=a", "write.0.channel=1", "write.0.scale=0"),
            "write.0.scale is 0; allowed: another number");
    refused(CARD, GIVEN("write.0.name=a", "write.0.channel=1", "write.0.scale=nan"),
            "write.0.scale is 'nan'; allowed: a number, -1e+12 to 1e+12");
    refused(CARD, GIVEN("write.0.name=a", "write.0.channel=1", "write.0.aref=earth"),
            "write.0.aref is 'earth'; allowed: ground, common, diff, other");
    refused(CARD, GIVEN("write.0.name=a", "write.0.channel=1", "write.0.min=1", "write.0.max=1"),
            "write.0.min is not below its max; allowed: min below max");
    refused(CARD, GIVEN("write.0.name=a", "write.0.channel=1", "write.0.min=1", "write.0.max=2"),
            "write.0.safe is 0; allowed: 1 to 2, its min to its max");
    refused(CARD,
            GIVEN("write.0.name=a", "write.0.channel=1", "write.1.name=b", "write.1.channel=1"),
            "write.1.channel is 1, which a has; allowed: each once");
    refused(CARD,
            GIVEN("write.0.name=a", "write.0.channel=1", "write.1.name=a", "write.1.channel=2"),
            "its input a is there twice; allowed: what hiloco/model.h says");
    refused("comedi:0", NULL, "it names no device; allowed: a name such as comedi:/dev/comedi0");
}

/* 16 bits for -10 to 10 V, as most cards have. */
Test(comedi, samples_of_a_channel)
{
    const struct hil_comedi_channel volts = {.scale = 1, .min = -1e12, .max = 1e12};
    const struct hil_comedi_scaling s = hil_comedi_scale(&volts, -10, 10, 65535);

    cr_expect_eq(hil_comedi_sample(&s, -10), 0);
    cr_expect_eq(hil_comedi_sample(&s, 10), 65535);
    cr_expect_eq(hil_comedi_sample(&s, 0), 32768);
    cr_expect_eq(hil_comedi_sample(&s, -10 + 20.0 / 65535 * 1.4), 1);
    cr_expect_eq(hil_comedi_sample(&s, -10 + 20.0 / 65535 * 1.6), 2);
    cr_expect_eq(hil_comedi_sample(&s, 11), 65535);
    cr_expect_eq(hil_comedi_sample(&s, -1e9), 0);
    for (lsampl_t sample = 0; sample <= 65535; sample++)
        cr_assert_eq(hil_comedi_sample(&s, hil_comedi_signal(&s, sample)), sample);
}

/* A sensor of 0.5 V and 20 mV a degree; an amplifier of -50 A a volt, kept within 100 A. */
Test(comedi, scale_offset_and_limits)
{
    const struct hil_comedi_channel sensor = {
        .scale = 50, .offset = -25, .min = -1e12, .max = 1e12};
    const struct hil_comedi_channel amplifier = {.scale = -50, .min = -100, .max = 100};
    const struct hil_comedi_scaling in = hil_comedi_scale(&sensor, 0, 5, 4095);
    const struct hil_comedi_scaling out = hil_comedi_scale(&amplifier, -10, 10, 4000);

    cr_expect_float_eq(hil_comedi_signal(&in, 0), -25, 1e-9);
    cr_expect_float_eq(hil_comedi_signal(&in, 4095), 225, 1e-9);
    cr_expect_eq(hil_comedi_sample(&out, 0), 2000);
    cr_expect_eq(hil_comedi_sample(&out, 100), 1600);
    cr_expect_eq(hil_comedi_sample(&out, 500), 1600, "kept within its limits");
    cr_expect_eq(hil_comedi_sample(&out, -500), 2400);
}

Test(comedi, digital_channels_have_two_samples)
{
    const struct hil_comedi_channel plain = {.scale = 1, .min = -1e12, .max = 1e12};
    const struct hil_comedi_channel inverted = {.scale = -1, .offset = 1, .min = 0, .max = 1};
    const struct hil_comedi_scaling p = hil_comedi_scale(&plain, 0, 1, 1);
    const struct hil_comedi_scaling i = hil_comedi_scale(&inverted, 0, 1, 1);

    cr_expect_eq(hil_comedi_sample(&p, 0.4), 0);
    cr_expect_eq(hil_comedi_sample(&p, 0.6), 1);
    cr_expect_eq(hil_comedi_sample(&i, 1), 0);
    cr_expect_eq(hil_comedi_signal(&i, 1), 0);
}

static void no_log(void *arg, const char *line)
{
    (void)arg, (void)line;
}

static int create(const struct hil_model *m, void **self, double period_s, bool trial)
{
    const struct hil_config config = {.size = sizeof config,
                                      .width = 1,
                                      .period_s = period_s,
                                      .log = no_log,
                                      .model = m,
                                      .trial = trial};

    return m->create(self, &config);
}

/* The card does not exist, which only opening it detects. */
Test(comedi, a_trial_leaves_the_card_alone)
{
    const struct hil_model *m = loads("comedi:/dev/no-such-card", NULL);
    double in[2] = {1, 2}, out[4] = {NAN, NAN, NAN, NAN};
    void *self;

    cr_expect_eq(create(m, &self, 0.001, false), -ENOENT);
    cr_assert_eq(create(m, &self, 0.001, true), 0);
    cr_expect_eq(m->step(self, 0, in, out), 0);
    cr_expect_eq(m->apply(self, in), 0);
    cr_expect_eq(out[3], 0);
    m->destroy(self);
}

/* --- signals in frames ------------------------------------------------------------------------ */

static void expect_packed(const struct hil_can_signal *s, double value, const uint8_t expected[8])
{
    uint8_t data[64] = {0};

    hil_can_pack(s, data, value);
    for (unsigned i = 0; i < 8; i++)
        cr_expect_eq(data[i], expected[i], "byte %u is %02x, not %02x", i, data[i], expected[i]);
    cr_expect_float_eq(hil_can_unpack(s, data), value, 1e-9);
}

#define BYTES(...) ((const uint8_t[8]){__VA_ARGS__})

Test(can, little_endian_signals)
{
    const struct hil_can_signal bytes = {
        .start = 8, .length = 16, .scale = 1, .min = -1e12, .max = 1e12};
    const struct hil_can_signal across = {
        .start = 6, .length = 12, .is_signed = 1, .scale = 0.5, .min = -1e12, .max = 1e12};

    expect_packed(&bytes, 0x1234, BYTES(0, 0x34, 0x12));
    expect_packed(&across, -0.5, BYTES(0xc0, 0xff, 0x03));
    expect_packed(&across, 1023.5, BYTES(0xc0, 0xff, 0x01));
    expect_packed(&across, -1024, BYTES(0, 0, 0x02));
}

/* As in DBC files, where "7|16@0" are the first two bytes and "3|12@0" the last 12 bits of them. */
Test(can, big_endian_signals)
{
    const struct hil_can_signal first = {
        .start = 7, .length = 16, .big_endian = 1, .scale = 1, .min = -1e12, .max = 1e12};
    const struct hil_can_signal twelve = {
        .start = 3, .length = 12, .big_endian = 1, .scale = 1, .min = -1e12, .max = 1e12};
    const struct hil_can_signal middle = {.start = 13,
                                          .length = 10,
                                          .big_endian = 1,
                                          .is_signed = 1,
                                          .scale = 1,
                                          .offset = 5,
                                          .min = -1e12,
                                          .max = 1e12};

    expect_packed(&first, 0x1234, BYTES(0x12, 0x34));
    expect_packed(&twelve, 0xabc, BYTES(0x0a, 0xbc));
    expect_packed(&middle, 4, BYTES(0, 0x3f, 0xf0));
}

/* Other bits of the frame are unchanged. A value out of range is limited to the end of the range.
 */
Test(can, a_signal_has_its_own_bits)
{
    const struct hil_can_signal s = {
        .start = 4, .length = 8, .is_signed = 1, .scale = 1, .min = -1e12, .max = 100};
    uint8_t data[64];

    memset(data, 0xff, sizeof data);
    hil_can_pack(&s, data, 0);
    cr_expect_eq(data[0], 0x0f);
    cr_expect_eq(data[1], 0xf0);
    hil_can_pack(&s, data, -1000);
    cr_expect_eq(hil_can_unpack(&s, data), -128);
    hil_can_pack(&s, data, 1000);
    cr_expect_eq(hil_can_unpack(&s, data), 100);
    hil_can_pack(&s, data, NAN);
    cr_expect_eq(hil_can_unpack(&s, data), -128);
}

Test(can, signals_of_64_bits)
{
    for (int order = 0; order < 2; order++)
        for (int is_signed = 0; is_signed < 2; is_signed++) {
            const struct hil_can_signal s = {.start = order ? 7 : 0,
                                             .length = 64,
                                             .big_endian = order,
                                             .is_signed = is_signed,
                                             .scale = 1,
                                             .min = -1e30,
                                             .max = 1e30};
            const double most = is_signed ? 0x1p63 : 0x1p64;
            uint8_t data[64] = {0};
            hil_can_pack(&s, data, most);
            cr_expect_eq(hil_can_unpack(&s, data), most);
            hil_can_pack(&s, data, -most);
            cr_expect_eq(hil_can_unpack(&s, data), is_signed ? -most : 0);
        }
}

/* Each value of each kind of signal survives packing and unpacking. */
Test(can, what_is_packed_is_unpacked)
{
    for (unsigned n = 0; n < 100000; n++) {
        const int length = 1 + (int)(n * 7u % 31), order = (int)(n % 2);
        const int start = order ? 7 + 8 * (int)(n / 3 % 3) - (int)(n / 5 % 8) : (int)(n / 3 % 20);
        const struct hil_can_signal s = {.start = start,
                                         .length = length,
                                         .big_endian = order,
                                         .is_signed = (int)(n / 2 % 2),
                                         .scale = 0.25,
                                         .min = -1e12,
                                         .max = 1e12};
        const double all = ldexp(1, length);
        const double raw = floor((double)(n * 2654435761u) / 0x1p32 * all);
        const double value = 0.25 * (s.is_signed && raw >= all / 2 ? raw - all : raw);
        uint8_t data[64] = {0};
        hil_can_pack(&s, data, value);
        cr_assert_eq(hil_can_unpack(&s, data), value, "%u", n);
    }
}

/* --- frames ----------------------------------------------------------------------------------- */

#define SENT "frames.0.id=0x123", "frames.0.direction=send"
#define SIGNAL(n)                                                                                  \
    "frames.0.signals." n ".name=s" n, "frames.0.signals." n ".start=" n "0",                      \
        "frames.0.signals." n ".length=8"

Test(can, tables_come_from_frames)
{
    const struct hil_model *m =
        loads("can:vcan7",
              GIVEN(SENT, SIGNAL("0"), SIGNAL("1"), "frames.0.signals.1.initial=3",
                    "frames.0.signals.1.unit=rad/s", "frames.1.id=291", "frames.1.extended=true",
                    "frames.1.direction=receive", "frames.1.signals.0.name=back",
                    "frames.1.signals.0.start=0", "frames.1.signals.0.length=16"));

    cr_assert_eq(m->inputs.count, 2);
    cr_expect_str_eq(m->inputs.at[1].name, "s1");
    cr_expect_str_eq(m->inputs.at[1].unit, "rad/s");
    cr_expect_eq(m->inputs.at[1].value, 3);
    cr_assert_eq(m->outputs.count, 1);
    cr_expect_str_eq(m->outputs.at[0].name, "back");
}

Test(can, mistakes_in_settings)
{
    refused("can:vcan7", NULL, "it has 0 frames in its settings; allowed: 1 to 128");
    refused("can:", NULL, "it names no interface; allowed: a name such as can:can0");
    refused("can:a-name-too-long-for-it", NULL,
            "it names no interface; allowed: a name such as can:can0");
    refused("can:vcan7", GIVEN("frames.0.direction=send"),
            "frames.0.id is missing; allowed: an identifier such as 0x123");
    refused("can:vcan7", GIVEN("frames.0.id=1"),
            "frames.0.direction is missing; allowed: send, receive");
    refused("can:vcan7", GIVEN("frames.0.id=0x800", "frames.0.direction=send"),
            "frames.0.id is 0x800; allowed: 0 to 0x7ff, or with extended: true to 0x1fffffff");
    refused("can:vcan7", GIVEN(SENT, "frames.0.length=12"),
            "frames.0.length is 12; allowed: 0 to 8, or with fd: true up to 64");
    refused("can:vcan7", GIVEN(SENT, "frames.0.fd=true", "frames.0.length=13"),
            "frames.0.length is 13; allowed: 0 to 8, 12, 16, 20, 24, 32, 48, 64");
    refused("can:vcan7", GIVEN(SENT, "frames.0.age_limit_us=5"),
            "frames.0.age_limit_us is of a frame that is sent; allowed: none");
    refused("can:vcan7",
            GIVEN("frames.0.id=1", "frames.0.direction=receive", "frames.0.period_us=5"),
            "frames.0.period_us is of a frame that is received; allowed: none");
    refused("can:vcan7", GIVEN(SENT, "frames.1.id=0x123", "frames.1.direction=send"),
            "frames.1.id is 0x123, which another frame has; allowed: each once");
    refused("can:vcan7", GIVEN(SENT, "frames.0.signals.0.start=0"),
            "frames.0.signals.0.name is missing; allowed: the name of a signal");
    refused("can:vcan7", GIVEN(SENT, "frames.0.signals.0.name=a", "frames.0.signals.0.start=0"),
            "frames.0.signals.0.length is missing; allowed: a number of bits");
    refused(
        "can:vcan7", GIVEN(SENT, SIGNAL("0"), "frames.0.length=0"),
        "frames.0.signals.0.start is 0, and with it 8 bits go beyond its frame; allowed: within "
        "its 0 bytes");
    refused("can:vcan7",
            GIVEN(SENT, SIGNAL("0"), "frames.0.signals.1.name=b", "frames.0.signals.1.start=7",
                  "frames.0.signals.1.length=2"),
            "frames.0.signals.1.start is 7, and with it bit 7 is in two signals; allowed: each bit "
            "in one");
    refused("can:vcan7", GIVEN(SENT, SIGNAL("0"), "frames.0.signals.0.min=1"),
            "frames.0.signals.0.initial is 0; allowed: 1 to 1e+12, its min to its max");
    refused("can:vcan7",
            GIVEN("frames.0.id=1", "frames.0.direction=receive", SIGNAL("0"),
                  "frames.0.signals.0.safe=1"),
            "there is no setting frames.0.signals.0.safe; allowed: name, unit, start, length, "
            "byte_order, signed, scale, offset, initial");
}

Test(can, a_big_endian_signal_may_end_before_its_frame_does)
{
    loads("can:vcan7", GIVEN("frames.0.id=1", "frames.0.direction=receive", "frames.0.length=2",
                             "frames.0.signals.0.name=a", "frames.0.signals.0.start=7",
                             "frames.0.signals.0.length=16", "frames.0.signals.0.byte_order=big"));
    refused("can:vcan7",
            GIVEN("frames.0.id=1", "frames.0.direction=receive", "frames.0.length=2",
                  "frames.0.signals.0.name=a", "frames.0.signals.0.start=6",
                  "frames.0.signals.0.length=16", "frames.0.signals.0.byte_order=big"),
            "frames.0.signals.0.start is 6, and with it 16 bits go beyond its frame; allowed: "
            "within its 2 bytes");
}

/* The interface does not exist, which only opening it detects. */
Test(can, a_trial_leaves_the_bus_alone_and_knows_the_period)
{
    const struct hil_model *m =
        loads("can:no-such-bus", GIVEN(SENT, SIGNAL("0"), "frames.0.period_us=3000"));
    void *self;

    cr_assert_eq(create(m, &self, 0.001, true), 0);
    m->destroy(self);
    cr_expect_eq(create(m, &self, 0.002, true), -EDOM);
    cr_expect_lt(create(m, &self, 0.001, false), 0);
}

/* --- scenarios -------------------------------------------------------------------------------- */

#define CARD_SCENARIO(mode)                                                                        \
    "name: card\nduration_s: 1\nmode: " mode "\nnodes: {n: {period_us: 1000}}\n"                   \
    "components:\n  card: {model: comedi:/dev/no-such-card, node: n}\n"                            \
    "connections: [{from: card.ai0_v, to: card.ao0_v}]\n"

/* A scenario is checked without its devices. It has a mistake if its settings could not work. */
Test(devices, a_scenario_with_a_device)
{
    hil_scenario_free(load(CARD_SCENARIO("realtime"), NULL));
    const char *said = refusal(CARD_SCENARIO("virtual"), NULL);
    cr_expect_str_eq(said, "FILE:6:17: the model comedi:/dev/no-such-card has no virtual time: it "
                           "is a device; allowed: mode: realtime\n");
}
