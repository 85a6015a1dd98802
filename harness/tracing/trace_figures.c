#include "trace_figures.h"

#include "../figures/bars.h"

static const char *const roles[] = {"controller", "converters"};

static double us(uint64_t ns)
{
    return (double)ns * 1e-3;
}

/* On a logarithmic axis what took no time at all is drawn as 1 ns. */
static double drawn_us(uint64_t ns)
{
    return us(ns > 0 ? ns : 1);
}

/* The node loops of a role, together; NULL when there are none. */
static const struct hil_traced_loop *role(const struct hil_analysis *a, int i)
{
    if (i == 1)
        return a->converters.steps ? &a->converters : NULL;
    return a->loop_count && a->loops[0] && a->loops[0]->steps ? a->loops[0] : NULL;
}

static int open_figure(struct hil_figure *f, const struct hil_analysis *a, const char *dir,
                       const char *name, const char *title, FILE *messages)
{
    int rc = hil_figure_open(f, dir, name, messages);

    if (rc)
        return rc;
    hil_figure_text(f, "title", "%s", title);
    hil_figure_text(f, "subtitle", "%llu events in %.3g s, %llu lost",
                    (unsigned long long)a->events, (double)(a->end_ns - a->start_ns) * 1e-9,
                    (unsigned long long)a->lost);
    return 0;
}

/* gnuplot asks these before it plots a role. */
static void say_roles(struct hil_figure *f, const struct hil_analysis *a)
{
    fprintf(f->values, "array has[2] = [%d, %d]\n", role(a, 0) != NULL, role(a, 1) != NULL);
    fprintf(f->values, "array label[2] = ['%s', '%s']\n", roles[0], roles[1]);
}

/* --- over time -------------------------------------------------------------------------------- */

static void plot_course(struct hil_figure *f, const char *series, unsigned i,
                        const struct hil_course *course)
{
    FILE *data = hil_figure_data(f, series, i);

    if (!data)
        return;
    for (unsigned k = 0; k < 2 * HIL_COURSE_COLUMNS; k++)
        if (course->greatest[k] != UINT64_MAX)
            fprintf(data, "%.9g %.6g\n", ((double)k + 0.5) * (double)course->column_ns * 1e-9,
                    drawn_us(course->greatest[k]));
    hil_figure_data_end(f, data);
}

static unsigned plot_misses(struct hil_figure *f, const struct hil_analysis *a, bool converters)
{
    FILE *data = hil_figure_data(f, "misses", converters + 1u);
    unsigned count = 0;

    if (!data)
        return 0;
    for (size_t i = 0; i < a->stretch_count; i++) {
        const struct hil_stretch *s = &a->stretches[i];
        if ((s->node != 0) != converters)
            continue;
        fprintf(data, "%.9g %.6g\n", (double)(s->from_ns - a->start_ns) * 1e-9,
                drawn_us(s->worst_over_ns));
        count++;
    }
    hil_figure_data_end(f, data);
    return count;
}

static int figure_time(const struct hil_analysis *a, const char *dir, FILE *messages)
{
    struct hil_figure f;
    unsigned misses[2];
    int rc = open_figure(&f, a, dir, "trace-time", "Steps over time: the greatest of each moment",
                         messages);

    if (rc)
        return rc;
    say_roles(&f, a);
    for (unsigned i = 0; i < 2; i++) {
        plot_course(&f, "late", i + 1, &a->late[i]);
        plot_course(&f, "step", i + 1, &a->duration[i]);
        misses[i] = plot_misses(&f, a, i);
    }
    fprintf(f.values, "array misses[2] = [%u, %u]\n", misses[0], misses[1]);
    fprintf(f.values, "x_to = %.9g\n", (double)(a->end_ns - a->start_ns) * 1e-9);
    return hil_figure_draw(&f, "steps-time.gp");
}

/* --- histograms ------------------------------------------------------------------------------- */

typedef void plot_histogram(struct hil_figure *figure, const char *series, unsigned i,
                            const struct hil_histogram *histogram);

/* Of each role, how late its steps were, and how long. */
static void plot_roles(struct hil_figure *f, const struct hil_analysis *a, plot_histogram *plot)
{
    say_roles(f, a);
    for (int i = 0; i < 2; i++) {
        if (!role(a, i))
            continue;
        plot(f, "late", (unsigned)i + 1, &role(a, i)->late);
        plot(f, "step", (unsigned)i + 1, &role(a, i)->duration);
    }
}

static int figure_histogram(const struct hil_analysis *a, const char *dir, FILE *messages)
{
    struct hil_figure f;
    int rc =
        open_figure(&f, a, dir, "trace-histogram", "How late steps were, and how long", messages);

    if (rc)
        return rc;
    plot_roles(&f, a, hil_figure_bars);
    return hil_figure_draw(&f, "steps-histogram.gp");
}

/* --- the tail --------------------------------------------------------------------------------- */

static int figure_tail(const struct hil_analysis *a, const char *dir, FILE *messages)
{
    struct hil_figure f;
    int rc = open_figure(&f, a, dir, "trace-tail",
                         "Share of steps that were later, or longer, than a time", messages);

    if (rc)
        return rc;
    plot_roles(&f, a, hil_figure_tail);
    fprintf(f.values, "rounds = %d\n", a->rounds.whole.count > 0);
    hil_figure_tail(&f, "round", 1, &a->rounds.whole);
    return hil_figure_draw(&f, "steps-tail.gp");
}

int hil_trace_figures(const struct hil_analysis *a, const char *dir, FILE *messages)
{
    if (!role(a, 0) && !role(a, 1)) {
        fprintf(messages, "%s: no figures: the trace has no steps\n", dir);
        return 0;
    }
    int rc = figure_time(a, dir, messages);
    if (!rc)
        rc = figure_histogram(a, dir, messages);
    return rc ? rc : figure_tail(a, dir, messages);
}
