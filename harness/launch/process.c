#include "process.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "../base/exit_status.h"
#include "../run/real_time.h"
#include "../run/virtual_time.h"
#include "../tracing/provider.h"

/* Sets the name for ps and top, in 15 letters, from the first array of its nodes: "hl-controller",
 * "hl-convert-0-19". */
void hil_process_name(const struct hil_executor_config *e, const struct hil_scenario *s,
                      char name[HIL_PROCESS_NAME])
{
    const struct hil_node_config *nodes = s->system->nodes;
    const struct hil_instance *first = &nodes[e->nodes[0]].is, *last = first;
    char range[24] = "";

    for (unsigned i = 1; i < e->count && nodes[e->nodes[i]].array == nodes[e->nodes[0]].array; i++)
        last = &nodes[e->nodes[i]].is;
    if (first->of)
        snprintf(range, sizeof range, first == last ? "-%u" : "-%u-%u", first->index, last->index);
    const int room = 15 - (int)strlen("hl-") - (int)strlen(range);
    if (s->mode == HIL_REALTIME)
        snprintf(name, HIL_PROCESS_NAME, "hl-%.*s%s", room > 0 ? room : 0, first->name, range);
    else
        snprintf(name, HIL_PROCESS_NAME, "hl-virtual");
}

static void process_set_name(const struct hil_executor_config *e, const struct hil_scenario *s)
{
    char name[HIL_PROCESS_NAME];

    hil_process_name(e, s, name);
    prctl(PR_SET_NAME, name);
}

/* The launcher stops its children through the state, so they ignore signals from the terminal. They
 * must end when the launcher is killed. */
static void process_become_child(pid_t parent)
{
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    signal(SIGTERM, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(HIL_EXIT_FAILED);
    dup2(STDERR_FILENO, STDOUT_FILENO); /* the launcher's output may be read by a program, and
                                         * models print */
}

unsigned hil_process_count(const struct hil_scenario *s)
{
    return s->mode == HIL_VIRTUAL ? 1 : s->executor_count;
}

static int process_run_loops(const struct hil_process *p)
{
    const struct hil_run *run = p->run;

    if (run->scenario->mode == HIL_VIRTUAL)
        return hil_virtual_run(run);
    hil_provider_load_for(run, run->executor); /* also for a session created by the user */
    return hil_real_time_run(run, &p->clock, p->wait_s);
}

void hil_process_run(const struct hil_process *p, unsigned executor, pid_t parent)
{
    static const struct timespec turn = {.tv_nsec = 1000000}; /* each point of a sweep waits this
                                                               * long */
    struct hil_run *run = p->run;

    process_become_child(parent);
    if (run->scenario->mode == HIL_VIRTUAL)
        hil_pace_mind_readers(run->state);
    close(run->state->file); /* runs are found by the launcher's descriptor */
    process_set_name(&run->scenario->executors[executor], run->scenario);
    run->executor = executor;
    while (!atomic_load(&run->state->go))
        nanosleep(&turn, NULL);
    const int rc = process_run_loops(p);

    fflush(NULL);
    _exit(rc == -EPROTO ? HIL_EXIT_USAGE : rc ? HIL_EXIT_FAILED : HIL_EXIT_OK);
}
