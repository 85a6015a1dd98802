/* What a page says, a message a line, over a run whose nodes step meanwhile. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../bank_text.h"
#include "fuzz.h"
#include "harness/run/state.h"
#include "harness/scenario/load/load.h"
#include "harness/scenario/scenario.h"
#include "harness/tools/scope/view.h"

enum { STEPS = 40 };

static const char sound[] = "name: small\nduration_s: 0.1\nmode: virtual\n" BANK("3");

static struct hil_state *state;
static struct hil_run_entry found = {.process = -1};

static void open_run(void)
{
    static char message[1 << 14];
    const struct hil_scenario_options options = {.virtual_time = true};
    const char *path = fuzz_file("scenario.yaml", sound, sizeof sound - 1);
    struct hil_scenario *scenario;

    if (hil_scenario_load(&scenario, path, &options, message, sizeof message) ||
        hil_state_open(&state, scenario) || hil_state_attach(&found.attached, state->file))
        abort();
    hil_scenario_free(scenario);
}

/* The nodes' next steps, with numbers that are none now and then, events and missed steps. */
static void step_nodes(void)
{
    static uint64_t step;

    for (unsigned k = 0; k < STEPS; k++, step++)
        for (unsigned i = 0; i < state->node_count; i++) {
            struct hil_tap_ring *ring =
                (struct hil_tap_ring *)((char *)state + state->taps.rings) + i;
            uint64_t *row = hil_tap_row(ring);
            double values[64];
            for (unsigned v = 0; v < 64; v++)
                values[v] = step % 97 == 0 ? NAN : sin((double)(step + v));
            hil_tap_values(row + HIL_TAP_VALUES, values, ring->values < 64 ? ring->values : 64);
            if (step % 31 == 0)
                hil_tap_note(ring, step, HIL_EVENT_FAULT_BEGINS);
            if (step % 37 == 0)
                hil_tap_miss(ring, 1);
            hil_tap_commit(ring, row, step, step * 10000);
        }
}

static int send_nowhere(void *arg, bool binary, const void *bytes, size_t size)
{
    const unsigned char *all = bytes;

    (void)binary;
    for (size_t i = 0; i < size; i++)
        *(volatile unsigned char *)arg = all[i]; /* all of it can be read */
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data, *end = text + size;
    struct hil_view *view;
    unsigned char last;

    if (!state)
        open_run();
    if (hil_view_open(&view, &found, true))
        abort();
    while (text < end) {
        const char *line = memchr(text, '\n', (size_t)(end - text));
        const size_t length = line ? (size_t)(line - text) : (size_t)(end - text);
        hil_view_take(view, text, length);
        for (unsigned i = 0; i < 2; i++) {
            step_nodes();
            if (hil_view_turn(view, send_nowhere, &last))
                abort();
        }
        text += length + 1;
    }
    hil_view_close(view);
    return 0;
}
