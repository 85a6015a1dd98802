#include "fmu_tables.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/foreign.h"
#include "../tables.h"

enum { TABLES_NAME_BYTES = 96, TABLES_ELEMENT_BYTES = 64, TABLES_DOC_BYTES = 640 };

/* Whether a variable has numbers. */
static bool fmu_is_numeric(const struct fmu_variable *v)
{
    return v->type != FMU_STRING && v->type != FMU_BINARY && v->type != FMU_CLOCK;
}

/* --- names ------------------------------------------------------------------------------------ */

/* "Motor.cell[2].i" becomes "motor_cell_2_i". */
static void tables_name(const char *theirs, char ours[TABLES_NAME_BYTES])
{
    size_t length = 0;

    for (; *theirs && length + 24 < TABLES_NAME_BYTES; theirs++) {
        const unsigned char c = (unsigned char)*theirs;
        if (c < 128 && isalnum(c))
            ours[length++] = (char)tolower(c);
        else if (c == '_' || (length && ours[length - 1] != '_'))
            ours[length++] = '_';
    }
    while (length > 1 && ours[length - 1] == '_' && theirs[-1] != '_')
        length--;
    ours[length] = '\0';
    if (length == 0)
        memcpy(ours, "variable", sizeof "variable");
}

static bool tables_taken(const struct fmu_table *t, unsigned but, const char *name)
{
    for (unsigned i = 0; i < t->count; i++)
        if (i != but && t->rows[i].name && strcmp(t->rows[i].name, name) == 0)
            return true;
    return false;
}

/* The index of a row's element, from 1: "_1_2", or "[1,2". "" for a scalar. */
static void tables_element(const struct fmu_variable *v, uint64_t element, const char *begin,
                           const char *between, char text[TABLES_ELEMENT_BYTES])
{
    uint64_t stride = v->size;
    size_t used = 0;

    text[0] = '\0';
    for (unsigned d = 0; d < v->dimension_count && used < TABLES_ELEMENT_BYTES; d++) {
        stride /= v->extents[d];
        used +=
            (size_t)snprintf(text + used, TABLES_ELEMENT_BYTES - used, "%s%u", d ? between : begin,
                             (unsigned)(element / stride % v->extents[d] + 1));
    }
}

static uint64_t tables_element_of(const struct fmu_table *t, unsigned row)
{
    unsigned first = row;

    while (first > 0 && t->variables[first - 1] == t->variables[row])
        first--;
    return row - first;
}

/* The name of the row, before conflicts are resolved. */
static void tables_plain_name(const struct fmu_table *t, unsigned row, char name[TABLES_NAME_BYTES])
{
    char element[TABLES_ELEMENT_BYTES];

    tables_name(t->variables[row]->name, name);
    tables_element(t->variables[row], tables_element_of(t, row), "_", "_", element);
    const size_t length = strlen(element), room = TABLES_NAME_BYTES - 1 - length;
    memcpy(name + (strlen(name) < room ? strlen(name) : room), element, length + 1);
}

/* Gives names to the rows. Rows that have such a name in the FMU itself come first. If other names
 * are equal, the later rows get their row number as a suffix. */
static int tables_give_names(struct fmu_table *t, struct hil_pool *pool, bool own)
{
    char name[TABLES_NAME_BYTES], numbered[TABLES_NAME_BYTES + 16];

    for (unsigned i = 0; i < t->count; i++) {
        tables_plain_name(t, i, name);
        if (t->rows[i].name || (strcmp(name, t->variables[i]->name) == 0) != own)
            continue;
        snprintf(numbered, sizeof numbered, "%s", name);
        for (unsigned number = i + 1; tables_taken(t, i, numbered); number++)
            snprintf(numbered, sizeof numbered, "%s_%u", name, number);
        t->rows[i].name = hil_pool_text(pool, numbered);
        if (!t->rows[i].name)
            return -ENOMEM;
    }
    return 0;
}

/* --- one row ---------------------------------------------------------------------------------- */

/* "Motor.w: speed of the shaft; 1 open, 2 closed" */
static char *tables_doc(const struct fmu_table *t, unsigned row, struct hil_pool *pool)
{
    const struct fmu_variable *v = t->variables[row];
    char text[TABLES_DOC_BYTES], element[TABLES_ELEMENT_BYTES];
    const bool other = strcmp(v->name, t->rows[row].name) != 0;

    tables_element(v, tables_element_of(t, row), "[", ",", element);
    snprintf(text, sizeof text, "%.200s%s%s%s%.200s%s%.200s", other ? v->name : "",
             other ? element : "", other && *element ? "]" : "",
             other && v->description ? ": " : "", v->description ? v->description : "",
             v->items && (other || v->description) ? "; " : "", v->items ? v->items : "");
    hil_foreign_tame(text, ' ', '\0');
    return hil_pool_text(pool, text);
}

static void tables_range(const struct fmu_variable *v, double *min, double *max)
{
    static const struct {
        double min, max;
    } of_type[] = {
        [FMU_FLOAT64] = {-INFINITY, INFINITY},
        [FMU_FLOAT32] = {-INFINITY, INFINITY},
        [FMU_INT8] = {-128, 127},
        [FMU_UINT8] = {0, 255},
        [FMU_INT16] = {-32768, 32767},
        [FMU_UINT16] = {0, 65535},
        [FMU_INT32] = {INT32_MIN, INT32_MAX},
        [FMU_UINT32] = {0, UINT32_MAX},
        /* The greatest doubles that fit the types. */
        [FMU_INT64] = {-0x1p63, 0x1.fffffffffffffp62},
        [FMU_UINT64] = {0, 0x1.fffffffffffffp63},
        [FMU_BOOLEAN] = {0, 1},
        [FMU_ENUMERATION] = {INT32_MIN, INT32_MAX},
    };

    *min = v->has_min && v->min > of_type[v->type].min ? v->min : of_type[v->type].min;
    *max = v->has_max && v->max < of_type[v->type].max ? v->max : of_type[v->type].max;
}

/* The next number of a start value, which has one number for each element or a single one for
 * all. */
static bool tables_next_start(const struct fmu_variable *v, const char **text, double *value)
{
    char *end;

    if (v->type == FMU_BOOLEAN) {
        const char *word = *text + strspn(*text, " \t\r\n");
        const size_t length = strcspn(word, " \t\r\n");
        const bool one =
            (length == 4 && memcmp(word, "true", 4) == 0) || (length == 1 && *word == '1');
        const bool no =
            (length == 5 && memcmp(word, "false", 5) == 0) || (length == 1 && *word == '0');
        *text = word + length;
        *value = one;
        return one || no;
    }
    *value = strtod(*text, &end);
    const bool found = end != *text;
    *text = end;
    return found;
}

/* Fills in the start values of a variable's rows. */
static int tables_starts(const struct fmu_table *t, unsigned row)
{
    const struct fmu_variable *v = t->variables[row];
    const char *text = v->start;
    uint64_t count = 0;
    double value;

    while (tables_next_start(v, &text, &value)) {
        if (count++ == 0)
            for (uint64_t i = 0; i < v->size; i++)
                t->rows[row + i].value = value;
        else if (count <= v->size)
            t->rows[row + count - 1].value = value;
    }
    return text[strspn(text, " \t\r\n")] || (count != v->size && count != 1) ? -EINVAL : 0;
}

static int tables_fill(const struct fmu_table *t, unsigned row, struct hil_pool *pool,
                       const struct hil_said *said)
{
    const struct fmu_variable *v = t->variables[row];
    struct hil_quantity *q = &t->rows[row];

    tables_range(v, &q->min, &q->max);
    if (!(q->min <= q->max))
        return hil_say(said, -EINVAL,
                       "its modelDescription.xml:%lu:%lu: '%.60s' has a range from %g to %g, which "
                       "is none",
                       v->line, v->column, v->name, q->min, q->max);
    if (!v->start)
        q->value = q->min > 0 ? q->min : q->max < 0 ? q->max : 0;
    const bool begins = row == 0 || t->variables[row - 1] != v;
    if (v->start && begins && tables_starts(t, row))
        return hil_say(said, -EINVAL,
                       "its modelDescription.xml:%lu:%lu: the start value of '%.60s' is '%.60s'; "
                       "allowed: one %s, or one for each of its %llu elements",
                       v->line, v->column, v->name, v->start,
                       v->type == FMU_BOOLEAN ? "of true and false" : "number",
                       (unsigned long long)v->size);
    if (!(q->min <= q->value && q->value <= q->max))
        return hil_say(said, -EINVAL,
                       "its modelDescription.xml:%lu:%lu: the start value %g of '%.60s' is not in "
                       "its range from %g to %g",
                       v->line, v->column, q->value, v->name, q->min, q->max);
    q->unit = v->unit && strcmp(v->unit, "1") != 0 ? v->unit : "";
    q->doc = tables_doc(t, row, pool);
    return q->doc ? 0 : hil_say_no_memory(said);
}

/* --- a table ---------------------------------------------------------------------------------- */

typedef bool tables_choose(const struct fmu_variable *v);

static bool tables_is_parameter(const struct fmu_variable *v)
{
    return v->causality == FMU_PARAMETER;
}

static bool tables_is_input(const struct fmu_variable *v)
{
    return v->causality == FMU_INPUT && !v->clocked;
}

static bool tables_is_output(const struct fmu_variable *v)
{
    return v->causality == FMU_OUTPUT && !v->clocked;
}

/* Variables that begin with a value that may be set. */
static bool tables_is_state(const struct fmu_variable *v)
{
    return v->exact && v->start && (v->causality == FMU_OUTPUT || v->causality == FMU_LOCAL);
}

/* Adds the variables that belong to the table, in the order of the file. */
static void tables_choose_rows(struct fmu_table *t, const struct fmu_description *d,
                               tables_choose *choose)
{
    for (unsigned i = 0; i < d->variable_count; i++) {
        const struct fmu_variable *v = &d->variables[i];
        if (!choose(v) || !fmu_is_numeric(v))
            continue;
        if (v->size > HIL_QUANTITIES_MAX - t->count) {
            t->left_out =
                v->size > UINT32_MAX - t->left_out ? UINT32_MAX : t->left_out + (unsigned)v->size;
            continue;
        }
        for (uint64_t k = 0; k < v->size; k++)
            t->variables[t->count++] = v;
    }
}

static int tables_groups(struct fmu_table *t, struct hil_pool *pool, bool alone)
{
    uint32_t *references = hil_pool_get(pool, t->count, sizeof *references);

    t->groups = hil_pool_get(pool, t->count, sizeof *t->groups);
    if (!references || !t->groups)
        return -ENOMEM;
    for (unsigned row = 0; row < t->count; row++) {
        const struct fmu_variable *v = t->variables[row];
        struct fmu_group *g = t->group_count ? &t->groups[t->group_count - 1] : NULL;
        const bool begins = row == 0 || t->variables[row - 1] != v;
        if (begins && (!g || alone || g->first->type != v->type)) {
            g = &t->groups[t->group_count++];
            *g = (struct fmu_group){.first = v, .references = references, .row = row};
        }
        if (begins) {
            *references++ = v->reference;
            g->reference_count++;
        }
        g->value_count++;
    }
    return 0;
}

/* Parameters and states are set one by one, and only if the scenario changes them. */
static int tables_make_one(struct fmu_table *t, const struct fmu_description *d,
                           tables_choose *choose, bool alone, const struct hil_said *said)
{
    t->variables = hil_pool_get(d->pool, HIL_QUANTITIES_MAX, sizeof *t->variables);
    if (!t->variables)
        return hil_say_no_memory(said);
    tables_choose_rows(t, d, choose);
    t->rows = hil_pool_get(d->pool, t->count, sizeof *t->rows);
    if (!t->rows || tables_groups(t, d->pool, alone) || tables_give_names(t, d->pool, true) ||
        tables_give_names(t, d->pool, false))
        return hil_say_no_memory(said);
    int rc = 0;
    for (unsigned i = 0; !rc && i < t->count; i++)
        rc = tables_fill(t, i, d->pool, said);
    return rc;
}

static void tables_flag_parameters(struct fmu_table *t)
{
    for (unsigned i = 0; i < t->count; i++) {
        const bool real = t->variables[i]->type <= FMU_FLOAT32;
        t->rows[i].flags = (t->variables[i]->tunable ? HIL_TUNABLE : 0u) | (real ? 0u : HIL_WHOLE);
    }
}

static unsigned tables_values_max(const struct fmu_table *t, unsigned max)
{
    for (unsigned i = 0; i < t->group_count; i++)
        if (t->groups[i].value_count > max)
            max = t->groups[i].value_count;
    return max;
}

int fmu_tables_make(struct fmu_tables *t, const struct fmu_description *d,
                    const struct hil_said *said)
{
    *t = (struct fmu_tables){0};
    int rc = tables_make_one(&t->parameters, d, tables_is_parameter, true, said);
    if (!rc)
        rc = tables_make_one(&t->inputs, d, tables_is_input, false, said);
    if (!rc)
        rc = tables_make_one(&t->outputs, d, tables_is_output, false, said);
    if (!rc)
        rc = tables_make_one(&t->states, d, tables_is_state, true, said);
    if (rc)
        return rc;
    if (t->inputs.left_out || t->outputs.left_out)
        return hil_say(said, -E2BIG, "it has %llu inputs and outputs more than allowed: %d of each",
                       (unsigned long long)t->inputs.left_out + t->outputs.left_out,
                       HIL_QUANTITIES_MAX);
    tables_flag_parameters(&t->parameters);
    t->values_max = tables_values_max(&t->parameters, 1);
    t->values_max = tables_values_max(&t->inputs, t->values_max);
    t->values_max = tables_values_max(&t->outputs, t->values_max);
    t->values_max = tables_values_max(&t->states, t->values_max);
    return 0;
}
