/*
 * A process that joins a run is the executor of one node, like a child of the launcher: it starts,
 * loops and ends in the same way (run/real_time.c). The loop runs on a fiber of the user's thread.
 * When a step reaches the outside component, the fiber switches to the user's code, and continues
 * when the user calls again. Therefore the user's part is included in all measurements of a step,
 * and the user's code never runs on the fiber's stack.
 */
#include "hiloco_node.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../channels/loco/fabric/fiber.h"
#include "base/plain_locale.h"
#include "launch/meeting.h"
#include "launch/open_files.h"
#include "launch/part_nodes.h"
#include "launch/rendezvous.h"
#include "launch/results_writer.h"
#include "models/outside.h"
#include "run/privileges.h"
#include "run/real_time.h"
#include "scenario/load/load.h"
#include "tracing/others.h"
#include "tracing/provider.h"

enum { JOINED_STACK = 1 << 20, JOINED_WAIT_S = 30, JOINED_MESSAGES = 1 << 16 };

/* The inputs, or the outputs. */
struct joined_signals {
    struct hiloco_signal *at;
    uint32_t count;
};

struct hiloco_node {
    struct hil_outside outside; /* first member: the component's step finds the node by it */
    struct hil_scenario *scenario;
    const struct hil_component *component;
    struct joined_signals inputs, outputs;
    struct hil_meeting meeting;
    struct hil_rendezvous *rendezvous; /* NULL: the scenario has the addresses of the nodes */
    struct hil_clock clock;
    struct hil_run run;
    struct hil_results_writer kept;
    unsigned wait_s;

    pthread_t thread;
    struct hil_thread_settings settings; /* the thread's previous settings */
    char thread_name[HIL_OWN_NAME];
    bool looks; /* it looks who else has the thread's core, by `fs` */
    struct hil_tracefs fs;
    struct loco_fiber *user, *loop;
    /* The current step of the loop. */
    const double *in;
    double *out;
    uint64_t t_ns;
    bool begun; /* the user has received it */
    bool over;  /* the loop has ended, with the result `rc` */
    int rc;

    hiloco_log_fn *log;
    void *log_arg;
};

/* Protects what a process has only once: the loaded models, the environment, the HDF5 library. */
static pthread_mutex_t joined_lock = PTHREAD_MUTEX_INITIALIZER;

/* --- messages -------------------------------------------------------------------------------- */

static void joined_say(const struct hiloco_node *n, enum hiloco_level level, const char *line)
{
    if (n->log)
        n->log(n->log_arg, level, line);
}

static void joined_log(void *node, enum loco_level level, const char *line)
{
    if (level <= LOCO_ERROR) /* nobody who joins a run asked for notes */
        joined_say(node, level == LOCO_ERROR ? HILOCO_ERROR : HILOCO_WARNING, line);
}

/* Modifies the text. */
static void joined_say_lines(const struct hiloco_node *n, enum hiloco_level level, char *text)
{
    char *rest = text, *line;

    while ((line = strsep(&rest, "\n")))
        if (*line)
            joined_say(n, level, line);
}

/* --- before ---------------------------------------------------------------------------------- */

static int joined_find_rendezvous(const struct hiloco_node *n, const char **place)
{
    char *text = NULL;
    size_t size;
    FILE *messages = open_memstream(&text, &size);

    if (!messages)
        return -ENOMEM;
    const int rc = hil_rendezvous_given(place, messages);
    fclose(messages);
    if (text)
        joined_say_lines(n, HILOCO_ERROR, text);
    free(text);
    return rc;
}

static int joined_load(struct hiloco_node *n, const struct hiloco_join *join)
{
    struct hil_scenario_options options = {
        .sets = join->sets, .parameters = join->parameters, .realtime = true};
    char *message = calloc(1, JOINED_MESSAGES);

    while (join->sets && join->sets[options.set_count])
        options.set_count++;
    while (join->parameters && join->parameters[options.parameter_count])
        options.parameter_count++;
    int rc = message ? joined_find_rendezvous(n, &options.rendezvous) : -ENOMEM;
    if (!rc)
        rc = hil_scenario_load(&n->scenario, join->scenario, &options, message, JOINED_MESSAGES);
    if (rc && message)
        joined_say_lines(n, HILOCO_ERROR, message);
    free(message);
    return rc;
}

/* Reduces the scenario to one executor, the node's. */
static int joined_find_node(struct hiloco_node *n, const char *name)
{
    struct hil_scenario *s = n->scenario;
    char message[HIL_REFERENCE_BYTES];
    unsigned first, last;

    if (!hil_system_find_nodes(s->system, name, strlen(name), &first, &last, message)) {
        joined_say(n, HILOCO_ERROR, message);
        return -EINVAL;
    }
    n->component = s->system->nodes[first].outside;
    if (first != last || !n->component) {
        snprintf(message, sizeof message,
                 "'%.100s' is not a node with a component outside; allowed: one such node", name);
        joined_say(n, HILOCO_ERROR, message);
        return -EINVAL;
    }
    for (unsigned i = 0; i < s->executor_count; i++)
        if (hil_executor_has(&s->executors[i], first))
            s->executors[0] = s->executors[i];
    s->executor_count = 1;
    return 0;
}

static int joined_list(struct joined_signals *list, const struct hil_quantities *table,
                       unsigned width, unsigned count)
{
    char name[HIL_SIGNAL_NAME_BYTES];

    list->at = calloc(count + 1, sizeof *list->at);
    for (; list->at && list->count < count; list->count++) {
        hil_place_name(table, width, list->count, name);
        list->at[list->count] = (struct hiloco_signal){
            .name = strdup(name), .unit = hil_place_row(table, width, list->count)->unit};
        if (!list->at[list->count].name)
            return -ENOMEM;
    }
    return list->at ? 0 : -ENOMEM;
}

static int joined_list_signals(struct hiloco_node *n)
{
    const struct hil_component *c = n->component;
    int rc = joined_list(&n->inputs, &c->model->inputs, c->width, c->in_count);

    return rc ? rc : joined_list(&n->outputs, &c->model->outputs, c->width, c->out_count);
}

/* The program may change its current folder during the run. */
static int joined_open_results(struct hiloco_node *n, const char *out, FILE *messages)
{
    int rc = hil_results_writer_open(&n->kept, out, messages);
    char *whole = rc ? NULL : realpath(n->kept.out, NULL);

    if (!rc && !whole)
        rc = -errno;
    if (!rc && snprintf(n->kept.out, sizeof n->kept.out, "%s", whole) >= (int)sizeof n->kept.out)
        rc = -ENAMETOOLONG;
    free(whole);
    return rc;
}

/* Prepares the files and the directory that it needs; reports failures. */
static int joined_prepare(struct hiloco_node *n, const struct hiloco_join *join)
{
    char *text = NULL;
    size_t size;
    FILE *messages = open_memstream(&text, &size);

    if (!messages)
        return -ENOMEM;
    int rc = hil_open_files_raise(n->scenario, messages);
    if (!rc)
        rc = hil_meeting_of(&n->meeting, join->run_directory, n->scenario->name, hil_part_job(),
                            messages);
    if (!rc && join->out)
        rc = joined_open_results(n, join->out, messages);
    fclose(messages);
    if (text)
        joined_say_lines(n, HILOCO_ERROR, text);
    free(text);
    return rc;
}

static void joined_say_of_rendezvous(void *node, const char *line)
{
    joined_say(node, HILOCO_WARNING, line);
}

/* If the scenario does not say where the nodes are, the rendezvous does. */
static int joined_meet(struct hiloco_node *n)
{
    const struct hil_rendezvous_config config = {.scenario = n->scenario,
                                                 .secret = n->meeting.secret,
                                                 .wait_s = n->wait_s,
                                                 .say = joined_say_of_rendezvous,
                                                 .arg = n};
    char why[HIL_RENDEZVOUS_WHY];

    if (!hil_has_addresses(n->scenario) || !n->scenario->rendezvous.host[0])
        return 0;
    const int rc = hil_rendezvous_meet(&n->rendezvous, &config, why);
    if (rc)
        joined_say(n, HILOCO_ERROR, why);
    if (!rc && hil_rendezvous_serve(n->rendezvous))
        joined_say(n, HILOCO_WARNING, "nodes that are started again will not find this run");
    if (!rc && hil_rendezvous_clock(n->rendezvous, &n->run.first_clock))
        joined_say(n, HILOCO_WARNING, "the first node's machine does not send its time");
    return rc;
}

/* The state is not published: `hiloco top` finds the run by the state of `hiloco run`. */
static int joined_open_state(struct hiloco_node *n)
{
    int rc = hil_state_open(&n->run.state, n->scenario);

    if (rc)
        return rc;
    close(n->run.state->file);
    n->run.state->file = -1;
    return 0;
}

static int joined_set_up(struct hiloco_node *n, const struct hiloco_join *join)
{
    int rc = joined_load(n, join);

    if (!rc)
        rc = joined_find_node(n, join->node);
    if (!rc)
        rc = joined_list_signals(n);
    if (rc)
        return rc;
    n->run = (struct hil_run){
        .scenario = n->scenario, .place = n->meeting.place, .log = joined_log, .log_arg = n};
    rc = joined_prepare(n, join);
    n->run.secret = n->meeting.secret;
    if (!rc)
        rc = joined_open_state(n);
    if (!rc)
        rc = hil_results_writer_record(&n->kept);
    if (!rc && n->run.recorder)
        rc = hil_recorder_start(n->run.recorder);
    return rc;
}

/* --- the loop -------------------------------------------------------------------------------- */

/* On the fiber, when the loop has reached the user's part of a step. */
static int joined_step(struct hil_outside *outside, uint64_t t_ns, const double *in, double *out)
{
    struct hiloco_node *n = (struct hiloco_node *)outside;

    n->in = in;
    n->out = out;
    n->t_ns = t_ns;
    loco_fiber_switch(n->loop, n->user);
    return 0;
}

/* The fiber's main function. */
static void joined_main(void *node)
{
    struct hiloco_node *n = node;

    n->rc = hil_real_time_run(&n->run, &n->clock, n->wait_s);
    n->over = true;
    loco_fiber_switch(n->loop, n->user);
}

static void joined_explain(struct hiloco_node *n)
{
    struct hil_executor_state *state = &n->run.state->executors[0];

    if (n->rc)
        joined_say(n, HILOCO_ERROR, state->message[0] ? state->message : strerror(-n->rc));
}

/* Runs the loop until the next step, or its end. */
static void joined_resume(struct hiloco_node *n)
{
    hil_outside = &n->outside;
    loco_fiber_switch(n->user, n->loop);
    hil_outside = NULL;
    if (n->over)
        joined_explain(n);
}

/* Only its results have a verdict, which says who had the core. */
static void joined_look_at_others(struct hiloco_node *n)
{
    pthread_getname_np(n->thread, n->thread_name, sizeof n->thread_name);
    n->looks = n->kept.out[0] &&
               hil_others_begin(&n->fs, n->scenario->executors, n->scenario->executor_count);
}

static void joined_own_name(const void *node, unsigned executor, char name[HIL_OWN_NAME])
{
    const struct hiloco_node *n = node;

    (void)executor;
    memcpy(name, n->thread_name, sizeof n->thread_name);
}

static int joined_begin(struct hiloco_node *n)
{
    hil_clock_calibrate(&n->clock);
    n->outside.step = joined_step;
    n->thread = pthread_self();
    n->user = loco_fiber_current();
    n->loop = loco_fiber_new(joined_main, n, JOINED_STACK);
    if (!n->user || !n->loop)
        return -ENOMEM;
    hil_provider_load_for(&n->run, 0);
    joined_look_at_others(n);
    hil_thread_settings_take(&n->settings);
    joined_resume(n);
    if (!n->over)
        joined_say_lines(n, HILOCO_WARNING, n->run.state->executors[0].degraded);
    return n->rc;
}

/* --- after ----------------------------------------------------------------------------------- */

/* Closes the record, and writes the summary. */
static int joined_finish(struct hiloco_node *n)
{
    struct hil_summary summary;
    struct hil_conclusion conclusion = {0};
    char *text = NULL;
    size_t size;
    FILE *messages = open_memstream(&text, &size);

    if (!messages)
        return -ENOMEM;
    if (n->looks)
        hil_others_tell(&n->fs, n->scenario, n->run.state, joined_own_name, n);
    n->looks = false;
    pthread_mutex_lock(&joined_lock);
    int rc = hil_results_writer_finish(&n->kept, n->rc != 0, &summary, &conclusion, messages);
    hil_judgement_free(&conclusion.judgement);
    pthread_mutex_unlock(&joined_lock);
    fclose(messages);
    if (text)
        joined_say_lines(n, HILOCO_ERROR, text);
    free(text);
    return rc;
}

static void joined_free_list(struct joined_signals *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        free((char *)list->at[i].name);
    free(list->at);
}

static void joined_free(struct hiloco_node *n)
{
    hil_rendezvous_close(n->rendezvous);
    if (n->looks)
        hil_tracefs_close(&n->fs);
    hil_results_writer_close(&n->kept);
    if (n->run.state)
        hil_state_close(n->run.state);
    if (n->over)
        hil_thread_settings_give_back(&n->settings);
    loco_fiber_free(n->loop);
    loco_fiber_free(n->user);
    joined_free_list(&n->inputs);
    joined_free_list(&n->outputs);
    hil_scenario_free(n->scenario);
    free(n);
}

/* --- the interface --------------------------------------------------------------------------- */

static int joined_join(struct hiloco_node **node, const struct hiloco_join *join)
{
    struct hiloco_node *n = calloc(1, sizeof *n);

    if (!n)
        return -ENOMEM;
    n->kept = (struct hil_results_writer){
        .run = &n->run, .killed = "the process that joined was killed", .folder = -1};
    n->log = join->log;
    n->log_arg = join->log_arg;
    n->wait_s = join->wait_s ? join->wait_s : JOINED_WAIT_S;
    pthread_mutex_lock(&joined_lock);
    int rc = joined_set_up(n, join);
    pthread_mutex_unlock(&joined_lock);
    if (!rc)
        rc =
            joined_meet(n); /* without the lock: it may wait for a node that another thread joins */
    if (!rc)
        rc = joined_begin(n);
    if (!rc) {
        *node = n;
        return 0;
    }
    if (n->over)
        joined_finish(n);
    joined_free(n);
    return rc;
}

int hiloco_node_join(struct hiloco_node **node, const struct hiloco_join *join)
{
    if (!node || !join || join->size != sizeof *join || !join->scenario || !join->node)
        return -EINVAL;
    const locale_t before = hil_plain_locale();
    const int rc = joined_join(node, join);
    uselocale(before);
    return rc;
}

int hiloco_node_step(struct hiloco_node *n, double *in, const double *out)
{
    if (!pthread_equal(n->thread, pthread_self()))
        return -EPERM;
    if (n->begun && !n->over) {
        const locale_t before = hil_plain_locale();
        memcpy(n->out, out, n->outputs.count * sizeof *out);
        joined_resume(n);
        uselocale(before);
    }
    n->begun = true;
    if (n->over)
        return n->rc;
    memcpy(in, n->in, n->inputs.count * sizeof *in);
    return 1;
}

int hiloco_node_leave(struct hiloco_node *n)
{
    if (!n)
        return 0;
    if (!pthread_equal(n->thread, pthread_self()))
        return -EPERM;
    const locale_t before = hil_plain_locale();
    if (!n->over)
        hil_state_stop(n->run.state, hil_clock_monotonic(), 0);
    while (!n->over)
        joined_resume(n);
    const int finished = joined_finish(n), rc = n->rc ? n->rc : finished;
    joined_free(n);
    uselocale(before);
    return rc;
}

static uint32_t joined_signals(const struct joined_signals *list,
                               const struct hiloco_signal **signals)
{
    if (signals)
        *signals = list->at;
    return list->count;
}

uint32_t hiloco_node_inputs(const struct hiloco_node *n, const struct hiloco_signal **signals)
{
    return joined_signals(&n->inputs, signals);
}

uint32_t hiloco_node_outputs(const struct hiloco_node *n, const struct hiloco_signal **signals)
{
    return joined_signals(&n->outputs, signals);
}

uint64_t hiloco_node_period_ns(const struct hiloco_node *n)
{
    return n->scenario->system->nodes[n->component->node].timing.period_ns;
}

uint64_t hiloco_node_time_ns(const struct hiloco_node *n)
{
    return n->t_ns;
}

uint64_t hiloco_node_missed(const struct hiloco_node *n)
{
    return hil_missed(hil_node_figures(n->run.state, n->component->node));
}
