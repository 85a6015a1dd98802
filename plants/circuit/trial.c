#include "trial.h"

#include <math.h>
#include <time.h>

#include "assembly.h"

enum { STEPS = 2000 };

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int run(struct cir_stage *s, const double *inputs, struct cir_trial *t)
{
    int rc = 0;

    for (; !rc && t->steps < STEPS; t->steps++) {
        const double begin_ns = now_ns();
        s->start_s = t->steps * t->period_s;
        rc = cir_stage_latch(s, inputs);
        if (!rc)
            rc = cir_stage_advance(s);
        const double step_ns = now_ns() - begin_ns;
        t->unresolved += s->unresolved > 0;
        if (t->steps < STEPS / 2)
            continue;
        t->mean_ns += step_ns / (STEPS - STEPS / 2);
        t->max_ns = fmax(t->max_ns, step_ns);
    }
    t->configurations = s->pool.count;
    return rc;
}

int cir_try(const struct cir_model *m, struct cir_trial *t)
{
    const struct cir_declarations *d = &m->declarations;
    double parameters[HIL_QUANTITIES_MAX], inputs[HIL_QUANTITIES_MAX];
    char text[1024];
    const struct cir_said said = {text, sizeof text};
    struct cir_assembly *circuit = NULL;

    *t = (struct cir_trial){.period_s = m->tran.step_s > 0 ? m->tran.step_s : 1e-6};
    int rc = cir_assembly_open(&circuit, &m->text, d, cir_defaults(&d->parameters, parameters),
                               cir_defaults(&d->inputs, inputs), t->period_s, &said);
    if (!rc)
        rc = run(&circuit->stage, inputs, t);
    cir_assembly_close(circuit);
    return rc;
}
