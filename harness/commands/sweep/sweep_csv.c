/* The table of a sweep's points for other programs. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sweep.h"

static void csv_text(FILE *to, const char *text)
{
    const bool plain = strcspn(text, ",\"\n") == strlen(text);

    if (!plain)
        fputc('"', to);
    for (; *text; text++)
        fprintf(to, *text == '"' ? "\"\"" : "%c", *text);
    if (!plain)
        fputc('"', to);
    fputc(',', to);
}

static void csv_number(FILE *to, double value)
{
    fputc(',', to);
    if (isfinite(value))
        fprintf(to, "%.9g", value);
}

static void csv_point(const struct sweep *s, unsigned i, FILE *to)
{
    const struct hil_told *told = &s->points[i].told;
    struct hil_told_measure measure;
    double round_trip_us[3];

    for (unsigned k = 0; k < s->axis_count; k++)
        csv_text(to, strchr(s->points[i].sets[k], '=') + 1);
    hil_told_first(told, false, &measure);
    hil_told_round_trip(told, round_trip_us);
    fprintf(to, "%d,%s,%s", s->jobs.at[i].done ? s->jobs.at[i].status : -1, sweep_verdict(told),
            !measure.judged   ? ""
            : measure.settled ? "true"
                              : "false");
    csv_number(to, measure.figures.overshoot_pct);
    csv_number(to, measure.figures.settling_ms);
    csv_number(to, measure.figures.mean);
    csv_number(to, measure.figures.pp);
    csv_number(to, sweep_missed(told));
    csv_number(to, round_trip_us[0]);
    csv_number(to, round_trip_us[1]);
    fputc('\n', to);
}

int sweep_write_csv(const struct sweep *s)
{
    char path[4400];

    snprintf(path, sizeof path, "%s/sweep.csv", s->out);
    FILE *to = fopen(path, "we");
    for (unsigned i = 0; to && i < s->axis_count; i++)
        csv_text(to, s->axes[i].key);
    if (to)
        fputs("status,verdict,settled,overshoot_pct,settling_ms,mean,pp,missed,"
              "round_trip_p50_us,round_trip_p99_us\n",
              to);
    for (unsigned i = 0; to && i < s->point_count; i++)
        csv_point(s, i, to);
    const bool failed = !to || ferror(to);
    if ((!to || fclose(to) == 0) && !failed)
        return 0;
    fprintf(stderr, "%s: cannot be written\n", path);
    return -EIO;
}
