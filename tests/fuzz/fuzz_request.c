/* What somebody asks of a run that may be tuned: a line for the launcher's socket. */
#include <stdlib.h>

#include "../bank_text.h"
#include "fuzz.h"
#include "harness/launch/tuning_request.h"
#include "harness/scenario/load/load.h"
#include "harness/scenario/scenario.h"

static const char tuned[] = "name: small\nduration_s: 0.1\nmode: virtual\ntuning: true\n" BANK("2");

static struct hil_state *state;

static const struct hil_scenario *prepare(void)
{
    static struct hil_scenario *scenario;
    static char message[1 << 12];
    const struct hil_scenario_options options = {0};

    if (!scenario && (hil_scenario_load(&scenario, fuzz_file("tuned.yaml", tuned, sizeof tuned - 1),
                                        &options, message, sizeof message) ||
                      hil_state_open(&state, scenario)))
        abort();
    return scenario;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct hil_scenario *scenario = prepare();
    char refusal[HIL_REFUSAL_BYTES];
    struct hil_asked_for asked;

    if (hil_tuning_request_read(&asked, (const char *)data, size, scenario, state->tuning, refusal))
        return 0;
    for (unsigned i = 0; i < asked.request.count; i++)
        if (asked.request.changes[i].tunable >= state->tuning->count)
            abort();
    return 0;
}
