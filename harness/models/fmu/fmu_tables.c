#include "fmu_tables.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/foreign.h"
#include "fmu_names.h"

enum { TABLES_DOC_BYTES = 640, TABLES_OTHERS_MAX = 1 << 20 };

/* Whether a variable has numbers. */
static bool fmu_is_numeric(const struct fmu_variable *v)
{
    return v->type != FMU_STRING && v->type != FMU_BINARY && v->type != FMU_CLOCK;
}

/* --- one row ---------------------------------------------------------------------------------- */

/* "Motor.w: speed of the shaft; 1 open, 2 closed" */
static char *tables_doc(const struct fmu_table *t, unsigned row, struct hil_pool *pool)
{
    const struct fmu_variable *v = t->variables[row];
    char text[TABLES_DOC_BYTES], element[FMU_ELEMENT_BYTES];
    const bool other = strcmp(v->name, t->rows[row].name) != 0;

    fmu_element_text(v, t->elements[row], "[", ",", element);
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

/* Reads the start values of a variable into its rows. Returns their number, or -EINVAL if the text
 * is wrong. */
static int64_t tables_starts(const struct fmu_table *t, unsigned row)
{
    const struct fmu_variable *v = t->variables[row];
    const char *text = v->start;
    int64_t count = 0;
    double value;

    while (tables_next_start(v, &text, &value)) {
        if (count++ == 0)
            for (uint64_t i = 0; i < v->size; i++)
                t->rows[row + i].value = value;
        else if ((uint64_t)count <= v->size)
            t->rows[row + (uint64_t)count - 1].value = value;
    }
    return text[strspn(text, " \t\r\n")] ? -EINVAL : count;
}

/* The value of a row without a start value. */
static double tables_no_start(const struct fmu_variable *v, const struct hil_quantity *q)
{
    const bool real = v->type <= FMU_FLOAT32;

    if (q->min > 0)
        return real ? q->min : ceil(q->min);
    return q->max >= 0 ? 0 : real ? q->max : floor(q->max);
}

/* Fills in the values of a variable's rows. If it has no start values, or has those for another
 * size, only the FMU knows them. */
static int tables_values(const struct fmu_table *t, unsigned row, const struct hil_said *said)
{
    const struct fmu_variable *v = t->variables[row];
    const int64_t count = v->start ? tables_starts(t, row) : 0;
    const bool fits = count == 1 || (uint64_t)count == v->size;

    if (count < 0 || (v->start && !fits && !v->resized))
        return hil_say(said, -EINVAL,
                       "its modelDescription.xml:%lu:%lu: the start value of '%.60s' is '%.60s'; "
                       "allowed: one %s, or one for each of its %llu elements",
                       v->line, v->column, v->name, v->start,
                       v->type == FMU_BOOLEAN ? "of true and false" : "number",
                       (unsigned long long)v->size);
    const bool own = count == 0 || (v->resized && count != 1);
    for (uint64_t i = 0; own && i < v->size; i++) {
        struct hil_quantity *q = &t->rows[row + i];
        q->flags |= t->has_own ? HIL_OWN : 0u;
        if (i >= (uint64_t)count)
            q->value = tables_no_start(v, q);
    }
    return 0;
}

static int tables_describe(const struct fmu_table *t, unsigned row, struct hil_pool *pool)
{
    const struct fmu_variable *v = t->variables[row];
    struct hil_quantity *q = &t->rows[row];

    q->unit = v->unit && strcmp(v->unit, "1") != 0 ? v->unit : "";
    q->doc = tables_doc(t, row, pool);
    return q->doc ? 0 : -ENOMEM;
}

/* Fills in the ranges and the values of a variable's rows. */
static int tables_begin(const struct fmu_table *t, unsigned row, const struct hil_said *said)
{
    const struct fmu_variable *v = t->variables[row];
    double min, max;

    tables_range(v, &min, &max);
    if (!(min <= max))
        return hil_say(said, -EINVAL,
                       "its modelDescription.xml:%lu:%lu: '%.60s' has a range from %g to %g, which "
                       "is none",
                       v->line, v->column, v->name, min, max);
    for (uint64_t i = 0; i < v->size; i++) {
        t->rows[row + i].min = min;
        t->rows[row + i].max = max;
    }
    return tables_values(t, row, said);
}

static int tables_fill(const struct fmu_table *t, unsigned row, struct hil_pool *pool,
                       const struct hil_said *said)
{
    const struct fmu_variable *v = t->variables[row];
    struct hil_quantity *q = &t->rows[row];

    const int rc = t->elements[row] == 0 ? tables_begin(t, row, said) : 0;
    if (rc)
        return rc;
    if (!(q->min <= q->value && q->value <= q->max))
        return hil_say(said, -EINVAL,
                       "its modelDescription.xml:%lu:%lu: the start value %g of '%.60s' is not in "
                       "its range from %g to %g",
                       v->line, v->column, q->value, v->name, q->min, q->max);
    return tables_describe(t, row, pool) ? hil_say_no_memory(said) : 0;
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

/* Those that are outputs only if the scenario refers to them. */
static bool tables_is_other(const struct fmu_variable *v)
{
    return v->causality != FMU_INPUT && v->causality != FMU_OUTPUT && !v->clocked;
}

/* Chooses the variables that belong to the table, in the order of the file; with `write` it stores
 * their elements. */
static void tables_choose_rows(struct fmu_table *t, const struct fmu_description *d,
                               tables_choose *choose, unsigned max, bool write)
{
    t->count = t->left_out = 0;
    for (unsigned i = 0; i < d->variable_count; i++) {
        const struct fmu_variable *v = &d->variables[i];
        if (!choose(v) || !fmu_is_numeric(v))
            continue;
        if (v->size > max - t->count) {
            t->left_out =
                v->size > UINT32_MAX - t->left_out ? UINT32_MAX : t->left_out + (unsigned)v->size;
            continue;
        }
        for (unsigned k = 0; write && k < v->size; k++) {
            t->variables[t->count + k] = v;
            t->elements[t->count + k] = k;
        }
        t->count += (unsigned)v->size;
    }
}

/* Room for this many rows, all empty. */
static int tables_room(struct fmu_table *t, struct hil_pool *pool, unsigned count)
{
    t->variables = hil_pool_get(pool, count, sizeof *t->variables);
    t->elements = hil_pool_get(pool, count, sizeof *t->elements);
    t->rows = hil_pool_get(pool, count, sizeof *t->rows);
    return t->variables && t->elements && t->rows ? 0 : -ENOMEM;
}

static int tables_choose_all(struct fmu_table *t, const struct fmu_description *d,
                             tables_choose *choose, unsigned max)
{
    tables_choose_rows(t, d, choose, max, false);
    const int rc = tables_room(t, d->pool, t->count);
    if (!rc)
        tables_choose_rows(t, d, choose, max, true);
    return rc;
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
        const bool begins = t->elements[row] == 0;
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

static int tables_fill_all(struct fmu_table *t, struct hil_pool *pool, const struct hil_said *said)
{
    int rc = 0;

    for (unsigned i = 0; !rc && i < t->count; i++)
        rc = tables_fill(t, i, pool, said);
    return rc;
}

/* Parameters and states are set one by one, and only if the scenario changes them. Their names are
 * apart from those of all others. */
static int tables_make_set(struct fmu_table *t, const struct fmu_description *d,
                           tables_choose *choose, const struct hil_said *said)
{
    struct fmu_table *const alone[] = {t};
    struct hil_names names = {0};

    t->has_own = true;
    int rc = tables_choose_all(t, d, choose, HIL_QUANTITIES_MAX);
    if (!rc)
        rc = fmu_names_give(alone, 1, &names, d->pool);
    hil_names_close(&names);
    if (!rc)
        rc = tables_groups(t, d->pool, true);
    return rc ? hil_say_no_memory(said) : tables_fill_all(t, d->pool, said);
}

/* --- signals ---------------------------------------------------------------------------------- */

/* Chooses the variables among the others to which the scenario refers. */
static void tables_choose_wanted(const struct fmu_tables *t, const struct hil_names *names,
                                 const struct hil_settings *settings, bool *chosen)
{
    const unsigned first = t->inputs.count + t->outputs.count;

    for (unsigned i = 0; settings && i < settings->count; i++) {
        const struct hil_setting *s = &settings->at[i];
        const int at = strcmp(s->key, HIL_SETTING_SIGNAL) == 0
                           ? hil_names_find(names, s->text, strlen(s->text))
                           : -1;
        if (at >= (int)first)
            chosen[(unsigned)at - first - t->others.elements[(unsigned)at - first]] = true;
    }
}

/* An FMU without outputs offers its local variables, as many as there is room for. */
static void tables_choose_local(const struct fmu_tables *t, bool *chosen)
{
    uint64_t room = t->outputs.count ? 0 : HIL_QUANTITIES_MAX;

    for (unsigned i = 0; i < t->others.count; i++)
        if (t->others.elements[i] == 0 && chosen[i])
            room = t->others.variables[i]->size < room ? room - t->others.variables[i]->size : 0;
    for (unsigned i = 0; i < t->others.count; i++) {
        const struct fmu_variable *v = t->others.variables[i];
        if (t->others.elements[i] || chosen[i] || v->causality != FMU_LOCAL || v->size > room)
            continue;
        chosen[i] = true;
        room -= v->size;
    }
}

static void tables_copy_row(struct fmu_table *to, const struct fmu_table *from, unsigned row)
{
    to->rows[to->count] = from->rows[row];
    to->variables[to->count] = from->variables[row];
    to->elements[to->count++] = from->elements[row];
}

/* Adds the chosen ones of the others to the outputs. */
static int tables_add_chosen(struct fmu_tables *t, const bool *chosen, struct hil_pool *pool,
                             const struct hil_said *said)
{
    struct fmu_table outputs = {0};
    uint64_t count = t->outputs.count;

    for (unsigned i = 0; i < t->others.count; i++)
        count += chosen[i - t->others.elements[i]];
    if (count > HIL_QUANTITIES_MAX)
        return hil_say(said, -E2BIG,
                       "with the signals to which the scenario refers it has %llu outputs; "
                       "allowed: %d",
                       (unsigned long long)count, HIL_QUANTITIES_MAX);
    if (tables_room(&outputs, pool, (unsigned)count))
        return hil_say_no_memory(said);
    for (unsigned i = 0; i < t->outputs.count; i++)
        tables_copy_row(&outputs, &t->outputs, i);
    for (unsigned i = 0; i < t->others.count; i++)
        if (chosen[i - t->others.elements[i]])
            tables_copy_row(&outputs, &t->others, i);
    outputs.left_out = t->outputs.left_out;
    t->outputs = outputs;
    return 0;
}

/* Inputs, outputs and the others share one space of names. */
static int tables_name_signals(struct fmu_tables *t, const struct fmu_description *d,
                               struct hil_names *names)
{
    struct fmu_table *const all[] = {&t->inputs, &t->outputs, &t->others};
    int rc = tables_choose_all(&t->inputs, d, tables_is_input, HIL_QUANTITIES_MAX);

    if (!rc)
        rc = tables_choose_all(&t->outputs, d, tables_is_output, HIL_QUANTITIES_MAX);
    if (!rc)
        rc = tables_choose_all(&t->others, d, tables_is_other, TABLES_OTHERS_MAX);
    if (!rc)
        rc = fmu_names_give(all, 3, names, d->pool);
    for (unsigned i = 0; !rc && i < t->others.count; i++)
        rc = tables_describe(&t->others, i, d->pool);
    return rc;
}

static int tables_make_signals(struct fmu_tables *t, const struct fmu_description *d,
                               const struct hil_settings *settings, const struct hil_said *said)
{
    struct hil_names names = {0};
    int rc = tables_name_signals(t, d, &names);
    bool *chosen = rc ? NULL : hil_pool_get(d->pool, t->others.count, sizeof *chosen);

    if (chosen) {
        tables_choose_wanted(t, &names, settings, chosen);
        tables_choose_local(t, chosen);
    }
    hil_names_close(&names);
    if (!chosen)
        return hil_say_no_memory(said);
    rc = tables_fill_all(&t->inputs, d->pool, said);
    if (!rc)
        rc = tables_fill_all(&t->outputs, d->pool, said);
    if (!rc)
        rc = tables_add_chosen(t, chosen, d->pool, said);
    if (!rc &&
        (tables_groups(&t->inputs, d->pool, false) || tables_groups(&t->outputs, d->pool, false)))
        rc = hil_say_no_memory(said);
    return rc;
}

static void tables_flag_parameters(struct fmu_table *t)
{
    for (unsigned i = 0; i < t->count; i++) {
        const bool real = t->variables[i]->type <= FMU_FLOAT32;
        t->rows[i].flags |= (t->variables[i]->tunable ? HIL_TUNABLE : 0u) | (real ? 0u : HIL_WHOLE);
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
                    const struct hil_settings *settings, const struct hil_said *said)
{
    *t = (struct fmu_tables){0};
    int rc = tables_make_set(&t->parameters, d, tables_is_parameter, said);
    if (!rc)
        rc = tables_make_set(&t->states, d, tables_is_state, said);
    if (!rc)
        rc = tables_make_signals(t, d, settings, said);
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
