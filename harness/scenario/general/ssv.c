#include "ssv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../base/names.h"
#include "../../base/pool.h"
#include "../../base/xml.h"
#include "../yaml/scenario_check.h"

enum { SSV_BYTES_MAX = 64 << 20 };

/* Elements by their whole names. SSP 2.0 uses the namespaces of 1.0. */
#define SSP "http://ssp-standard.org/SSP1/SystemStructure"
static const char ssv_values[] = SSP "ParameterValues ", ssv_common[] = SSP "Common ";

/* The units and enumerations declared in a file. */
struct ssv_unit {
    const char *name;
    struct hil_unit is;
};

struct ssv_item {
    const char *enumeration, *name;
    const char *both; /* "ENUMERATION\nNAME" */
    double value;
};

/* The names of what a file declares, so that each parameter finds its own at once. */
struct ssv_names {
    struct hil_names parameters, units, enumerations, items;
};

struct ssv_reader {
    struct hil_xml *xml;
    struct ssv *to;
    const char *path;
    struct scenario_report *report;
    char section[16]; /* the element below the root that it is in */
    struct ssv_unit *units;
    struct ssv_item *items;
    const char **enumerations;              /* by parameter of this file: the enumeration to which
                                             * it refers */
    unsigned unit_count, item_count, first; /* index of this file's first parameter */
    const char *name;                       /* name of the current parameter, unit or enumeration */
    bool in_parameter, has_value;
};

/* --- mistakes ------------------------------------------------------------------------------ */

static void ssv_wrong(void *reader, unsigned long line, unsigned long column, const char *text)
{
    const struct ssv_reader *r = reader;
    const struct scenario_place at = {.file = r->path, .line = line, .column = column};

    scenario_mistake(r->report, &at, "%s", text);
}

#define SSV_WRONG(r, ...) HIL_XML_WRONG((r)->xml, __VA_ARGS__)

static struct scenario_place ssv_here(const struct ssv_reader *r)
{
    return (struct scenario_place){
        .file = r->path, .line = hil_xml_line(r->xml), .column = hil_xml_column(r->xml)};
}

static const char *ssv_keep(struct ssv_reader *r, const char *text)
{
    const char *kept = text ? hil_pool_text(r->to->pool, text) : NULL;

    if (text && !kept)
        hil_xml_stop(r->xml, -ENOMEM);
    return kept;
}

/* A required attribute. */
static const char *ssv_needed(struct ssv_reader *r, const char *element, const char **attributes,
                              const char *name)
{
    const char *text = hil_xml_attribute(attributes, name);

    if (text)
        return ssv_keep(r, text);
    SSV_WRONG(r, "a %s has no %s; required: one", element, name);
    return NULL;
}

/* Reads an optional number. */
static void ssv_take(struct ssv_reader *r, const char **attributes, const char *name,
                     double *number)
{
    const char *text = hil_xml_attribute(attributes, name);

    if (text && !scenario_is_number(text))
        SSV_WRONG(r, "%s is '%.60s'; allowed: a number", name, text);
    else if (text)
        *number = strtod(text, NULL);
}

/* --- parameters ---------------------------------------------------------------------------- */

static const struct {
    const char *name;
    enum ssv_type type;
} ssv_types[] = {
    {"Real", SSV_REAL},
    {"Integer", SSV_INTEGER},
    {"Boolean", SSV_BOOLEAN},
    {"String", SSV_STRING},
    {"Enumeration", SSV_ENUMERATION}, /* only 2.0: */
    {"Float64", SSV_REAL},
    {"Float32", SSV_REAL},
    {"Int8", SSV_INTEGER},
    {"UInt8", SSV_INTEGER},
    {"Int16", SSV_INTEGER},
    {"UInt16", SSV_INTEGER},
    {"Int32", SSV_INTEGER},
    {"UInt32", SSV_INTEGER},
    {"Int64", SSV_INTEGER},
    {"UInt64", SSV_INTEGER},
};

static bool ssv_type_named(const char *element, enum ssv_type *type)
{
    for (size_t i = 0; i < sizeof ssv_types / sizeof ssv_types[0]; i++) {
        *type = ssv_types[i].type;
        if (strcmp(ssv_types[i].name, element) == 0)
            return true;
    }
    return false;
}

static bool ssv_is_whole(const char *text)
{
    text += *text == '+' || *text == '-';
    return *text && text[strspn(text, "0123456789")] == '\0';
}

/* Removes blanks around a number, which XML allows. */
static char *ssv_trim(char *text)
{
    size_t length;

    text += strspn(text, " ");
    length = strlen(text);
    while (length && text[length - 1] == ' ')
        text[--length] = '\0';
    return text;
}

/* Reading continues after a mistake in a value, because there may be others. */
static void ssv_read_value(struct ssv_reader *r, struct ssv_parameter *p, char *text)
{
    const bool truth = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
    const char *allowed = NULL;

    p->text = p->type == SSV_STRING || p->type == SSV_ENUMERATION ? text : ssv_trim(text);
    p->is_number = p->type != SSV_STRING && p->type != SSV_ENUMERATION;
    if (p->type == SSV_REAL && !scenario_is_number(p->text))
        allowed = "a number";
    else if (p->type == SSV_INTEGER && !ssv_is_whole(p->text))
        allowed = "a whole number";
    else if (p->type == SSV_BOOLEAN && !truth && strcmp(p->text, "false") && strcmp(p->text, "0"))
        allowed = "true or false";
    if (allowed)
        scenario_mistake(r->report, &p->at, "%.100s is '%.60s'; allowed: %s", p->name, text,
                         allowed);
    else if (p->is_number)
        p->number = p->type == SSV_BOOLEAN ? truth : strtod(p->text, NULL);
}

static void ssv_value(struct ssv_reader *r, const char *element, const char **attributes)
{
    struct ssv_parameter *list =
        hil_pool_more(r->to->pool, r->to->at, r->to->count, sizeof *r->to->at);
    const char **enumerations = hil_pool_more(r->to->pool, r->enumerations, r->to->count - r->first,
                                              sizeof *r->enumerations);
    enum ssv_type type;

    if (!list || !enumerations) {
        hil_xml_stop(r->xml, -ENOMEM);
        return;
    }
    r->to->at = list;
    r->enumerations = enumerations;
    if (!ssv_type_named(element, &type)) {
        SSV_WRONG(r,
                  "the value of %.60s is a %.60s; allowed: Real, Integer, Boolean, String, "
                  "Enumeration",
                  r->name, element);
        return;
    }
    if (r->has_value) {
        SSV_WRONG(r, "%.60s has a second value; allowed: one", r->name);
        return;
    }
    const char *text = ssv_needed(r, element, attributes, "value");
    const char *unit = hil_xml_attribute(attributes, "unit");
    if (!text)
        return;
    r->has_value = true;
    enumerations[r->to->count - r->first] = ssv_keep(r, hil_xml_attribute(attributes, "name"));
    struct ssv_parameter *p = &list[r->to->count++];
    *p = (struct ssv_parameter){.name = r->name,
                                .type = type,
                                .unit_name = unit && *unit ? ssv_keep(r, unit) : NULL,
                                .at = ssv_here(r)};
    ssv_read_value(r, p, (char *)text);
}

/* --- units and enumerations ---------------------------------------------------------------- */

static void ssv_base_unit(struct ssv_reader *r, const char **attributes)
{
    struct ssv_unit *list = hil_pool_more(r->to->pool, r->units, r->unit_count, sizeof *r->units);

    if (!list) {
        hil_xml_stop(r->xml, -ENOMEM);
        return;
    }
    r->units = list;
    struct ssv_unit *u = &list[r->unit_count++];
    *u = (struct ssv_unit){.name = r->name, .is = {.factor = 1}};
    for (unsigned i = 0; i < HIL_BASES; i++) {
        double exponent = 0;
        ssv_take(r, attributes, hil_unit_bases[i], &exponent);
        u->is.exponents[i] = exponent > -100 && exponent < 100 ? (int)exponent : 0;
        if (u->is.exponents[i] != exponent)
            SSV_WRONG(r, "%s is %g; allowed: a small whole number", hil_unit_bases[i], exponent);
    }
    ssv_take(r, attributes, "factor", &u->is.factor);
    ssv_take(r, attributes, "offset", &u->is.offset);
    if (u->is.factor == 0)
        SSV_WRONG(r, "factor is 0; allowed: any other number");
}

/* No name in a file has a newline: XML makes it a blank. */
static const char *ssv_both(struct ssv_reader *r, const char *enumeration, const char *name)
{
    const size_t size = strlen(enumeration) + strlen(name) + 2;
    char *both = hil_pool_get(r->to->pool, size, 1);

    if (both)
        snprintf(both, size, "%s\n%s", enumeration, name);
    else
        hil_xml_stop(r->xml, -ENOMEM);
    return both;
}

static void ssv_item(struct ssv_reader *r, const char **attributes)
{
    struct ssv_item *list = hil_pool_more(r->to->pool, r->items, r->item_count, sizeof *r->items);
    const char *name = ssv_needed(r, "Item", attributes, "name");

    if (!list)
        hil_xml_stop(r->xml, -ENOMEM);
    const char *both = name ? ssv_both(r, r->name, name) : NULL;
    if (!list || !both || !ssv_needed(r, "Item", attributes, "value"))
        return;
    r->items = list;
    list[r->item_count] = (struct ssv_item){.enumeration = r->name, .name = name, .both = both};
    ssv_take(r, attributes, "value", &list[r->item_count++].value);
}

/* --- the tree ------------------------------------------------------------------------------ */

/* The element's name without the namespace, if it has this namespace. */
static const char *ssv_own(const char *element, const char *space)
{
    const size_t length = strlen(space);

    return strncmp(element, space, length) == 0 ? element + length : NULL;
}

static bool ssv_is(const char *name, const char *expected)
{
    return name && strcmp(name, expected) == 0;
}

static void ssv_root(struct ssv_reader *r, const char *element, const char **attributes)
{
    const char *version = hil_xml_attribute(attributes, "version");

    if (!ssv_is(ssv_own(element, ssv_values), "ParameterSet"))
        SSV_WRONG(r, "the element is %.120s; allowed: a ParameterSet of SSP", element);
    else if (!version || (strncmp(version, "1.", 2) != 0 && strncmp(version, "2.", 2) != 0))
        SSV_WRONG(r, "version is '%.60s'; allowed: 1.0 or 2.0", version ? version : "");
}

static void ssv_below_section(struct ssv_reader *r, const char *values, const char *common,
                              const char **attributes)
{
    r->in_parameter = r->has_value = false;
    r->name = NULL;
    if (values && strcmp(r->section, "Parameters") == 0) {
        if (strcmp(values, "Parameter") != 0) {
            SSV_WRONG(r, "there is a %.60s in Parameters; allowed: Parameter", values);
            return;
        }
        r->in_parameter = true;
        r->name = ssv_needed(r, values, attributes, "name");
    } else if ((strcmp(r->section, "Units") == 0 && ssv_is(common, "Unit")) ||
               (strcmp(r->section, "Enumerations") == 0 && ssv_is(common, "Enumeration"))) {
        r->name = ssv_needed(r, common, attributes, "name");
    }
}

static void ssv_begins(void *reader, unsigned depth, const char *element, const char **attributes)
{
    struct ssv_reader *r = reader;
    const char *values = ssv_own(element, ssv_values), *common = ssv_own(element, ssv_common);

    if (depth == 0)
        ssv_root(r, element, attributes);
    else if (depth == 1)
        snprintf(r->section, sizeof r->section, "%s", values ? values : "");
    else if (depth == 2)
        ssv_below_section(r, values, common, attributes);
    else if (depth == 3 && r->in_parameter && values)
        ssv_value(r, values, attributes);
    else if (depth == 3 && r->name && ssv_is(common, "BaseUnit"))
        ssv_base_unit(r, attributes);
    else if (depth == 3 && r->name && ssv_is(common, "Item"))
        ssv_item(r, attributes);
}

static void ssv_ends(void *reader, unsigned depth)
{
    struct ssv_reader *r = reader;

    if (depth != 2)
        return;
    if (r->in_parameter && !r->has_value)
        SSV_WRONG(r, "%.100s has no value; required: one", r->name);
    r->in_parameter = false;
    r->name = NULL;
}

/* --- references ---------------------------------------------------------------------------- */

static void ssv_resolve_unit(const struct ssv_reader *r, const struct ssv_names *names,
                             struct ssv_parameter *p)
{
    const int i = hil_names_find(&names->units, p->unit_name, strlen(p->unit_name));

    if (i >= 0)
        p->unit = r->units[i].is;
    p->unit_known = i >= 0 || hil_unit_read(&p->unit, p->unit_name);
}

static void ssv_wrong_item(const struct ssv_reader *r, const struct ssv_parameter *p,
                           const char *enumeration)
{
    const char *names[32];
    char choice[SCENARIO_CHOICE_BYTES];
    unsigned count = 0;

    for (unsigned i = 0; i < r->item_count && count < sizeof names / sizeof names[0]; i++)
        if (strcmp(r->items[i].enumeration, enumeration) == 0)
            names[count++] = r->items[i].name;
    scenario_say_choice(p->text, names, count, choice);
    scenario_mistake(r->report, &p->at, "%.100s is '%.60s', which %.60s has not%s", p->name,
                     p->text, enumeration, choice);
}

/* If the enumeration has no number for the item, the model may know it: then it is not a number. */
static int ssv_resolve_item(struct ssv_reader *r, const struct ssv_names *names,
                            struct ssv_parameter *p, const char *enumeration)
{
    const char *both = ssv_both(r, enumeration, p->text);
    const int i = both ? hil_names_find(&names->items, both, strlen(both)) : -1;

    if (!both)
        return -ENOMEM;
    if (i >= 0) {
        p->number = r->items[i].value;
        p->is_number = true;
    } else if (hil_names_find(&names->enumerations, enumeration, strlen(enumeration)) >= 0) {
        ssv_wrong_item(r, p, enumeration);
    }
    return 0;
}

static void ssv_names_close(struct ssv_names *names)
{
    hil_names_close(&names->parameters);
    hil_names_close(&names->units);
    hil_names_close(&names->enumerations);
    hil_names_close(&names->items);
}

static int ssv_names_open(struct ssv_names *names, const struct ssv_reader *r)
{
    *names = (struct ssv_names){0};
    if (hil_names_open(&names->parameters, r->to->count - r->first) ||
        hil_names_open(&names->units, r->unit_count) ||
        hil_names_open(&names->enumerations, r->item_count) ||
        hil_names_open(&names->items, r->item_count)) {
        ssv_names_close(names);
        return -ENOMEM;
    }
    for (unsigned i = 0; i < r->unit_count; i++)
        hil_names_add(&names->units, r->units[i].name, i);
    for (unsigned i = 0; i < r->item_count; i++) {
        hil_names_add(&names->enumerations, r->items[i].enumeration, i);
        hil_names_add(&names->items, r->items[i].both, i);
    }
    return 0;
}

static int ssv_resolve(struct ssv_reader *r)
{
    struct ssv_names names;
    int rc = ssv_names_open(&names, r);

    for (unsigned i = r->first; !rc && i < r->to->count && !scenario_report_is_full(r->report);
         i++) {
        struct ssv_parameter *p = &r->to->at[i];
        const char *enumeration = r->enumerations[i - r->first];
        const int before = hil_names_add(&names.parameters, p->name, i);
        if (before >= 0)
            scenario_mistake(r->report, &p->at,
                             "%.100s is given a second time, after line %zu; allowed: once",
                             p->name, r->to->at[before].at.line);
        if (p->unit_name)
            ssv_resolve_unit(r, &names, p);
        if (p->type == SSV_ENUMERATION && enumeration)
            rc = ssv_resolve_item(r, &names, p, enumeration);
    }
    ssv_names_close(&names);
    return rc;
}

/* --- files --------------------------------------------------------------------------------- */

static int ssv_read_from(struct ssv_reader *r, int file)
{
    const struct hil_xml_reader reader = {
        .namespaces = true, .begins = ssv_begins, .ends = ssv_ends, .wrong = ssv_wrong, .arg = r};

    r->xml = hil_xml_open(&reader);
    int rc = r->xml ? hil_xml_read(r->xml, file) : -ENOMEM;
    if (!rc)
        rc = ssv_resolve(r);
    hil_xml_close(r->xml);
    return rc;
}

static int ssv_read(struct ssv *to, const char *path, struct scenario_report *report)
{
    struct ssv_reader r = {.to = to, .path = path, .report = report, .first = to->count};
    const unsigned before = report->mistakes;
    const int file = hil_xml_open_file(path, SSV_BYTES_MAX, false);
    int rc = file;

    if (file >= 0) {
        rc = ssv_read_from(&r, file);
        close(file);
    }
    if (rc && rc != -ENOMEM && report->mistakes == before)
        scenario_mistake(report, &(struct scenario_place){.file = path, .line = 1, .column = 1},
                         "it cannot be read (%s); allowed: a file of parameters, up to %d MiB",
                         strerror(-rc), SSV_BYTES_MAX >> 20);
    if (rc == -ENOMEM)
        return rc;
    return report->mistakes > before ? -EINVAL : 0;
}

int ssv_open(struct ssv *ssv, const char *const *paths, size_t count,
             struct scenario_report *report)
{
    *ssv = (struct ssv){.pool = hil_pool_open()};
    int rc = ssv->pool ? 0 : -ENOMEM;

    for (size_t i = 0; i < count && rc != -ENOMEM; i++) {
        const int one = ssv_read(ssv, paths[i], report);
        rc = one ? one : rc;
    }
    return rc;
}

void ssv_close(struct ssv *ssv)
{
    if (ssv->pool)
        hil_pool_close(ssv->pool);
    *ssv = (struct ssv){0};
}
