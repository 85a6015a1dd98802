/* Scenarios. */
#include <stdlib.h>

#include "fuzz.h"
#include "harness/scenario/load/load.h"
#include "harness/scenario/scenario.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char message[1 << 14];
    struct hil_scenario *scenario = NULL;
    const char *path = fuzz_file("scenario.yaml", data, size);

    if (hil_scenario_load(&scenario, path, NULL, message, sizeof message) == 0)
        hil_scenario_free(scenario);
    return 0;
}
