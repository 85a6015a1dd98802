#include "measure_steps.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "../base/in_child.h"
#include "../launch/launcher.h"
#include "../models/component.h"
#include "../run/calls.h"
#include "../run/clock.h"
#include "../scenario/system.h"

enum { MEASURED_STEPS = 300, MEASURED_WARMING = 10, MEASURED_SECONDS = 30 };

struct measured {
    const struct hil_scenario *scenario;
    FILE *to, *messages;
    unsigned number; /* index of the component */
};

static void measured_log(void *arg, const char *line)
{
    const struct measured *m = arg;
    char name[HIL_SIGNAL_NAME_BYTES];

    hil_instance_name(&m->scenario->system->components[m->number].is, name);
    fprintf(m->messages, "%s: %s\n", name, line);
}

/* The initial value of an input. */
static double measured_input(const struct hil_system *s, const struct hil_feed *feed)
{
    if (feed->kind == HIL_FEED_SOURCE)
        return feed->scale * hil_source_at(&s->sources[feed->from], 0) + feed->offset;
    return feed->initial;
}

static int measured_steps(const struct measured *m, void *self, double *in, double *out,
                          struct hil_cost *cost)
{
    const struct hil_component *c = &m->scenario->system->components[m->number];
    const struct hil_node_config *node = &m->scenario->system->nodes[c->node];
    int rc = c->model->output ? c->model->output(self, in, out) : 0;

    for (unsigned n = 0; !rc && n < MEASURED_WARMING + MEASURED_STEPS; n++) {
        const uint64_t begin = hil_clock_monotonic();
        if (n > 0 || c->model->kind == HIL_SAMPLED)
            rc = c->model->step(self, node->timing.phase_ns + n * node->timing.period_ns, in, out);
        if (!rc && c->model->apply)
            rc = c->model->apply(self, in);
        if (n >= MEASURED_WARMING)
            hil_cost_add(cost, hil_clock_monotonic() - begin, node->timing.period_ns);
    }
    return rc == -ESHUTDOWN && cost->steps ? 0 : rc;
}

static int measured_component(const struct measured *m, double *values, struct hil_cost *cost)
{
    const struct hil_system *s = m->scenario->system;
    const struct hil_component *c = &s->components[m->number];
    const struct hil_node_config *node = &s->nodes[c->node];
    const struct hil_config config = {
        .size = sizeof config,
        .width = c->width,
        .period_s = (double)node->timing.period_ns * 1e-9,
        .parameters = c->parameters,
        .states = c->states,
        .log = measured_log,
        .log_arg = (void *)m,
        .model = c->model,
    };
    void *self = NULL;

    for (unsigned i = 0; i < c->in_count; i++)
        values[i] = measured_input(s, &node->feeds[c->in + i]);
    int rc = hil_component_create(&self, &config);
    if (rc)
        return rc;
    rc = measured_steps(m, self, values, values + c->in_count, cost);
    hil_component_destroy(c->model, self);
    return rc;
}

static void measured_print(const struct measured *m, const struct hil_cost *cost, const char *name)
{
    const struct hil_component *c = &m->scenario->system->components[m->number];
    const double period_us = (double)m->scenario->system->nodes[c->node].timing.period_ns * 1e-3;
    const double mean_us = (double)cost->sum_ns * 1e-3 / (double)cost->steps;

    fprintf(m->to, "%-24s %-24s %10.2f %10.2f %10g %9.3g%%\n", name, c->model->name, mean_us,
            (double)cost->max_ns * 1e-3, period_us, 100 * mean_us / period_us);
    if (mean_us <= period_us)
        return;
    fflush(m->to);
    fprintf(m->messages,
            "warning: a step of %s takes %.4g us, longer than its period of %g us: it cannot keep "
            "up with real time\n",
            name, mean_us, period_us);
}

/* Runs in a separate process. */
static int measured_work(const void *arg)
{
    const struct measured *m = arg;
    const struct hil_component *c = &m->scenario->system->components[m->number];
    double *values = calloc(c->in_count + c->out_count + 1, sizeof *values);
    char name[HIL_SIGNAL_NAME_BYTES];
    struct hil_cost cost = {0};

    hil_in_child_within(MEASURED_SECONDS);
    hil_instance_name(&c->is, name);
    const int rc = values ? measured_component(m, values, &cost) : -ENOMEM;
    if (rc)
        fprintf(m->messages, "%s (%s): its step failed (%s)\n", name, c->model->name,
                strerror(-rc));
    else
        measured_print(m, &cost, name);
    free(values);
    return rc ? HIL_EXIT_FAILED : HIL_EXIT_OK;
}

int hil_measure_steps(const struct hil_scenario *scenario, FILE *to, FILE *messages)
{
    int status = HIL_EXIT_OK;

    fprintf(to, "%-24s %-24s %10s %10s %10s %10s\n", "component", "model", "mean_us", "max_us",
            "period_us", "share");
    for (unsigned i = 0; i < scenario->system->component_count; i++) {
        const struct measured m = {scenario, to, messages, i};
        char name[HIL_SIGNAL_NAME_BYTES];
        int ended;
        hil_instance_name(&scenario->system->components[i].is, name);
        if (scenario->system->components[i].model->apply) {
            fprintf(to, "%-24s %-24s a device, not measured: the summary of a run has its cost\n",
                    name, scenario->system->components[i].model->name);
            continue;
        }
        const int rc = hil_in_child_wait(measured_work, &m, &ended);
        if (rc)
            fprintf(messages, "%s: %s\n", name, strerror(-rc));
        else if (WIFSIGNALED(ended) && WTERMSIG(ended) == SIGALRM)
            fprintf(messages, "%s: it did not end within %d s\n", name, MEASURED_SECONDS);
        else if (WIFSIGNALED(ended))
            fprintf(messages, "%s: it crashed (SIG%s)\n", name, sigabbrev_np(WTERMSIG(ended)));
        if (rc || !WIFEXITED(ended) || WEXITSTATUS(ended))
            status = HIL_EXIT_FAILED;
    }
    return status;
}
