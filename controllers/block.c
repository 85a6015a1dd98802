#include "block.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The name of a parameter that is not below the next one, as it should be; or NULL. */
static const char *block_wrong(const struct hil_model *m, const double *parameters)
{
    for (unsigned i = 0; i + 1 < m->parameters.count; i++)
        if (strncmp(m->parameters.at[i].name, "lower_", 6) == 0 &&
            !(parameters[i] < parameters[i + 1]))
            return m->parameters.at[i].name;
    return NULL;
}

int block_create(void **self, const struct hil_config *config)
{
    const struct hil_model *m = config->model;
    const char *wrong = block_wrong(m, config->parameters);
    char line[128];

    if (wrong) {
        snprintf(line, sizeof line, "%s is not below upper_%s", wrong, wrong + strlen("lower_"));
        config->log(config->log_arg, line);
        return -EDOM;
    }
    int rc = instance_create(self, config, sizeof(struct block));
    if (rc)
        return rc;
    struct block *b = *self;
    b->model = m;
    b->width = config->width;
    b->period_s = config->period_s;
    if (m->parameters.count > 0)
        memcpy(b->parameters, config->parameters, m->parameters.count * sizeof(double));
    return 0;
}

int block_tune(void *self, uint32_t place, double value)
{
    struct block *b = self;
    double tuned[BLOCK_PARAMETERS];

    if (place >= b->model->parameters.count)
        return -EDOM;
    memcpy(tuned, b->parameters, sizeof tuned);
    tuned[place] = value;
    if (block_wrong(b->model, tuned))
        return -EDOM;
    b->parameters[place] = value;
    return 0;
}

void block_numbers(void *self, hil_numbers_fn *each, void *arg)
{
    struct block *b = self;

    each(arg, &b->held, 1);
}
