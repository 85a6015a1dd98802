/*
 * Seeks the longest period at which a loop is stable. ln |z| / T, the rate at which the slowest
 * mode falls or grows, is a smooth function of the node's period T, so the line through two of its
 * values says where it is zero. Periods come near that from below, where loops settle: each covers
 * nine tenths of the way that is left. At a period so near that the loop does not settle in time, a
 * shorter one is taken, and the line is longer.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "linearize.h"

enum { SEEK_POINTS_MOST = 40 };

/* The first way, as a share of the period; how much a period may grow at once; when the way that
 * is left is short enough; and the longest period, in those of the scenario. */
static const double first_way = 0.05, growth_most = 1.5, short_enough = 1e-3, longest = 1000;
static const double covered = 0.9;

struct seek {
    const struct hil_arguments *arguments;
    const char *node;
    uint64_t start_ns;
    double period_us, rate; /* of the newest point */
    double before_us, rate_before;
    double tried_us; /* the shortest that was not stable, or did not settle; infinity: none */
};

/* A rate of change per second. */
static double seek_rate(double radius, uint64_t period_ns)
{
    return log(fmax(radius, 1e-300)) / (1e-9 * (double)period_ns);
}

/* Few digits, so that the nodes' periods have a common multiple that is not too long. */
static double seek_round(double period_us)
{
    const double digit = pow(10, floor(log10(period_us)) - 3);

    return fmax(round(period_us / digit) * digit, 0.001);
}

/* The radius at this period. Returns an exit status, HIL_EXIT_FAILED if nothing settled. */
static int seek_try(const struct seek *s, double period_us, double *rate)
{
    struct hil_scenario *scenario;
    struct linear_model model;
    struct linear_modes modes;
    char sets[2][160];
    const char *const all[] = {sets[0], sets[1]};

    snprintf(sets[0], sizeof sets[0], "nodes.%s.period_us=%.9g", s->node, period_us);
    snprintf(sets[1], sizeof sets[1], "duration_s=%.9f", 1e-9 * (double)s->start_ns);
    if (hil_arguments_load_with(s->arguments, all, 1, &scenario))
        return HIL_EXIT_USAGE;
    const uint64_t common_ns = linear_common_ns(scenario);
    hil_scenario_free(scenario);
    if (!common_ns)
        return HIL_EXIT_USAGE;
    snprintf(sets[1], sizeof sets[1], "duration_s=%.9f", linear_duration_s(common_ns, s->start_ns));
    if (hil_arguments_load_with(s->arguments, all, 2, &scenario))
        return HIL_EXIT_USAGE;
    int status = linear_make(&model, scenario, s->start_ns, true);
    if (!status) {
        status = linear_reduce(&model) || linear_find_modes(&modes, &model) ? HIL_EXIT_FAILED
                                                                            : HIL_EXIT_OK;
        *rate = status ? NAN : seek_rate(linear_radius(&modes), model.period_ns);
        linear_free_modes(&modes);
        linear_free(&model);
    }
    hil_scenario_free(scenario);
    return status;
}

/* Where the line through the last two points is zero; infinity: nowhere above them. */
static double seek_zero(const struct seek *s)
{
    const double slope = (s->rate - s->rate_before) / (s->period_us - s->before_us);

    return slope > 0 ? s->period_us - s->rate / slope : INFINITY;
}

static double seek_next(const struct seek *s, double zero_us)
{
    double to_us =
        fmin(s->period_us + covered * (zero_us - s->period_us), growth_most * s->period_us);

    if (to_us >= s->tried_us)
        to_us = (s->period_us + s->tried_us) / 2;
    return seek_round(to_us);
}

static int seek_on(struct seek *s, struct linear_largest *largest)
{
    double next_us = seek_round(s->period_us * (1 + first_way)), zero_us = INFINITY, rate = NAN;

    for (unsigned i = 0; i < SEEK_POINTS_MOST && next_us <= largest->most_us; i++) {
        const int status = seek_try(s, next_us, &rate);
        if (status == HIL_EXIT_USAGE)
            return status;
        if (status || rate >= 0) {
            s->tried_us = next_us;
            zero_us = status ? zero_us : fmin(zero_us, next_us);
            next_us = seek_round((s->period_us + next_us) / 2);
        } else {
            s->before_us = s->period_us;
            s->rate_before = s->rate;
            s->period_us = next_us;
            s->rate = rate;
            zero_us = seek_zero(s);
            next_us = seek_next(s, zero_us);
        }
        const bool between = next_us > s->period_us && next_us < s->tried_us;
        if (zero_us - s->period_us < short_enough * s->period_us || !between) {
            largest->period_us = isfinite(zero_us) ? zero_us : s->tried_us;
            return HIL_EXIT_OK;
        }
    }
    return HIL_EXIT_OK;
}

static double seek_period_us(const struct hil_scenario *scenario, const char *node)
{
    const struct hil_system *system = scenario->system;

    for (unsigned i = 0; i < system->node_array_count; i++)
        if (strcmp(system->node_arrays[i].name, node) == 0)
            return 1e-3 * (double)system->nodes[system->node_arrays[i].first].timing.period_ns;
    fprintf(stderr, "--longest %s: there is no such entry of nodes; allowed:", node);
    for (unsigned i = 0; i < system->node_array_count; i++)
        fprintf(stderr, "%s %s", i ? "," : "", system->node_arrays[i].name);
    putc('\n', stderr);
    return NAN;
}

int linear_seek(struct linear_largest *largest, const struct hil_arguments *arguments,
                const struct hil_scenario *scenario, const struct linear_model *model,
                double radius)
{
    struct seek s = {.arguments = arguments,
                     .node = largest->node,
                     .start_ns = model->start_ns,
                     .period_us = seek_period_us(scenario, largest->node),
                     .rate = seek_rate(radius, model->period_ns),
                     .tried_us = INFINITY};

    largest->period_us = NAN;
    largest->most_us = longest * s.period_us;
    if (isnan(s.period_us))
        return HIL_EXIT_USAGE;
    if (s.rate >= 0) {
        fprintf(stderr, "--longest %s: the loop is not stable as it is\n", largest->node);
        return HIL_EXIT_FAILED;
    }
    return seek_on(&s, largest);
}
