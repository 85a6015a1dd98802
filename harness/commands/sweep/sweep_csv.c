/* Writes the table of a sweep's points for other programs. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../base/csv.h"
#include "../../base/result_file.h"
#include "sweep.h"

void sweep_csv_number(FILE *to, double value)
{
    if (isfinite(value))
        fprintf(to, "%.9g", value);
}

static void csv_event(const struct hil_summary_reader_event *event, FILE *to)
{
    char words[HIL_EVENT_WORDS_BYTES];

    hil_summary_reader_event_words(event, words);
    fputc(',', to);
    hil_csv_text(to, words);
}

static void csv_numbers(const double *numbers, size_t count, FILE *to)
{
    for (size_t i = 0; i < count; i++) {
        fputc(',', to);
        sweep_csv_number(to, numbers[i]);
    }
}

/* The first measure after one event. */
static void csv_after(const struct hil_summary_reader *told,
                      const struct hil_summary_reader_measure *m, int event, FILE *to)
{
    struct hil_summary_reader_figures f;
    struct hil_summary_reader_event e;

    const bool there = hil_summary_reader_after(told, event, m->name, &e, &f);
    csv_event(&e, to);
    fprintf(to, ",%s", !there || !m->judged ? "" : f.settled ? "true" : "false");
    csv_numbers((const double[]){f.overshoot_pct, f.deviation_pct, f.rise_time_ms, f.settling_ms,
                                 f.steady_error, f.pp},
                6, to);
}

static void csv_point(const struct sweep *s, unsigned i, unsigned events, FILE *to)
{
    const struct hil_summary_reader *told = &s->points[i].told;
    struct hil_summary_reader_measure m;
    double round_trip_us[3];

    for (unsigned k = 0; k < s->axis_count; k++) {
        hil_csv_text(to, strchr(s->points[i].sets[k], '=') + 1);
        fputc(',', to);
    }
    hil_summary_reader_first(told, false, &m);
    hil_summary_reader_round_trip(told, round_trip_us);
    fprintf(to, "%d,%s,%s", s->jobs.at[i].done ? s->jobs.at[i].status : -1, sweep_verdict(told),
            !m.judged   ? ""
            : m.settled ? "true"
                        : "false");
    csv_numbers(&m.figures.overshoot_pct, 1, to);
    csv_event(&m.overshoot_event, to);
    csv_numbers(&m.figures.settling_ms, 1, to);
    csv_event(&m.settling_event, to);
    csv_numbers((const double[]){m.figures.rise_time_ms, m.figures.steady_error, m.figures.mean,
                                 m.figures.pp, sweep_missed(told), round_trip_us[0],
                                 round_trip_us[1]},
                7, to);
    fputc(',', to);
    hil_csv_text(to, s->points[i].name);
    for (unsigned event = 0; event < events; event++)
        csv_after(told, &m, (int)event, to);
    fputc('\n', to);
}

static void csv_points(const struct sweep *s, FILE *to)
{
    const unsigned events = sweep_event_count(s);

    for (unsigned i = 0; i < s->axis_count; i++) {
        hil_csv_text(to, s->axes[i].key);
        fputc(',', to);
    }
    fputs("status,verdict,settled,overshoot_pct,overshoot_event,settling_ms,settling_event,"
          "rise_time_ms,steady_error,mean,pp,"
          "missed,round_trip_p50_us,round_trip_p99_us,dir",
          to);
    for (unsigned event = 0; event < events; event++)
        fprintf(to,
                ",event_%u,event_%u_settled,event_%u_overshoot_pct,event_%u_deviation_pct,"
                "event_%u_rise_time_ms,event_%u_settling_ms,event_%u_steady_error,event_%u_pp",
                event, event, event, event, event, event, event, event);
    fputc('\n', to);
    for (unsigned i = 0; i < s->point_count; i++)
        csv_point(s, i, events, to);
}

static int csv_write(const struct sweep *s, const char *name,
                     void (*put)(const struct sweep *s, FILE *to))
{
    char path[4400];

    snprintf(path, sizeof path, "%s/%s", s->out, name);
    int rc = 0;
    FILE *to = hil_result_create(path, &rc);
    if (to) {
        put(s, to);
        fclose(to);
    }
    if (rc)
        fprintf(stderr, "%s: cannot be written: %s\n", path, strerror(-rc));
    return rc;
}

int sweep_write_csv(const struct sweep *s)
{
    const int rc = csv_write(s, "sweep.csv", csv_points);

    return rc || !sweep_has_distribution(s)
               ? rc
               : csv_write(s, "distribution.csv", sweep_put_distributions);
}
