#include "report.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/json_file.h"

enum { WORST = 10, WHERE_BYTES = 240, OVER_TIME = 8 };

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

/* Pointers to all stretches, the worst first; NULL when there are none, or memory ran out. */
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

static void say_where(const struct hil_stretch *s, char text[WHERE_BYTES])
{
    if (s->away_ns >= s->own_ns && s->away_ns >= s->other_ns) {
        snprintf(text, WHERE_BYTES, "%.1f us before it began", us(s->away_ns));
    } else if (s->own_ns >= s->other_ns) {
        snprintf(text, WHERE_BYTES, "%.1f us in its own step", us(s->own_ns));
    } else {
        snprintf(text, WHERE_BYTES, "%.1f us in step %llu of %s", us(s->other_ns),
                 (unsigned long long)s->other_step, s->other->name);
    }
}

static uint64_t largest(const struct hil_stretch *s)
{
    uint64_t most = s->own_ns > s->other_ns ? s->own_ns : s->other_ns;

    return s->away_ns > most ? s->away_ns : most;
}

/* Whether others had the core for most of the missing time. An interrupt counts twice in their
 * total, for itself and for the task that it interrupted, which is negligible. */
static bool is_explained(const struct hil_stretch *s)
{
    return s->intruder.ns > 0 && 2 * s->intruder.all_ns >= largest(s);
}

static const char *culprit(const struct hil_stretch *s)
{
    return is_explained(s) ? s->intruder.name : "nothing that the kernel knows of";
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
    char where[WHERE_BYTES];

    say_where(s, where);
    fprintf(to, "  %10.6f  %4d  %-14s %9llu %8llu %11.1f  %-36s",
            (double)(s->from_ns - a->start_ns) * 1e-9, s->cpu, s->loop->name,
            (unsigned long long)s->step, (unsigned long long)s->misses, us(s->worst_over_ns),
            where);
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
        fprintf(to, "\n  who had the core, and in how many groups:\n");
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
    for (unsigned i = 0; i < a->loops.array_count; i++) {
        misses += a->loops.arrays[i]->figures.misses;
        *left_out += a->loops.arrays[i]->figures.left_out;
    }
    return misses;
}

static void print_misses(const struct hil_analysis *a, FILE *to)
{
    const struct hil_stretch **sorted = sort(a);
    uint64_t left_out, misses = count_misses(a, &left_out);

    fprintf(to, "\nmisses: %llu steps not in time and %llu left out, in %zu groups%s\n",
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
        fprintf(to, "  The trace has no kernel events, so it is not known what had the core. As "
                    "root, hiloco run --trace\n  records them.\n");
}

/* --- the rest for a person -------------------------------------------------------------------- */

static void print_times(const char *name, const struct hil_histogram *h, FILE *to)
{
    fprintf(to, "  %-22s", name);
    for (int i = 0; i < QUANTILES; i++)
        fprintf(to, " %11.3f", at(h, i));
    fputc('\n', to);
}

static void print_loop(const char *name, const struct hil_loop_figures *f, FILE *to)
{
    fprintf(to, "\n%s: %llu steps, %llu not in time\n", name, (unsigned long long)f->steps,
            (unsigned long long)f->misses);
    print_times("late", &f->late, to);
    print_times("step", &f->duration, to);
    if (f->input_age.count)
        print_times("input age", &f->input_age, to);
}

static void print_loops(const struct hil_analysis *a, FILE *to)
{
    fprintf(to, "%-24s %11s %11s %11s %11s %11s\n", "us", "p50", "p99", "p99.9", "p99.99", "max");
    for (unsigned i = 0; i < a->loops.count; i++) {
        const struct hil_traced_loop *loop = a->loops.at[i];
        if (loop && loop->figures.steps)
            print_loop(loop->name, &loop->figures, to);
    }
}

/* "cell wait": the part, with the name of the node's array. */
static void print_part(const struct hil_analysis *a, const struct hil_round_trip *t, int part,
                       FILE *to)
{
    static const char *const words[HIL_TRIP_LEGS] = {"wait", "push", "wait", "step"};
    const bool asker = part == HIL_ASKER_WAIT || part == HIL_ASKER_STEP;
    char name[80];

    snprintf(name, sizeof name, "%.60s %s", a->loops.arrays[asker ? t->asker : t->answerer]->name,
             words[part] ? words[part] : "");
    print_times(part == HIL_PUSH_BACK ? "push back" : name, &t->legs[part], to);
}

static void print_round_trip(const struct hil_analysis *a, const struct hil_round_trip *t, FILE *to)
{
    const char *asker = a->loops.arrays[t->asker]->words;

    fprintf(to, "\nround trip %s -> %s -> %s: %llu rounds, and %llu of which an event is missing\n",
            asker, a->loops.arrays[t->answerer]->words, asker, (unsigned long long)t->complete,
            (unsigned long long)t->incomplete);
    for (int i = 0; t->complete && i < HIL_TRIP_LEGS; i++)
        print_part(a, t, i, to);
    print_times("the first three", &t->whole, to);
}

static void print_rounds(const struct hil_analysis *a, FILE *to)
{
    uint64_t complete = 0;

    for (unsigned i = 0; i < a->rounds.trip_count; i++) {
        print_round_trip(a, a->rounds.trips[i], to);
        complete += a->rounds.trips[i]->complete;
    }
    if (!complete)
        fprintf(to, "\nround trip: the trace needs the events step and round_trip\n");
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

static json_t *figures(const struct hil_loop_figures *f)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "steps", whole(f->steps), "run_late",
                     whole(f->misses), "left_out", whole(f->left_out), "late_us", times(&f->late),
                     "step_us", times(&f->duration), "input_age_us", times(&f->input_age));
}

static json_t *each_of(const struct hil_analysis *a, const struct hil_traced_array *array)
{
    json_t *all = json_array();

    for (unsigned i = 0; i < a->loops.count; i++) {
        const struct hil_traced_loop *loop = a->loops.at[i];
        if (!loop || a->loops.arrays[loop->array] != array)
            continue;
        json_t *one = figures(&loop->figures);
        json_object_set_new(one, "node", json_string(loop->name));
        json_array_append_new(all, one);
    }
    return all;
}

/* As in summary.json: by array, and for an array of several nodes each node. */
static json_t *nodes(const struct hil_analysis *a)
{
    json_t *all = json_object();

    for (unsigned i = 0; i < a->loops.count; i++) {
        const struct hil_traced_array *array = hil_loops_array(&a->loops, i);
        if (!array)
            continue;
        json_t *one = figures(&array->figures);
        json_object_set_new(one, "count", whole(array->count));
        if (array->many)
            json_object_set_new(one, "each", each_of(a, array));
        json_object_set_new(all, array->name, one);
    }
    return all;
}

static json_t *stretch(const struct hil_analysis *a, const struct hil_stretch *s)
{
    char where[WHERE_BYTES];

    say_where(s, where);
    json_t *one = json_pack("{s:f, s:i, s:s, s:o, s:o, s:f, s:s}", "at_s",
                            (double)(s->from_ns - a->start_ns) * 1e-9, "core", s->cpu, "first",
                            s->loop->name, "step", whole(s->step), "misses", whole(s->misses),
                            "over_us", us(s->worst_over_ns), "most_of_it", where);
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

static json_t *round_trip(const struct hil_analysis *a, const struct hil_round_trip *t)
{
    static const char *const parts[HIL_TRIP_LEGS] = {
        "answerer_wait_us", "answerer_push_us", "asker_wait_us", "asker_step_us", "push_back_us"};
    json_t *one =
        json_pack("{s:s, s:s, s:o, s:o, s:o}", "asker", a->loops.arrays[t->asker]->words,
                  "answerer", a->loops.arrays[t->answerer]->words, "rounds", whole(t->complete),
                  "incomplete", whole(t->incomplete), "round_trip_us", times(&t->whole));

    for (int i = 0; i < HIL_TRIP_LEGS; i++)
        json_object_set_new(one, parts[i], times(&t->legs[i]));
    return one;
}

static json_t *round_trips(const struct hil_analysis *a)
{
    json_t *all = json_array();

    for (unsigned i = 0; i < a->rounds.trip_count; i++)
        json_array_append_new(all, round_trip(a, a->rounds.trips[i]));
    return all;
}

/* --- JSON: times over time -------------------------------------------------------------------- */

/* Adds the points of a course: [time, value], the time being the middle of the column. */
static json_t *course(json_t *all, const struct hil_course *c)
{
    for (unsigned k = 0; k < 2 * HIL_COURSE_COLUMNS; k++)
        if (c->greatest[k] != UINT64_MAX)
            json_array_append_new(all, json_pack("[f, f]",
                                                 ((double)k + 0.5) * (double)c->column_ns * 1e-9,
                                                 us(c->greatest[k])));
    return all;
}

static json_t *misses_over_time(const struct hil_analysis *a, const struct hil_traced_array *array)
{
    struct hil_course over;

    hil_course_init(&over);
    for (size_t i = 0; i < a->stretch_count; i++) {
        const struct hil_stretch *s = &a->stretches[i];
        if (a->loops.arrays[s->loop->array] == array)
            hil_course_add(&over, s->from_ns - a->start_ns, s->worst_over_ns);
    }
    return course(json_array(), &over);
}

static json_t *rounds_over_time(const struct hil_analysis *a, const struct hil_traced_array *array)
{
    json_t *all = json_array();

    for (unsigned k = 0; k < a->rounds.trip_count; k++)
        if (a->loops.arrays[a->rounds.trips[k]->asker] == array)
            course(all, &a->rounds.trips[k]->course);
    return all;
}

/* Of the first arrays, as in the figures: a report must stay small. */
static json_t *over_time(const struct hil_analysis *a)
{
    json_t *all = json_array();

    for (unsigned i = 0; i < a->loops.count && json_array_size(all) < OVER_TIME; i++) {
        const struct hil_traced_array *array = hil_loops_array(&a->loops, i);
        if (array && array->figures.steps)
            json_array_append_new(all, json_pack("{s:s, s:o, s:o, s:o, s:o}", "nodes", array->words,
                                                 "late_us", course(json_array(), &array->late),
                                                 "step_us", course(json_array(), &array->duration),
                                                 "round_trip_us", rounds_over_time(a, array),
                                                 "missed_by_us", misses_over_time(a, array)));
    }
    return all;
}

int hil_report_write(const struct hil_analysis *a, const char *path)
{
    json_t *root = json_pack("{s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o}", "events", whole(a->events),
                             "lost", whole(a->lost), "kernel", hil_kernel_any(&a->kernel), "nodes",
                             nodes(a), "worst", worst(a), "intruders", tally(a), "round_trips",
                             round_trips(a), "over_time", over_time(a));

    if (!root)
        return -ENOMEM;
    int rc = hil_json_file_write(root, path, JSON_REAL_PRECISION(9));
    json_decref(root);
    return rc;
}
