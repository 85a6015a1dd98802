#include "description.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/units.h"
#include "../../base/version.h"

/* --- text ----------------------------------------------------------------------------------- */

static void xml_text(FILE *to, const char *text)
{
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '&')
            fputs("&amp;", to);
        else if (c == '<')
            fputs("&lt;", to);
        else if (c == '"')
            fputs("&quot;", to);
        else
            fputc(c < ' ' ? ' ' : c, to);
    }
}

static void xml_attribute(FILE *to, const char *name, const char *value)
{
    fprintf(to, " %s=\"", name);
    xml_text(to, value);
    fputc('"', to);
}

/* With enough digits that the same number is read back. */
static void xml_number(FILE *to, double value)
{
    char text[40];

    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    fputs(text, to);
}

static void xml_number_attribute(FILE *to, const char *name, double value)
{
    fprintf(to, " %s=\"", name);
    xml_number(to, value);
    fputc('"', to);
}

static const char *truth(bool value)
{
    return value ? "true" : "false";
}

/* --- units ---------------------------------------------------------------------------------- */

static bool unit_was_before(const struct hil_fmu_variables *v, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++)
        if (strcmp(v->at[k].quantity->unit, v->at[i].quantity->unit) == 0)
            return true;
    return false;
}

static void describe_base_unit(FILE *to, const struct hil_unit *unit)
{
    fputs("<BaseUnit", to);
    for (unsigned i = 0; i < HIL_BASES; i++)
        if (unit->exponents[i])
            fprintf(to, " %s=\"%d\"", hil_unit_bases[i], unit->exponents[i]);
    if (unit->factor != 1)
        xml_number_attribute(to, "factor", unit->factor);
    if (unit->offset != 0)
        xml_number_attribute(to, "offset", unit->offset);
    fputs("/>", to);
}

/* There is at least the unit of time. */
static void describe_units(FILE *to, const struct hil_fmu_variables *v)
{
    fputs("  <UnitDefinitions>\n", to);
    for (uint32_t i = 0; i < v->count; i++) {
        const char *name = v->at[i].quantity->unit;
        struct hil_unit unit;
        if (!*name || unit_was_before(v, i))
            continue;
        fputs("    <Unit", to);
        xml_attribute(to, "name", name);
        fputc('>', to);
        if (hil_unit_read(&unit, name))
            describe_base_unit(to, &unit);
        fputs("</Unit>\n", to);
    }
    fputs("  </UnitDefinitions>\n", to);
}

/* --- variables ------------------------------------------------------------------------------ */

static const char *causality(const struct hil_fmu_variable *v)
{
    static const char *const names[HIL_FMU_ROLES] = {"independent", "parameter", "parameter",
                                                     "parameter",   "input",     "output"};

    return names[v->role];
}

static const char *variability(const struct hil_model *model, const struct hil_fmu_variable *v)
{
    switch (v->role) {
    case HIL_FMU_TIME:
        return "continuous";
    case HIL_FMU_INPUT:
    case HIL_FMU_OUTPUT:
        return model->kind == HIL_CONTINUOUS ? "continuous" : "discrete";
    default:
        return hil_fmu_is_tunable(v) ? "tunable" : "fixed";
    }
}

/* Limits a whole number to the range of an Int32. */
static double in_range(const struct hil_fmu_variable *v, double value)
{
    return hil_fmu_is_whole(v) ? fmin(fmax(value, INT32_MIN), INT32_MAX) : value;
}

static void describe_range(FILE *to, const struct hil_fmu_variable *v)
{
    if (v->role == HIL_FMU_OUTPUT)
        return;
    if (isfinite(v->quantity->min))
        xml_number_attribute(to, "min", in_range(v, v->quantity->min));
    if (isfinite(v->quantity->max))
        xml_number_attribute(to, "max", in_range(v, v->quantity->max));
}

static void describe_start(FILE *to, const struct hil_fmu_description *d,
                           const struct hil_fmu_variable *v)
{
    if (v->role == HIL_FMU_TIME || v->role == HIL_FMU_OUTPUT)
        return;
    const double value =
        v->role == HIL_FMU_STEP_SIZE ? (double)d->label->period_ns * 1e-9 : v->quantity->value;
    fputs(" start=\"", to);
    for (uint32_t k = 0; k < v->count; k++) {
        fputs(k ? " " : "", to);
        xml_number(to, in_range(v, value));
    }
    fputc('"', to);
}

static void describe_type(FILE *to, const struct hil_fmu_description *d,
                          const struct hil_fmu_variable *v)
{
    if (!hil_fmu_is_whole(v) && v->quantity->unit[0])
        xml_attribute(to, "unit", v->quantity->unit);
    describe_range(to, v);
    describe_start(to, d, v);
}

static void describe_head(FILE *to, const struct hil_fmu_description *d,
                          const struct hil_fmu_variable *v)
{
    xml_attribute(to, "name", v->name);
    fprintf(to, " valueReference=\"%u\"", (unsigned)(v - d->variables->at));
    xml_attribute(to, "description", v->quantity->doc);
    xml_attribute(to, "causality", causality(v));
    xml_attribute(to, "variability", variability(d->model, v));
    if (v->role == HIL_FMU_OUTPUT)
        xml_attribute(to, "initial", "calculated");
}

static void describe_variable2(FILE *to, const struct hil_fmu_description *d,
                               const struct hil_fmu_variable *v)
{
    fputs("    <ScalarVariable", to);
    describe_head(to, d, v);
    fprintf(to, ">\n      <%s", hil_fmu_is_whole(v) ? "Integer" : "Real");
    describe_type(to, d, v);
    fputs("/>\n    </ScalarVariable>\n", to);
}

static void describe_variable3(FILE *to, const struct hil_fmu_description *d,
                               const struct hil_fmu_variable *v)
{
    const char *type = hil_fmu_is_whole(v) ? "Int32" : "Float64";

    fprintf(to, "    <%s", type);
    describe_head(to, d, v);
    describe_type(to, d, v);
    if (v->count > 1)
        fprintf(to, ">\n      <Dimension start=\"%u\"/>\n    </%s>\n", v->count, type);
    else
        fputs("/>\n", to);
}

static void describe_variables(FILE *to, const struct hil_fmu_description *d)
{
    fputs("  <ModelVariables>\n", to);
    for (uint32_t i = 0; i < d->variables->count; i++)
        (d->version == 2 ? describe_variable2 : describe_variable3)(to, d, &d->variables->at[i]);
    fputs("  </ModelVariables>\n", to);
}

/* --- structure ------------------------------------------------------------------------------ */

/* FMI 2.0 refers to variables by position, from 1; FMI 3.0 by value reference. */
static void describe_outputs(FILE *to, const struct hil_fmu_description *d, const char *format)
{
    for (uint32_t i = 0; i < d->variables->count; i++)
        if (d->variables->at[i].role == HIL_FMU_OUTPUT)
            fprintf(to, format, i + (d->version == 2));
}

static void describe_structure(FILE *to, const struct hil_fmu_description *d)
{
    const bool outputs = d->model->outputs.count > 0;

    if (d->version == 3) {
        fputs("  <ModelStructure>\n", to);
        describe_outputs(to, d, "    <Output valueReference=\"%u\"/>\n");
        describe_outputs(to, d, "    <InitialUnknown valueReference=\"%u\"/>\n");
        fputs("  </ModelStructure>\n", to);
        return;
    }
    fputs("  <ModelStructure>\n", to);
    fputs(outputs ? "    <Outputs>\n" : "", to);
    describe_outputs(to, d, "      <Unknown index=\"%u\"/>\n");
    fputs(outputs ? "    </Outputs>\n    <InitialUnknowns>\n" : "", to);
    describe_outputs(to, d, "      <Unknown index=\"%u\"/>\n");
    fputs(outputs ? "    </InitialUnknowns>\n" : "", to);
    fputs("  </ModelStructure>\n", to);
}

/* --- the whole ------------------------------------------------------------------------------ */

static void describe_model(FILE *to, const struct hil_fmu_description *d)
{
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiModelDescription", to);
    xml_attribute(to, "fmiVersion", d->version == 2 ? "2.0" : "3.0");
    xml_attribute(to, "modelName", d->model->name);
    xml_attribute(to, d->version == 2 ? "guid" : "instantiationToken", d->label->token);
    xml_attribute(to, "description", d->model->doc);
    fprintf(to, " generationTool=\"hiloco %s\"", hil_version);
    xml_attribute(to, "variableNamingConvention", "structured");
    fputs(">\n", to);
}

static void describe_co_simulation(FILE *to, const struct hil_fmu_description *d)
{
    const bool saves = d->model->save != NULL;

    fputs("  <CoSimulation", to);
    xml_attribute(to, "modelIdentifier", d->identifier);
    xml_attribute(to, "canHandleVariableCommunicationStepSize", "false");
    xml_attribute(to, d->version == 2 ? "canGetAndSetFMUstate" : "canGetAndSetFMUState",
                  truth(saves));
    xml_attribute(to, d->version == 2 ? "canSerializeFMUstate" : "canSerializeFMUState",
                  truth(saves));
    if (d->version == 2)
        xml_attribute(to, "canNotUseMemoryManagementFunctions", "true");
    else
        xml_number_attribute(to, "fixedInternalStepSize", (double)d->label->period_ns * 1e-9);
    fputs("/>\n", to);
}

/* The stop time that tools offer; a user sets another one. */
enum { DEFAULT_STEPS = 1000 };

static void describe_rest(FILE *to, const struct hil_fmu_description *d)
{
    fputs("  <LogCategories>\n"
          "    <Category name=\"logStatusError\"/>\n"
          "    <Category name=\"logStatusDiscard\"/>\n"
          "  </LogCategories>\n"
          "  <DefaultExperiment startTime=\"0\"",
          to);
    xml_number_attribute(to, "stopTime", (double)(DEFAULT_STEPS * d->label->period_ns) * 1e-9);
    xml_number_attribute(to, "stepSize", (double)d->label->period_ns * 1e-9);
    fputs("/>\n", to);
}

void hil_fmu_describe(FILE *to, const struct hil_fmu_description *d)
{
    describe_model(to, d);
    describe_co_simulation(to, d);
    describe_units(to, d->variables);
    describe_rest(to, d);
    describe_variables(to, d);
    describe_structure(to, d);
    fputs("</fmiModelDescription>\n", to);
}
