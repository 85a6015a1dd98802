#include "../figures/plot_names.h"
#include "judge_parts.h"

static bool is_wanted(const struct hil_finding *f)
{
    return f->outcome == HIL_OUTCOME_FAILED && (f->measure || f->stream >= 0);
}

static void find_figure(const struct plot_names *names, const struct plot_run *run,
                        struct hil_finding *f)
{
    const char *name =
        f->measure ? plot_name_of_measure(names, run, f->measure)
                   : plot_name_of_column(names, run, (unsigned)f->stream, (unsigned)f->column);

    if (name)
        snprintf(f->figure, sizeof f->figure, "%.70s.svg", name);
}

static void find_all(const char *dir, struct hil_finding *findings, unsigned count, FILE *nowhere)
{
    struct plot_names names;
    struct plot_run run;

    if (plot_run_open(&run, dir, NULL, nowhere))
        return; /* a record without rows has no figures */
    if (plot_names_open(&names, &run) == 0)
        for (unsigned i = 0; i < count; i++)
            if (is_wanted(&findings[i]))
                find_figure(&names, &run, &findings[i]);
    plot_names_close(&names);
    plot_run_close(&run);
}

void judge_find_figures(const char *dir, struct hil_finding *findings, unsigned count)
{
    bool any = false;

    for (unsigned i = 0; i < count; i++)
        any |= is_wanted(&findings[i]);
    FILE *nowhere = any && dir ? fopen("/dev/null", "we") : NULL;
    if (!nowhere)
        return;
    find_all(dir, findings, count, nowhere);
    fclose(nowhere);
}
