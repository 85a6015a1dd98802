/* Writes the table of a sweep's points for other programs. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../base/result_file.h"
#include "sweep.h"

void sweep_csv_text(FILE *to, const char *text)
{
    const bool plain = strcspn(text, ",\"\n") == strlen(text);

    if (!plain)
        fputc('"', to);
    for (; *text; text++)
        fprintf(to, *text == '"' ? "\"\"" : "%c", *text);
    if (!plain)
        fputc('"', to);
}

void sweep_csv_number(FILE *to, double value)
{
    if (isfinite(value))
        fprintf(to, "%.9g", value);
}

static void csv_point(const struct sweep *s, unsigned i, FILE *to)
{
    const struct hil_told *told = &s->points[i].told;
    struct hil_told_measure m;
    double round_trip_us[3];

    for (unsigned k = 0; k < s->axis_count; k++) {
        sweep_csv_text(to, strchr(s->points[i].sets[k], '=') + 1);
        fputc(',', to);
    }
    hil_told_first(told, false, &m);
    hil_told_round_trip(told, round_trip_us);
    fprintf(to, "%d,%s,%s", s->jobs.at[i].done ? s->jobs.at[i].status : -1, sweep_verdict(told),
            !m.judged   ? ""
            : m.settled ? "true"
                        : "false");
    const double numbers[] = {
        m.figures.overshoot_pct, m.figures.settling_ms, m.figures.mean,  m.figures.pp,
        sweep_missed(told),      round_trip_us[0],      round_trip_us[1]};
    for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
        fputc(',', to);
        sweep_csv_number(to, numbers[k]);
    }
    fputc(',', to);
    sweep_csv_text(to, s->points[i].name);
    fputc('\n', to);
}

static void csv_points(const struct sweep *s, FILE *to)
{
    for (unsigned i = 0; i < s->axis_count; i++) {
        sweep_csv_text(to, s->axes[i].key);
        fputc(',', to);
    }
    fputs("status,verdict,settled,overshoot_pct,settling_ms,mean,pp,missed,"
          "round_trip_p50_us,round_trip_p99_us,dir\n",
          to);
    for (unsigned i = 0; i < s->point_count; i++)
        csv_point(s, i, to);
}

static int csv_write(const struct sweep *s, const char *name,
                     void (*put)(const struct sweep *s, FILE *to))
{
    char path[4400];

    snprintf(path, sizeof path, "%s/%s", s->out, name);
    FILE *to = hil_result_create(path);
    if (to)
        put(s, to);
    const bool failed = !to || ferror(to);
    if ((!to || fclose(to) == 0) && !failed)
        return 0;
    fprintf(stderr, "%s: cannot be written\n", path);
    return -EIO;
}

int sweep_write_csv(const struct sweep *s)
{
    const int rc = csv_write(s, "sweep.csv", csv_points);

    return rc || !sweep_has_distribution(s)
               ? rc
               : csv_write(s, "distribution.csv", sweep_put_distributions);
}
