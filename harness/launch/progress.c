#include "progress.h"

#include <stdio.h>
#include <unistd.h>

#include "../base/digits.h"
#include "../scenario/system.h"

enum { WIDTH = 30 };

static uint64_t missed(const struct hil_state *s)
{
    uint64_t all = 0;

    for (unsigned i = 0; i < s->node_count; i++)
        all += hil_missed(hil_node_figures(s, i));
    return all;
}

/* Whether the first measure is computed in one of this launcher's processes. */
static bool makes_measure(const struct hil_progress_bar *bar)
{
    const struct hil_system *s = bar->scenario->system;

    return s->measure_count && bar->state->nodes[s->measures[0].node].here;
}

static void draw(const struct hil_progress_bar *bar, double share)
{
    const int full = (int)(share * WIDTH + 0.5);

    if (!bar->terminal)
        return;
    fprintf(stderr, "\r[");
    for (int i = 0; i < WIDTH; i++)
        fputc(i < full ? '#' : '.', stderr);
    fprintf(stderr, "] ");
}

static void print(const struct hil_progress_bar *bar)
{
    double end = (double)bar->scenario->duration_ns * 1e-9;
    double now = (double)atomic_load_explicit(&bar->state->elapsed_ns, memory_order_relaxed) * 1e-9;
    const double value = atomic_load_explicit(&bar->state->recent.value, memory_order_relaxed);
    const struct hil_card *card = &bar->state->card;
    char text[HIL_VALUE_BYTES];

    draw(bar, now / end);
    fprintf(stderr, "%.3f of %g s  ", now, end);
    if (makes_measure(bar))
        fprintf(stderr, "%11s  ", hil_value(text, value, hil_decimals(value, 6), card->unit));
    if (hil_state_is_paused(bar->state))
        fprintf(stderr, "paused  ");
    fprintf(stderr, "missed %llu%s", (unsigned long long)missed(bar->state),
            bar->terminal ? "\033[K" : "\n");
    fflush(stderr);
}

void hil_progress_begin(struct hil_progress_bar *bar, const struct hil_scenario *scenario,
                        const struct hil_state *state, bool shown)
{
    *bar = (struct hil_progress_bar){
        .scenario = scenario, .state = state, .shown = shown, .terminal = isatty(STDERR_FILENO)};
    clock_gettime(CLOCK_MONOTONIC, &bar->next);
    bar->next.tv_sec += !bar->terminal;
}

/* Whether it is time to show the bar again. */
static bool is_due(struct hil_progress_bar *bar)
{
    struct timespec now;

    if (!bar->shown)
        return false;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec < bar->next.tv_sec ||
        (now.tv_sec == bar->next.tv_sec && now.tv_nsec < bar->next.tv_nsec))
        return false;
    bar->next = now;
    if (bar->terminal)
        bar->next.tv_nsec += 100000000;
    else
        bar->next.tv_sec++;
    if (bar->next.tv_nsec >= 1000000000) {
        bar->next.tv_sec++;
        bar->next.tv_nsec -= 1000000000;
    }
    return true;
}

void hil_progress_show(struct hil_progress_bar *bar)
{
    if (is_due(bar))
        print(bar);
}

void hil_progress_begin_record(struct hil_progress_bar *bar, bool shown)
{
    *bar = (struct hil_progress_bar){.shown = shown, .terminal = isatty(STDERR_FILENO)};
    clock_gettime(CLOCK_MONOTONIC, &bar->next);
    bar->next.tv_sec++;
}

void hil_progress_show_record(struct hil_progress_bar *bar, const char *out, double share)
{
    if (!is_due(bar))
        return;
    draw(bar, share);
    fprintf(stderr, "%s/trace.h5: %.0f %% is written%s", out, 100 * share,
            bar->terminal ? (share < 1 ? "\033[K" : "\033[K\n") : "\n");
    fflush(stderr);
}

void hil_progress_end(struct hil_progress_bar *bar)
{
    if (!bar->shown || !bar->terminal)
        return;
    print(bar);
    fputc('\n', stderr);
}
