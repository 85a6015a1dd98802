/* A folder of results: the first byte says whether its summary.json is looked at, or its
 * sweep.json; either is beside a record that is sound. */
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "harness/figures/plot.h"
#include "harness/h5/trace.h"

static void write_record(const char *path)
{
    static const struct hil_column columns[] = {
        {"time_s", "s", "", 1, {0}},
        {"output_v", "V", "", 1, {.measure = "output_v", .role = "value"}},
        {"reference_v", "V", "", 1, {.measure = "output_v", .role = "reference"}}};
    static const struct hil_stream_config stream = {"controller", columns, 3, 8, 0, {0}};
    static const struct hil_attribute attributes[] = {{"scenario", "x"}, {"mode", "virtual"}};
    static const struct hil_trace_config config = {&stream, 1, attributes, 2, false};
    double rows[8][3];
    struct hil_trace *trace;

    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 3; k++)
            rows[i][k] = 0.1 * (i + 1);
    if (hil_trace_create(&trace, path, &config) == 0) {
        hil_trace_append(trace, 0, rows[0], 8);
        hil_trace_close(trace);
    }
}

static void prepare(void)
{
    static bool done;
    char run[300];

    if (done)
        return;
    done = true;
    snprintf(run, sizeof run, "%s/run", fuzz_folder());
    mkdir(run, 0700);
    write_record(fuzz_file("run/trace.h5", NULL, 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct hil_plot_span all = {0, INFINITY};
    char run[300];

    prepare();
    snprintf(run, sizeof run, "%s/run", fuzz_folder());
    if (size > 0 && data[0] == 's') {
        fuzz_file("sweep.json", data + 1, size - 1);
        hil_plot(fuzz_folder(), NULL, all, fuzz_messages());
    } else if (size > 0) {
        fuzz_file("run/summary.json", data + 1, size - 1);
        hil_plot(run, NULL, all, fuzz_messages());
    }
    return 0;
}
