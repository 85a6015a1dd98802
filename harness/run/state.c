#include "state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../foreign.h"

/* Whoever knows of the file may map it, but not change its size, nor write where the kernel knows
 * of that. The mapping that is there already stays as it is, also in children. */
enum { SIZE_SEALS = F_SEAL_SHRINK | F_SEAL_GROW, OTHER_SEALS = F_SEAL_FUTURE_WRITE | F_SEAL_SEAL };

/* Differs where members do, near enough. */
static const uint64_t LAYOUT =
    (uint64_t)sizeof(struct hil_state) << 32 | sizeof(struct hil_node_state);

/* The state's parts lie one after the other. */
static size_t nodes_size(unsigned nodes)
{
    return sizeof(struct hil_state) + nodes * sizeof(struct hil_node_state);
}

static size_t executors_size(const struct hil_scenario *s)
{
    return s->executor_count * sizeof(struct hil_executor_state);
}

/* Returns the memory, or NULL with errno set. */
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

static void fill_card(struct hil_state *state, const struct hil_scenario *s)
{
    struct hil_card *card = &state->card;

    card->layout = LAYOUT;
    snprintf(card->name, sizeof card->name, "%s", s->name);
    card->virtual_time = s->mode == HIL_VIRTUAL;
    card->duration_ns = s->duration_ns;
    for (unsigned i = 0; !card->virtual_time && i < s->executor_count; i++)
        if (s->executors[i].cpu >= 0)
            CPU_SET((unsigned)s->executors[i].cpu, &card->cores);
    state->nodes[0].period_ns = s->controller.timing.period_ns;
    for (unsigned i = 0; i < s->converter_count; i++)
        state->nodes[1 + i].period_ns = s->converters[i].timing.period_ns;
}

static int open_with(struct hil_state **state, const struct hil_scenario *s,
                     const struct hil_event *events, unsigned event_count)
{
    unsigned nodes = 1 + s->converter_count, measures = 1 + s->converter_count;
    size_t fixed = nodes_size(nodes) + executors_size(s);
    size_t size = fixed + hil_responses_size(event_count, measures);
    int file = memfd_create(HIL_STATE_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    void *memory = file < 0 ? NULL : map_file(file, size);

    if (!memory) {
        int rc = -errno;
        if (file >= 0)
            close(file);
        return rc;
    }
    *state = memory;
    (*state)->file = file;
    (*state)->size = size;
    (*state)->executor_count = s->executor_count;
    (*state)->node_count = nodes;
    (*state)->executors = (void *)((char *)memory + nodes_size(nodes));
    hil_responses_init(&(*state)->responses, (char *)memory + fixed, events, event_count, measures);
    fill_card(*state, s);
    return 0;
}

int hil_state_open(struct hil_state **state, const struct hil_scenario *s)
{
    struct hil_event *events;
    unsigned count;
    int rc = hil_events_make(&events, &count, s);

    if (rc)
        return rc;
    rc = open_with(state, s, events, count);
    free(events);
    return rc;
}

void hil_state_close(struct hil_state *state)
{
    if (!state)
        return;
    close(state->file);
    munmap(state, state->size);
}

/* --- another process's ---------------- */

/* The size of the file, which stays so: who could shrink it would have a reader fall off its end.
 */
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

/* Copies, then checks the copy. */
static int state_check(struct hil_attached *run)
{
    const struct hil_card card = run->state->card;

    run->node_count = *(const volatile unsigned *)&run->state->node_count;
    if (card.layout != LAYOUT || run->node_count == 0 ||
        !hil_foreign_fits(run->node_count, sizeof(struct hil_node_state),
                          run->size - sizeof(struct hil_state)))
        return -EPROTO;
    run->card = card;
    hil_foreign_text(run->card.name, sizeof run->card.name, card.name, sizeof card.name);
    hil_foreign_text(run->card.results, sizeof run->card.results, card.results,
                     sizeof card.results);
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

void hil_state_together(const struct hil_state *state, struct hil_together *all)
{
    struct hil_node_state *sum = &all->loops;

    *all = (struct hil_together){0};
    for (unsigned i = 1; i < state->node_count; i++) {
        const struct hil_node_state *one = &state->nodes[i];
        sum->steps += one->steps;
        sum->run_late += one->run_late;
        sum->left_out += one->left_out;
        sum->resyncs += one->resyncs;
        sum->torn += one->torn;
        sum->first_ns = one->first_ns > sum->first_ns ? one->first_ns : sum->first_ns;
        hil_histogram_merge(&sum->late, &one->late);
        hil_histogram_merge(&sum->busy, &one->busy);
        hil_histogram_merge(&sum->period, &one->period);
    }
    for (unsigned i = 0; i < state->executor_count; i++) {
        hil_histogram_merge(&all->input_age, &state->executors[i].input_age);
        hil_worst_merge(&all->worst, &state->executors[i].worst);
    }
}

void hil_state_degrade(struct hil_executor_state *state, const char *format, ...)
{
    size_t used = strlen(state->degraded);
    va_list args;

    va_start(args, format);
    vsnprintf(state->degraded + used, sizeof state->degraded - used, format, args);
    va_end(args);
}
