/*
 * The solver of circuits against another way to solve them, on circuits that are drawn at random.
 * CIRCUIT_ROUNDS is how many there are; they are the same in each run.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "circuit_drawn.h"
#include "folder.h"
#include "plants/circuit/circuit_model.h"

enum { FEW = 30, STEPS_MOST = 60, OUTPUTS_MOST = 100, PERIODS = 4 };

static const double periods_s[PERIODS] = {0.7e-6, 1e-6, 3e-6, 7e-6};

#define END_S    30e-6
#define GIVES_UP (-1)

TestSuite(circuit_drawn, .init = folder_open, .fini = folder_close, .timeout = 0);

static void log_line(void *arg, const char *line)
{
    (void)arg;
    cr_log_error("%s", line);
}

/* What the oracle has for an output; NAN: nothing. */
static double wanted(const struct drawn *d, const char *name)
{
    if (name[0] == 'v')
        return name[2] == 'g' ? NAN : oracle_voltage(&d->oracle, (unsigned)atoi(name + 2));
    for (unsigned i = 0; i < d->oracle.count; i++)
        if (strcmp(d->names[i], name + 2) == 0 && strchr("VL", d->oracle.at[i].kind))
            return oracle_current(&d->oracle, i);
    return NAN;
}

/* Runs both, and returns the greatest difference of an output as a share of its peak, or
 * GIVES_UP. */
static double difference(struct drawn *d, const struct cir_model *m, double period_s,
                         double tolerance, char *where, size_t size)
{
    static double got[STEPS_MOST][OUTPUTS_MOST], want[STEPS_MOST][OUTPUTS_MOST];
    const unsigned outputs = m->model.outputs.count, steps = (unsigned)(END_S / period_s);
    const double none[1] = {0};
    struct hil_counts counts = {0};
    const struct hil_config config = {.size = sizeof config,
                                      .width = 1,
                                      .period_s = period_s,
                                      .parameters = none,
                                      .log = log_line,
                                      .model = &m->model,
                                      .counts = &counts};
    double peak[OUTPUTS_MOST], worst = 0;
    void *self;

    cr_assert(outputs <= OUTPUTS_MOST && steps <= STEPS_MOST);
    cr_assert_eq(m->model.create(&self, &config), 0);
    d->oracle.tolerance = tolerance;
    oracle_begin(&d->oracle);
    for (unsigned k = 0; k < OUTPUTS_MOST; k++)
        peak[k] = 1e-6;
    for (unsigned n = 0; n < steps; n++) {
        const long long t_ns = llround((n + 1) * period_s * 1e9);
        if (!oracle_advance(&d->oracle, (double)t_ns * 1e-9)) {
            worst = GIVES_UP;
            break;
        }
        cr_assert_eq(m->model.step(self, (uint64_t)t_ns, none, got[n]), 0, "%s", d->text);
        for (unsigned k = 0; k < outputs; k++) {
            want[n][k] = wanted(d, m->model.outputs.at[k].name);
            peak[k] = fmax(peak[k], fabs(want[n][k])); /* NAN is no maximum */
        }
    }
    for (unsigned n = 0; worst >= 0 && n < steps; n++)
        for (unsigned k = 0; k < outputs; k++)
            if (fabs(got[n][k] - want[n][k]) > worst * peak[k]) {
                worst = fabs(got[n][k] - want[n][k]) / peak[k];
                snprintf(where, size, "%s at %g s is %.9g, not %.9g", m->model.outputs.at[k].name,
                         (n + 1) * period_s, got[n][k], want[n][k]);
            }
    m->model.destroy(self);
    cr_expect_eq(counts.unresolved, 0, "%s", d->text);
    return worst;
}

/* Whether a drawn circuit could be compared. Some are refused, as they have loops or cuts, and in
 * some few the oracle gives up. */
static bool compare(unsigned number)
{
    static struct drawn d;
    char text[1000] = "", where[200] = "";
    struct cir_model *m;

    draw_circuit(&d, number);
    put("drawn.cir", d.text);
    if (cir_model_load(&m, in_folder("drawn.cir"), false, &(struct cir_said){text, sizeof text})) {
        cr_expect(strstr(text, "allowed: "), "%s", text);
        return false;
    }
    const double period_s = periods_s[number % PERIODS];
    double worst = difference(&d, m, period_s, 1e-9, where, sizeof where);
    if (worst > 3e-5) /* it may be the oracle's error */
        worst = difference(&d, m, period_s, 1e-12, where, sizeof where);
    cir_model_unload(m);
    cr_expect(worst <= 3e-5, "with %g s: %s (%.2g of the peak)\n%s", period_s, where, worst,
              d.text);
    return worst >= 0;
}

Test(circuit_drawn, agrees_with_another_way_to_solve_it)
{
    const char *rounds = getenv("CIRCUIT_ROUNDS");
    const unsigned count = rounds ? (unsigned)atoi(rounds) : FEW;
    unsigned compared = 0;

    for (unsigned i = 1; i <= count; i++)
        compared += compare(i);
    cr_log_info("%u of %u circuits compared", compared, count);
    cr_expect_gt(compared, count / 2);
}
