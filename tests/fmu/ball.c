/* A bouncing ball. When it hits the ground is found inside the step, exactly: between two hits its
 * path is a parabola. */
#include <math.h>
#include <stdbool.h>

#include "fmu.h"

struct ball {
    double h, v, g, e;
    int32_t bounces;
    bool rests;
};

static const struct fmu_variable variables[] = {
    FMU_VARIABLE(1, FMU_FLOAT64, struct ball, h),
    FMU_VARIABLE(2, FMU_FLOAT64, struct ball, v),
    FMU_VARIABLE(5, FMU_FLOAT64, struct ball, g),
    FMU_VARIABLE(6, FMU_FLOAT64, struct ball, e),
    FMU_VARIABLE(7, FMU_INT32, struct ball, bounces),
    FMU_VARIABLE(8, FMU_BOOLEAN, struct ball, rests),
};

enum { BOUNCES_MAX = 1000 };

static void ball_begin(void *self)
{
    *(struct ball *)self = (struct ball){.h = 1, .g = -9.81, .e = 0.7};
}

static enum fmu_status ball_initialize(struct fmu *fmu, void *self)
{
    const struct ball *ball = self;

    if (ball->h >= 0 && ball->g < 0)
        return FMU_OK;
    fmu_log(fmu, FMU_ERROR, "the ball must begin above the ground, and fall");
    return FMU_ERROR;
}

/* How long until it hits the ground. */
static double falls_for(const struct ball *ball)
{
    return (ball->v + sqrt(ball->v * ball->v - 2 * ball->g * ball->h)) / -ball->g;
}

static void fly(struct ball *ball, double for_s)
{
    ball->h += ball->v * for_s + ball->g / 2 * for_s * for_s;
    ball->v += ball->g * for_s;
}

static void bounce(struct ball *ball)
{
    ball->h = 0;
    ball->v *= -ball->e;
    if (++ball->bounces >= BOUNCES_MAX || ball->v < 1e-3) {
        ball->rests = true;
        ball->v = 0;
    }
}

static enum fmu_status ball_step(struct fmu *fmu, void *self, double t, double h)
{
    struct ball *ball = self;

    (void)fmu, (void)t;
    while (!ball->rests) {
        const double until = falls_for(ball);
        if (until > h)
            break;
        fly(ball, until);
        bounce(ball);
        h -= until;
    }
    if (!ball->rests)
        fly(ball, h);
    return FMU_OK;
}

static void ball_end(void *self)
{
    (void)self;
}

const struct fmu_model fmu_model = {
    .token = "18b04f61-7488-4fed-9eea-1b0021dc2417",
    .size = sizeof(struct ball),
    .variables = variables,
    .count = sizeof variables / sizeof variables[0],
    .begin = ball_begin,
    .initialize = ball_initialize,
    .step = ball_step,
    .end = ball_end,
};
