/*
 * A battery, modelled by a second-order equivalent circuit:
 *
 *      v = open-circuit voltage (charge) - R0 i - v1 - v2
 *      R1 C1 v1' = R1 i - v1,  R2 C2 v2' = R2 i - v2,  capacity charge' = -i
 *
 * The open-circuit voltage is linear in the charge. The whole circuit is linear, so the solution is
 * exact for a current that is held.
 *
 * An empty battery is cut off, as its protection does: it gives no current, and its terminals have
 * no voltage until it is charged or nothing more is taken. A full battery takes no current: what
 * would charge it goes past it, and its terminals have the voltage of the resting battery. A period
 * in which it becomes empty or full is divided at that moment. A warning says so, once until the
 * charge has moved away from there again.
 */
#include <math.h>
#include <stdbool.h>

#include "instance.h"
#include "models.h"

enum {
    BATTERY_CAPACITY,
    BATTERY_EMPTY,
    BATTERY_FULL,
    BATTERY_R0,
    BATTERY_R1,
    BATTERY_C1,
    BATTERY_R2,
    BATTERY_C2
};
enum { BATTERY_CHARGE, BATTERY_V1, BATTERY_V2 };

/* A resistor with a capacitor across it. */
struct battery_pair {
    double v, ohm, farad;
    double gone; /* fraction of the way to its final voltage that v moves in one period */
};

/* Share of the capacity after which the battery may become empty, or full, anew. */
static const double BATTERY_AWAY = 0.01;

struct battery {
    hil_log_fn *warn; /* or NULL */
    void *warn_arg;
    bool at_end; /* it is empty or full, and has said so */
    double charge;
    double per_period; /* share of the capacity that 1 A takes in one period */
    double empty_v, full_v, r0, period_s;
    struct battery_pair pairs[2];
};

static struct battery_pair battery_pair_of(double v, double ohm, double farad, double period_s)
{
    return (struct battery_pair){v, ohm, farad, -expm1(-period_s / (ohm * farad))};
}

static double battery_per_period(double capacity_ah, double period_s)
{
    return period_s / (3600 * capacity_ah);
}

static int battery_create(void **self, const struct hil_config *config)
{
    const double *p = config->parameters, *x = config->states, period_s = config->period_s;
    int rc = instance_create(self, config, sizeof(struct battery));

    if (rc)
        return rc;
    *(struct battery *)*self = (struct battery){
        .warn = config->warn,
        .warn_arg = config->log_arg,
        .charge = x[BATTERY_CHARGE],
        .per_period = battery_per_period(p[BATTERY_CAPACITY], period_s),
        .empty_v = p[BATTERY_EMPTY],
        .full_v = p[BATTERY_FULL],
        .r0 = p[BATTERY_R0],
        .period_s = period_s,
        .pairs = {battery_pair_of(x[BATTERY_V1], p[BATTERY_R1], p[BATTERY_C1], period_s),
                  battery_pair_of(x[BATTERY_V2], p[BATTERY_R2], p[BATTERY_C2], period_s)},
    };
    return 0;
}

static int battery_tune(void *self, uint32_t place, double value)
{
    struct battery *b = self;
    struct battery_pair *fast = &b->pairs[0], *slow = &b->pairs[1];
    double *const tunable[] = {
        [BATTERY_CAPACITY] = NULL, [BATTERY_EMPTY] = &b->empty_v, [BATTERY_FULL] = &b->full_v,
        [BATTERY_R0] = &b->r0,     [BATTERY_R1] = &fast->ohm,     [BATTERY_C1] = &fast->farad,
        [BATTERY_R2] = &slow->ohm, [BATTERY_C2] = &slow->farad,
    };

    if (place == BATTERY_CAPACITY)
        b->per_period = battery_per_period(value, b->period_s);
    else
        *tunable[place] = value;
    for (unsigned i = 0; i < 2; i++)
        b->pairs[i] =
            battery_pair_of(b->pairs[i].v, b->pairs[i].ohm, b->pairs[i].farad, b->period_s);
    return 0;
}

static bool battery_is_empty(const struct battery *b, double current)
{
    return b->charge <= 0 && current > 0;
}

static bool battery_is_full(const struct battery *b, double current)
{
    return b->charge >= 1 && current < 0;
}

static int battery_output(const void *self, const double *in, double *out)
{
    const struct battery *b = self;
    const bool empty = battery_is_empty(b, in[0]);
    const double given = empty || battery_is_full(b, in[0]) ? 0 : in[0];

    out[0] = b->empty_v + (b->full_v - b->empty_v) * b->charge - b->r0 * given - b->pairs[0].v -
             b->pairs[1].v;
    if (empty)
        out[0] = 0;
    out[1] = b->charge;
    out[2] = given;
    return 0;
}

/* Moves the pairs' voltages for the share `part` of a period. */
static void battery_move(struct battery *b, double current, double part)
{
    for (unsigned i = 0; i < 2; i++) {
        struct battery_pair *p = &b->pairs[i];
        const double gone = part < 1 ? -expm1(-part * b->period_s / (p->ohm * p->farad)) : p->gone;
        p->v += gone * (p->ohm * current - p->v);
    }
}

static void battery_tell(struct battery *b, bool reached)
{
    if (reached && !b->at_end && b->warn)
        b->warn(b->warn_arg, b->charge > 0 ? "it is full, and takes no more current"
                                           : "it is empty, and gives no more current");
    b->at_end =
        reached || (b->at_end && (b->charge < BATTERY_AWAY || b->charge > 1 - BATTERY_AWAY));
}

static int battery_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    struct battery *b = self;

    (void)t_ns;
    const double taken = b->per_period * in[0], charge = b->charge - taken;
    const double left = fmin(fmax(charge, 0), 1);
    const double part = left == charge ? 1 : (b->charge - left) / taken;
    battery_move(b, in[0], part);
    if (part < 1)
        battery_move(b, 0, 1 - part);
    b->charge = left;
    battery_tell(b, part < 1);
    return battery_output(self, in, out);
}

static void battery_numbers(void *self, hil_numbers_fn *each, void *arg)
{
    struct battery *p = self;

    each(arg, &p->charge, 1);
    each(arg, &p->pairs[0].v, 1);
    each(arg, &p->pairs[1].v, 1);
}

static const struct hil_quantity battery_parameters[] = {
    {"capacity_ah", "Ah", 5, 1e-6, 1e6, HIL_TUNABLE | HIL_SPREAD, "charge of the full battery"},
    {"empty_v", "V", 36, 0, 1e5, HIL_TUNABLE, "open-circuit voltage when it is empty"},
    {"full_v", "V", 50, 0, 1e5, HIL_TUNABLE, "open-circuit voltage when it is full"},
    {"resistance_ohm", "Ohm", 0.02, 0, 1e3, HIL_TUNABLE | HIL_SPREAD, "in series"},
    {"fast_resistance_ohm", "Ohm", 0.01, 1e-9, 1e3, HIL_TUNABLE | HIL_SPREAD, "of the fast pair"},
    {"fast_capacitance_f", "F", 100, 1e-9, 1e9, HIL_TUNABLE | HIL_SPREAD, "of the fast pair"},
    {"slow_resistance_ohm", "Ohm", 0.015, 1e-9, 1e3, HIL_TUNABLE | HIL_SPREAD, "of the slow pair"},
    {"slow_capacitance_f", "F", 5000, 1e-9, 1e9, HIL_TUNABLE | HIL_SPREAD, "of the slow pair"},
};

static const struct hil_quantity battery_inputs[] = {
    {"current_a", "A", 0, -1e6, 1e6, HIL_REQUIRED, "taken out of it"},
};

static const struct hil_quantity battery_outputs[] = {
    {"voltage_v", "V", 0, -INFINITY, INFINITY, 0, "of its terminals"},
    {"charge", "", 0, -INFINITY, INFINITY, 0, "share of its capacity that is in it"},
    {"given_a", "A", 0, -INFINITY, INFINITY, 0, "current that it gives; 0 when empty or full"},
};

static const struct hil_quantity battery_states[] = {
    {"charge", "", 0.8, 0, 1, 0, "share of its capacity that is in it"},
    {"fast_v", "V", 0, -1e3, 1e3, 0, "of the fast pair"},
    {"slow_v", "V", 0, -1e3, 1e3, 0, "of the slow pair"},
};

const struct hil_model model_battery = {
    .abi = HIL_MODEL_ABI,
    .size = sizeof(struct hil_model),
    .name = "battery",
    .doc = "Battery, equivalent circuit of second order",
    .kind = HIL_CONTINUOUS,
    .width_max = 1,
    .parameters = HIL_QUANTITIES(battery_parameters),
    .inputs = HIL_QUANTITIES(battery_inputs),
    .outputs = HIL_QUANTITIES(battery_outputs),
    .states = HIL_QUANTITIES(battery_states),
    .create = battery_create,
    .output = battery_output,
    .step = battery_step,
    .destroy = instance_destroy,
    .numbers = battery_numbers,
    .tune = battery_tune,
};
