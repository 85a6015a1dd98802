#include "tuner.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LOOK_NS = 1000000 };

/* The loop owns the tuner while it is IDLE, MADE or REFUSED, the thread while it is ASKED or SPENT.
 */
enum state { IDLE, ASKED, MADE, REFUSED, SPENT };

struct cir_tuner {
    const struct cir_text *text;
    const struct cir_declarations *declarations;
    const double *inputs;
    double period_s;
    hil_log_fn *log;
    void *log_arg;
    bool real_time;
    bool waits;                   /* there are parameters that are not yet asked for */
    double *parameters;           /* of the circuit that is asked for */
    double *good;                 /* of the circuit that runs */
    struct cir_assembly *circuit; /* that is ready, or that is spent */
    _Atomic int state;
    atomic_bool ends;
    pthread_t thread;
};

static size_t parameter_bytes(const struct cir_tuner *t)
{
    return t->declarations->parameters.count * sizeof(double);
}

static int make(struct cir_tuner *t, const double *parameters, struct cir_assembly **made)
{
    char text[1024];
    const int rc = cir_assembly_open(made, t->text, t->declarations, parameters, t->inputs,
                                     t->period_s, &(struct cir_said){text, sizeof text});

    if (rc)
        t->log(t->log_arg, text);
    else if (t->real_time)
        cir_stage_prepare(&(*made)->stage);
    return rc;
}

static void *run(void *arg)
{
    struct cir_tuner *t = arg;

    while (!atomic_load(&t->ends)) {
        const int state = atomic_load(&t->state);
        if (state == ASKED) {
            atomic_store(&t->state, make(t, t->parameters, &t->circuit) ? REFUSED : MADE);
        } else if (state == SPENT) {
            cir_assembly_close(t->circuit);
            t->circuit = NULL;
            atomic_store(&t->state, IDLE);
        } else {
            nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
        }
    }
    return NULL;
}

/* The thread is an ordinary one, even if the caller is not. */
static int start(struct cir_tuner *t)
{
    const struct sched_param ordinary = {0};
    pthread_attr_t attributes;
    int rc = pthread_attr_init(&attributes);

    if (rc)
        return -rc;
    pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attributes, SCHED_OTHER);
    pthread_attr_setschedparam(&attributes, &ordinary);
    rc = pthread_create(&t->thread, &attributes, run, t);
    pthread_attr_destroy(&attributes);
    return -rc;
}

static void release(struct cir_tuner *t)
{
    cir_assembly_close(t->circuit);
    free(t->parameters);
    free(t->good);
    free(t);
}

int cir_tuner_open(struct cir_tuner **tuner, const struct cir_assembly *now,
                   const double *parameters, const double *inputs, bool real_time, hil_log_fn *log,
                   void *log_arg)
{
    struct cir_tuner *t = calloc(1, sizeof *t);
    int rc = -ENOMEM;

    if (!t)
        return rc;
    t->text = now->text;
    t->declarations = now->declarations;
    t->inputs = inputs;
    t->period_s = now->stage.pool.maker.period_s;
    t->log = log;
    t->log_arg = log_arg;
    t->real_time = real_time;
    t->parameters = malloc(parameter_bytes(t));
    t->good = malloc(parameter_bytes(t));
    if (t->good)
        memcpy(t->good, parameters, parameter_bytes(t));
    if (t->parameters && t->good)
        rc = real_time ? start(t) : 0;
    if (rc)
        release(t);
    else
        *tuner = t;
    return rc;
}

void cir_tuner_close(struct cir_tuner *t)
{
    if (!t)
        return;
    if (t->real_time) {
        atomic_store(&t->ends, true);
        pthread_join(t->thread, NULL);
    }
    release(t);
}

int cir_tuner_ask(struct cir_tuner *t, const double *parameters, struct cir_assembly **now)
{
    struct cir_assembly *made;

    if (t->real_time) {
        t->waits = true;
        return 0;
    }
    if (make(t, parameters, &made))
        return -EDOM;
    cir_stage_continue(&made->stage, &(*now)->stage);
    cir_assembly_close(*now);
    *now = made;
    return 0;
}

void cir_tuner_take(struct cir_tuner *t, double *parameters, struct cir_assembly **now)
{
    const int state = atomic_load(&t->state);

    if (state == MADE) {
        struct cir_assembly *spent = *now;
        cir_stage_continue(&t->circuit->stage, &spent->stage);
        *now = t->circuit;
        t->circuit = spent;
        memcpy(t->good, t->parameters, parameter_bytes(t));
        atomic_store(&t->state, SPENT);
    } else if (state == REFUSED) {
        for (unsigned i = 0; i < t->declarations->parameters.count; i++)
            if (parameters[i] == t->parameters[i]) /* else it was set again */
                parameters[i] = t->good[i];
        atomic_store(&t->state, IDLE);
    } else if (state == IDLE && t->waits) {
        memcpy(t->parameters, parameters, parameter_bytes(t));
        t->waits = false;
        atomic_store(&t->state, ASKED);
    }
}
