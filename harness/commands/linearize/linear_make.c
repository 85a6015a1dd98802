/*
 * Makes the model. The run is looked at in some instants on its way, for the size of its numbers,
 * and then once a period, until it is where it began. Then, for each number, one process goes on
 * for such a period with a little more of it, and one with a little less: their difference is a
 * column of A. A process that forks has the whole state of the run, so nothing is put back.
 */
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../run/state.h"
#include "linear_numbers.h"

/* The periods that are looked at for one after which everything is where it was; the looks on the
 * way while the time grows by e; and the greatest model. */
enum { PERIODS_LEAST = 2, PERIODS_MOST = 1000, LOOKS = 20, NUMBERS_MOST = 2000 };

/* How near is where it was, as a share of each number's size; and what is no size but rounding. */
static const double near_enough = 1e-4, least_size = 1e-9;

/* Changes as shares of a number's size; and of a number that was always 0. */
static const double share = 1e-4, change_of_zero = 1e-6;

static const uint64_t common_most_ns = 10000000000, steps_most = 10000000;

struct linear_making {
    struct hil_between between; /* first: it is what the run knows */
    const struct hil_scenario *scenario;
    struct hil_state *state;
    struct linear_numbers numbers;
    uint64_t start_ns, common_ns;
    unsigned periods_most;
    bool quiet;       /* about what has not settled */
    double *first;    /* the numbers at the start */
    unsigned periods; /* since then */
    double *rows[2];  /* what the two processes find, shared with them: x, then y */
    double *mine;     /* in such a process: its row; else NULL */
    double farthest;  /* of all numbers, in the period that came nearest */
    unsigned farthest_number;
    struct linear_model *model;
    bool made;
    int rc;
};

/* --- instants --------------------------------------------------------------------------------- */

static uint64_t making_gcd(uint64_t a, uint64_t b)
{
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

uint64_t linear_common_ns(const struct hil_scenario *scenario)
{
    const struct hil_system *s = scenario->system;
    uint64_t common = 1, steps = 0;

    for (unsigned i = 0; i < s->node_count && common <= common_most_ns; i++)
        common *= s->nodes[i].timing.period_ns / making_gcd(common, s->nodes[i].timing.period_ns);
    for (unsigned i = 0; i < s->node_count; i++)
        steps += common / s->nodes[i].timing.period_ns;
    if (common <= common_most_ns && steps <= steps_most)
        return common;
    fprintf(stderr,
            "%s: the periods of its nodes have no common multiple up to %g s with %" PRIu64
            " steps\n",
            scenario->name, 1e-9 * (double)common_most_ns, steps_most);
    return 0;
}

/* It is waited for as long as it had time to settle. */
static unsigned making_periods_most(uint64_t common_ns, uint64_t start_ns)
{
    const uint64_t so_far = start_ns / common_ns;

    return so_far < PERIODS_LEAST  ? PERIODS_LEAST
           : so_far > PERIODS_MOST ? PERIODS_MOST
                                   : (unsigned)so_far;
}

double linear_duration_s(uint64_t common_ns, uint64_t start_ns)
{
    return 1e-9 * ((double)start_ns +
                   (2.0 * making_periods_most(common_ns, start_ns) + 4) * (double)common_ns);
}

/* Whether a message over this link is on its way right before t. */
static bool making_is_on_its_way(const struct hil_system *s, const struct hil_link *link,
                                 uint64_t t)
{
    const struct hil_timing *from = &s->nodes[link->from].timing;
    const uint64_t since = (t - from->phase_ns - 1) % from->period_ns + 1;

    return link->latency_ns > since;
}

static const struct hil_link *making_under_way(const struct hil_system *s, uint64_t t)
{
    for (unsigned i = 0; i < s->link_count; i++)
        if (making_is_on_its_way(s, &s->links[i], t))
            return &s->links[i];
    return NULL;
}

static int making_say_under_way(const struct hil_scenario *scenario, const struct hil_link *link)
{
    const struct hil_system *s = scenario->system;
    char from[HIL_SIGNAL_NAME_BYTES], to[HIL_SIGNAL_NAME_BYTES];

    hil_instance_name(&s->nodes[link->from].is, from);
    hil_instance_name(&s->nodes[link->to].is, to);
    fprintf(stderr,
            "%s: values from %s to %s are always on their way, with a latency of %g us; allowed: "
            "a latency that ends before the next step\n",
            scenario->name, from, to, 1e-3 * (double)link->latency_ns);
    return -EINVAL;
}

/* The first instant from the start on at which no message is on its way. */
static int making_choose_start(struct linear_making *m, uint64_t start_ns)
{
    const struct hil_system *s = m->scenario->system;
    const uint64_t begin = (start_ns + m->common_ns - 1) / m->common_ns * m->common_ns;
    const struct hil_link *link = NULL;
    uint64_t grid = m->common_ns;

    for (unsigned i = 0; i < s->node_count; i++)
        grid =
            making_gcd(grid, making_gcd(s->nodes[i].timing.period_ns, s->nodes[i].timing.phase_ns));
    for (uint64_t at = 0; at < m->common_ns; at += grid) {
        m->start_ns = begin + m->common_ns + at;
        link = making_under_way(s, m->start_ns);
        if (!link)
            return 0;
    }
    return making_say_under_way(m->scenario, link);
}

/* --- numbers ---------------------------------------------------------------------------------- */

static void making_look(struct linear_making *m)
{
    for (unsigned i = 0; i < m->numbers.count; i++) {
        const double now = fabs(*m->numbers.at[i]);
        if (now > m->numbers.is[i].scale && now <= DBL_MAX)
            m->numbers.is[i].scale = now;
    }
}

/* How far the numbers are from those at the start, at most. */
static double making_distance(const struct linear_making *m, unsigned *number)
{
    double distance = 0;

    for (unsigned i = 0; i < m->numbers.count; i++) {
        const double by = fabs(*m->numbers.at[i] - m->first[i]);
        const double far = by / fmax(m->numbers.is[i].scale, least_size);
        if (!(far <= distance)) {
            distance = far;
            *number = i;
        }
    }
    return distance;
}

static double making_change(double scale)
{
    return scale > least_size ? share * scale : change_of_zero;
}

/* --- a period with a change ------------------------------------------------------------------- */

/* In the process that goes on. */
static void making_go_on(struct linear_making *m, double *row, uint64_t now)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    linear_renew_sources(&m->numbers);
    m->mine = row;
    m->between.at_ns = now + m->periods * m->common_ns;
}

static void making_finish(const struct linear_making *m)
{
    const struct linear_numbers *n = &m->numbers;

    for (unsigned i = 0; i < n->count; i++)
        m->mine[i] = *n->at[i];
    for (unsigned i = 0; i < n->output_count; i++)
        m->mine[n->count + i] = linear_output_now(&n->outputs[i]);
    _exit(0);
}

static void making_change_by(const struct linear_making *m, unsigned place, double by)
{
    if (place < m->numbers.count)
        *m->numbers.at[place] += by;
    else
        linear_move_source(&m->numbers, place - m->numbers.count, by);
}

/* Forks both processes, and waits for them. In them it returns true. */
static bool making_try(struct linear_making *m, unsigned place, double change, uint64_t now)
{
    pid_t children[2] = {-1, -1};

    for (unsigned i = 0; i < 2; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            making_change_by(m, place, i ? -change : change);
            making_go_on(m, m->rows[i], now);
            return true;
        }
    }
    for (unsigned i = 0; i < 2; i++) {
        int status = 1;
        if (children[i] < 0 || waitpid(children[i], &status, 0) < 0 || status != 0)
            m->rc = -ECHILD;
    }
    return false;
}

/* --- the matrices ----------------------------------------------------------------------------- */

static double *making_matrix(unsigned rows, unsigned columns)
{
    return calloc((size_t)rows * columns + 1, sizeof(double));
}

static int making_open_model(struct linear_making *m, uint64_t now)
{
    const struct linear_numbers *n = &m->numbers;
    const struct hil_system *s = m->scenario->system;
    struct linear_model *model = m->model;

    *model = (struct linear_model){
        .states = n->count,
        .inputs = s->source_count,
        .outputs = n->output_count,
        .x = calloc(n->count + 1, sizeof *model->x),
        .u = calloc(s->source_count + 1, sizeof *model->u),
        .y = calloc(n->output_count + 1, sizeof *model->y),
        .a = making_matrix(n->count, n->count),
        .b = making_matrix(n->count, s->source_count),
        .c = making_matrix(n->output_count, n->count),
        .d = making_matrix(n->output_count, s->source_count),
        .start_ns = now,
        .period_ns = m->periods * m->common_ns,
        .periods = m->periods,
        .drift = m->farthest,
    };
    if (!model->x || !model->u || !model->y || !model->a || !model->b || !model->c || !model->d)
        return -ENOMEM;
    strcpy(model->drifting, n->is[m->farthest_number].name);
    for (unsigned i = 0; i < n->count; i++) {
        model->x[i] = n->is[i];
        model->x[i].value = *n->at[i];
    }
    for (unsigned i = 0; i < s->source_count; i++) {
        snprintf(model->u[i].name, sizeof model->u[i].name, "%s", s->sources[i].name);
        model->u[i].value = hil_source_at(&s->sources[i], now);
        model->u[i].scale = fabs(model->u[i].value);
    }
    for (unsigned i = 0; i < n->output_count; i++) {
        strcpy(model->y[i].name, n->outputs[i].name);
        model->y[i].value = linear_output_now(&n->outputs[i]);
    }
    return 0;
}

/* A difference that is no more than rounding is none. */
static double making_slope(const struct linear_making *m, unsigned row, double scale, double change)
{
    const double difference = m->rows[0][row] - m->rows[1][row];
    const double size = fmax(scale, fmax(fabs(m->rows[0][row]), fabs(m->rows[1][row])));

    return fabs(difference) <= 8 * DBL_EPSILON * size ? 0 : difference / (2 * change);
}

static void making_take_column(struct linear_making *m, unsigned place, double change)
{
    struct linear_model *model = m->model;
    const bool of_state = place < model->states;
    const unsigned column = of_state ? place : place - model->states;
    const unsigned width = of_state ? model->states : model->inputs;
    double *states = of_state ? model->a : model->b, *outputs = of_state ? model->c : model->d;

    for (unsigned i = 0; i < model->states; i++)
        states[i * width + column] = making_slope(m, i, model->x[i].scale, change);
    for (unsigned i = 0; i < model->outputs; i++)
        outputs[i * width + column] = making_slope(m, model->states + i, 0, change);
}

/* In the processes that it forks it returns early, too. */
static void making_measure(struct linear_making *m, uint64_t now)
{
    m->rc = making_open_model(m, now);
    const unsigned count = m->model->states + m->model->inputs;

    fflush(NULL);
    for (unsigned i = 0; !m->rc && i < count; i++) {
        const struct linear_quantity *is =
            i < m->model->states ? &m->model->x[i] : &m->model->u[i - m->model->states];
        const double change = making_change(is->scale);
        if (making_try(m, i, change, now))
            return;
        if (!m->rc)
            making_take_column(m, i, change);
    }
    m->made = !m->rc;
}

/* --- the run ---------------------------------------------------------------------------------- */

static void making_stop(struct linear_making *m)
{
    m->between.at_ns = UINT64_MAX;
    hil_state_stop(m->state, 0, 0);
}

static int making_open_rows(struct linear_making *m)
{
    const size_t size = (m->numbers.count + m->numbers.output_count + 1) * sizeof(double);

    for (unsigned i = 0; i < 2; i++) {
        void *row = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (row == MAP_FAILED)
            return -ENOMEM;
        m->rows[i] = row;
    }
    m->first = calloc(m->numbers.count + 1, sizeof *m->first);
    return m->first ? 0 : -ENOMEM;
}

static int making_begin(struct linear_making *m)
{
    int rc = linear_numbers_find(&m->numbers, m->scenario->system, &m->between);

    if (!rc && m->numbers.count > NUMBERS_MOST) {
        fprintf(stderr, "%s: its loops go on from %u numbers; allowed: %d\n", m->scenario->name,
                m->numbers.count, NUMBERS_MOST);
        return -E2BIG;
    }
    return rc ? rc : making_open_rows(m);
}

/* A period has passed since the start. */
static void making_compare(struct linear_making *m, uint64_t now)
{
    unsigned number = 0;
    const double distance = making_distance(m, &number);

    m->periods++;
    if (m->periods == 1 || !(distance >= m->farthest)) {
        m->farthest = distance;
        m->farthest_number = number;
    }
    if (distance <= near_enough)
        making_measure(m, now);
    if (m->mine)
        return;
    if (m->made || m->rc || m->periods == m->periods_most)
        making_stop(m);
    else
        m->between.at_ns = now + m->common_ns;
}

static void making_between(struct hil_between *between, uint64_t now)
{
    struct linear_making *m = (struct linear_making *)between;

    if (m->mine)
        making_finish(m);
    if (!m->numbers.nodes)
        m->rc = making_begin(m);
    if (m->rc) {
        making_stop(m);
        return;
    }
    making_look(m);
    if (m->periods > 0 || now > m->start_ns) {
        making_compare(m, now);
    } else if (now == m->start_ns) {
        for (unsigned i = 0; i < m->numbers.count; i++)
            m->first[i] = *m->numbers.at[i];
        between->at_ns = now + m->common_ns;
    } else {
        const uint64_t next = now + now / LOOKS + m->common_ns;
        between->at_ns = next < m->start_ns ? next : m->start_ns;
    }
}

/* Says why there is no model. */
static int making_explain(const struct linear_making *m, int rc)
{
    const struct hil_executor_state *executor = &m->state->executors[0];

    if (m->rc == -E2BIG)
        return HIL_EXIT_USAGE;
    if (m->quiet && !m->rc && !rc)
        return HIL_EXIT_FAILED;
    if (m->rc == -ECHILD)
        fprintf(stderr, "%s: a run with a small change failed\n", m->scenario->name);
    else if (m->rc)
        fprintf(stderr, "%s: %s\n", m->scenario->name, strerror(-m->rc));
    else if (rc)
        fprintf(stderr, "%s: %s\n", m->scenario->name,
                executor->message[0] ? executor->message : strerror(-rc));
    else if (m->periods == 0)
        fprintf(stderr, "%s: the run ended before %g s\n", m->scenario->name,
                1e-9 * (double)m->start_ns);
    else
        fprintf(stderr,
                "%s: it has not settled, or is not stable: within %u periods of %g s from %g s on, "
                "it does not come "
                "back to where it was (%s misses that by %.2g of its size); allowed: a later "
                "--start\n",
                m->scenario->name, m->periods, 1e-9 * (double)m->common_ns,
                1e-9 * (double)m->start_ns, m->numbers.is[m->farthest_number].name, m->farthest);
    return HIL_EXIT_FAILED;
}

static void making_close(struct linear_making *m)
{
    const size_t size = (m->numbers.count + m->numbers.output_count + 1) * sizeof(double);

    for (unsigned i = 0; i < 2; i++)
        if (m->rows[i])
            munmap(m->rows[i], size);
    free(m->first);
    linear_numbers_free(&m->numbers);
    hil_state_close(m->state);
}

int linear_make(struct linear_model *model, const struct hil_scenario *scenario, uint64_t start_ns,
                bool quiet)
{
    struct linear_making m = {.between.call = making_between,
                              .scenario = scenario,
                              .common_ns = linear_common_ns(scenario),
                              .model = model,
                              .quiet = quiet};
    int rc;

    *model = (struct linear_model){0};
    if (!m.common_ns || making_choose_start(&m, start_ns))
        return HIL_EXIT_USAGE;
    m.periods_most = making_periods_most(m.common_ns, start_ns);
    rc = hil_state_open_rehearsal(&m.state, scenario);
    if (rc) {
        fprintf(stderr, "%s: %s\n", scenario->name, strerror(-rc));
        return HIL_EXIT_FAILED;
    }
    const struct hil_run run = {.scenario = scenario, .state = m.state, .between = &m.between};
    rc = hil_virtual_run(&run);
    const int status = m.made ? HIL_EXIT_OK : making_explain(&m, rc);
    making_close(&m);
    return status;
}

void linear_free(struct linear_model *model)
{
    free(model->x);
    free(model->u);
    free(model->y);
    free(model->a);
    free(model->b);
    free(model->c);
    free(model->d);
    *model = (struct linear_model){0};
}
