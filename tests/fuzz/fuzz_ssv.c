/* Files of parameters, laid over a scenario that is sound. */
#include <stdlib.h>

#include "fuzz.h"
#include "harness/scenario/load/load.h"
#include "harness/scenario/scenario.h"

static const char sound[] =
    "name: small\nduration_s: 0.1\nmode: virtual\nnodes: {n: {period_us: 10}}\n"
    "components:\n"
    "  motor: {model: dc_motor, node: n, inputs: {voltage_v: 0}}\n"
    "  cell: {model: [battery, gain, battery], node: n, count: 3, inputs: {current_a: 0, input: "
    "1}}\n"
    "  mix: {model: sum, node: n, width: 3, inputs: {input: [0, ~, 1]}}\n"
    "sources: {one: {to: 'mix.input[1]', constant: 1}}\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char message[1 << 14], parameters[256];
    const char *const files[] = {parameters};
    const struct hil_scenario_options options = {.parameters = files, .parameter_count = 1};
    struct hil_scenario *scenario = NULL;

    snprintf(parameters, sizeof parameters, "%s", fuzz_file("a.ssv", data, size));
    const char *path = fuzz_file("scenario.yaml", sound, sizeof sound - 1);
    if (hil_scenario_load(&scenario, path, &options, message, sizeof message) == 0)
        hil_scenario_free(scenario);
    return 0;
}
