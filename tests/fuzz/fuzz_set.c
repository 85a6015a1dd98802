/* What --set takes, one a line, over a scenario that is sound. */
#include <stdlib.h>
#include <string.h>

#include "../bank_text.h"
#include "fuzz.h"
#include "harness/scenario/load/load.h"
#include "harness/scenario/scenario.h"

enum { SETS_MAX = 16 };

static const char sound[] = "name: small\nduration_s: 0.1\n" BANK("3");

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char message[1 << 14];
    const char *sets[SETS_MAX];
    struct hil_scenario_options options = {.sets = sets};
    struct hil_scenario *scenario = NULL;
    char *text = strndup((const char *)data, size), *rest = text, *line;

    while (options.set_count < SETS_MAX && (line = strsep(&rest, "\n")))
        sets[options.set_count++] = line;
    const char *path = fuzz_file("scenario.yaml", sound, sizeof sound - 1);
    if (hil_scenario_load(&scenario, path, &options, message, sizeof message) == 0)
        hil_scenario_free(scenario);
    free(text);
    return 0;
}
