/*
 * Monte Carlo: values drawn for each run from a tolerance. The generator is the same as for the
 * converters' tolerances. Run 0 draws a number for each key in the order of the command line (two
 * for a normal distribution), then run 1 does, and so on. Adding runs therefore does not change the
 * first ones.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../base/random.h"
#include "sweep.h"

static int draw_refuse(const char *key, const char *text)
{
    fprintf(stderr,
            "--set %s=%s: one NOMINAL~SPREAD or NOMINAL~PERCENT%% is allowed, followed by :normal "
            "if the spread is a standard deviation\n",
            key, text);
    return -EINVAL;
}

/* Parses the text after the spread. */
static bool draw_read_end(struct sweep_draw *draw, const char *text)
{
    if (*text == '%') {
        draw->spread *= fabs(draw->nominal) / 100;
        text++;
    }
    draw->normal = strcmp(text, ":normal") == 0;
    return draw->normal || !*text || strcmp(text, ":uniform") == 0;
}

int sweep_draw_read(struct sweep_draw *draw, const char *key, const char *text)
{
    int end = 0;

    if (sscanf(text, "%lf~%n", &draw->nominal, &end) != 1 || end == 0)
        return 0;
    const char *spread = text + end;
    end = 0;
    if (sscanf(spread, "%lf%n", &draw->spread, &end) != 1 || !draw_read_end(draw, spread + end) ||
        !isfinite(draw->nominal) || !isfinite(draw->spread) || !(draw->spread > 0))
        return draw_refuse(key, text);
    return 1;
}

static double draw_value(const struct sweep_draw *draw, uint64_t *state)
{
    const double deviate =
        draw->normal ? hil_random_normal(state) : 2 * hil_random_uniform(state) - 1;

    return draw->nominal + draw->spread * deviate;
}

int sweep_draw_values(struct sweep *s)
{
    uint64_t state = s->arguments->seed;
    int rc = 0;

    for (unsigned run = 0; run < s->runs; run++)
        for (unsigned i = 0; !rc && i < s->axis_count; i++)
            if (s->axes[i].drawn)
                rc = sweep_axis_add(&s->axes[i], draw_value(&s->axes[i].draw, &state), 9);
    return rc;
}
