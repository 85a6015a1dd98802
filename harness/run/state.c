#include "state.h"

#include <errno.h>
#include <sys/mman.h>

static size_t nodes_size(const struct hil_scenario *s)
{
    return sizeof(struct hil_state) + (1 + s->converter_count) * sizeof(struct hil_node_state);
}

static size_t whole_size(const struct hil_scenario *s)
{
    return nodes_size(s) + s->executor_count * sizeof(struct hil_executor_state);
}

int hil_state_open(struct hil_state **state, const struct hil_scenario *s)
{
    void *memory = mmap(NULL, whole_size(s), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory == MAP_FAILED)
        return -ENOMEM;
    *state = memory;
    (*state)->executor_count = s->executor_count;
    (*state)->node_count = 1 + s->converter_count;
    (*state)->executors = (void *)((char *)memory + nodes_size(s));
    uint64_t changed = hil_profile_end(&s->reference);
    hil_metrics_init(&(*state)->output, s->duration_ns, changed);
    return 0;
}

void hil_state_close(struct hil_state *state, const struct hil_scenario *s)
{
    if (state)
        munmap(state, whole_size(s));
}

void hil_state_together(const struct hil_state *state, struct hil_together *all)
{
    struct hil_node_state *sum = &all->loops;

    *all = (struct hil_together){0};
    for (unsigned i = 1; i < state->node_count; i++) {
        const struct hil_node_state *one = &state->nodes[i];
        sum->steps += one->steps;
        sum->missed += one->missed;
        sum->torn += one->torn;
        hil_histogram_merge(&sum->late, &one->late);
        hil_histogram_merge(&sum->busy, &one->busy);
    }
    for (unsigned i = 0; i < state->executor_count; i++)
        hil_histogram_merge(&all->input_age, &state->executors[i].input_age);
}
