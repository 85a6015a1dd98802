#include "tables.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

int hil_quantity_find(const struct hil_quantities *table, const char *name)
{
    for (unsigned i = 0; i < table->count; i++)
        if (strcmp(table->at[i].name, name) == 0)
            return (int)i;
    return -1;
}

/* --- checks of a model ---------------------------------------------------------------------- */

/* The first mistake in a row, in words; NULL: none. */
static const char *wrong_in_row(const struct hil_model *m, const struct hil_quantities *table,
                                unsigned i)
{
    const struct hil_quantity *q = &table->at[i];

    if (strspn(q->name, "abcdefghijklmnopqrstuvwxyz0123456789_") != strlen(q->name))
        return "has a name with other than lower-case letters, digits and '_'";
    if (hil_quantity_find(table, q->name) != (int)i)
        return "is there twice";
    if (!q->unit || !q->doc)
        return "has no unit or no explanation";
    if (!(q->min <= q->max))
        return "has a range that is out of order";
    if (!(q->min <= q->value && q->value <= q->max))
        return "has a default outside its range";
    if ((q->flags & HIL_WHOLE) && q->value != floor(q->value))
        return "has a default that is not a whole number";
    if ((q->flags & HIL_WIDE) && m->width_max == 1)
        return "is wide, but the model is not";
    return NULL;
}

static int check_table(const struct hil_model *m, const char *kind,
                       const struct hil_quantities *table, char *text, size_t size)
{
    if (table->count == 0)
        return 0;
    if (table->row_size != sizeof(struct hil_quantity)) {
        snprintf(text, size, "the rows of its %ss have %u bytes; allowed: %zu", kind,
                 table->row_size, sizeof(struct hil_quantity));
        return -EINVAL;
    }
    if (table->count > HIL_QUANTITIES_MAX) {
        snprintf(text, size, "it has %u %ss; allowed: at most %d", table->count, kind,
                 HIL_QUANTITIES_MAX);
        return -EINVAL;
    }
    if (!table->at) {
        snprintf(text, size, "its table of %ss is nowhere", kind);
        return -EINVAL;
    }
    for (unsigned i = 0; i < table->count; i++)
        if (!table->at[i].name || !*table->at[i].name) {
            snprintf(text, size, "number %u of its %ss has no name", i, kind);
            return -EINVAL;
        }
    for (unsigned i = 0; i < table->count; i++) {
        const char *wrong = wrong_in_row(m, table, i);
        if (!wrong)
            continue;
        snprintf(text, size, "its %s %s %s", kind, table->at[i].name, wrong);
        return -EINVAL;
    }
    return 0;
}

/* Inputs and outputs share the name space COMPONENT.NAME, so their names must differ. */
static int check_signals(const struct hil_model *m, char *text, size_t size)
{
    for (unsigned i = 0; i < m->outputs.count; i++) {
        const char *name = m->outputs.at[i].name;
        if (hil_quantity_find(&m->inputs, name) < 0)
            continue;
        snprintf(text, size, "%s is both an input and an output", name);
        return -EINVAL;
    }
    return 0;
}

/* Checks everything but the tables. */
static const char *wrong_in_model(const struct hil_model *m)
{
    if (m->size < offsetof(struct hil_model, numbers)) /* the first version ended there */
        return "its descriptor is too small";
    if (!m->name || !*m->name || !m->doc)
        return "it has no name or no explanation";
    if (m->kind != HIL_CONTINUOUS && m->kind != HIL_SAMPLED)
        return "it is neither continuous nor sampled";
    if (m->width_max == 0)
        return "its components could have no width";
    if (!m->create || !m->step || !m->destroy || (m->kind == HIL_CONTINUOUS && !m->output))
        return "it lacks one of create, output, step and destroy";
    if (!m->save != !m->restore)
        return "it has only one of save and restore";
    return NULL;
}

int hil_model_check(const struct hil_model *m, char *text, size_t size)
{
    if (m->abi != HIL_MODEL_ABI) {
        snprintf(text, size, "its interface has version %u; allowed: %u", m->abi, HIL_MODEL_ABI);
        return -EINVAL;
    }
    const char *wrong = wrong_in_model(m);
    if (wrong) {
        snprintf(text, size, "%s", wrong);
        return -EINVAL;
    }
    int rc = check_table(m, "parameter", &m->parameters, text, size);
    if (!rc)
        rc = check_table(m, "input", &m->inputs, text, size);
    if (!rc)
        rc = check_table(m, "output", &m->outputs, text, size);
    if (!rc)
        rc = check_signals(m, text, size);
    return rc ? rc : check_table(m, "state", &m->states, text, size);
}
