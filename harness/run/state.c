#include "state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/foreign.h"
#include "../scenario/system.h"
#include "awaited.h"
#include "batches.h"
#include "lines.h"
#include "loop_cores.h"

/* Other processes may map the file, but not change its size. If the kernel has the seal for it,
 * they may not write to it either. Existing mappings keep their rights, also in children. */
enum { SIZE_SEALS = F_SEAL_SHRINK | F_SEAL_GROW, OTHER_SEALS = F_SEAL_FUTURE_WRITE | F_SEAL_SEAL };

/* A number that changes with most changes of the structs' members. A member may fill a gap or
 * change its place without a change of the size, so the number has places of members, too. */
static uint64_t state_layout(void)
{
    static const size_t parts[] = {
        sizeof(struct hil_state),
        offsetof(struct hil_state, figures_at),
        offsetof(struct hil_state, taps),
        sizeof(struct hil_node_state),
        offsetof(struct hil_node_state, place),
        offsetof(struct hil_node_state, late),
        offsetof(struct hil_node_state, torn),
        offsetof(struct hil_node_state, progress),
        sizeof(struct hil_link_figures),
        sizeof(struct hil_tap_column),
        offsetof(struct hil_tap_ring, events),
        offsetof(struct hil_tuning, tunables),
    };
    uint64_t layout = 0;

    for (unsigned i = 0; i < sizeof parts / sizeof parts[0]; i++)
        layout = layout * 1000003 + parts[i];
    return layout;
}

/* Maps the file with this size. Returns the memory, or NULL with errno set. */
static void *map_file(int file, size_t size)
{
    if (ftruncate(file, (off_t)size) || fcntl(file, F_ADD_SEALS, SIZE_SEALS))
        return NULL;
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    if (memory == MAP_FAILED)
        return NULL;
    fcntl(file, F_ADD_SEALS, OTHER_SEALS); /* since Linux 5.1 */
    return memory;
}

/* --- the parts ---------------- */

static bool state_receives(const struct hil_system *system, const struct hil_executor_config *e,
                           unsigned array)
{
    for (unsigned i = 0; i < e->count; i++) {
        const struct hil_node_config *n = &system->nodes[e->nodes[i]];
        for (unsigned k = 0; k < n->incoming_count; k++)
            if (system->links[n->incoming[k]].array == array)
                return true;
    }
    return false;
}

/* Finds the arrays of links for which one thread of an executor has figures. In virtual time
 * executor 0 has all. */
static unsigned state_pairs_of(const struct hil_scenario *s, unsigned executor,
                               struct hil_link_figures *at)
{
    unsigned count = 0;

    for (unsigned a = 0; a < s->system->link_array_count; a++) {
        if (s->mode != HIL_VIRTUAL && !state_receives(s->system, &s->executors[executor], a))
            continue;
        if (at) {
            at[count].executor = executor;
            at[count].array = a;
        }
        count++;
    }
    return count;
}

/* Finds all pairs of thread and array that have figures, and writes them to `at` unless it is NULL.
 * Each thread of an executor has figures of its own. Returns their number. */
static unsigned state_pairs(const struct hil_scenario *s, struct hil_link_figures *at)
{
    const bool is_virtual = s->mode == HIL_VIRTUAL;
    unsigned count = 0;

    for (unsigned e = 0; e < (is_virtual ? 1 : s->executor_count); e++)
        for (unsigned k = 0; k < (is_virtual ? 1 : hil_executor_threads(&s->executors[e])); k++)
            count += state_pairs_of(s, e, at ? at + count : NULL);
    return count;
}

static void fill_card(struct hil_state *state, const struct hil_scenario *s)
{
    const struct hil_system *system = s->system;
    struct hil_card *card = &state->card;

    card->layout = state_layout();
    snprintf(card->name, sizeof card->name, "%s", s->name);
    card->virtual_time = s->mode == HIL_VIRTUAL;
    card->duration_ns = s->duration_ns;
    if (!card->virtual_time)
        card->cores = hil_cores_of_loops(s);
    if (system->measure_count) {
        snprintf(card->measure, sizeof card->measure, "%s", system->measures[0].is.name);
        snprintf(card->unit, sizeof card->unit, "%s", system->measures[0].unit);
    }
    for (unsigned i = 0; i < system->node_count; i++) {
        char name[HIL_SIGNAL_NAME_BYTES];
        hil_instance_name(&system->nodes[i].is, name);
        snprintf(state->nodes[i].name, sizeof state->nodes[i].name, "%.*s",
                 (int)sizeof state->nodes[i].name - 1, name);
        state->nodes[i].array = system->nodes[i].array;
        state->nodes[i].period_ns = system->nodes[i].timing.period_ns;
    }
}

static int open_with(struct hil_state **state, const struct hil_scenario *s,
                     const struct hil_event *events, unsigned event_count, bool watched)
{
    const struct hil_system *system = s->system;
    const unsigned figures = state_pairs(s, NULL);
    const size_t nodes_size =
        sizeof(struct hil_state) + system->node_count * sizeof(struct hil_node_state);
    const size_t executors_size = s->executor_count * sizeof(struct hil_executor_state);
    const size_t links_size = system->link_count * sizeof(struct hil_link_state);
    const size_t figures_size = figures * sizeof(struct hil_link_figures);
    const size_t ages_size = system->age_count * sizeof(struct hil_age_state);
    const size_t costs_size = system->component_count * sizeof(struct hil_cost);
    const size_t faults_size = system->here_count * sizeof(struct hil_fault_state);
    const size_t awaited_size = system->fault_count * sizeof(struct hil_awaited_state);
    const size_t taps_at =
        hil_whole_lines(nodes_size + executors_size + links_size + figures_size + ages_size +
                        costs_size + faults_size + awaited_size + hil_tuning_size(system) +
                        hil_responses_size(event_count, system->measure_count));
    const size_t size = taps_at + (watched ? hil_taps_size(s) : 0);
    const char *name = watched ? HIL_STATE_NAME : "hiloco-rehearsal";
    int file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    void *memory = file < 0 ? NULL : map_file(file, size);

    if (!memory) {
        int rc = -errno;
        if (file >= 0)
            close(file);
        return rc;
    }
    struct hil_state *st = *state = memory;
    st->file = file;
    st->size = size;
    st->executor_count = s->executor_count;
    st->node_count = system->node_count;
    st->link_count = system->link_count;
    st->figures_count = figures;
    st->fault_count = system->fault_count;
    char *rest = (char *)memory + nodes_size; /* the parts lie one after another */
    st->executors = (void *)rest;
    st->links = (void *)(rest += executors_size);
    st->figures = (void *)(rest += links_size);
    st->figures_at = (uint64_t)(rest - (char *)memory);
    st->ages = (void *)(rest += figures_size);
    st->costs = (void *)(rest += ages_size);
    st->faults = (void *)(rest += costs_size);
    st->awaited = (void *)(rest += faults_size);
    hil_awaited_init(st, system);
    rest += awaited_size;
    if (hil_tuning_size(system)) {
        st->tuning = (void *)rest;
        st->tuning_at = (uint64_t)(rest - (char *)memory);
        hil_tuning_init(st->tuning, system);
    }
    state_pairs(s, st->figures);
    hil_responses_init(&st->responses, rest + hil_tuning_size(system), events, event_count,
                       system->measure_count);
    for (unsigned i = 0; i < system->measure_count; i++)
        hil_responses_set_band(&st->responses, i, system->measures[i].band);
    if (watched)
        hil_taps_init(&st->taps, memory, taps_at, s);
    fill_card(st, s);
    hil_batches_make(st, s);
    return 0;
}

static int state_open(struct hil_state **state, const struct hil_scenario *s, bool watched)
{
    struct hil_event *events;
    unsigned count;
    int rc = hil_events_make(&events, &count, s);

    if (rc)
        return rc;
    rc = open_with(state, s, events, count, watched);
    free(events);
    return rc;
}

int hil_state_open(struct hil_state **state, const struct hil_scenario *s)
{
    return state_open(state, s, true);
}

int hil_state_open_rehearsal(struct hil_state **state, const struct hil_scenario *s)
{
    return state_open(state, s, false);
}

void hil_state_close(struct hil_state *state)
{
    if (!state)
        return;
    close(state->file);
    munmap(state, state->size);
}

/* The status first: an executor that sees the stop may tell other launchers its status. */
void hil_state_stop(struct hil_state *state, uint64_t at_ns, unsigned status)
{
    uint32_t none = 0;
    uint64_t never = 0;

    atomic_compare_exchange_strong(&state->stop_status, &none, status);
    atomic_compare_exchange_strong(&state->stop, &never, at_ns ? at_ns : 1);
}

const char *hil_stage_name(uint64_t stage)
{
    static const char *const names[] = {
        [HIL_STARTING] = "init", [HIL_READY] = "ready",  [HIL_RUNNING] = "run",
        [HIL_SAFE] = "safe",     [HIL_DONE] = "stopped", [HIL_FAILED] = "failed"};

    return stage < sizeof names / sizeof names[0] ? names[stage] : "?";
}

/* --- inputs with an age limit ---------------- */

void hil_age_name(const struct hil_system *system, unsigned age, char text[HIL_SIGNAL_NAME_BYTES])
{
    const struct hil_signal input = {.component = system->ages[age].component,
                                     .number = system->ages[age].number};

    hil_signal_name(system, &input, text);
}

void hil_age_describe(const struct hil_state *state, const struct hil_system *system, char *text,
                      size_t size)
{
    for (unsigned i = 0; i < system->age_count; i++) {
        const struct hil_age_state *age = &state->ages[i];
        char input[HIL_SIGNAL_NAME_BYTES];
        if (system->ages[i].action != HIL_OLD_END || !atomic_load(&age->trips))
            continue;
        hil_age_name(system, i, input);
        snprintf(text, size,
                 "an old input ends it: %s was %.6g us old at %.6f s; allowed: at most %.6g us",
                 input, (double)age->answer_ns * 1e-3, (double)age->found_ns * 1e-9,
                 (double)system->ages[i].limit_ns * 1e-3);
        return;
    }
}

/* --- the state of another process ------------------------------------------------------------- */

/* Gets the size of the file. The file must be sealed: if another process shrank it, a reader would
 * fall off its end. */
static int state_size(int file, size_t *size)
{
    struct stat status;
    int seals = fcntl(file, F_GET_SEALS);

    if (seals < 0 || !(seals & F_SEAL_SHRINK))
        return -EPROTO;
    if (fstat(file, &status))
        return -errno;
    *size = (size_t)status.st_size;
    return *size < sizeof(struct hil_state) ? -EPROTO : 0;
}

/* Figures that do not fit into the mapping count as absent. */
static void state_check_figures(struct hil_attached *run)
{
    const volatile struct hil_state *state = run->state;
    const uint64_t at = state->figures_at;
    const unsigned count = state->figures_count;

    if (at > run->size || at % alignof(struct hil_link_figures) ||
        !hil_foreign_fits(count, sizeof(struct hil_link_figures), run->size - at))
        return;
    run->figures = (const void *)((const char *)run->state + at);
    run->figures_count = count;
}

/* Copies the values, then checks the copies. */
static int state_check(struct hil_attached *run)
{
    const struct hil_card card = run->state->card;

    run->node_count = *(const volatile unsigned *)&run->state->node_count;
    if (card.layout != state_layout() || run->node_count == 0 ||
        !hil_foreign_fits(run->node_count, sizeof(struct hil_node_state),
                          run->size - sizeof(struct hil_state)))
        return -EPROTO;
    run->card = card;
    state_check_figures(run);
    hil_foreign_text(run->card.name, sizeof run->card.name, card.name, sizeof card.name);
    hil_foreign_text(run->card.results, sizeof run->card.results, card.results,
                     sizeof card.results);
    hil_foreign_text(run->card.measure, sizeof run->card.measure, card.measure,
                     sizeof card.measure);
    hil_foreign_text(run->card.tuning, sizeof run->card.tuning, card.tuning, sizeof card.tuning);
    hil_foreign_text(run->card.unit, sizeof run->card.unit, card.unit, sizeof card.unit);
    return 0;
}

int hil_state_attach(struct hil_attached *run, int file)
{
    size_t size = 0;
    int rc = state_size(file, &size);

    if (rc)
        return rc;
    void *found = mmap(NULL, size, PROT_READ, MAP_SHARED, file, 0);
    if (found == MAP_FAILED)
        return -errno;
    *run = (struct hil_attached){.state = found, .size = size};
    rc = state_check(run);
    if (rc)
        hil_state_detach(run);
    return rc;
}

void hil_state_detach(struct hil_attached *run)
{
    munmap((void *)run->state, run->size);
    run->state = NULL;
}

/* --- sums ---------------- */

void hil_state_add_up(const struct hil_state *state, unsigned array, struct hil_node_state *sum)
{
    *sum = (struct hil_node_state){.array = array};
    for (unsigned i = 0; i < state->node_count; i++) {
        if (state->nodes[i].array != array)
            continue;
        const struct hil_node_state *one = hil_node_figures(state, i);
        sum->here |= state->nodes[i].here;
        sum->torn += state->nodes[i].torn;
        sum->place = state->nodes[i].place > sum->place ? state->nodes[i].place : sum->place;
        sum->steps += one->steps;
        sum->run_late += one->run_late;
        sum->left_out += one->left_out;
        sum->resyncs += one->resyncs;
        sum->first_ns = one->first_ns > sum->first_ns ? one->first_ns : sum->first_ns;
        hil_histogram_merge(&sum->late, &one->late);
        hil_histogram_merge(&sum->busy, &one->busy);
        hil_histogram_merge(&sum->period, &one->period);
    }
}

/* Keeps the greater of two moments; if they are equal, the earlier one. */
static void state_add_greatest(const struct hil_histogram *sum, struct hil_link_moment *greatest,
                               const struct hil_histogram *one, const struct hil_link_moment *its)
{
    if (one->count == 0)
        return;
    const bool first = its->at_ns < greatest->at_ns ||
                       (its->at_ns == greatest->at_ns && its->link < greatest->link);
    if (sum->count == 0 || one->max > sum->max || (one->max == sum->max && first))
        *greatest = *its;
}

void hil_state_add_up_links(const struct hil_state *state, unsigned array,
                            struct hil_link_figures *sum)
{
    *sum = (struct hil_link_figures){.array = array};
    for (unsigned i = 0; i < state->figures_count; i++) {
        if (state->figures[i].array != array)
            continue;
        const struct hil_link_figures *one = &state->figures[i];
        state_add_greatest(&sum->input_age, &sum->oldest, &one->input_age, &one->oldest);
        state_add_greatest(&sum->round_trip, &sum->longest, &one->round_trip, &one->longest);
        hil_histogram_merge(&sum->input_age, &one->input_age);
        hil_histogram_merge(&sum->round_trip, &one->round_trip);
    }
}

void hil_state_worst(const struct hil_state *state, struct hil_worst *all)
{
    *all = (struct hil_worst){0};
    for (unsigned i = 0; i < state->executor_count; i++)
        hil_worst_merge(all, &state->executors[i].worst);
}

struct hil_link_figures *hil_state_figures(const struct hil_state *state, unsigned executor,
                                           unsigned array)
{
    for (unsigned i = 0; i < state->figures_count; i++)
        if (state->figures[i].executor == executor && state->figures[i].array == array)
            return &state->figures[i];
    return NULL;
}

void hil_state_degrade(struct hil_executor_state *state, const char *format, ...)
{
    const size_t used = strlen(state->degraded);
    char reason[sizeof state->degraded];
    va_list args;

    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    if (!strstr(state->degraded, reason))
        snprintf(state->degraded + used, sizeof state->degraded - used, "%s", reason);
}
