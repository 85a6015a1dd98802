#include "can.h"

#include <errno.h>
#include <math.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "can_bus.h"

static const char CAN_PREFIX[] = "can:";

/* The most frames taken in one step, so that a flood does not delay the loop. */
enum { CAN_TAKEN_MAX = 256 };

/* How long a frame may wait for room in the send queue. */
static const uint64_t CAN_OWED_NS = 1000000000;

struct can_model {
    struct hil_model model;
    const char *interface;
    struct hil_can_frames frames;
    struct hil_quantity inputs[HIL_DEVICE_MAX], outputs[HIL_DEVICE_MAX];
};

/* The working state of a frame. */
struct can_work {
    struct canfd_frame frame; /* the frame sent last; the next frame */
    uint64_t period, left;    /* steps between two frames, and until the next; 0: it is sent on
                               * change */
    unsigned owed;            /* steps that it has waited for room */
    bool sent;
    uint64_t seen_ns, age_limit_ns;
};

struct can_component {
    const struct can_model *of;
    int bus; /* -1: a trial */
    uint64_t period_ns;
    struct can_work works[HIL_DEVICE_MAX];
    double values[HIL_DEVICE_MAX]; /* of received signals */
    struct hil_guardian guardian;
    struct hil_safe_act safe[HIL_DEVICE_MAX];
    unsigned safe_count;
    hil_log_fn *log;
    void *log_arg;
};

static const struct can_model *can_model_of(const struct hil_model *model)
{
    return (const struct can_model *)model; /* its first member */
}

/* --- making ---------------------------------------------------------------------------------- */

static void can_pack_frame(const struct can_model *m, const struct hil_can_frame *f,
                           const double *values, struct canfd_frame *to)
{
    for (unsigned i = f->first; i < f->first + f->count; i++)
        hil_can_pack(&m->frames.signals[HIL_CAN_SEND][i], to->data, values[i]);
}

/* A frame with a safe signal is sent once more at the end. */
static void can_plan_safe(struct can_component *c)
{
    const struct hil_can_signal *signals = c->of->frames.signals[HIL_CAN_SEND];
    double values[HIL_DEVICE_MAX];

    for (unsigned i = 0; i < c->of->frames.signal_count[HIL_CAN_SEND]; i++)
        values[i] = isnan(signals[i].safe) ? signals[i].initial : signals[i].safe;
    for (unsigned i = 0; i < c->of->frames.count; i++) {
        const struct hil_can_frame *f = &c->of->frames.frames[i];
        bool safe = false;
        for (unsigned k = f->first; f->direction == HIL_CAN_SEND && k < f->first + f->count; k++)
            safe |= !isnan(signals[k].safe);
        if (!safe)
            continue;
        struct hil_safe_act *act = &c->safe[c->safe_count++];
        *act = (struct hil_safe_act){
            .kind = HIL_SAFE_CAN,
            .can = {.size = hil_can_bus_size(f), .frame = hil_can_bus_frame(f)}};
        can_pack_frame(c->of, f, values, &act->can.frame);
    }
}

static int can_plan_work(struct can_component *c, const struct hil_can_frame *f,
                         struct can_work *work, const struct hil_said *said)
{
    const uint64_t period_ns = (uint64_t)llround(f->period_us * 1e3);

    *work = (struct can_work){.frame = hil_can_bus_frame(f),
                              .period = period_ns / c->period_ns,
                              .age_limit_ns = (uint64_t)llround(f->age_limit_us * 1e3)};
    if (period_ns % c->period_ns == 0)
        return 0;
    return hil_say(said, -EDOM, "frame 0x%x is sent each %g us, and its node steps each %g us",
                   (unsigned)f->id, f->period_us, (double)c->period_ns * 1e-3);
}

static int can_open(struct can_component *c, const struct hil_said *said)
{
    const struct can_model *m = c->of;

    c->bus = hil_can_bus_open(m->interface, &m->frames, said);
    if (c->bus < 0)
        return c->bus;
    can_plan_safe(c);
    const int rc = c->safe_count ? hil_guardian_open(&c->guardian, m->model.name, c->bus, c->safe,
                                                     c->safe_count)
                                 : 0;
    return rc ? hil_say(said, rc, "its guardian cannot be started: %s", strerror(-rc)) : 0;
}

static void can_destroy(void *self)
{
    struct can_component *c = self;

    if (c->guardian.process && hil_guardian_close(&c->guardian) &&
        hil_safe_do(c->bus, c->safe, c->safe_count))
        c->log(c->log_arg, "its safe frames could not be sent");
    if (c->bus >= 0)
        close(c->bus);
    free(c);
}

static int can_create(void **self, const struct hil_config *config)
{
    const struct can_model *m = can_model_of(config->model);
    struct can_component *c = calloc(1, sizeof *c);
    char wrong[512] = "";
    const struct hil_said said = {wrong, sizeof wrong, NULL};
    int rc = 0;

    if (!c)
        return -ENOMEM;
    *c = (struct can_component){.of = m,
                                .bus = -1,
                                .period_ns = (uint64_t)llround(config->period_s * 1e9),
                                .log = config->log,
                                .log_arg = config->log_arg};
    for (unsigned i = 0; i < m->frames.signal_count[HIL_CAN_RECEIVE]; i++)
        c->values[i] = m->frames.signals[HIL_CAN_RECEIVE][i].initial;
    for (unsigned i = 0; !rc && i < m->frames.count; i++)
        rc = can_plan_work(c, &m->frames.frames[i], &c->works[i], &said);
    if (!rc && !config->trial)
        rc = can_open(c, &said);
    if (rc) {
        config->log(config->log_arg, wrong);
        can_destroy(c);
        return rc;
    }
    *self = c;
    return 0;
}

/* --- receiving ------------------------------------------------------------------------------- */

/* Finds the received frame; NULL: it is not in the model. */
static const struct hil_can_frame *can_find(const struct can_model *m,
                                            const struct canfd_frame *frame, ssize_t size)
{
    for (unsigned i = 0; i < m->frames.count; i++) {
        const struct hil_can_frame *f = &m->frames.frames[i];
        if (f->direction == HIL_CAN_RECEIVE && hil_can_id(f) == frame->can_id &&
            (ssize_t)hil_can_bus_size(f) == size && frame->len >= f->length)
            return f;
    }
    return NULL;
}

static void can_take(struct can_component *c, const struct canfd_frame *frame, ssize_t size,
                     uint64_t t_ns)
{
    const struct can_model *m = c->of;
    const struct hil_can_frame *f = can_find(m, frame, size);

    if (!f)
        return;
    c->works[f - m->frames.frames].seen_ns = t_ns;
    for (unsigned i = f->first; i < f->first + f->count; i++)
        c->values[i] = hil_can_unpack(&m->frames.signals[HIL_CAN_RECEIVE][i], frame->data);
}

static int can_take_all(struct can_component *c, uint64_t t_ns)
{
    struct canfd_frame frame;
    ssize_t got = 0;

    for (unsigned i = 0; i < CAN_TAKEN_MAX; i++) {
        got = read(c->bus, &frame, sizeof frame);
        if (got < 0)
            return errno == EAGAIN || errno == EINTR ? 0 : -errno;
        can_take(c, &frame, got, t_ns);
    }
    return 0;
}

static bool can_is_stale(const struct can_component *c, uint64_t t_ns)
{
    for (unsigned i = 0; i < c->of->frames.count; i++) {
        const struct can_work *w = &c->works[i];
        if (w->age_limit_ns && t_ns > w->seen_ns + w->age_limit_ns)
            return true;
    }
    return false;
}

static int can_output(const void *self, const double *in, double *out)
{
    const struct can_component *c = self;

    (void)in;
    memcpy(out, c->values, c->of->model.outputs.count * sizeof *out);
    return 0;
}

static int can_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    struct can_component *c = self;
    const int rc = c->bus < 0 ? 0 : can_take_all(c, t_ns);

    if (rc) {
        c->log(c->log_arg, "nothing can be received");
        hil_safe_do(c->bus, c->safe, c->safe_count);
        return rc;
    }
    can_output(self, in, out);
    return c->bus >= 0 && can_is_stale(c, t_ns) ? -ESTALE : 0;
}

/* --- sending --------------------------------------------------------------------------------- */

static bool can_is_due(const struct can_work *w, const struct canfd_frame *next)
{
    if (w->period)
        return w->left == 0;
    return !w->sent || memcmp(w->frame.data, next->data, sizeof next->data) != 0;
}

/* If the send queue is full, tries again in the next step. */
static int can_send(const struct can_component *c, const struct hil_can_frame *f,
                    struct can_work *w, const struct canfd_frame *next)
{
    const uint32_t size = hil_can_bus_size(f);

    if (write(c->bus, next, size) == (ssize_t)size) {
        w->frame = *next;
        w->sent = true;
        w->owed = 0;
        w->left = w->period;
        return 0;
    }
    if (errno != EAGAIN && errno != ENOBUFS)
        return -errno;
    return ++w->owed * c->period_ns > CAN_OWED_NS ? -ENOBUFS : 0;
}

static int can_send_all(struct can_component *c, const double *in)
{
    const struct can_model *m = c->of;
    int rc = c->guardian.process && !hil_guardian_is_there(&c->guardian) ? -EOWNERDEAD : 0;

    for (unsigned i = 0; !rc && i < m->frames.count; i++) {
        const struct hil_can_frame *f = &m->frames.frames[i];
        struct can_work *w = &c->works[i];
        if (f->direction != HIL_CAN_SEND)
            continue;
        struct canfd_frame next = w->frame;
        can_pack_frame(m, f, in, &next);
        if (can_is_due(w, &next))
            rc = can_send(c, f, w, &next);
        w->left -= w->left > 0;
    }
    return rc;
}

static int can_apply(void *self, const double *in)
{
    struct can_component *c = self;
    const int rc = c->bus < 0 ? 0 : can_send_all(c, in);

    if (!rc)
        return 0;
    c->log(c->log_arg, rc == -EOWNERDEAD ? "the guardian of its safe values is gone"
                       : rc == -ENOBUFS  ? "the bus has accepted nothing for a second"
                                         : "nothing can be sent");
    hil_safe_do(c->bus, c->safe, c->safe_count);
    return rc;
}

/* --- the provider ---------------------------------------------------------------------------- */

static struct hil_quantity can_row(const struct hil_can_signal *s, enum hil_can_direction direction)
{
    return (struct hil_quantity){
        .name = s->name,
        .unit = s->unit ? s->unit : "",
        .value = s->initial,
        .min = s->min,
        .max = s->max,
        .doc = direction == HIL_CAN_SEND ? "a signal that is sent" : "a signal that is received",
    };
}

static void can_table(struct hil_quantities *table, struct hil_quantity *rows,
                      const struct hil_can_frames *frames, enum hil_can_direction direction)
{
    *table =
        (struct hil_quantities){rows, frames->signal_count[direction], sizeof(struct hil_quantity)};
    for (unsigned i = 0; i < table->count; i++)
        rows[i] = can_row(&frames->signals[direction][i], direction);
}

static bool can_takes(const char *name)
{
    return strncmp(name, CAN_PREFIX, strlen(CAN_PREFIX)) == 0;
}

static int can_locate(char **whole, const char *name, const char *folder,
                      const struct hil_said *said)
{
    const size_t length = strlen(name) - strlen(CAN_PREFIX);

    (void)folder;
    if (length == 0 || length >= IFNAMSIZ)
        return hil_say(said, -EINVAL, "it names no interface; allowed: a name such as can:can0");
    return hil_whole_is(whole, name, said);
}

static int can_load(struct hil_loaded *made, const struct hil_said *said)
{
    struct can_model *m = calloc(1, sizeof *m);

    if (!m)
        return hil_say_no_memory(said);
    m->model = (struct hil_model){
        .abi = HIL_MODEL_ABI,
        .size = sizeof m->model,
        .name = made->name,
        .doc = "Signals in frames of a CAN bus",
        .kind = HIL_CONTINUOUS,
        .width_max = 1,
        .create = can_create,
        .output = can_output,
        .step = can_step,
        .destroy = can_destroy,
        .apply = can_apply,
    };
    m->interface = made->name + strlen(CAN_PREFIX);
    const int rc = hil_can_frames_read(&m->frames, &made->settings, said);
    if (rc) {
        free(m);
        return rc;
    }
    can_table(&m->model.inputs, m->inputs, &m->frames, HIL_CAN_SEND);
    can_table(&m->model.outputs, m->outputs, &m->frames, HIL_CAN_RECEIVE);
    made->own = m;
    made->model = &m->model;
    return 0;
}

static void can_unload(struct hil_loaded *made)
{
    free(made->own);
}

const struct hil_provider hil_can_provider = {
    .example = "a CAN bus such as can:can0",
    .takes = can_takes,
    .locate = can_locate,
    .load = can_load,
    .unload = can_unload,
    .not_real_time = "each step makes system calls to a device",
    .not_virtual = "it is a device",
};
