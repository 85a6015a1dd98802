#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fmu_reader.h"

enum { DESCRIPTION_BYTES_MAX = 256 << 20 };

/* --- mistakes --------------------------------------------------------------------------------- */

static void description_wrong(void *reader, unsigned long line, unsigned long column,
                              const char *text)
{
    const struct description_reader *r = reader;

    hil_say(r->said, -EINVAL, "its modelDescription.xml:%lu:%lu: %s", line, column, text);
}

#define DESCRIPTION_WRONG(r, ...) HIL_XML_WRONG((r)->xml, __VA_ARGS__)

static void description_no_memory(struct description_reader *r)
{
    hil_xml_stop(r->xml, hil_say(r->said, -ENOMEM, "there is no memory for it"));
}

/* --- attributes ------------------------------------------------------------------------------- */

static const char *description_text(struct description_reader *r, const char **attributes,
                                    const char *name)
{
    const char *text = hil_xml_attribute(attributes, name);
    char *kept = text ? hil_pool_text(r->to->pool, text) : NULL;

    if (text && !kept)
        description_no_memory(r);
    return kept;
}

/* Like description_text(), for a required attribute. */
static const char *description_needed(struct description_reader *r, const char *element,
                                      const char **attributes, const char *name)
{
    const char *text = description_text(r, attributes, name);

    if (!text)
        DESCRIPTION_WRONG(r, "a %s has no %s", element, name);
    return text;
}

/* Reads an optional number. */
static bool description_number(struct description_reader *r, const char **attributes,
                               const char *name, double *number)
{
    const char *text = hil_xml_attribute(attributes, name);
    char *end;

    if (!text)
        return false;
    *number = strtod(text, &end);
    if (end == text || end[strspn(end, " \t\r\n")]) {
        DESCRIPTION_WRONG(r, "%s is '%.60s'; allowed: a number", name, text);
        return false;
    }
    return true;
}

static bool description_whole(struct description_reader *r, const char **attributes,
                              const char *name, uint64_t max, uint64_t *number)
{
    const char *text = hil_xml_attribute(attributes, name);
    char *end;

    if (!text)
        return false;
    errno = 0;
    *number = strtoull(text, &end, 10);
    if (end == text || *end || errno || text[0] == '-' || *number > max) {
        DESCRIPTION_WRONG(r, "%s is '%.60s'; allowed: a whole number", name, text);
        return false;
    }
    return true;
}

static bool description_true(const char **attributes, const char *name)
{
    const char *text = hil_xml_attribute(attributes, name);

    return text && (strcmp(text, "true") == 0 || strcmp(text, "1") == 0);
}

/* Room for one more item in a list. The pool keeps all earlier copies. */
static void *description_more(struct description_reader *r, void *list, unsigned count, size_t size)
{
    void *more = hil_pool_more(r->to->pool, list, count, size);

    if (!more)
        description_no_memory(r);
    return more;
}

/* --- the FMU ---------------------------------------------------------------------------------- */

/* "2.0" or "3.0", and later 3.x versions, which only add to it. */
static unsigned description_version(const char *text)
{
    if (strcmp(text, "2.0") == 0)
        return 2;
    return strncmp(text, "3.", 2) == 0 && text[2] && !text[2 + strspn(text + 2, "0123456789.")] ? 3
                                                                                                : 0;
}

static void description_root(struct description_reader *r, const char *element,
                             const char **attributes)
{
    if (strcmp(element, "fmiModelDescription") != 0) {
        DESCRIPTION_WRONG(r, "the element is %.60s; allowed: fmiModelDescription", element);
        return;
    }
    const char *version = description_needed(r, element, attributes, "fmiVersion");
    if (!version)
        return;
    r->to->version = description_version(version);
    if (!r->to->version) {
        DESCRIPTION_WRONG(r, "fmiVersion is '%.60s'; allowed: 2.0 or 3.0", version);
        return;
    }
    r->to->model_name = description_needed(r, element, attributes, "modelName");
    r->to->token = description_needed(r, element, attributes,
                                      r->to->version == 2 ? "guid" : "instantiationToken");
    r->to->description = description_text(r, attributes, "description");
    r->to->tool = description_text(r, attributes, "generationTool");
}

/* The identifier is used as a file name. The standard has a name in C; some tools write others. */
static void description_identifier(struct description_reader *r, const char *name)
{
    static const char in_c[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

    if (!*name || name[strspn(name, in_c)] == '\0')
        return;
    for (const char *c = name; *c; c++)
        if (*c < ' ' || *c > '~' || *c == '/') {
            DESCRIPTION_WRONG(r, "modelIdentifier is '%.60s'; allowed: a name in C", name);
            return;
        }
    hil_warn(r->to->warning, sizeof r->to->warning,
             "its modelIdentifier is %.60s, which is no name in C", name);
}

static void description_co_simulation(struct description_reader *r, const char **attributes)
{
    r->to->co_simulation = true;
    r->to->needs_tool = description_true(attributes, "needsExecutionTool");
    r->to->only_once = description_true(attributes, "canBeInstantiatedOnlyOncePerProcess");
    r->to->identifier = description_needed(r, "CoSimulation", attributes, "modelIdentifier");
    r->to->event_mode = description_true(attributes, "hasEventMode");
    description_number(r, attributes, "fixedInternalStepSize", &r->to->internal_step_s);
    if (r->to->identifier)
        description_identifier(r, r->to->identifier);
}

static void description_experiment(struct description_reader *r, const char **attributes)
{
    description_number(r, attributes, "tolerance", &r->to->tolerance);
    if (description_number(r, attributes, "startTime", &r->to->start_s) &&
        !isfinite(r->to->start_s))
        DESCRIPTION_WRONG(r, "startTime is %g; allowed: a finite number", r->to->start_s);
}

static void description_section(struct description_reader *r, const char *element,
                                const char **attributes)
{
    snprintf(r->section, sizeof r->section, "%s", element);
    if (strcmp(element, "CoSimulation") == 0)
        description_co_simulation(r, attributes);
    else if (strcmp(element, "ModelExchange") == 0 || strcmp(element, "ScheduledExecution") == 0)
        r->to->other_kind = true;
    else if (strcmp(element, "DefaultExperiment") == 0)
        description_experiment(r, attributes);
}

/* --- units and types -------------------------------------------------------------------------- */

static void description_unit(struct description_reader *r, const char **attributes)
{
    const char **list = description_more(r, r->units, r->unit_count, sizeof *r->units);
    const char *name = description_needed(r, "Unit", attributes, "name");

    if (!list || !name)
        return;
    r->units = list;
    r->units[r->unit_count++] = name;
}

/* NULL: a pure number, which some tools write as unit="". */
static const char *description_unit_of(struct description_reader *r, const char **attributes)
{
    const char *unit = description_text(r, attributes, "unit");

    return unit && *unit ? unit : NULL;
}

/* Attributes that both a type and a variable may have; in FMI 2.0 they are in a separate
 * element. */
static void description_type_details(struct description_reader *r, const char **attributes)
{
    struct description_type *t = &r->types[r->type_count - 1];

    t->unit = description_unit_of(r, attributes);
    t->has_min = description_number(r, attributes, "min", &t->min);
    t->has_max = description_number(r, attributes, "max", &t->max);
}

static void description_type(struct description_reader *r, const char *element,
                             const char **attributes)
{
    struct description_type *list = description_more(r, r->types, r->type_count, sizeof *r->types);
    const char *name = description_needed(r, element, attributes, "name");

    if (!list || !name)
        return;
    r->types = list;
    r->types[r->type_count++] = (struct description_type){.name = name};
    r->in_type = true;
    description_type_details(r, attributes);
}

/* An enumeration's range is from its least item to its greatest. */
static void description_item(struct description_reader *r, const char **attributes)
{
    struct description_type *t = &r->types[r->type_count - 1];
    const char *name = description_needed(r, "Item", attributes, "name");
    double value;
    char *items;

    if (!name || !description_number(r, attributes, "value", &value))
        return;
    t->min = !t->has_min || value < t->min ? value : t->min;
    t->max = !t->has_max || value > t->max ? value : t->max;
    t->has_min = t->has_max = true;
    if (asprintf(&items, "%s%s%.0f %.40s", t->items ? t->items : "", t->items ? ", " : "", value,
                 name) < 0) {
        description_no_memory(r);
        return;
    }
    if (strlen(items) < 200)
        t->items = hil_pool_text(r->to->pool, items);
    free(items);
}

/* --- variables -------------------------------------------------------------------------------- */

/* The type in the name of an element, with `more` after it: "Float64", "Float64Type". */
static bool description_type_named(unsigned version, const char *element, const char *more,
                                   enum fmu_type *type)
{
    static const struct {
        unsigned version;
        const char *name;
        enum fmu_type type;
    } names[] = {
        {2, "Real", FMU_FLOAT64},
        {2, "Integer", FMU_INT32},
        {2, "Boolean", FMU_BOOLEAN},
        {2, "String", FMU_STRING},
        {2, "Enumeration", FMU_ENUMERATION},
        {3, "Float64", FMU_FLOAT64},
        {3, "Float32", FMU_FLOAT32},
        {3, "Int8", FMU_INT8},
        {3, "UInt8", FMU_UINT8},
        {3, "Int16", FMU_INT16},
        {3, "UInt16", FMU_UINT16},
        {3, "Int32", FMU_INT32},
        {3, "UInt32", FMU_UINT32},
        {3, "Int64", FMU_INT64},
        {3, "UInt64", FMU_UINT64},
        {3, "Boolean", FMU_BOOLEAN},
        {3, "Enumeration", FMU_ENUMERATION},
        {3, "String", FMU_STRING},
        {3, "Binary", FMU_BINARY},
        {3, "Clock", FMU_CLOCK},
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const size_t length = strlen(names[i].name);
        if (names[i].version != version || strncmp(element, names[i].name, length) != 0 ||
            strcmp(element + length, more) != 0)
            continue;
        *type = names[i].type;
        return true;
    }
    return false;
}

static enum fmu_causality description_causality(const char *text)
{
    static const struct {
        const char *name;
        enum fmu_causality is;
    } names[] = {{"local", FMU_LOCAL},
                 {"parameter", FMU_PARAMETER},
                 {"input", FMU_INPUT},
                 {"output", FMU_OUTPUT},
                 {"structuralParameter", FMU_STRUCTURAL}};

    for (size_t i = 0; text && i < sizeof names / sizeof names[0]; i++)
        if (strcmp(text, names[i].name) == 0)
            return names[i].is;
    return text ? FMU_ELSE : FMU_LOCAL;
}

static bool description_is(const char **attributes, const char *name, const char *text)
{
    const char *found = hil_xml_attribute(attributes, name);

    return found && strcmp(found, text) == 0;
}

/* Attributes that FMI 2.0 has in a separate element. */
static void description_variable_details(struct description_reader *r, struct fmu_variable *v,
                                         const char **attributes)
{
    v->type_name = description_text(r, attributes, "declaredType");
    v->unit = description_unit_of(r, attributes);
    v->start = description_text(r, attributes, "start");
    v->has_min = description_number(r, attributes, "min", &v->min);
    v->has_max = description_number(r, attributes, "max", &v->max);
}

static void description_variable(struct description_reader *r, const char *element,
                                 const char **attributes)
{
    struct fmu_description *d = r->to;
    enum fmu_type type = FMU_FLOAT64; /* in FMI 2.0 another element has the type */
    uint64_t reference = 0;

    if (d->version == 2 ? strcmp(element, "ScalarVariable") != 0
                        : !description_type_named(3, element, "", &type)) {
        DESCRIPTION_WRONG(r, "there is no type of variable '%.60s' in FMI %u.0", element,
                          d->version);
        return;
    }
    struct fmu_variable *list =
        description_more(r, d->variables, d->variable_count, sizeof *d->variables);
    const char *name = description_needed(r, element, attributes, "name");
    if (!list || !name)
        return;
    d->variables = list;
    if (!description_whole(r, attributes, "valueReference", UINT32_MAX, &reference)) {
        DESCRIPTION_WRONG(r, "the variable '%.60s' has no valueReference", name);
        return;
    }
    struct fmu_variable *v = &d->variables[d->variable_count++];
    *v = (struct fmu_variable){
        .name = name,
        .description = description_text(r, attributes, "description"),
        .reference = (uint32_t)reference,
        .type = type,
        .causality = description_causality(hil_xml_attribute(attributes, "causality")),
        .tunable = description_is(attributes, "variability", "tunable"),
        .exact = description_is(attributes, "initial", "exact") &&
                 !description_is(attributes, "variability", "constant"),
        .clocked = hil_xml_attribute(attributes, "clocks") != NULL,
        .line = hil_xml_line(r->xml),
        .column = hil_xml_column(r->xml),
    };
    r->in_variable = true;
    if (d->version == 3)
        description_variable_details(r, v, attributes);
}

static void description_dimension(struct description_reader *r, struct fmu_variable *v,
                                  const char **attributes)
{
    struct fmu_dimension dimension = {0};

    if (v->dimension_count == FMU_DIMENSIONS_MAX) {
        DESCRIPTION_WRONG(r, "'%.60s' has too many dimensions; allowed: up to %d", v->name,
                          FMU_DIMENSIONS_MAX);
        return;
    }
    dimension.by_reference =
        description_whole(r, attributes, "valueReference", UINT32_MAX, &dimension.size);
    if (!dimension.by_reference &&
        !description_whole(r, attributes, "start", UINT32_MAX, &dimension.size))
        DESCRIPTION_WRONG(r, "a dimension of '%.60s' has no size", v->name);
    v->dimensions[v->dimension_count++] = dimension;
}

static void description_in_variable(struct description_reader *r, const char *element,
                                    const char **attributes)
{
    struct fmu_variable *v = &r->to->variables[r->to->variable_count - 1];

    if (r->to->version == 2 && description_type_named(2, element, "", &v->type))
        description_variable_details(r, v, attributes);
    else if (r->to->version == 3 && strcmp(element, "Dimension") == 0)
        description_dimension(r, v, attributes);
    else if (r->to->version == 3 && strcmp(element, "Start") == 0 && !v->start)
        v->start = description_text(r, attributes, "value");
}

/* --- the tree --------------------------------------------------------------------------------- */

static bool description_in(const struct description_reader *r, const char *section)
{
    return strcmp(r->section, section) == 0;
}

static void description_below_section(struct description_reader *r, const char *element,
                                      const char **attributes)
{
    enum fmu_type type;

    r->in_variable = r->in_type = false;
    if (description_in(r, "ModelVariables"))
        description_variable(r, element, attributes);
    else if (description_in(r, "UnitDefinitions") && strcmp(element, "Unit") == 0)
        description_unit(r, attributes);
    else if (description_in(r, "TypeDefinitions") &&
             (strcmp(element, "SimpleType") == 0 ||
              description_type_named(3, element, "Type", &type)))
        description_type(r, element, attributes);
}

static void description_begins(void *reader, unsigned depth, const char *element,
                               const char **attributes)
{
    struct description_reader *r = reader;
    enum fmu_type type;

    if (depth == 0)
        description_root(r, element, attributes);
    else if (depth == 1)
        description_section(r, element, attributes);
    else if (depth == 2)
        description_below_section(r, element, attributes);
    else if (depth == 3 && r->in_variable)
        description_in_variable(r, element, attributes);
    else if (r->in_type && strcmp(element, "Item") == 0)
        description_item(r, attributes);
    else if (depth == 3 && r->in_type && description_type_named(2, element, "", &type))
        description_type_details(r, attributes);
}

static void description_ends(void *reader, unsigned depth)
{
    struct description_reader *r = reader;

    if (depth == 2)
        r->in_variable = r->in_type = false;
    if (depth == 1)
        r->section[0] = '\0';
}

/* --- the file --------------------------------------------------------------------------------- */

static int description_parse(struct description_reader *r, const char *path)
{
    const int file = hil_xml_open_file(path, DESCRIPTION_BYTES_MAX, true);

    if (file == -EFBIG)
        return hil_say(r->said, -EINVAL, "its modelDescription.xml is not a file of at most %d MiB",
                       DESCRIPTION_BYTES_MAX >> 20);
    if (file < 0)
        return hil_say(r->said, -EINVAL, "it has no modelDescription.xml (%s); allowed: an FMU",
                       strerror(-file));
    const int rc = hil_xml_read(r->xml, file);
    close(file);
    if (rc && rc != -EINVAL && rc != -ENOMEM) /* those have been reported */
        hil_say(r->said, rc, "its modelDescription.xml cannot be read (%s)", strerror(-rc));
    return rc ? rc : fmu_resolve(r);
}

int fmu_description_read(struct fmu_description *to, const char *path,
                         const struct hil_settings *settings, const struct hil_said *said)
{
    *to = (struct fmu_description){.pool = hil_pool_open()};
    struct description_reader r = {.to = to, .settings = settings, .said = said};
    const struct hil_xml_reader reader = {.begins = description_begins,
                                          .ends = description_ends,
                                          .wrong = description_wrong,
                                          .arg = &r};

    r.xml = hil_xml_open(&reader);
    int rc = to->pool && r.xml ? description_parse(&r, path)
                               : hil_say(said, -ENOMEM, "there is no memory for it");
    if (!rc && !to->co_simulation)
        rc = hil_say(said, -EINVAL, "%s; allowed: an FMU for co-simulation",
                     to->other_kind ? "it is for model exchange or scheduled execution only"
                                    : "its modelDescription.xml has no CoSimulation");
    hil_xml_close(r.xml);
    return rc;
}

void fmu_description_free(struct fmu_description *d)
{
    hil_names_close(&d->names);
    if (d->pool)
        hil_pool_close(d->pool);
    *d = (struct fmu_description){0};
}
