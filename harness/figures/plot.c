#include "plot.h"

#include <unistd.h>

#include "../h5/run_files.h"
#include "plot_data.h"

int hil_plot(const char *dir, const char *to, struct hil_plot_span span, FILE *messages)
{
    char sweep[HIL_PATH_BYTES];
    const int rc = hil_run_path(sweep, dir, "sweep.json");

    if (!rc && access(sweep, F_OK) == 0)
        return plot_sweep_figures(dir, to, span, messages);
    return plot_run_figures(dir, to, span, messages);
}

int hil_plot_beside(const char *dir, const char *other, const char *to, struct hil_plot_span span,
                    FILE *messages)
{
    return plot_beside_figure(dir, other, to, span, messages);
}
