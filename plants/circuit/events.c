/*
 * From w, a trial with one rung gives w at a later instant, and the tests say whether a diode
 * should have changed by then. If none should, the trial is taken. Else the way there is halved,
 * again and again: a rung that ends before the violation is taken, and one that does not is halved.
 * In the last rung a secant gives the instant. Most ways there are shorter: where the course is
 * smooth over some nanoseconds, a cubic gives w at any instant of them: glide().
 *
 * A diode that leaves its place and comes back within a rung is seen by its speeds at both ends:
 * may_dip(). Rungs that are short against all that rings (cir_configuration.longest) take care of
 * what does not die within one.
 */
#include "events.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "energies.h"

enum {
    TRIALS_EACH = 50, /* rungs for each event that a period may have, before diodes stay */
    FLIPS_TOGETHER = 3,
    FLIPS_MOST = 400,
    PATIENCE = 16,              /* flips after which the tolerance doubles */
    RATES_COUNT = 2 * PATIENCE, /* flips after which a diode may stay on its threshold */
    WIDENINGS = 8,              /* how often it does */
    NEWTON_STEPS = 8,
};

/* How many times the tolerance a diode may be beyond its threshold if it is about to come back. */
#define SAME 1000

/* The rate of a test below which it is standing still: it stays within the tolerance for so long.
 */
#define STILL_S 1e-6

/* The longest time in which w may be smooth, how smooth it must be, and how much shorter the next
 * time to try is when it is not. */
#define GLIDE_S 40e-9
#define SMOOTH  1e-10
#define ROUGHER 32

/* The longest rung in which a secant may find a crossing, and how far off it may be. */
#define SECANT_S 30e-12
#define OFF_S    3e-15

/* As fmin() and fmax() of numbers, without a call. */
static inline double lesser(double a, double b)
{
    return a < b ? a : b;
}

static inline double greater(double a, double b)
{
    return a > b ? a : b;
}

/* --- tests ------------------------------------------------------------------------------------ */

static void test(const struct cir_stage *s, double *tests, const double *w)
{
    const struct cir_maker *m = &s->pool.maker;

    cir_apply(tests, s->now->tests, m->test_rows, m->network->w_count, w);
}

static const struct cir_position *diode(const struct cir_stage *s, unsigned i)
{
    return &s->network->positions[s->network->diodes[i]];
}

/* Whether a diode must change: it is beyond its threshold, or on it and about to be. A diode that
 * has just been brought to its threshold is on it, whatever rounding makes of its value: 1e-15 V
 * across a conducting diode are a microvolt across one that does not conduct. Nor must one change
 * that is about to come back, within a time that is no time: two of them may be that close. */
static bool must_flip(const struct cir_stage *s, unsigned i, uint64_t on_threshold, bool by_rate)
{
    const double value = s->tests[i], rate = s->tests[s->network->diode_count + i];
    const bool was_brought = on_threshold >> diode(s, i)->device & 1;
    const double near = was_brought ? s->tolerance : s->tolerance / 64;
    const bool leaves = by_rate && value <= near && rate < -s->tolerance / STILL_S;

    if (was_brought)
        return leaves;
    return value < -s->tolerance -
                       lesser(greater(rate, 0) * CIR_SAME_S(s->start_s), SAME * s->tolerance) ||
           leaves;
}

/* --- which diodes conduct --------------------------------------------------------------------- */

/* The bits of the diodes that must change: all of them, or the first one. A diode on its threshold
 * may want to leave it in both of its states, at a speed that the rounding of its value makes:
 * after some rounds it stays. */
static uint64_t flips(const struct cir_stage *s, uint64_t on_threshold, int round)
{
    const bool all = round < FLIPS_TOGETHER, by_rate = round < RATES_COUNT;
    uint64_t bits = 0;

    for (unsigned i = 0; i < s->network->diode_count; i++)
        if (must_flip(s, i, on_threshold, by_rate) && (all || !bits))
            bits |= (uint64_t)1 << diode(s, i)->device;
    return bits;
}

/* The bits of the diodes that are right on their thresholds. One that changes there stays there. */
static uint64_t near_threshold(const struct cir_stage *s)
{
    uint64_t bits = 0;

    for (unsigned i = 0; i < s->network->diode_count; i++)
        if (fabs(s->tests[i]) <= s->tolerance)
            bits |= (uint64_t)1 << diode(s, i)->device;
    return bits;
}

/* Doubles the tolerance. If it becomes more than rounding can explain, a diode does contradict both
 * of its states. */
static void widen(struct cir_stage *s)
{
    s->tolerance *= 2;
    s->unresolved += s->tolerance > s->widest;
}

int cir_resolve(struct cir_stage *s, uint64_t on_threshold)
{
    for (int i = 0; i < FLIPS_MOST; i++) {
        if (i > 0 && cir_stage_makes(s) >= s->makes_most)
            break;
        if (!s->now || s->now->key != s->key)
            s->now = cir_pool_get(&s->pool, s->key, s->now);
        if (!s->now)
            return -EDOM;
        test(s, s->tests, s->w);
        const uint64_t bits = flips(s, on_threshold, i);
        if (!bits) {
            for (unsigned k = 0; k < s->network->diode_count; k++)
                s->floors[k] = lesser(s->tests[k], 0);
            return 0;
        }
        if (i % PATIENCE == PATIENCE - 1 && i < WIDENINGS * PATIENCE)
            widen(s); /* by rounding a diode may contradict both of its states */
        on_threshold |= bits & near_threshold(s);
        s->key ^= bits;
    }
    s->unresolved++;
    s->key = s->now->key;
    return 0;
}

/* --- one rung --------------------------------------------------------------------------------- */

enum verdict { FREE, VIOLATED, DOUBTFUL };

/* trial = w + share * (exp(F d) - 1) w. What does not move is there already. */
static void try_rung(struct cir_stage *s, unsigned rung, double share)
{
    const struct cir_maker *m = &s->pool.maker;
    const unsigned w = m->network->w_count;

    s->trials++;
    cir_apply(s->change, &s->now->rungs[(size_t)rung * m->moving_rows * w], m->moving_rows, w,
              s->w);
    for (unsigned i = 0; i < m->network->moving_count; i++)
        s->trial[i] = s->w[i] + share * s->change[i];
    test(s, s->trial_tests, s->trial);
}

/* Whether a diode is beyond its threshold after the trial. One that was a little beyond it when the
 * configuration began, by rounding between two of them, may stay there. */
static bool is_beyond(const struct cir_stage *s, unsigned i)
{
    return s->trial_tests[i] < s->floors[i] - s->tolerance;
}

/* Whether a test that is right at both ends may be below `least` between them. It cannot be if
 * neither speed takes it there within the time. Nor can it be if its course is smooth, which it is
 * if the two speeds explain where it came to, and the tangents meet above: a mode that died on the
 * way would show in the speed at the beginning. */
static bool may_dip(double from, double fall, double to, double rise, double length_s, double least)
{
    const double speed = greater(fabs(fall), fabs(rise)), change = to - from;
    const double unexplained = fabs(change - length_s * (fall + rise) / 2);

    if (lesser(from, to) - speed * length_s >= least)
        return false;
    if (unexplained > greater(fabs(change), length_s * speed) / 8 + fabs(least))
        return true;
    return fall < 0 && rise > 0 && from + fall * (change - rise * length_s) / (fall - rise) < least;
}

static enum verdict judge(const struct cir_stage *s, double length_s)
{
    const unsigned count = s->network->diode_count;
    const double *from = s->tests, *to = s->trial_tests;
    enum verdict verdict = FREE;

    for (unsigned i = 0; i < count; i++) {
        if (is_beyond(s, i))
            return VIOLATED;
        if (may_dip(from[i], from[count + i], to[i], to[count + i], length_s,
                    s->floors[i] - s->tolerance))
            verdict = DOUBTFUL;
    }
    return verdict;
}

static void take_trial(struct cir_stage *s, double at_s)
{
    double *const w = s->w, *const tests = s->tests; /* what does not move is the same in both */

    cir_energies_add(s, at_s - s->at_s);
    s->w = s->trial;
    s->trial = w;
    s->tests = s->trial_tests;
    s->trial_tests = tests;
    s->at_s = at_s;
    for (unsigned i = 0; i < s->network->diode_count; i++) /* one that came back stays there */
        s->floors[i] = greater(s->floors[i], lesser(s->tests[i], 0));
}

/* The share of the way to the trial at which a diode that must not stay is on its threshold. */
static double crossing(const struct cir_stage *s, unsigned i)
{
    const double from = greater(s->tests[i], 0), to = s->trial_tests[i];

    return is_beyond(s, i) ? from / (from - to) : INFINITY;
}

/* Whether the way of the tests is so straight that a secant finds the instant of the crossing: the
 * change of the rate, as a share of it, times an eighth of the length, is how far it may be off. */
static bool is_straight(const struct cir_stage *s, double length_s)
{
    const unsigned count = s->network->diode_count;

    if (length_s > SECANT_S)
        return false;
    for (unsigned i = 0; i < count; i++) {
        const double from = s->tests[count + i], to = s->trial_tests[count + i];
        if (is_beyond(s, i) &&
            fabs(to - from) * length_s > 8 * OFF_S * greater(fabs(from), fabs(to)))
            return false;
    }
    return true;
}

/* Changes diodes at the present instant. If nothing changes then, the crossing was rounding, and
 * the tolerance was too small: it holds for this period. */
static int change(struct cir_stage *s, uint64_t crossed, uint64_t first)
{
    const uint64_t before = s->key;

    s->events++;
    s->key ^= crossed;
    const int rc = cir_resolve(s, first);
    s->compared |= ((s->key ^ before) & s->comparators) != 0;
    if (s->key == before)
        widen(s);
    return rc;
}

/* The trial goes past the instant at which a diode changes: goes there, and changes it. Those that
 * seem to change at the same instant are changed on trial: they may go back. If nothing changes
 * then, the crossing was rounding, and the tolerance was too small: it holds for this period. */
static int commutate(struct cir_stage *s, double length_s)
{
    uint64_t crossed = 0, first = 0;
    double share = INFINITY;

    for (unsigned i = 0; i < s->network->diode_count; i++)
        if (crossing(s, i) < share) {
            share = crossing(s, i);
            first = (uint64_t)1 << diode(s, i)->device;
        }
    for (unsigned i = 0; i < s->network->diode_count; i++)
        if ((crossing(s, i) - share) * length_s < CIR_SAME_S(s->start_s))
            crossed |= (uint64_t)1 << diode(s, i)->device;
    for (unsigned i = 0; i < s->network->moving_count; i++)
        s->w[i] += share * (s->trial[i] - s->w[i]);
    s->at_s += share * length_s;
    return change(s, crossed, first);
}

/* The longest rung that fits into a time; the number of rungs: none does. */
static unsigned fitting_rung(const struct cir_stage *s, double length_s, unsigned from)
{
    while (from < s->pool.maker.rung_count && s->pool.maker.rung_s[from] > length_s * (1 + 1e-12))
        from++;
    return from;
}

/* --- a smooth course -------------------------------------------------------------------------- */

/* Follows w through one rung: a cubic through where it is in a quarter, in half and in all of it.
 */
static void follow(struct cir_stage *s, double share)
{
    const double x = share, bend = 64.0 / 3 * x * (x - 0.5) * (x - 1);

    for (unsigned i = 0; i < s->network->moving_count; i++) {
        const double whole = s->course[0][i], half = s->course[1][i];
        const double error = s->course[2][i] - (0.75 * half - 0.125 * whole);
        s->trial[i] = s->w[i] + x * (4 * half - whole + x * (2 * whole - 4 * half)) + bend * error;
    }
    test(s, s->trial_tests, s->trial);
}

/* Whether a parabola through half and all of the rung is right in a quarter of it, too. Then the
 * cubic is better by far. */
static bool is_smooth(struct cir_stage *s, unsigned rung)
{
    const struct cir_maker *m = &s->pool.maker;
    const unsigned w = m->network->w_count;

    s->trials++;
    for (unsigned k = 0; k < 3; k++)
        cir_apply(s->course[k], &s->now->rungs[(size_t)(rung + k) * m->moving_rows * w],
                  m->moving_rows, w, s->w);
    for (unsigned i = 0; i < m->network->moving_count; i++) {
        const double whole = s->course[0][i], half = s->course[1][i];
        const double error = fabs(s->course[2][i] - (0.75 * half - 0.125 * whole));
        if (error > SMOOTH * (fabs(s->w[i]) + fabs(whole) + s->tolerance))
            return false;
    }
    return true;
}

/* The diode beyond its threshold that was the first to pass it, by the speeds; -1: no one is, or
 * one comes back. */
static int first_beyond(const struct cir_stage *s)
{
    const unsigned count = s->network->diode_count;
    double longest_s = -1;
    int first = -1;

    for (unsigned i = 0; i < count; i++) {
        const double rate = s->trial_tests[count + i];
        if (!is_beyond(s, i))
            continue;
        if (rate >= 0)
            return -1;
        if (s->trial_tests[i] / rate > longest_s) {
            longest_s = s->trial_tests[i] / rate;
            first = (int)i;
        }
    }
    return first;
}

/* Goes back from a share of the rung at which a diode is beyond its threshold to where the first
 * one passes it. Returns that share, or -1: it is not found. */
static double find_crossing(struct cir_stage *s, double share, double rung_s, int *diode_at)
{
    const unsigned count = s->network->diode_count;
    int i;

    for (int round = 0; (i = first_beyond(s)) >= 0; round++) {
        double step_s = INFINITY;
        for (int k = 0; fabs(step_s) > OFF_S; k++) {
            const double rate = s->trial_tests[count + (unsigned)i];
            if (k == NEWTON_STEPS || round == NEWTON_STEPS || rate >= 0)
                return -1;
            step_s = s->trial_tests[i] / rate;
            share -= step_s / rung_s;
            if (share <= 0) /* a mode that dies at the beginning bends the course */
                return -1;
            follow(s, share);
        }
        *diode_at = i;
    }
    return share;
}

/* Changes the diode on its threshold, and on trial those that pass theirs at the same instant. */
static int change_on_course(struct cir_stage *s, int first)
{
    const unsigned count = s->network->diode_count;
    const uint64_t bit = (uint64_t)1 << diode(s, (unsigned)first)->device;
    uint64_t crossed = bit;

    for (unsigned i = 0; i < count; i++) {
        const double rate = s->trial_tests[count + i];
        if (rate < 0 && s->trial_tests[i] <= -rate * CIR_SAME_S(s->start_s))
            crossed |= (uint64_t)1 << diode(s, i)->device;
    }
    memcpy(s->w, s->trial, s->network->moving_count * sizeof *s->w);
    return change(s, crossed, bit);
}

enum course { ARRIVED, CHANGED, ROUGH };

/* Goes to an instant that is not far, or to where a diode changes before, if w goes there smoothly.
 */
static enum course glide(struct cir_stage *s, double end_s, int *rc)
{
    const struct cir_maker *m = &s->pool.maker;
    const double left_s = end_s - s->at_s;
    unsigned rung = fitting_rung(s, left_s, s->now->longest);
    int first = -1;

    if (rung < m->rung_count && m->rung_s[rung] < left_s)
        rung -= rung > 0;
    if (rung + 2 >= m->rung_count || m->rung_s[rung] < left_s || !is_smooth(s, rung))
        return ROUGH;
    follow(s, left_s / m->rung_s[rung]);
    enum verdict verdict = judge(s, left_s);
    if (verdict == FREE) {
        take_trial(s, end_s);
        return ARRIVED;
    }
    if (verdict == DOUBTFUL)
        return ROUGH;
    const double share = find_crossing(s, left_s / m->rung_s[rung], m->rung_s[rung], &first);
    if (share < 0 || first < 0 || judge(s, share * m->rung_s[rung]) != FREE)
        return ROUGH;
    cir_energies_add(s, share * m->rung_s[rung]);
    s->at_s += share * m->rung_s[rung];
    *rc = change_on_course(s, first);
    return CHANGED;
}

/* --- to an instant ---------------------------------------------------------------------------- */

int cir_hold_on(struct cir_stage *s, double target_s)
{
    const unsigned last = s->pool.maker.rung_count - 1;

    s->unresolved++;
    while (s->at_s < target_s) {
        const double left_s = target_s - s->at_s;
        const unsigned rung = fitting_rung(s, left_s, 0);
        const double share = rung > last ? left_s / s->pool.maker.rung_s[last] : 1;
        try_rung(s, rung > last ? last : rung, share);
        take_trial(s, rung > last ? target_s : s->at_s + s->pool.maker.rung_s[rung]);
    }
    return cir_resolve(s, 0);
}

/* The rung to try: the longest that fits and is allowed, and shorter than the way to where a diode
 * is known to be wrong. The last one may be tried in part. */
static unsigned choose_rung(const struct cir_stage *s, double left_s, unsigned least, bool violated)
{
    const unsigned last = s->pool.maker.rung_count - 1;
    unsigned rung = fitting_rung(s, left_s, least > s->now->longest ? least : s->now->longest);

    if (violated && rung < last && s->pool.maker.rung_s[rung] > 0.999 * left_s)
        rung++;
    return rung < last ? rung : last;
}

static bool needs_too_much(const struct cir_stage *s)
{
    return s->events >= s->events_most || cir_stage_makes(s) >= s->makes_most ||
           s->trials >= (uint64_t)TRIALS_EACH * s->events_most + ((uint64_t)2 << s->now->longest);
}

int cir_advance_to(struct cir_stage *s, double target_s)
{
    const unsigned last = s->pool.maker.rung_count - 1;
    const double last_s = s->pool.maker.rung_s[last];
    double violated_s = INFINITY; /* an instant at which a diode is known to be wrong */
    double smooth_s = GLIDE_S;    /* a time for which the course may be smooth */
    unsigned least = 0;           /* the longest rung to try next */
    int rc = 0;

    while (!rc && s->at_s < target_s && !s->compared) {
        if (needs_too_much(s))
            return cir_hold_on(s, target_s);
        const double end_s = lesser(target_s, violated_s), left_s = end_s - s->at_s;
        if (left_s <= smooth_s) {
            const enum course course = glide(s, end_s, &rc);
            smooth_s = course == ROUGH ? left_s / ROUGHER : GLIDE_S;
            if (course != ROUGH) {
                violated_s = INFINITY;
                least = 0;
                continue;
            }
        }
        const unsigned rung = choose_rung(s, left_s, least, violated_s <= target_s);
        const bool ends = rung == last && left_s <= last_s * (1 + 1e-12);
        const double rung_s = s->pool.maker.rung_s[rung], length_s = ends ? left_s : rung_s;
        try_rung(s, rung, length_s / rung_s);
        const enum verdict verdict = judge(s, length_s);
        if (verdict == VIOLATED && (rung == last || is_straight(s, length_s))) {
            rc = commutate(s, length_s);
            violated_s = INFINITY;
            least = 0;
        } else if (verdict == VIOLATED) {
            violated_s = lesser(s->at_s + length_s, target_s);
        } else if (verdict == DOUBTFUL && rung < last) {
            least = rung + 1;
        } else {
            take_trial(s, ends ? end_s : s->at_s + length_s);
            violated_s = s->at_s < violated_s ? violated_s : INFINITY;
            least = rung ? rung - 1 : 0;
        }
    }
    return rc;
}
