#include "bars.h"

#include <math.h>
#include <stdbool.h>

enum { BARS_A_DECADE = 20 };

static double bar_start(int i)
{
    return pow(10, (double)i / BARS_A_DECADE);
}

void hil_figure_bars(struct hil_figure *figure, const char *series, unsigned i,
                     const struct hil_histogram *histogram)
{
    FILE *data = hil_figure_data(figure, series, i);
    uint64_t in_bar = 0;
    int bar = 0;

    if (!data)
        return;
    for (unsigned bucket = 0; bucket <= HIL_HISTOGRAM_BUCKETS; bucket++) {
        const bool end = bucket == HIL_HISTOGRAM_BUCKETS;
        const double ns = fmax(1, (double)hil_histogram_bucket_start(bucket));
        const int next = end ? bar + 1 : (int)floor(log10(ns) * BARS_A_DECADE + 1e-9);

        if (next != bar && in_bar > 0)
            fprintf(data, "%.6g %.6g %llu\n", bar_start(bar) * 1e-3, bar_start(bar + 1) * 1e-3,
                    (unsigned long long)in_bar);
        if (next != bar)
            in_bar = 0;
        bar = next;
        if (!end)
            in_bar += histogram->buckets[bucket];
    }
    hil_figure_data_end(figure, data);
}

void hil_figure_tail(struct hil_figure *figure, const char *series, unsigned i,
                     const struct hil_histogram *histogram)
{
    FILE *data = hil_figure_data(figure, series, i);
    uint64_t left = histogram->count;

    if (!data)
        return;
    for (unsigned bucket = 0; bucket < HIL_HISTOGRAM_BUCKETS; bucket++) {
        const double ns = fmax(1, (double)hil_histogram_bucket_start(bucket));

        if (histogram->buckets[bucket] == 0)
            continue;
        fprintf(data, "%.6g %.9g\n", ns * 1e-3, (double)left / (double)histogram->count);
        left -= histogram->buckets[bucket];
    }
    hil_figure_data_end(figure, data);
}
