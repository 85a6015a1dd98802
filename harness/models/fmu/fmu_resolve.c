#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmu_reader.h"

/* What variables refer to, by name and by value reference. */
struct resolver {
    struct description_reader *reader;
    struct hil_names types, units;
    struct fmu_variable **structural; /* ordered by value reference, then as in the file */
    unsigned structural_count;
};

/* --- tables of names -------------------------------------------------------------------------- */

static int resolve_names(struct resolver *r)
{
    const struct description_reader *from = r->reader;
    struct fmu_description *d = from->to;

    if (hil_names_open(&r->types, from->type_count) ||
        hil_names_open(&r->units, from->unit_count) || hil_names_open(&d->names, d->variable_count))
        return -ENOMEM;
    for (unsigned i = 0; i < from->type_count; i++)
        hil_names_add(&r->types, from->types[i].name, i);
    for (unsigned i = 0; i < from->unit_count; i++)
        hil_names_add(&r->units, from->units[i], i);
    for (unsigned i = 0; i < d->variable_count; i++)
        hil_names_add(&d->names, d->variables[i].name, i);
    return 0;
}

static int resolve_compare(const void *one, const void *other)
{
    const struct fmu_variable *a = *(struct fmu_variable *const *)one;
    const struct fmu_variable *b = *(struct fmu_variable *const *)other;

    return a->reference != b->reference
               ? (a->reference > b->reference) - (a->reference < b->reference)
               : (a > b) - (a < b);
}

static int resolve_list_structural(struct resolver *r)
{
    struct fmu_description *d = r->reader->to;

    r->structural = hil_pool_get(d->pool, d->variable_count, sizeof *r->structural);
    if (!r->structural)
        return -ENOMEM;
    for (unsigned i = 0; i < d->variable_count; i++)
        if (d->variables[i].causality == FMU_STRUCTURAL)
            r->structural[r->structural_count++] = &d->variables[i];
    if (r->structural_count)
        qsort(r->structural, r->structural_count, sizeof *r->structural, resolve_compare);
    return 0;
}

/* The first structural parameter with this value reference; NULL: there is none. */
static struct fmu_variable *resolve_find_structural(const struct resolver *r, uint64_t reference)
{
    unsigned low = 0, high = r->structural_count;

    while (low < high) {
        const unsigned middle = low + (high - low) / 2;
        if (r->structural[middle]->reference < reference)
            low = middle + 1;
        else
            high = middle;
    }
    return low < r->structural_count && r->structural[low]->reference == reference
               ? r->structural[low]
               : NULL;
}

/* --- settings --------------------------------------------------------------------------------- */

bool fmu_is_structural(const struct fmu_variable *v)
{
    return v->causality == FMU_STRUCTURAL && v->dimension_count == 0 && v->type >= FMU_INT8 &&
           v->type <= FMU_UINT64;
}

static void resolve_settings(const struct description_reader *reader)
{
    for (unsigned i = 0; reader->settings && i < reader->settings->count; i++) {
        const struct hil_setting *s = &reader->settings->at[i];
        struct fmu_variable *v = fmu_variable_named(reader->to, s->key);
        if (v && strcmp(s->key, HIL_SETTING_SIGNAL) != 0)
            v->setting = s->text;
    }
}

/* The limits of a range need not be whole, or given. */
static bool resolve_in_range(const struct fmu_variable *v, uint64_t value)
{
    return (!v->has_min || (double)value >= v->min) && (!v->has_max || (double)value <= v->max);
}

/* Reads the value of a structural parameter: from the settings, or else the start value, which may
 * be wrong if nothing needs it. */
static int resolve_structural(const struct description_reader *reader, struct fmu_variable *v)
{
    const char *setting = fmu_is_structural(v) ? v->setting : NULL;
    const char *text = setting ? setting : v->start ? v->start : "";
    char *end;

    errno = 0;
    v->value = strtoull(text, &end, 10);
    v->has_value = end != text && !*end && !errno && text[0] != '-' &&
                   (!setting || resolve_in_range(v, v->value));
    if (v->has_value || !setting)
        return 0;
    hil_xml_stop(reader->xml,
                 hil_say(reader->said, -EINVAL,
                         "its setting %.80s is '%.60s'; allowed: a whole number, %.0f to %.0f",
                         v->name, text, v->has_min ? v->min : 0,
                         v->has_max ? v->max : (double)UINT32_MAX));
    return -EINVAL;
}

/* --- one variable ----------------------------------------------------------------------------- */

/* Mistakes of variables that are not offered do not count, because tools are careless there. */
static bool resolve_is_used(const struct fmu_variable *v)
{
    return v->exact || v->causality == FMU_PARAMETER || v->causality == FMU_INPUT ||
           v->causality == FMU_OUTPUT;
}

#define RESOLVE_WRONG(r, v, ...)                                                                   \
    (resolve_is_used(v) ? hil_xml_wrong_at((r)->reader->xml, (v)->line, (v)->column, __VA_ARGS__)  \
                        : 0)

static int resolve_type(const struct resolver *r, struct fmu_variable *v)
{
    const int at =
        v->type_name ? hil_names_find(&r->types, v->type_name, strlen(v->type_name)) : -1;

    if (at < 0)
        return v->type_name ? RESOLVE_WRONG(r, v,
                                            "'%.60s' is of the type %.60s, but there is no such "
                                            "type; allowed: those of TypeDefinitions",
                                            v->name, v->type_name)
                            : 0;
    const struct description_type *t = &r->reader->types[at];
    v->unit = v->unit ? v->unit : t->unit;
    v->items = t->items;
    if (!v->has_min && t->has_min)
        v->min = t->min;
    if (!v->has_max && t->has_max)
        v->max = t->max;
    v->has_min |= t->has_min;
    v->has_max |= t->has_max;
    return 0;
}

static int resolve_unit(const struct resolver *r, struct fmu_variable *v)
{
    if (!v->unit || hil_names_find(&r->units, v->unit, strlen(v->unit)) >= 0)
        return 0;
    const char *unit = v->unit;
    v->unit = NULL;
    return RESOLVE_WRONG(r, v,
                         "'%.60s' is in %.60s, but there is no such unit; allowed: those of "
                         "UnitDefinitions",
                         v->name, unit);
}

static int resolve_extent(const struct resolver *r, struct fmu_variable *v,
                          const struct fmu_dimension *dimension, uint64_t *extent)
{
    *extent = dimension->size;
    if (!dimension->by_reference)
        return 0;
    const struct fmu_variable *size = resolve_find_structural(r, dimension->size);
    *extent = size && size->has_value ? size->value : 0;
    if (!size)
        return RESOLVE_WRONG(r, v,
                             "a dimension of '%.60s' is variable %llu, which is no structural "
                             "parameter",
                             v->name, (unsigned long long)dimension->size);
    if (!size->has_value)
        return RESOLVE_WRONG(r, v,
                             "the start value of '%.60s', a dimension of '%.60s', is '%.60s'; "
                             "allowed: a whole number",
                             size->name, v->name, size->start ? size->start : "");
    v->resized |= fmu_is_structural(size) && size->setting;
    return 0;
}

static int resolve_size(const struct resolver *r, struct fmu_variable *v)
{
    int rc = 0;

    v->size = 1;
    for (unsigned i = 0; !rc && i < v->dimension_count; i++) {
        rc = resolve_extent(r, v, &v->dimensions[i], &v->extents[i]);
        if (__builtin_mul_overflow(v->size, v->extents[i], &v->size))
            v->size = UINT64_MAX;
    }
    return rc;
}

/* --- all of them ------------------------------------------------------------------------------ */

static int resolve_all(struct resolver *r)
{
    struct fmu_description *d = r->reader->to;
    int rc = 0;

    if (resolve_names(r) || resolve_list_structural(r))
        return hil_say_no_memory(r->reader->said);
    resolve_settings(r->reader);
    for (unsigned i = 0; !rc && i < r->structural_count; i++)
        rc = resolve_structural(r->reader, r->structural[i]);
    for (unsigned i = 0; !rc && i < d->variable_count; i++) {
        struct fmu_variable *v = &d->variables[i];
        rc = resolve_type(r, v);
        if (!rc)
            rc = resolve_unit(r, v);
        if (!rc)
            rc = resolve_size(r, v);
    }
    return rc;
}

int fmu_resolve(struct description_reader *reader)
{
    struct resolver r = {.reader = reader};
    const int rc = resolve_all(&r);

    hil_names_close(&r.types);
    hil_names_close(&r.units);
    return rc;
}

struct fmu_variable *fmu_variable_named(const struct fmu_description *d, const char *name)
{
    const int at = hil_names_find(&d->names, name, strlen(name));

    return at < 0 ? NULL : &d->variables[at];
}
