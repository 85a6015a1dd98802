#include "table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "../../controllers/table.h"
#include "../../plants/instance.h"
#include "provider/native.h"
#include "table_file.h"

struct table_model {
    struct hil_model model;
    struct table_file file;
    struct hil_quantity *rows; /* the inputs, then the outputs */
};

/* --- a component ------------------------------------------------------------------------------ */

struct table {
    const struct table_file *file; /* of the model, which lasts longer */
    bool held;
};

static int table_create(void **self, const struct hil_config *config)
{
    int rc = instance_create(self, config, sizeof(struct table));

    if (rc)
        return rc;
    struct table *t = *self;
    t->file =
        &((const struct table_model *)config->model)->file; /* the model is its first member */
    t->held = config->parameters[0] != 0;
    return 0;
}

/* The place in a dimension of the table; the point itself if that is held. */
static struct table_place table_place(const struct table *t, const double *at, uint32_t count,
                                      double input)
{
    struct table_place p = table_find(at, count, input);

    if (t->held && p.share > 0)
        p.share = 0;
    return p;
}

/* The value at a place of the rows. Only a share above 0 has a row after it. */
static double table_value(const struct table_file *f, const struct table_place *p, uint32_t column)
{
    const double *at = f->values + (size_t)p->point * f->columns + column;

    return p->share == 0     ? at[0]
           : isnan(p->share) ? NAN
                             : table_between(at[0], at[f->columns], p->share);
}

static int table_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    const struct table *t = self;
    const struct table_file *f = t->file;
    const struct table_place p = table_place(t, f->row_at, f->rows, in[0]);

    (void)t_ns;
    for (uint32_t i = 0; i < f->columns; i++)
        out[i] = table_value(f, &p, i);
    return 0;
}

static int table_step_grid(void *self, uint64_t t_ns, const double *in, double *out)
{
    const struct table *t = self;
    const struct table_file *f = t->file;
    const struct table_place p = table_place(t, f->row_at, f->rows, in[0]);
    const struct table_place q = table_place(t, f->column_at, f->columns, in[1]);

    (void)t_ns;
    out[0] = table_value(f, &p, q.point);
    if (q.share != 0)
        out[0] =
            isnan(q.share) ? NAN : table_between(out[0], table_value(f, &p, q.point + 1), q.share);
    return 0;
}

/* --- the model -------------------------------------------------------------------------------- */

static const struct hil_quantity table_parameters[] = {
    {"held", "", 0, 0, 1, HIL_WHOLE, "1: held from the point before; 0: on a straight line"},
};

static bool table_takes(const char *name)
{
    const size_t length = strlen(name);

    return length > 4 && strcmp(name + length - 4, ".csv") == 0;
}

static void table_unload(struct hil_loaded *made)
{
    struct table_model *m = made->own;

    table_file_free(&m->file);
    free(m->rows);
    free(m);
    made->own = NULL;
}

static int table_tables(struct table_model *m, const struct hil_said *said)
{
    const uint32_t inputs = m->file.grid ? 2 : 1, outputs = m->file.grid ? 1 : m->file.columns;

    m->rows = calloc((size_t)inputs + outputs, sizeof m->rows[0]);
    if (!m->rows)
        return hil_say_no_memory(said);
    for (uint32_t i = 0; i < inputs + outputs; i++)
        m->rows[i] = (struct hil_quantity){
            .name = m->file.names[i].name,
            .unit = m->file.names[i].unit,
            .min = -INFINITY,
            .max = INFINITY,
            .flags = i < inputs ? HIL_REQUIRED : 0,
            .doc = i < inputs ? "what is looked up" : "the table's value there",
        };
    m->model = (struct hil_model){
        .abi = HIL_MODEL_ABI,
        .size = sizeof(struct hil_model),
        .name = "table",
        .doc = m->file.grid ? "Grid of points" : "Table of points",
        .kind = HIL_SAMPLED,
        .width_max = 1,
        .parameters = HIL_QUANTITIES(table_parameters),
        .inputs = {m->rows, inputs, sizeof m->rows[0]},
        .outputs = {m->rows + inputs, outputs, sizeof m->rows[0]},
        .create = table_create,
        .step = m->file.grid ? table_step_grid : table_step,
        .destroy = instance_destroy,
        .numbers = instance_no_numbers,
    };
    return 0;
}

/* The same for files with the same numbers and names. */
static uint64_t table_hash(const struct table_model *m)
{
    const struct table_file *f = &m->file;
    const uint32_t names = m->model.inputs.count + m->model.outputs.count;
    uint64_t hash = XXH3_64bits(f->names, names * sizeof f->names[0]);

    hash = XXH3_64bits_withSeed(f->row_at, f->rows * sizeof(double), hash);
    if (f->grid)
        hash = XXH3_64bits_withSeed(f->column_at, f->columns * sizeof(double), hash);
    return XXH3_64bits_withSeed(f->values, (size_t)f->rows * f->columns * sizeof(double), hash);
}

static int table_load(struct hil_loaded *made, const struct hil_said *said)
{
    struct table_model *m;

    if (made->settings.count)
        return hil_say(said, -EINVAL, "%s is not a setting of a table; allowed: none",
                       made->settings.at[0].key);
    m = calloc(1, sizeof *m);
    if (!m)
        return hil_say_no_memory(said);
    int rc = table_file_read(&m->file, made->name, said);
    if (rc) {
        free(m);
        return rc;
    }
    made->own = m;
    made->model = &m->model;
    rc = table_tables(m, said);
    if (rc)
        table_unload(made);
    else
        made->hash = table_hash(m);
    return rc;
}

const struct hil_provider hil_table_provider = {
    .example = "a table such as ./map.csv",
    .takes = table_takes,
    .locate = hil_model_file,
    .load = table_load,
    .unload = table_unload,
};
