#include "analysis.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../base/list.h"
#include "../../run/loop.h"
#include "../../run/tracer.h"
#include "reading.h"

enum { CORES_MAX = 4096, RECENT = 1024 };

/* A step in the trace. */
struct ran {
    const struct hil_traced_loop *loop;
    uint64_t step, due_ns, begin_ns, end_ns;
};

/* A core that runs loops. */
struct hil_core {
    struct ran recent[RECENT];
    uint64_t count;     /* total number of steps */
    bool missed;        /* the newest step was missed */
    uint64_t newest_ns; /* of the loops' events, all of which differ by that */
    size_t stretch;     /* 1 + index of the current stretch; 0: none */
};

/* --- growing tables --------------------------------------------------------------------------- */

static struct hil_core *core_of(struct hil_analysis *a, int cpu)
{
    if (cpu < 0 || cpu >= CORES_MAX)
        return NULL;
    if ((unsigned)cpu >= a->core_count) {
        unsigned count = (unsigned)cpu + 1;
        struct hil_core *cores = realloc(a->cores, count * sizeof *cores);
        if (!cores)
            return NULL;
        memset(&cores[a->core_count], 0, (count - a->core_count) * sizeof *cores);
        a->cores = cores;
        a->core_count = count;
    }
    return &a->cores[cpu];
}

static struct hil_stretch *add_stretch(struct hil_analysis *a)
{
    struct hil_stretch *more = hil_list_more(a->stretches, a->stretch_count, sizeof *more);

    if (!more)
        return NULL;
    a->stretches = more;
    a->stretches[a->stretch_count] = (struct hil_stretch){0};
    return &a->stretches[a->stretch_count++];
}

/* --- misses ----------------------------------------------------------------------------------- */

/*
 * What the core did from the due time of the missed step to its end. A loop was due all that time,
 * so when no step ran, something else had the core.
 */
static void look_back(const struct hil_core *core, struct hil_stretch *stretch,
                      const struct ran *missed)
{
    uint64_t later = missed->begin_ns; /* beginning of the following step */
    uint64_t kept = core->count < RECENT ? core->count : RECENT;

    stretch->own_ns = missed->end_ns - missed->begin_ns;
    for (uint64_t i = 2; i <= kept; i++) {
        const struct ran *r = &core->recent[(core->count - i) % RECENT];
        uint64_t end = r->end_ns > missed->due_ns ? r->end_ns : missed->due_ns;
        if (later > end && later - end > stretch->away_ns)
            stretch->away_ns = later - end;
        if (r->end_ns <= missed->due_ns)
            return;
        if (r->end_ns - r->begin_ns > stretch->other_ns) {
            stretch->other_ns = r->end_ns - r->begin_ns;
            stretch->other = r->loop;
            stretch->other_step = r->step;
        }
        later = r->begin_ns;
    }
    if (kept < RECENT && later > missed->due_ns && later - missed->due_ns > stretch->away_ns)
        stretch->away_ns = later - missed->due_ns;
}

static void open_stretch(struct hil_analysis *a, struct hil_core *core, int cpu,
                         const struct ran *missed)
{
    struct hil_stretch *s = add_stretch(a);

    if (!s)
        return;
    core->stretch = a->stretch_count;
    s->cpu = cpu;
    s->from_ns = missed->due_ns;
    s->until_ns = missed->end_ns;
    s->loop = missed->loop;
    s->step = missed->step;
    look_back(core, s, missed);
}

/* The missed step of a batch, which is the newest of the core. */
static void add_to_stretch(struct hil_analysis *a, int cpu, uint64_t nodes, uint64_t over)
{
    struct hil_core *core = core_of(a, cpu);

    if (!core || core->count == 0)
        return;
    const struct ran *newest = &core->recent[(core->count - 1) % RECENT];
    core->missed = true;
    if (!core->stretch)
        open_stretch(a, core, cpu, newest);
    if (!core->stretch)
        return;
    struct hil_stretch *s = &a->stretches[core->stretch - 1];
    s->misses += nodes;
    s->to_ns = newest->end_ns;
    if (over > s->worst_over_ns)
        s->worst_over_ns = over;
}

/* The number of nodes of a batch that the event is about. */
static uint64_t row_of(const struct hil_traced_event *e)
{
    const uint64_t nodes = hil_event_number(e, "nodes");

    return nodes < HIL_TRACED_NODES ? nodes : HIL_TRACED_NODES;
}

/* The event comes right after that of its step. */
static void on_miss(struct hil_analysis *a, const struct hil_traced_event *e)
{
    const uint64_t node = hil_event_number(e, "node"), nodes = row_of(e);

    for (uint64_t i = 0; i < nodes; i++) {
        struct hil_traced_loop *loop = hil_loops_of(&a->loops, node + i);
        if (loop)
            hil_loops_miss(&a->loops, loop);
    }
    add_to_stretch(a, e->cpu, nodes, hil_event_number(e, "over_ns"));
}

static void on_left_out(struct hil_analysis *a, const struct hil_traced_event *e)
{
    const uint64_t node = hil_event_number(e, "node"), nodes = row_of(e);

    for (uint64_t i = 0; i < nodes; i++) {
        struct hil_traced_loop *loop = hil_loops_of(&a->loops, node + i);
        if (loop)
            hil_loops_left_out(&a->loops, loop, hil_event_number(e, "count"),
                               hil_event_number(e, "late_ns"), hil_event_number(e, "period_ns"));
    }
}

/* --- steps ------------------------------------------------------------------------------------ */

static void on_core(struct hil_analysis *a, int cpu, const struct ran *ran)
{
    struct hil_core *core = core_of(a, cpu);

    if (!core)
        return;
    if (!core->missed)
        core->stretch = 0; /* the previous step was in time */
    core->missed = false;
    core->recent[core->count++ % RECENT] = *ran;
}

/* A newer message that a step found. */
static void on_newer(struct hil_analysis *a, uint64_t link, uint64_t sent, uint64_t acted_on)
{
    const int64_t from = hil_rounds_sender(&a->rounds, link);
    const int64_t to = hil_rounds_receiver(&a->rounds, link);
    const struct hil_traced_loop *answerer =
        from < 0 ? NULL : hil_loops_of(&a->loops, (uint64_t)from);
    const struct hil_traced_loop *asker = to < 0 ? NULL : hil_loops_of(&a->loops, (uint64_t)to);

    if (asker && answerer)
        hil_rounds_input(&a->rounds, &(struct hil_round_input){
                                         .link = link,
                                         .sent = (uint32_t)sent,
                                         .acted_on = (uint32_t)acted_on,
                                         .asker = asker->array,
                                         .answerer = answerer->array,
                                     });
}

static void on_links(struct hil_analysis *a, const struct hil_traced_event *e)
{
    uint64_t newer[3 * HIL_TRACED_LINKS];
    const unsigned count = hil_event_numbers(e, "newer", newer, 3 * HIL_TRACED_LINKS);

    for (unsigned i = 0; i + 2 < count; i += 3)
        on_newer(a, newer[i], newer[i + 1], newer[i + 2]);
}

/* All steps of a batch that took long count as late until its end, as in the summary. */
static uint64_t late_of(uint64_t late, uint64_t duration, unsigned nodes)
{
    return nodes > 1 && duration > HIL_BATCH_LONG_NS ? late + duration : late;
}

static void on_step(struct hil_analysis *a, const struct hil_traced_event *e)
{
    const uint64_t node = hil_event_number(e, "node"), step = hil_event_number(e, "step");
    const uint64_t late = hil_event_number(e, "late_ns");
    const uint64_t duration = hil_event_number(e, "duration_ns");
    const uint64_t begin = e->time_ns - duration;
    uint64_t ages[HIL_TRACED_NODES];
    const unsigned nodes = hil_event_numbers(e, "ages_ns", ages, HIL_TRACED_NODES);
    const struct hil_traced_loop *first = hil_loops_of(&a->loops, node);

    if (!first || !nodes)
        return;
    on_core(a, e->cpu,
            &(struct ran){
                .loop = first,
                .step = step,
                .due_ns = begin - late,
                .begin_ns = begin,
                .end_ns = e->time_ns,
            });
    on_links(a, e);
    for (unsigned i = 0; i < nodes; i++) {
        struct hil_traced_loop *loop = hil_loops_of(&a->loops, node + i);
        if (!loop)
            return;
        hil_loops_step(&a->loops, loop, e->time_ns - a->start_ns, late_of(late, duration, nodes),
                       duration, ages[i]);
        hil_rounds_step(&a->rounds, &(struct hil_round_step){
                                        .node = node + i,
                                        .step = step,
                                        .begin_ns = begin,
                                        .end_ns = e->time_ns,
                                        .own_ns = step * loop->period_ns + late,
                                    });
    }
}

/* --- nodes and links -------------------------------------------------------------------------- */

static void on_node(struct hil_analysis *a, const struct hil_traced_event *e)
{
    const char *name = hil_event_text(e, "name"), *array = hil_event_text(e, "array");

    if (name && array)
        hil_loops_name(&a->loops, hil_event_number(e, "node"), name, array,
                       hil_event_number(e, "period_ns"));
}

static void on_link(struct hil_analysis *a, const struct hil_traced_event *e)
{
    hil_rounds_link(&a->rounds, &(struct hil_round_link){
                                    .link = hil_event_number(e, "link"),
                                    .from = hil_event_number(e, "from"),
                                    .to = hil_event_number(e, "to"),
                                    .back = (int64_t)hil_event_number(e, "back"),
                                    .late = hil_event_number(e, "late"),
                                });
}

/* --- the other events ------------------------------------------------------------------------- */

/* Reports which tasks are loops. */
static void on_state(struct hil_analysis *a, const struct hil_traced_event *e)
{
    int task = (int)hil_event_number(e, "thread");

    for (size_t i = 0; i < a->task_count; i++)
        if (a->tasks[i] == task)
            return;
    if (a->task_count < sizeof a->tasks / sizeof a->tasks[0])
        a->tasks[a->task_count++] = task;
}

/* Events of lttng-modules. */
static void on_switch(struct hil_analysis *a, const struct hil_traced_event *e)
{
    const char *name = hil_event_text(e, "next_comm");

    hil_kernel_enter(&a->kernel, e->cpu, HIL_TASK, e->time_ns, (int)hil_event_number(e, "next_tid"),
                     name ? name : "?");
}

static void on_irq_entry(struct hil_analysis *a, const struct hil_traced_event *e)
{
    const char *name = hil_event_text(e, "name");

    hil_kernel_enter(&a->kernel, e->cpu, HIL_IRQ, e->time_ns, 0, name ? name : "?");
}

static void on_irq_exit(struct hil_analysis *a, const struct hil_traced_event *e)
{
    hil_kernel_exit(&a->kernel, e->cpu, HIL_IRQ, e->time_ns);
}

static void on_softirq_entry(struct hil_analysis *a, const struct hil_traced_event *e)
{
    static const char *const names[] = {"HI",       "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
                                        "IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU"};
    uint64_t vec = hil_event_number(e, "vec");

    hil_kernel_enter(&a->kernel, e->cpu, HIL_SOFTIRQ, e->time_ns, 0,
                     vec < sizeof names / sizeof names[0] ? names[vec] : "?");
}

static void on_softirq_exit(struct hil_analysis *a, const struct hil_traced_event *e)
{
    hil_kernel_exit(&a->kernel, e->cpu, HIL_SOFTIRQ, e->time_ns);
}

static const struct {
    const char *name;
    void (*take)(struct hil_analysis *a, const struct hil_traced_event *e);
} kinds[] = {
    {"hiloco:loop_step", on_step},
    {"hiloco:loop_links", on_links},
    {"hiloco:loop_miss", on_miss},
    {"hiloco:loop_left_out", on_left_out},
    {"hiloco:state", on_state},
    {"hiloco:node", on_node},
    {"hiloco:link", on_link},
    {"sched_switch", on_switch},
    {"irq_handler_entry", on_irq_entry},
    {"irq_handler_exit", on_irq_exit},
    {"irq_softirq_entry", on_softirq_entry},
    {"irq_softirq_exit", on_softirq_exit},
};

static const char OURS[] = "hiloco:";

/* What was saved several times is read several times, one after the other. */
static bool is_known(struct hil_analysis *a, const struct hil_traced_event *e)
{
    struct hil_core *core = core_of(a, e->cpu);

    if (!core)
        return false;
    const bool known = core->newest_ns == e->time_ns;
    core->newest_ns = e->time_ns;
    return known;
}

static void on_event(void *arg, const struct hil_traced_event *e)
{
    struct hil_analysis *a = arg;

    if (strncmp(e->name, OURS, sizeof OURS - 1) == 0 && is_known(a, e))
        return;
    if (!a->events++)
        a->start_ns = a->rounds.start_ns = e->time_ns;
    a->end_ns = e->time_ns;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].name, e->name) == 0) {
            kinds[i].take(a, e);
            return;
        }
}

static void on_lost(void *arg, uint64_t count)
{
    struct hil_analysis *a = arg;

    a->lost += count;
}

/* --- all -------------------------------------------------------------------------------------- */

static void name_intruders(struct hil_analysis *a)
{
    for (size_t i = 0; i < a->stretch_count; i++) {
        struct hil_stretch *s = &a->stretches[i];
        s->intruder = hil_kernel_intruder(&a->kernel, s->cpu, s->from_ns, s->until_ns, a->tasks,
                                          a->task_count);
    }
}

int hil_analyse(struct hil_analysis *a, const char *dir, FILE *messages)
{
    const struct hil_reader reader = {on_event, on_lost, a};
    char path[PATH_MAX];

    *a = (struct hil_analysis){0};
    int rc = hil_rounds_init(&a->rounds);
    if (rc)
        return rc;
    snprintf(path, sizeof path, "%s/ctf", dir);
    rc = hil_traces_read(access(path, F_OK) ? dir : path, &reader, messages);
    if (rc)
        return rc;
    hil_rounds_end(&a->rounds);
    snprintf(path, sizeof path, "%s/kernel.txt", dir);
    rc = hil_kernel_read(&a->kernel, path);
    name_intruders(a);
    return rc == -ENOENT ? 0 : rc;
}

void hil_analysis_free(struct hil_analysis *a)
{
    hil_loops_free(&a->loops);
    free(a->stretches);
    free(a->cores);
    hil_rounds_fini(&a->rounds);
    hil_kernel_free(&a->kernel);
    *a = (struct hil_analysis){0};
}
