#include "run_times.h"

#include <errno.h>
#include <stdio.h>

/* The distributions, and the storage of their names and sums. */
struct run_times {
    const struct hil_system *system;
    const struct hil_state *state;
    struct hil_pool *pool;
    struct hil_named_histogram *at;
    unsigned count;
    int error;
};

static void times_add(struct run_times *times, const struct hil_histogram *histogram,
                      const char *whose, const char *what)
{
    char text[2 * HIL_SIGNAL_NAME_BYTES];

    if (histogram->count == 0)
        return;
    snprintf(text, sizeof text, "%s_%s", whose, what);
    const char *name = hil_pool_text(times->pool, text);
    if (!name)
        times->error = -ENOMEM;
    else
        times->at[times->count++] = (struct hil_named_histogram){name, histogram};
}

static void times_add_nodes(struct run_times *times, unsigned array, struct hil_node_state *all)
{
    const char *name = times->system->node_arrays[array].name;

    hil_state_add_up(times->state, array, all);
    times_add(times, &all->late, name, "late");
    times_add(times, &all->busy, name, "step");
    times_add(times, &all->period, name, "period");
}

static void times_add_links(struct run_times *times, unsigned array, struct hil_link_figures *all)
{
    const struct hil_link_array *links = &times->system->link_arrays[array];
    char name[HIL_SIGNAL_NAME_BYTES];

    snprintf(name, sizeof name, "%.70s_to_%.70s", times->system->node_arrays[links->from].name,
             times->system->node_arrays[links->to].name);
    hil_state_add_up_links(times->state, array, all);
    times_add(times, &all->input_age, name, "age");
    times_add(times, &all->round_trip, name, "round_trip");
}

static int times_add_all(struct run_times *times)
{
    const unsigned arrays = times->system->node_array_count;
    const unsigned link_arrays = times->system->link_array_count;
    struct hil_node_state *nodes = hil_pool_get(times->pool, arrays, sizeof *nodes);
    struct hil_link_figures *links = hil_pool_get(times->pool, link_arrays, sizeof *links);

    times->at = hil_pool_get(times->pool, 3 * arrays + 2 * link_arrays, sizeof *times->at);
    if (!nodes || !links || !times->at)
        return -ENOMEM;
    for (unsigned i = 0; i < arrays; i++)
        times_add_nodes(times, i, &nodes[i]);
    for (unsigned i = 0; i < link_arrays; i++)
        times_add_links(times, i, &links[i]);
    return times->error;
}

int hil_run_times(struct hil_run_times *times, struct hil_pool *pool,
                  const struct hil_system *system, const struct hil_state *state)
{
    struct run_times all = {.system = system, .state = state, .pool = pool};
    const int rc = times_add_all(&all);

    *times = (struct hil_run_times){all.at, all.count};
    return rc;
}
