#include "plot_bode.h"

#include <math.h>

#include "figure.h"

/* The phase at a frequency, on the line between the readings around it. */
static double bode_phase(const struct hil_bode *b, double hz)
{
    for (unsigned i = 1; i < b->count; i++) {
        const struct hil_bode_reading *r = &b->readings[i - 1], *next = &b->readings[i];
        if (hz <= next->frequency_hz)
            return r->phase_deg + (next->phase_deg - r->phase_deg) * log(hz / r->frequency_hz) /
                                      log(next->frequency_hz / r->frequency_hz);
    }
    return NAN;
}

/* The margin is drawn from where the loop would be -1 to its phase. */
static void bode_crossover(struct hil_figure *figure, const struct hil_bode *b)
{
    const double phase = isfinite(b->crossover_hz) ? bode_phase(b, b->crossover_hz) : NAN;

    if (isfinite(phase))
        fprintf(figure->values, "crossover = %.9g\nmargin_from = %.9g\nmargin_to = %.9g\n",
                b->crossover_hz, phase - remainder(180 + phase, 360), phase);
    else
        fputs("crossover = 0\n", figure->values);
}

static void bode_words(char *text, size_t size, const struct hil_bode *b)
{
    size_t used = 0;

    if (!b->of_loop) {
        snprintf(text, size, "%s / %s", b->response, b->inject);
        return;
    }
    used += (size_t)snprintf(text, size, "loop at %.100s", b->inject);
    if (isfinite(b->phase_margin_deg))
        used += (size_t)snprintf(text + used, size - used, ", phase margin %.3g° at %.4g Hz",
                                 b->phase_margin_deg, b->crossover_hz);
    if (isfinite(b->gain_margin_db))
        snprintf(text + used, size - used, ", gain margin %.3g dB", b->gain_margin_db);
}

int hil_plot_bode(const char *dir, const struct hil_bode *b, FILE *messages)
{
    struct hil_figure figure;
    char words[400];
    int rc = hil_figure_open(&figure, dir, "bode", messages);

    if (rc)
        return rc;
    bode_words(words, sizeof words, b);
    hil_figure_text(&figure, "title", "%s: frequency response", b->scenario);
    hil_figure_text(&figure, "subtitle", "%s", words);
    if (b->count > 1)
        fprintf(figure.values, "x_from = %.9g\nx_to = %.9g\n", b->readings[0].frequency_hz,
                b->readings[b->count - 1].frequency_hz);
    fprintf(figure.values, "of_loop = %d\n", b->of_loop);
    bode_crossover(&figure, b);
    FILE *data = hil_figure_data(&figure, "points", 1);
    for (unsigned i = 0; data && i < b->count; i++)
        fprintf(data, "%.9g %.9g %.9g %.9g\n", b->readings[i].frequency_hz, b->readings[i].gain_db,
                b->readings[i].phase_deg, b->readings[i].coherence);
    if (data)
        hil_figure_data_end(&figure, data);
    return hil_figure_draw(&figure, "run-bode.gp");
}
