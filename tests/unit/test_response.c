/* Tests the figures of a signal: its response to each event of a run, from its samples. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/record/response.h"

static const uint64_t MS = 1000000;

/* --- running statistics ---------------------------------------------------------------------- */

/* A ripple of a microvolt on 240 V: mean and squares equal those of a two-pass computation. */
Test(samples, a_small_ripple_on_a_great_mean_is_exact)
{
    enum { COUNT = 100000 };
    struct hil_samples first = {0}, second = {0};
    double mean = 0, squares = 0;

    for (int i = 0; i < COUNT; i++) {
        double value = 240 + 1e-6 * sin(0.1 * i);
        hil_samples_add(i < COUNT / 3 ? &first : &second, (uint64_t)i, value);
        mean += (value - 240) / COUNT;
    }
    for (int i = 0; i < COUNT; i++)
        squares += pow(1e-6 * sin(0.1 * i) - mean, 2);
    hil_samples_merge(&first, &second);
    cr_expect_eq(first.count, COUNT);
    cr_expect_eq(first.from_ns, 0);
    cr_expect_eq(first.to_ns, COUNT - 1);
    cr_expect_float_eq(first.mean, 240 + mean, 1e-12);
    cr_expect_float_eq(first.squares / squares, 1, 1e-6);
    cr_expect_float_eq(first.max - first.min, 2e-6, 1e-10);
}

Test(samples, merged_ones_have_the_mean_and_the_squares_of_all)
{
    struct hil_samples one = {0}, other = {0};

    hil_samples_add(&one, 1, 2);
    hil_samples_add(&one, 2, 4);
    hil_samples_add(&other, 3, 9);
    hil_samples_merge(&one, &other);
    cr_expect_float_eq(one.mean, 5, 1e-12);
    cr_expect_float_eq(one.squares, 9 + 1 + 16, 1e-12);
    cr_expect(one.count == 3 && one.min == 2 && one.max == 9 && one.to_ns == 3);
}

Test(samples, to_merge_with_none_changes_nothing)
{
    struct hil_samples none = {0}, one = {0}, same;

    hil_samples_add(&one, 7, 3);
    same = one;
    hil_samples_merge(&one, &none);
    cr_expect_eq(memcmp(&one, &same, sizeof one), 0);
    hil_samples_merge(&none, &one);
    cr_expect_eq(memcmp(&none, &same, sizeof one), 0);
}

/* --- responses ------------------------------------------------------------------------------- */

enum { EVENTS = 4 };

static struct hil_event events[EVENTS];
static struct hil_responses responses;
static struct hil_cursor cursor;
static unsigned event_count;

static void add_event(uint64_t begin_ms, uint64_t over_ms, uint64_t end_ms)
{
    struct hil_event *e = &events[event_count++];

    *e = (struct hil_event){.begin_ns = begin_ms * MS,
                            .over_ns = over_ms * MS,
                            .end_ns = end_ms * MS,
                            .window_ns = (over_ms + end_ms) * MS / 2,
                            .startup = begin_ms == 0};
}

static void make_responses(unsigned measures)
{
    free(responses.events);
    cursor = (struct hil_cursor){0};
    hil_responses_init(&responses, calloc(1, hil_responses_size(event_count, measures)), events,
                       event_count, measures);
}

static void add_sample(double t_ms, double reference, double value)
{
    struct hil_moment moment = hil_responses_at(&responses, &cursor, (uint64_t)llround(t_ms * 1e6));

    hil_response_add(&moment, 0, reference, value);
}

typedef double signal_fn(double t_ms);

/* A sample each 0.1 ms, from 0 to the end. */
static void follow(signal_fn *signal, signal_fn *reference, double end_ms)
{
    make_responses(1);
    for (int i = 0; i < end_ms * 10 - 0.5; i++)
        add_sample(i * 0.1, reference(i * 0.1), signal(i * 0.1));
}

static struct hil_figures figures_of(unsigned event)
{
    struct hil_figures f;

    hil_responses_figures(&responses, event, 0, &f);
    return f;
}

static double ten(double t)
{
    (void)t;
    return 10;
}

/* Rises from 0 V to 12 V, which is 20 percent too far, and returns to the reference within 5 ms. */
static double overshoots(double t)
{
    return t < 1 ? 12 * t : t < 5 ? 12 - (t - 1) / 2 : 10;
}

/* To 9.75 V as a ramp, then slowly, so that it passes 10 % of 10 V at 1 ms and 90 % at 9 ms. */
static double rises_slowly(double t)
{
    return t < 9.75 ? t : 9.75;
}

Test(response, a_rise_is_timed_between_its_samples)
{
    add_event(0, 0, 20);
    follow(rises_slowly, ten, 20);
    cr_expect_float_eq(figures_of(0).rise_time_ms, 8, 1e-9);
    cr_expect_float_eq(figures_of(0).steady_error, -0.25, 1e-9);
}

static double falls_late(double t)
{
    return t < 10.3 ? 10 : fmax(2, 10 - (t - 10.3) * 7.7);
}

static double reference_falls_late(double t)
{
    return t < 10.25 ? 10 : 2;
}

Test(response, a_fall_is_timed_after_the_reference_has_come)
{
    add_event(0, 0, 10);
    add_event(10, 10, 20);
    follow(falls_late, reference_falls_late, 20);
    cr_expect_float_eq(figures_of(1).rise_time_ms, 0.8 * 8 / 7.7, 1e-9);
    cr_expect(isnan(figures_of(0).rise_time_ms), "nothing changed");
}

static double ramp(double t)
{
    return fmin(t, 10);
}

static double behind_the_ramp(double t)
{
    return fmax(0, fmin(t - 1, 10));
}

static double never_there(double t)
{
    return t < 10 ? 0.85 * t : 8.5;
}

Test(response, a_rise_that_follows_a_ramp_or_does_not_end_has_no_time)
{
    add_event(0, 10, 20);
    follow(behind_the_ramp, ramp, 20);
    cr_expect(isnan(figures_of(0).rise_time_ms));
    event_count = 0;
    add_event(0, 0, 20);
    follow(never_there, ten, 20);
    cr_expect(isnan(figures_of(0).rise_time_ms));
}

Test(response, a_start_up)
{
    add_event(0, 0, 20);
    follow(overshoots, ten, 20);
    struct hil_figures f = figures_of(0);

    cr_expect_float_eq(f.overshoot_pct, 20, 1e-9);
    cr_expect_float_eq(f.extreme, 12, 1e-9);
    cr_expect_float_eq(f.extreme_s, 1e-3, 1e-9);
    cr_expect(f.settled);
    cr_expect_float_eq(f.settling_ms, 4.6, 1e-9); /* 10.2 V, the border, is inside */
    cr_expect_float_eq(f.from_s, 0.010, 1e-9);
    cr_expect_float_eq(f.to_s, 0.0199, 1e-9);
    cr_expect_eq(f.pp, 0);
    cr_expect_eq(f.mean, 10);
}

/* "Measure in the direction of the change, in percent of the change." */
static double down_to_8(double t)
{
    return t < 20 ? 10 : 8;
}

static double down_and_beyond(double t)
{
    return t < 20 ? overshoots(t) : t < 21 ? 10 - 2.5 * (t - 20) : t < 22 ? 7.5 + (t - 21) / 2 : 8;
}

Test(response, a_step_down_overshoots_downwards)
{
    add_event(0, 0, 20);
    add_event(20, 20, 40);
    follow(down_and_beyond, down_to_8, 40);
    struct hil_figures f = figures_of(1);

    cr_expect_float_eq(f.overshoot_pct, 25, 1e-9); /* half a volt of two */
    cr_expect_float_eq(f.extreme, 7.5, 1e-9);
    cr_expect_float_eq(f.deviation_pct, -6.25, 1e-9);
    cr_expect(f.settled);
}

static double follows_down(double t)
{
    return t < 20 ? 10 : fmax(8, 10 - 2.5 * (t - 20));
}

Test(response, a_step_down_that_goes_no_further_has_no_overshoot)
{
    add_event(0, 0, 20);
    add_event(20, 20, 40);
    follow(follows_down, down_to_8, 40);
    cr_expect_eq(figures_of(1).overshoot_pct, 0);
}

/* The reference rises from 0 V for 10 ms. The signal is a volt above it, and then meets it. */
static double soft_reference(double t)
{
    return fmin(t, 10);
}

static double soft_start(double t)
{
    return t < 11 ? fmin(t + 1, 10.5) : 10;
}

Test(response, a_soft_start_from_nothing)
{
    add_event(0, 10, 30);
    follow(soft_start, soft_reference, 30);
    struct hil_figures f = figures_of(0);

    cr_expect_float_eq(f.overshoot_pct, 100 * 0.5 / 9, 1e-9); /* from 1 V to 10 V */
    cr_expect_float_eq(f.settling_ms, 1, 1e-9);               /* after the ramp */
    cr_expect_float_eq(f.from_s, 0.020, 1e-9);
}

/* A disturbance: the reference is constant, and the signal is 1.5 V too low for a while. */
static double dips(double t)
{
    return t < 40 || t >= 40.6 ? 10 : 8.5;
}

Test(response, a_dip)
{
    add_event(0, 0, 40);
    add_event(40, 40, 44);
    follow(dips, ten, 44);
    struct hil_figures f = figures_of(1);

    cr_expect(isnan(f.overshoot_pct));
    cr_expect_float_eq(f.deviation_pct, -15, 1e-9);
    cr_expect_float_eq(f.extreme, 8.5, 1e-9);
    cr_expect(f.settled, "although it is in the last tenth of the run");
    cr_expect_float_eq(f.settling_ms, 0.6, 1e-9);
    cr_expect_float_eq(f.from_s, 0.042, 1e-9);
}

static double rises(double t)
{
    return t < 40 || t >= 41 ? 10 : 10.5;
}

Test(response, a_rise)
{
    add_event(0, 0, 40);
    add_event(40, 40, 60);
    follow(rises, ten, 60);
    cr_expect_float_eq(figures_of(1).deviation_pct, 5, 1e-9);
}

/* A signal that never leaves the band has settled at once. */
Test(response, what_stays_settles_after_nothing)
{
    add_event(0, 0, 20);
    add_event(20, 25, 40);
    follow(ten, ten, 40);
    cr_expect(figures_of(1).settled);
    cr_expect_eq(figures_of(1).settling_ms, 0);
    cr_expect_eq(figures_of(1).overshoot_pct != 0, true); /* NAN: there was no change to follow */
}

/* The change is over between two samples, and the second is inside the band: the signal settled at
 * once. */
Test(response, what_is_inside_when_it_is_over_settled_then)
{
    add_event(0, 0, 20);
    add_event(20, 25, 40);
    events[1].over_ns += MS / 20;
    follow(ten, ten, 40);
    cr_expect_eq(figures_of(1).settling_ms, 0);
}

static double rings(double t)
{
    return 10 + (t < 10 ? 5 : 1) * sin(t);
}

/* "At 46 us 322 V for 159 V": if a signal does not settle, its window is the later half. */
Test(response, what_rings_does_not_settle_and_the_start_is_not_in_its_window)
{
    add_event(0, 0, 40);
    follow(rings, ten, 40);
    struct hil_figures f = figures_of(0);

    cr_expect_not(f.settled);
    cr_expect(isnan(f.settling_ms));
    cr_expect_float_eq(f.from_s, 0.020, 1e-9);
    cr_expect_float_eq(f.to_s, 0.0399, 1e-9);
    cr_expect_float_eq(f.pp, 2, 0.01);
    cr_expect_float_eq(f.rms_deviation, sqrt(0.5), 0.05);
}

/* The deviation is measured from the reference, not from the mean. */
static double stays_below(double t)
{
    (void)t;
    return 9;
}

Test(response, the_deviation_is_from_the_reference)
{
    add_event(0, 0, 40);
    follow(stays_below, ten, 40);
    cr_expect_eq(figures_of(0).mean, 9);
    cr_expect_eq(figures_of(0).rms_deviation, 1);
}

/* The window begins half way, and that very sample is the first one inside the band: the signal
 * settled then, not at the event. */
static double settles_half_way(double t)
{
    return t < 19.95 ? 5 : 10;
}

Test(response, what_settles_as_the_window_begins_settles_then)
{
    add_event(0, 0, 40);
    follow(settles_half_way, ten, 40);
    cr_expect(figures_of(0).settled);
    cr_expect_float_eq(figures_of(0).settling_ms, 20, 1e-9);
}

/* The signal leaves the band once more in the window, so the window begins after that. */
static double late_excursion(double t)
{
    return t > 29.95 && t < 31.95 ? 11 : 10 + 0.001 * fmod(t, 2);
}

Test(response, the_window_begins_after_what_settles_late)
{
    add_event(0, 0, 40);
    follow(late_excursion, ten, 40);
    struct hil_figures f = figures_of(0);

    cr_expect(f.settled);
    cr_expect_float_eq(f.settling_ms, 32, 1e-9);
    cr_expect_float_eq(f.from_s, 0.032, 1e-9);
    cr_expect_lt(f.pp, 0.003);
}

/* The signal does not stay in the band for a tenth of the available time, so the window is the
 * whole later half. */
static double leaves_late(double t)
{
    return t > 29.95 && t < 37.95 ? 11 : 10;
}

Test(response, what_has_only_just_come_back_has_not_settled)
{
    add_event(0, 0, 40);
    follow(leaves_late, ten, 40);
    struct hil_figures f = figures_of(0);

    cr_expect_not(f.settled);
    cr_expect_float_eq(f.from_s, 0.020, 1e-9);
    cr_expect_float_eq(f.mean, 10.4, 1e-9);
}

/* A few samples from before the plant's response say nothing. */
Test(response, a_change_just_before_the_end_has_not_settled)
{
    add_event(0, 0, 39);
    events[0].end_ns = 396 * MS / 10;
    add_event(39, 39, 40);
    events[1].begin_ns = events[1].over_ns = events[0].end_ns;
    follow(ten, ten, 40);
    cr_expect_not(figures_of(1).settled);
}

/* In a run that ended early, the window is everything after settling. */
Test(response, a_run_that_ended_early)
{
    add_event(0, 0, 100);
    follow(overshoots, ten, 20);
    struct hil_figures f = figures_of(0);

    cr_expect(f.settled);
    cr_expect_float_eq(f.from_s, 4.6e-3, 1e-9);
    cr_expect_float_eq(f.to_s, 19.9e-3, 1e-9);
}

Test(response, an_event_that_never_came)
{
    add_event(0, 0, 50);
    add_event(50, 50, 100);
    follow(overshoots, ten, 20);
    cr_expect_eq(responses.now, 0);
    cr_expect(isnan(figures_of(1).mean));
    cr_expect_not(figures_of(1).settled);
}

/* Late steps skipped a whole event: it has no figures, and the next event's change counts from the
 * last known reference. */
static double down_to_8_and_6(double t)
{
    return t < 20 ? 10 : t < 21 ? 8 : 6;
}

Test(response, an_event_that_no_step_saw)
{
    add_event(0, 0, 20);
    add_event(20, 20, 21);
    add_event(21, 21, 40);
    make_responses(1);
    for (int t = 0; t < 40; t++)
        if (t != 20)
            add_sample(t, down_to_8_and_6(t), t == 25 ? 5 : down_to_8_and_6(t));
    cr_expect(isnan(figures_of(1).extreme));
    cr_expect_not(figures_of(1).settled);
    cr_expect_float_eq(figures_of(2).overshoot_pct, 25, 1e-9); /* one of 4 V, from 10 V */
}

/* The start-up was skipped as well, so no change is known. */
Test(response, a_first_step_that_comes_late)
{
    add_event(0, 0, 20);
    add_event(20, 20, 40);
    make_responses(1);
    for (int t = 22; t < 40; t++)
        add_sample(t, 8, 8);
    cr_expect(isnan(figures_of(1).overshoot_pct));
    cr_expect(figures_of(1).settled);
}

/* The next event comes during the ramp, so this one has no figures. */
Test(response, a_change_that_is_cut_short)
{
    add_event(0, 30, 20);
    events[0].window_ns = events[0].end_ns;
    add_event(20, 30, 60);
    follow(ten, ten, 60);
    cr_expect_not(figures_of(0).settled);
    cr_expect(isnan(figures_of(0).pp));
    cr_expect(figures_of(1).settled);
}

static double off(double t)
{
    return t < 20 ? 10 : 0;
}

static double discharges(double t)
{
    return t < 20 ? 10 : 10 * exp(20 - t);
}

/* Two percent of 0 V are nothing, so the band is that of the previous reference. */
Test(response, a_reference_of_nothing)
{
    add_event(0, 0, 20);
    add_event(20, 20, 60);
    follow(discharges, off, 60);
    struct hil_figures f = figures_of(1);

    cr_expect(f.settled);
    cr_expect_float_eq(f.settling_ms, 4, 1e-9); /* exp(-4) of 10 V */
    cr_expect(isnan(f.deviation_pct));
}

static double breaks(double t)
{
    return t < 30 ? 10 : NAN;
}

Test(response, what_is_no_number_has_not_settled)
{
    add_event(0, 0, 40);
    follow(breaks, ten, 40);
    cr_expect_not(figures_of(0).settled);
    cr_expect(isnan(figures_of(0).mean));
}

/* --- which is the worst ---------------------------------------------------------------------- */

static void follow_many(unsigned count, const double *swing, const double *settles_ms)
{
    make_responses(count);
    for (int i = 0; i < 400; i++) {
        struct hil_moment moment = hil_responses_at(&responses, &cursor, (uint64_t)i * MS / 10);
        for (unsigned k = 0; k < count; k++)
            hil_response_add(&moment, k, 10,
                             i * 0.1 < settles_ms[k] ? 0 : 10 + swing[k] * sin(0.3 * i));
    }
}

Test(response, the_worst_swings_most_of_those_that_do_not_settle)
{
    add_event(0, 0, 40);
    follow_many(4, (const double[]){9, 0, 3, 4}, (const double[]){1, 25, 1, 1});
    cr_expect_eq(hil_responses_worst(&responses, 0, 0, responses.measure_count), 0);
    cr_expect_eq(hil_responses_worst(&responses, 0, 1, 3), 3);
}

Test(response, the_worst_takes_longest_where_all_settle)
{
    add_event(0, 0, 40);
    follow_many(3, (const double[]){0.1, 0, 0.15}, (const double[]){1, 2, 1});
    cr_expect_eq(hil_responses_worst(&responses, 0, 0, responses.measure_count), 1);
}

/* A component without samples was in another process, or had not started yet. */
Test(response, the_worst_is_one_that_has_samples)
{
    add_event(0, 0, 40);
    make_responses(3);
    for (int i = 0; i < 400; i++) {
        struct hil_moment moment = hil_responses_at(&responses, &cursor, (uint64_t)i * MS / 10);
        hil_response_add(&moment, 0, 10, 10);
        hil_response_add(&moment, 2, 10, i < 20 ? 0 : 10);
    }
    cr_expect_eq(hil_responses_worst(&responses, 0, 0, 3), 2);
}

/* Without a reference there is a window, and nothing that settles. */
Test(response, a_measure_without_a_reference_has_its_window)
{
    add_event(0, 0, 40);
    make_responses(1);
    for (int i = 0; i < 400; i++) {
        struct hil_moment moment = hil_responses_at(&responses, &cursor, (uint64_t)i * MS / 10);
        hil_response_add(&moment, 0, NAN, i % 2);
    }
    const struct hil_figures f = figures_of(0);
    cr_expect_not(f.settled);
    cr_expect_float_eq(f.mean, 0.5, 1e-9);
    cr_expect_eq(f.pp, 1);
    cr_expect(isnan(f.extreme) && isnan(f.overshoot_pct) && isnan(f.rms_deviation));
}

/* --- in series ------------------------------------------------------------------------------- */

/* Takes as many samples at once as possible while they are of the same kind. */
static void follow_in_series(signal_fn *signal, signal_fn *reference, double end_ms)
{
    double values[HIL_SERIES_MAX][2];
    const double *rows[HIL_SERIES_MAX];
    uint64_t t_ns[HIL_SERIES_MAX];
    struct hil_response_series series = {.t_ns = t_ns, .rows = rows};
    struct hil_moment moment = {0};

    make_responses(1);
    for (int i = 0; i < end_ms * 10 - 0.5; i++) {
        const struct hil_moment later =
            hil_responses_at(&responses, &cursor, (uint64_t)llround(i * 0.1 * 1e6));
        const bool goes_on = i > 0 && hil_moment_goes_on(&moment, &later);
        if (series.count == HIL_SERIES_MAX || (series.count && !goes_on)) {
            hil_response_add_series(&moment, 0, &series, 0, 1);
            series.count = 0;
        }
        if (goes_on) {
            double *row = values[series.count];
            row[0] = reference(i * 0.1);
            row[1] = signal(i * 0.1);
            t_ns[series.count] = later.t_ns;
            rows[series.count++] = row;
            continue;
        }
        hil_response_add(&later, 0, reference(i * 0.1), signal(i * 0.1));
        moment = later;
    }
    if (series.count)
        hil_response_add_series(&moment, 0, &series, 0, 1);
}

static double moving_reference(double t)
{
    return (t < 30 ? 10 : 20) + 5 * sin(t);
}

static double in_and_out(double t)
{
    return moving_reference(t) + 0.4 * sin(1.7 * t);
}

/* To the last bit. */
static void expect_series_as_one_by_one(signal_fn *signal, signal_fn *reference)
{
    struct hil_response one_by_one[EVENTS];

    follow(signal, reference, 60);
    memcpy(one_by_one, responses.at, event_count * sizeof *one_by_one);
    follow_in_series(signal, reference, 60);
    cr_expect_eq(memcmp(one_by_one, responses.at, event_count * sizeof *one_by_one), 0);
}

/* A signal that leaves its band and returns while its reference moves. */
Test(response, samples_in_series_are_as_one_by_one)
{
    add_event(0, 2, 30);
    add_event(30, 30, 60);
    expect_series_as_one_by_one(in_and_out, moving_reference);
    cr_expect_gt(responses.at[0].unsettled.count, 0);
    cr_expect_gt(responses.at[1].inside_count, 0);
}

/* Stays in its band from 1 ms on, except one sample outside and one that is not a number. It is in
 * the middle of the band from 20 ms to 25 ms, and then moves further and further away. */
static double swings_inside(double t)
{
    if (t < 1)
        return 9 * t;
    if (fabs(t - 41) < 0.01)
        return NAN;
    if (fabs(t - 23) < 0.01)
        return 9.5;
    return 10 + (t > 20 && t < 25 ? 1e-3 : 1e-4 * t * t) * sin(2.3 * t) / 3;
}

static double nudged(double t)
{
    return t < 50 ? 10 : 10.001;
}

Test(response, settled_samples_in_series_are_as_one_by_one)
{
    add_event(0, 2, 30);
    add_event(30, 30, 60);
    expect_series_as_one_by_one(swings_inside, ten);
    cr_expect_gt(responses.at[0].settled.count, 50);
    cr_expect_gt(responses.at[1].settled.count, 50);
    expect_series_as_one_by_one(swings_inside, nudged);
}

/* --- around 0 -------------------------------------------------------------------------------- */

static double nearly_off(double t)
{
    return t < 20 ? 10 : 1e-9;
}

/* A reference that is 0 except for rounding: two percent of that are nothing, too. */
Test(response, a_reference_that_is_all_but_nothing)
{
    add_event(0, 0, 20);
    add_event(20, 20, 60);
    follow(discharges, nearly_off, 60);
    struct hil_figures f = figures_of(1);

    cr_expect(f.settled);
    cr_expect_float_eq(f.settling_ms, 4, 0.11);
    cr_expect_float_eq(f.band, 0.2, 1e-12);
    cr_expect(isnan(f.deviation_pct));
    cr_expect_float_eq(f.deviation, -1e-9, 1e-9);
}

/* The measure of these samples has a band of its own. */
static void follow_within(double band, signal_fn *signal, signal_fn *reference, double end_ms)
{
    make_responses(1);
    hil_responses_set_band(&responses, 0, band);
    for (int i = 0; i < end_ms * 10 - 0.5; i++)
        add_sample(i * 0.1, reference(i * 0.1), signal(i * 0.1));
}

Test(response, a_band_of_its_own_is_used_for_every_reference)
{
    add_event(0, 0, 20);
    add_event(20, 20, 60);
    follow_within(1, discharges, off, 60);
    struct hil_figures f = figures_of(1);

    cr_expect(f.settled);
    cr_expect_float_eq(f.settling_ms, 2.4, 1e-9); /* 10 V exp(-2.4) < 1 V */
    cr_expect_eq(f.band, 1);
    cr_expect_eq(figures_of(0).band, 1);
    follow_within(1e-3, discharges, off, 60);
    cr_expect_float_eq(figures_of(1).settling_ms, 9.3, 1e-9);
}

static double always_off(double t)
{
    (void)t;
    return 0;
}

static double pushed(double t)
{
    return t < 20 ? 0 : 5 * exp(20 - t);
}

/* A disturbance of a signal that should be 0: there is no change and no percentage. */
Test(response, around_nothing_the_deviation_is_in_the_unit)
{
    add_event(0, 0, 20);
    add_event(20, 20, 60);
    follow_within(0.5, pushed, always_off, 60);
    struct hil_figures f = figures_of(1);

    cr_expect_float_eq(f.deviation, 5, 1e-9);
    cr_expect(isnan(f.deviation_pct) && isnan(f.overshoot_pct));
    cr_expect(f.settled);
    cr_expect_float_eq(f.settling_ms, 2.4, 1e-9); /* 5 exp(-2.4) < 0.5 */
    cr_expect(figures_of(0).settled);
    cr_expect_eq(figures_of(0).settling_ms, 0);
}

static double trembles(double t)
{
    return t < 20 ? 0 : 0.01;
}

/* A reference that moves by less than the band does not count as changed, as percentages of so
 * little mean nothing. */
Test(response, a_change_inside_the_band_is_none)
{
    add_event(0, 0, 20);
    add_event(20, 20, 60);
    follow_within(0.5, pushed, trembles, 60);
    cr_expect(isnan(figures_of(1).overshoot_pct), "%g", figures_of(1).overshoot_pct);
    follow(pushed, trembles, 60);
    cr_expect_gt(figures_of(1).overshoot_pct, 10000);
}
