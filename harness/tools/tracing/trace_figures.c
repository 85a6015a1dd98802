#include "trace_figures.h"

#include "../../figures/bars.h"

/* The number of colours in these figures' scripts. */
enum { ARRAYS_MAX = 8 };

/* The arrays of nodes in a figure: those with steps. */
struct shown {
    const struct hil_traced_array *of[ARRAYS_MAX];
    unsigned count;
    unsigned left_out; /* number of arrays without a colour */
};

static double us(uint64_t ns)
{
    return (double)ns * 1e-3;
}

/* On a logarithmic axis, 0 is drawn as 1 ns. */
static double drawn_us(uint64_t ns)
{
    return us(ns > 0 ? ns : 1);
}

static struct shown choose(const struct hil_analysis *a)
{
    struct shown shown = {.count = 0};

    for (unsigned i = 0; i < a->loops.count; i++) {
        const struct hil_traced_array *array = hil_loops_array(&a->loops, i);
        if (!array || !array->figures.steps)
            continue;
        if (shown.count < ARRAYS_MAX)
            shown.of[shown.count++] = array;
        else
            shown.left_out++;
    }
    return shown;
}

static int open_figure(struct hil_figure *f, const struct hil_analysis *a,
                       const struct shown *shown, const char *dir, const char *name,
                       const char *title, FILE *messages)
{
    int rc = hil_figure_open(f, dir, name, messages);
    char others[60] = "", variable[40];

    if (rc)
        return rc;
    if (shown->left_out)
        snprintf(others, sizeof others, "; %u more arrays of nodes are not drawn", shown->left_out);
    hil_figure_text(f, "title", "%s", title);
    hil_figure_text(f, "subtitle", "%llu events in %.3g s, %llu lost%s",
                    (unsigned long long)a->events, (double)(a->end_ns - a->start_ns) * 1e-9,
                    (unsigned long long)a->lost, others);
    fprintf(f->values, "n = %u\narray label[n]\n", shown->count);
    for (unsigned i = 0; i < shown->count; i++) {
        snprintf(variable, sizeof variable, "label[%u]", i + 1);
        hil_figure_text(f, variable, "%s", shown->of[i]->words);
    }
    return 0;
}

/* --- over time -------------------------------------------------------------------------------- */

static void write_course(FILE *data, const struct hil_course *course)
{
    for (unsigned k = 0; k < 2 * HIL_COURSE_COLUMNS; k++)
        if (course->greatest[k] != UINT64_MAX)
            fprintf(data, "%.9g %.6g\n", ((double)k + 0.5) * (double)course->column_ns * 1e-9,
                    drawn_us(course->greatest[k]));
}

static void plot_course(struct hil_figure *f, const char *series, unsigned i,
                        const struct hil_course *course)
{
    FILE *data = hil_figure_data(f, series, i);

    if (!data)
        return;
    write_course(data, course);
    hil_figure_data_end(f, data);
}

/* The round trips that the nodes of the array asked for. Returns whether there are any. */
static bool plot_rounds_of(struct hil_figure *f, const struct hil_analysis *a, unsigned i,
                           const struct hil_traced_array *array)
{
    FILE *data = hil_figure_data(f, "round", i);
    bool any = false;

    if (!data)
        return false;
    for (unsigned k = 0; k < a->rounds.trip_count; k++) {
        const struct hil_round_trip *trip = a->rounds.trips[k];
        if (a->loops.arrays[trip->asker] != array || !trip->whole.count)
            continue;
        write_course(data, &trip->course);
        any = true;
    }
    hil_figure_data_end(f, data);
    return any;
}

static unsigned plot_misses(struct hil_figure *f, const struct hil_analysis *a, unsigned i,
                            const struct hil_traced_array *array)
{
    FILE *data = hil_figure_data(f, "misses", i);
    unsigned count = 0;

    if (!data)
        return 0;
    for (size_t k = 0; k < a->stretch_count; k++) {
        const struct hil_stretch *s = &a->stretches[k];
        if (a->loops.arrays[s->loop->array] != array)
            continue;
        fprintf(data, "%.9g %.6g\n", (double)(s->from_ns - a->start_ns) * 1e-9,
                drawn_us(s->worst_over_ns));
        count++;
    }
    hil_figure_data_end(f, data);
    return count;
}

static int figure_time(const struct hil_analysis *a, const struct shown *shown, const char *dir,
                       FILE *messages)
{
    struct hil_figure f;
    int rc = open_figure(&f, a, shown, dir, "trace-time",
                         "Steps over time: the greatest of each moment", messages);

    if (rc)
        return rc;
    fprintf(f.values, "array misses[n]\narray rounds[n]\n");
    for (unsigned i = 0; i < shown->count; i++) {
        const struct hil_traced_array *array = shown->of[i];
        plot_course(&f, "late", i + 1, &array->late);
        plot_course(&f, "step", i + 1, &array->duration);
        fprintf(f.values, "rounds[%u] = %d\n", i + 1, plot_rounds_of(&f, a, i + 1, array));
        fprintf(f.values, "misses[%u] = %u\n", i + 1, plot_misses(&f, a, i + 1, array));
    }
    fprintf(f.values, "x_to = %.9g\n", (double)(a->end_ns - a->start_ns) * 1e-9);
    return hil_figure_draw(&f, "steps-time.gp");
}

/* --- histograms ------------------------------------------------------------------------------- */

typedef void plot_histogram(struct hil_figure *figure, const char *series, unsigned i,
                            const struct hil_histogram *histogram);

/* For each array, how late its steps were, and how long they took. */
static void plot_arrays(struct hil_figure *f, const struct shown *shown, plot_histogram *plot)
{
    for (unsigned i = 0; i < shown->count; i++) {
        const struct hil_loop_figures *figures = &shown->of[i]->figures;
        plot(f, "late", i + 1, &figures->late);
        plot(f, "step", i + 1, &figures->duration);
    }
}

/* The rounds of all pairs together. */
static void plot_rounds(struct hil_figure *f, const struct hil_analysis *a, plot_histogram *plot)
{
    static struct hil_histogram all;

    all = (struct hil_histogram){0};
    for (unsigned i = 0; i < a->rounds.trip_count; i++)
        hil_histogram_merge(&all, &a->rounds.trips[i]->whole);
    fprintf(f->values, "rounds = %d\n", all.count > 0);
    plot(f, "round", 1, &all);
}

static int figure_histogram(const struct hil_analysis *a, const struct shown *shown,
                            const char *dir, FILE *messages)
{
    struct hil_figure f;
    int rc = open_figure(&f, a, shown, dir, "trace-histogram",
                         "How late steps were, how long they and the round trips took", messages);

    if (rc)
        return rc;
    plot_arrays(&f, shown, hil_figure_bars);
    plot_rounds(&f, a, hil_figure_bars);
    return hil_figure_draw(&f, "steps-histogram.gp");
}

/* --- the tail --------------------------------------------------------------------------------- */

static int figure_tail(const struct hil_analysis *a, const struct shown *shown, const char *dir,
                       FILE *messages)
{
    struct hil_figure f;
    int rc = open_figure(&f, a, shown, dir, "trace-tail",
                         "Share of steps that were later, or longer, than a time", messages);

    if (rc)
        return rc;
    plot_arrays(&f, shown, hil_figure_tail);
    plot_rounds(&f, a, hil_figure_tail);
    return hil_figure_draw(&f, "steps-tail.gp");
}

int hil_trace_figures(const struct hil_analysis *a, const char *dir, FILE *messages)
{
    const struct shown shown = choose(a);

    if (!shown.count) {
        fprintf(messages, "%s: no figures: the trace has no steps\n", dir);
        return 0;
    }
    int rc = figure_time(a, &shown, dir, messages);
    if (!rc)
        rc = figure_histogram(a, &shown, dir, messages);
    return rc ? rc : figure_tail(a, &shown, dir, messages);
}
