#include "plot_poles.h"

#include "figure.h"

int hil_plot_poles(const char *dir, const struct hil_poles *poles, FILE *messages)
{
    struct hil_figure figure;
    double radius = 0;
    int rc = hil_figure_open(&figure, dir, "poles", messages);

    if (rc)
        return rc;
    for (unsigned i = 0; i < poles->count; i++)
        radius = cabs(poles->at[i]) > radius ? cabs(poles->at[i]) : radius;
    hil_figure_text(&figure, "title", "%s: eigenvalues of the sampled loop", poles->scenario);
    hil_figure_text(&figure, "subtitle", "over %.6g µs from %.6g s on: %s, greatest |z| %.5f",
                    poles->period_us, poles->at_s, radius < 1 ? "stable" : "not stable", radius);
    fprintf(figure.values, "most = %.9g\n", radius > 1 ? 1.05 * radius : 1.05);
    FILE *data = hil_figure_data(&figure, "points", 1);
    for (unsigned i = 0; data && i < poles->count; i++)
        fprintf(data, "%.9g %.9g\n", creal(poles->at[i]), cimag(poles->at[i]));
    if (data)
        hil_figure_data_end(&figure, data);
    return hil_figure_draw(&figure, "run-poles.gp");
}
