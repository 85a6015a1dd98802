#include "report.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "../json_file.h"

enum { WORST = 10 };

static const double quantiles[] = {0.5, 0.99, 0.999, 0.9999, 1};
enum { QUANTILES = sizeof quantiles / sizeof quantiles[0] };

static double us(uint64_t ns)
{
    return (double)ns * 1e-3;
}

static double at(const struct hil_histogram *h, int i)
{
    return us(hil_histogram_quantile(h, quantiles[i]));
}

/* --- misses ----------------------------------------------------------------------------------- */

static int by_worst(const void *a, const void *b)
{
    const struct hil_stretch *x = *(struct hil_stretch *const *)a;
    const struct hil_stretch *y = *(struct hil_stretch *const *)b;

    return (x->worst_over_ns < y->worst_over_ns) - (x->worst_over_ns > y->worst_over_ns);
}

/* Pointers to all, the worst first; NULL when there are none, or no memory. */
static void report_node_name(unsigned node, char *text, size_t size)
{
    if (node == 0)
        snprintf(text, size, "controller");
    else
        snprintf(text, size, "converter[%u]", node - 1);
}

static const struct hil_stretch **sort(const struct hil_analysis *a)
{
    const struct hil_stretch **sorted =
        a->stretch_count ? malloc(a->stretch_count * sizeof *sorted) : NULL;

    for (size_t i = 0; sorted && i < a->stretch_count; i++)
        sorted[i] = &a->stretches[i];
    if (sorted)
        qsort(sorted, a->stretch_count, sizeof *sorted, by_worst);
    return sorted;
}

static void say_where(const struct hil_stretch *s, char text[80])
{
    char other[24];

    if (s->away_ns >= s->own_ns && s->away_ns >= s->other_ns) {
        snprintf(text, 80, "%.1f us before it began", us(s->away_ns));
    } else if (s->own_ns >= s->other_ns) {
        snprintf(text, 80, "%.1f us in its own step", us(s->own_ns));
    } else {
        report_node_name(s->other_node, other, sizeof other);
        snprintf(text, 80, "%.1f us in step %llu of %s", us(s->other_ns),
                 (unsigned long long)s->other_step, other);
    }
}

static uint64_t largest(const struct hil_stretch *s)
{
    uint64_t most = s->own_ns > s->other_ns ? s->own_ns : s->other_ns;

    return s->away_ns > most ? s->away_ns : most;
}

/* Whether others had the core for most of what went missing. An interrupt counts twice in what
 * they had together, in its own name and in that of who it interrupted; that is little. */
static bool is_explained(const struct hil_stretch *s)
{
    return s->intruder.ns > 0 && 2 * s->intruder.all_ns >= largest(s);
}

static const char *culprit(const struct hil_stretch *s)
{
    return is_explained(s) ? s->intruder.name : "nobody that the kernel knows of";
}

static void print_culprit(const struct hil_stretch *s, FILE *to)
{
    fprintf(to, "  %s", culprit(s));
    if (s->intruder.ns)
        fprintf(to, "%s%s %.1f us", is_explained(s) ? "" : "; ",
                is_explained(s) ? "" : s->intruder.name, us(s->intruder.ns));
    if (s->intruder.all_ns > s->intruder.ns)
        fprintf(to, ", with others %.1f us", us(s->intruder.all_ns));
}

static void print_stretch(const struct hil_analysis *a, const struct hil_stretch *s, FILE *to)
{
    char name[24], where[80];

    report_node_name(s->node, name, sizeof name);
    say_where(s, where);
    fprintf(to, "  %10.6f  %4d  %-14s %9llu %8llu %11.1f  %-36s",
            (double)(s->from_ns - a->start_ns) * 1e-9, s->cpu, name, (unsigned long long)s->step,
            (unsigned long long)s->misses, us(s->worst_over_ns), where);
    if (hil_kernel_any(&a->kernel))
        print_culprit(s, to);
    fputc('\n', to);
}

/* How many stretches each intruder explains. */
static json_t *tally(const struct hil_analysis *a)
{
    json_t *all = json_object();

    for (size_t i = 0; hil_kernel_any(&a->kernel) && i < a->stretch_count; i++) {
        const char *who = culprit(&a->stretches[i]);
        json_int_t count = json_integer_value(json_object_get(all, who));
        json_object_set_new(all, who, json_integer(count + 1));
    }
    return all;
}

static void print_tally(const struct hil_analysis *a, FILE *to)
{
    json_t *all = tally(a), *count;
    const char *who;

    if (json_object_size(all))
        fprintf(to, "\n  who had the core, and at how many of the stretches:\n");
    json_object_foreach(all, who, count)
    {
        fprintf(to, "  %8lld  %s\n", (long long)json_integer_value(count), who);
    }
    json_decref(all);
}

static uint64_t count_misses(const struct hil_analysis *a, uint64_t *left_out)
{
    uint64_t misses = 0;

    *left_out = 0;
    for (unsigned i = 0; i < a->loop_count; i++) {
        misses += a->loops[i] ? a->loops[i]->misses : 0;
        *left_out += a->loops[i] ? a->loops[i]->left_out : 0;
    }
    return misses;
}

static void print_misses(const struct hil_analysis *a, FILE *to)
{
    const struct hil_stretch **sorted = sort(a);
    uint64_t left_out, misses = count_misses(a, &left_out);

    fprintf(to, "\nmisses: %llu steps not in time and %llu left out, in %zu stretches%s\n",
            (unsigned long long)misses, (unsigned long long)left_out, a->stretch_count,
            sorted ? "; the worst:" : "");
    if (sorted)
        fprintf(to, "  %10s  %4s  %-14s %9s %8s %11s  %-36s  %s\n", "at s", "core", "first", "step",
                "misses", "over us", "most of it went",
                hil_kernel_any(&a->kernel) ? "who had the core" : "");
    for (size_t i = 0; sorted && i < a->stretch_count && i < WORST; i++)
        print_stretch(a, sorted[i], to);
    free(sorted);
    if (hil_kernel_any(&a->kernel))
        print_tally(a, to);
    else
        fprintf(to, "  The trace has no kernel events, so who had the core is not known. As root, "
                    "hiloco run --trace\n  records them.\n");
}

/* --- the rest for a person -------------------------------------------------------------------- */

static void print_times(const char *name, const struct hil_histogram *h, FILE *to)
{
    fprintf(to, "  %-22s", name);
    for (int i = 0; i < QUANTILES; i++)
        fprintf(to, " %11.3f", at(h, i));
    fputc('\n', to);
}

static void print_loop(const char *name, const struct hil_traced_loop *l, FILE *to)
{
    fprintf(to, "\n%s: %llu steps, %llu not in time\n", name, (unsigned long long)l->steps,
            (unsigned long long)l->misses);
    print_times("late", &l->late, to);
    print_times("step", &l->duration, to);
    print_times("input age", &l->input_age, to);
}

static void print_loops(const struct hil_analysis *a, FILE *to)
{
    char name[24];

    fprintf(to, "%-24s %11s %11s %11s %11s %11s\n", "us", "p50", "p99", "p99.9", "p99.99", "max");
    for (unsigned i = 0; i < a->loop_count; i++) {
        if (!a->loops[i] || !a->loops[i]->steps)
            continue;
        report_node_name(i, name, sizeof name);
        print_loop(name, a->loops[i], to);
    }
}

static void print_rounds(const struct hil_analysis *a, FILE *to)
{
    const struct hil_rounds *r = &a->rounds;

    if (!r->complete) {
        fprintf(to, "\nround trip: its parts need the events step, round_trip and push\n");
        return;
    }
    fprintf(to, "\nround trip: %llu rounds, and %llu of which an event is missing\n",
            (unsigned long long)r->complete, (unsigned long long)r->incomplete);
    for (int i = 0; i < HIL_PARTS; i++)
        print_times(hil_part_names[i], &r->parts[i], to);
    print_times("the first three", &r->whole, to);
}

void hil_report_print(const struct hil_analysis *a, const char *dir, FILE *to)
{
    fprintf(to, "%s: %llu events in %.3f s; %llu lost%s\n\n", dir, (unsigned long long)a->events,
            (double)(a->end_ns - a->start_ns) * 1e-9, (unsigned long long)a->lost,
            a->lost ? " (raise trace.buffer_kib, or trace fewer events)" : "");
    print_loops(a, to);
    print_misses(a, to);
    print_rounds(a, to);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static json_t *whole(uint64_t value)
{
    return json_integer((json_int_t)value);
}

static json_t *times(const struct hil_histogram *h)
{
    static const char *const names[] = {"p50", "p99", "p999", "p9999", "max"};
    json_t *all = json_object();

    for (int i = 0; i < QUANTILES; i++)
        json_object_set_new(all, names[i], h->count ? json_real(at(h, i)) : json_null());
    return all;
}

static json_t *loop(const struct hil_traced_loop *l)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "steps", whole(l->steps), "run_late",
                     whole(l->misses), "left_out", whole(l->left_out), "late_us", times(&l->late),
                     "step_us", times(&l->duration), "input_age_us", times(&l->input_age));
}

static json_t *each_loop(const struct hil_analysis *a)
{
    json_t *all = json_object();
    char name[24];

    for (unsigned i = 0; i < a->loop_count; i++) {
        if (!a->loops[i])
            continue;
        report_node_name(i, name, sizeof name);
        json_object_set_new(all, name, loop(a->loops[i]));
    }
    return all;
}

static json_t *stretch(const struct hil_analysis *a, const struct hil_stretch *s)
{
    char name[24], where[80];

    report_node_name(s->node, name, sizeof name);
    say_where(s, where);
    json_t *one = json_pack("{s:f, s:i, s:s, s:o, s:o, s:f, s:s}", "at_s",
                            (double)(s->from_ns - a->start_ns) * 1e-9, "core", s->cpu, "first",
                            name, "step", whole(s->step), "misses", whole(s->misses), "over_us",
                            us(s->worst_over_ns), "most_of_it", where);
    if (hil_kernel_any(&a->kernel))
        json_object_set_new(one, "intruder", json_string(culprit(s)));
    return one;
}

static json_t *worst(const struct hil_analysis *a)
{
    const struct hil_stretch **sorted = sort(a);
    json_t *all = json_array();

    for (size_t i = 0; sorted && i < a->stretch_count && i < WORST; i++)
        json_array_append_new(all, stretch(a, sorted[i]));
    free(sorted);
    return all;
}

static json_t *rounds(const struct hil_rounds *r)
{
    json_t *all = json_pack("{s:o, s:o, s:o}", "rounds", whole(r->complete), "incomplete",
                            whole(r->incomplete), "round_trip_us", times(&r->whole));

    for (int i = 0; i < HIL_PARTS; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s_us", hil_part_names[i]);
        *strchr(name, ' ') = '_';
        json_object_set_new(all, name, times(&r->parts[i]));
    }
    return all;
}

int hil_report_write(const struct hil_analysis *a, const char *path)
{
    json_t *root = json_pack("{s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o}", "events", whole(a->events),
                             "lost", whole(a->lost), "kernel", hil_kernel_any(&a->kernel), "loops",
                             each_loop(a), "converters", loop(&a->converters), "worst", worst(a),
                             "intruders", tally(a), "round", rounds(&a->rounds));

    if (!root)
        return -ENOMEM;
    int rc = hil_json_file_write(root, path, JSON_REAL_PRECISION(9));
    json_decref(root);
    return rc;
}
