/* Tests the reading of an FMU's modelDescription.xml and the tables made from it: mistakes, and the
 * styles of other tools. The models here are made up. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "folder.h"
#include "harness/models/fmu/fmu_tables.h"

static struct fmu_description description;
static struct fmu_tables tables;
static struct hil_settings given;

static void close_descriptions(void)
{
    fmu_description_free(&description);
    folder_close();
}

TestSuite(fmu_description, .init = folder_open, .fini = close_descriptions);

/* Reads modelDescription.xml and makes its tables. Returns the message, "" if there is no mistake.
 */
static const char *described_there(void)
{
    static char text[1024];
    const struct hil_said said = {text, sizeof text, NULL};

    text[0] = '\0';
    fmu_description_free(&description);
    int rc = fmu_description_read(&description, in_folder("modelDescription.xml"), &given, &said);
    if (!rc)
        rc = fmu_tables_make(&tables, &description, NULL, &said);
    cr_expect_eq(rc != 0, text[0] != '\0', "%s", text);
    return text;
}

static const char *described_by(const char *xml)
{
    put("modelDescription.xml", xml);
    return described_there();
}

/* A description of version 3.0 with these variables. */
static const char *described(const char *variables)
{
    char xml[8192];

    snprintf(xml, sizeof xml,
             "<fmiModelDescription fmiVersion=\"3.0\" modelName=\"m\" instantiationToken=\"t\">\n"
             "<CoSimulation modelIdentifier=\"m\"/>\n<ModelVariables>\n%s</ModelVariables>\n"
             "</fmiModelDescription>",
             variables);
    return described_by(xml);
}

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

#define INPUT(name, more)                                                                          \
    "<Float64 name=\"" name "\" valueReference=\"1\" causality=\"input\" " more ">"
#define END "</Float64>\n"

static void expect_names(const struct fmu_table *t, const char *const *names)
{
    unsigned i = 0;

    for (; names[i]; i++) {
        cr_assert_lt(i, t->count, "there is no %s", names[i]);
        cr_expect_str_eq(t->rows[i].name, names[i]);
    }
    cr_expect_eq(t->count, i);
}

Test(fmu_description, names_that_would_be_alike_are_told_apart)
{
    cr_expect_str_eq(described(INPUT("X", "") END INPUT("x", "") END INPUT("Pack.cell[2].i", "")
                                   END INPUT("x_2", "") END INPUT("X.", "") END INPUT("der(x)", "")
                                       END INPUT("\xc3\xa9", "") END INPUT("_", "") END),
                     "");
    expect_names(&tables.inputs,
                 NAMES("x_1", "x", "pack_cell_2_i", "x_2", "x_5", "der_x", "variable", "_"));
    cr_expect_str_eq(tables.inputs.rows[0].doc, "X");
    cr_expect_str_eq(tables.inputs.rows[1].doc, "");
}

Test(fmu_description, elements_are_numbered_row_by_row)
{
    cr_expect_str_eq(
        described(INPUT(
            "A",
            "description=\"gains\" start=\"1 2 3 4 5 6\"") "<Dimension start=\"2\"/>"
                                                           "<Dimension start=\"3\"/>" END INPUT(
                                                               "b",
                                                               "start=\"7\"") "<Dimension "
                                                                              "start=\"2\"/>" END),
        "");
    expect_names(&tables.inputs,
                 NAMES("a_1_1", "a_1_2", "a_1_3", "a_2_1", "a_2_2", "a_2_3", "b_1", "b_2"));
    cr_expect_str_eq(tables.inputs.rows[5].doc, "A[2,3]: gains");
    cr_expect_eq(tables.inputs.rows[5].value, 6);
    cr_expect_eq(tables.inputs.rows[7].value, 7, "one for all");
    cr_expect_eq(tables.inputs.group_count, 1u, "they are set in one call");
    cr_expect_eq(tables.inputs.groups[0].reference_count, 2u);
    cr_expect_eq(tables.inputs.groups[0].value_count, 8u);
}

Test(fmu_description, what_a_description_says_wrong_has_its_place)
{
    static const struct {
        const char *variables, *said;
    } cases[] = {
        {INPUT("x", "min=\"two\"") END, "xml:4:1: min is 'two'; allowed: a number"},
        {INPUT("x", "min=\"2\" max=\"1\"") END, "xml:4:1: 'x' has a range from 2 to 1"},
        {INPUT("x", "start=\"3\" max=\"1\"") END, "xml:4:1: the start value 3 of 'x' is not in"},
        {INPUT("x", "start=\"1 2\"") END, "xml:4:1: the start value of 'x' is '1 2'"},
        {INPUT("x", "") "<Dimension/>" END, "a dimension of 'x' has no size"},
        {INPUT("x", "") "<Dimension valueReference=\"9\"/>" END,
         "xml:4:1: a dimension of 'x' is variable 9, which is no structural parameter"},
        {"<Float64 valueReference=\"1\"/>\n", "xml:4:1: a Float64 has no name"},
        {"<Float64 name=\"x\"/>\n", "xml:4:1: the variable 'x' has no valueReference"},
        {"<Float64 name=\"x\" valueReference=\"-1\"/>\n",
         "valueReference is '-1'; allowed: a whole"},
        {"<Real name=\"x\" valueReference=\"1\"/>\n", "no type of variable 'Real' in FMI 3.0"},
        {INPUT("x", "") "<Dimension start=\"4097\"/>" END,
         "it has 4097 inputs and outputs more than allowed: 4096 of each"},
        {INPUT("x", "") "<Dimension start=\"4294967295\"/><Dimension start=\"4294967295\"/>"
                        "<Dimension start=\"4294967295\"/>" END,
         "inputs and outputs more than allowed"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *said = described(cases[i].variables);
        cr_expect(strstr(said, cases[i].said), "'%s', not '%s'", said, cases[i].said);
    }
}

Test(fmu_description, parameters_without_room_keep_their_start_values)
{
    cr_expect_str_eq(
        described("<Float64 name=\"p\" valueReference=\"1\" causality=\"parameter\" "
                  "start=\"1\"/>\n<Float64 name=\"map\" valueReference=\"2\" "
                  "causality=\"parameter\" start=\"0\"><Dimension start=\"5000\"/>" END),
        "");
    expect_names(&tables.parameters, NAMES("p"));
    cr_expect_eq(tables.parameters.left_out, 5000u);
}

/* Inputs and outputs share one space of names, and each keeps its own name. */
Test(fmu_description, an_output_may_be_called_like_an_input)
{
    cr_expect_str_eq(described(INPUT("U", "") END
                               "<Float64 name=\"u\" valueReference=\"2\" causality=\"output\"/>\n"),
                     "");
    expect_names(&tables.outputs, NAMES("u"));
    expect_names(&tables.inputs, NAMES("u_1"));
}

/* Without outputs, the local variables are outputs. */
Test(fmu_description, one_without_outputs_offers_its_local_variables)
{
    cr_expect_str_eq(described("<Float64 name=\"der(h)\" valueReference=\"1\"/>\n"
                               "<Float64 name=\"g\" valueReference=\"2\" causality=\"parameter\" "
                               "start=\"1\"/>\n<Int32 name=\"n\" valueReference=\"3\"/>\n"),
                     "");
    expect_names(&tables.outputs, NAMES("der_h", "n"));
    expect_names(&tables.others, NAMES("der_h", "g", "n"));
}

/* Start values for the size that the FMU has by itself do not count for another one. */
Test(fmu_description, a_size_that_is_set_leaves_its_start_values)
{
    static const char variables[] =
        "<UInt64 name=\"n\" valueReference=\"1\" causality=\"structuralParameter\" start=\"3\"/>\n"
        "<Float64 name=\"A\" valueReference=\"2\" causality=\"parameter\" start=\"1 2 3\">"
        "<Dimension valueReference=\"1\"/></Float64>\n"
        "<Float64 name=\"b\" valueReference=\"3\" causality=\"parameter\" start=\"5\">"
        "<Dimension valueReference=\"1\"/></Float64>\n"
        "<Float64 name=\"u\" valueReference=\"4\" causality=\"input\" start=\"1 2 3\">"
        "<Dimension valueReference=\"1\"/></Float64>\n";
    static const struct hil_setting at[] = {{"n", "2"}};
    static const struct hil_setting more[] = {{"n", "4"}};

    given = (struct hil_settings){at, 1};
    cr_expect_str_eq(described(variables), "");
    expect_names(&tables.parameters, NAMES("a_1", "a_2", "b_1", "b_2"));
    cr_expect(tables.parameters.rows[0].flags & HIL_OWN);
    cr_expect_not(tables.parameters.rows[2].flags & HIL_OWN);
    cr_expect_eq(tables.inputs.rows[1].value, 2);
    given = (struct hil_settings){more, 1};
    cr_expect_str_eq(described(variables), "");
    cr_expect_eq(tables.inputs.rows[2].value, 3);
    cr_expect_eq(tables.inputs.rows[3].value, 0);
    given = (struct hil_settings){NULL, 0};
}

/* --- as other tools write them ---------------------------------------------------------------- */

/* Types and units have details that hiloco does not use. Vendors have sections of their own, with
 * any elements. Several variables may share a value reference. "1" is the unit of a pure number. */
static const char as_dymola[] =
    "<?xml version='1.0' encoding='UTF-8'?>\n"
    "<fmiModelDescription xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' fmiVersion='2.0'\n"
    " modelName='Plant.Tank' guid='{1}' version='1' generationTool='T' "
    "generationDateAndTime='2022-04-18T18:13:19Z'\n"
    " variableNamingConvention='structured' numberOfEventIndicators='4'>\n"
    " <ModelExchange modelIdentifier='Plant_Tank' canGetAndSetFMUstate='true'>"
    "<SourceFiles><File name='all.c'/></SourceFiles></ModelExchange>\n"
    " <CoSimulation modelIdentifier='Plant_Tank' canHandleVariableCommunicationStepSize='true'"
    " canInterpolateInputs='true' maxOutputDerivativeOrder='1' "
    "providesDirectionalDerivative='true'>"
    "<SourceFiles><File name='all.c'/></SourceFiles></CoSimulation>\n"
    " <UnitDefinitions><Unit name='1'/><Unit name='degC'><BaseUnit K='1' offset='273.15'/></Unit>"
    "<Unit name='m3'><BaseUnit m='3'/><DisplayUnit name='ml' factor='1000000.0'/></Unit>"
    "<Unit name='m3/s'/></UnitDefinitions>\n"
    " <TypeDefinitions>\n"
    "  <SimpleType name='T.Share'><Real quantity='Share' unit='1' min='0.0' "
    "max='1.0'/></SimpleType>"
    "<SimpleType name='T.Volume'><Real quantity='Volume' unit='m3' displayUnit='ml' min='0.0'"
    " nominal='1E-06' relativeQuantity='false'/></SimpleType>"
    "<SimpleType name='T.Init'><Enumeration><Item name='NoInit' value='1' description='none &gt; "
    "0'/>"
    "<Item name='Steady' value='2'/></Enumeration></SimpleType>"
    "<SimpleType name='T.On'><Boolean/></SimpleType>\n"
    " </TypeDefinitions>\n"
    " <DefaultExperiment startTime='0.0' stopTime='41400.0' tolerance='1E-06'/>\n"
    " <VendorAnnotations><Tool name='T'><ScalarVariable name='not.one'/><Unit name='none'/>"
    "<EquationBlocks><Data id='0' equation='a = b; "
    "'/></EquationBlocks></Tool></VendorAnnotations>\n"
    " <ModelVariables>\n"
    "  <!-- Index for next variable = 1 -->\n"
    "  <ScalarVariable name='tank.valve.open' valueReference='16777216' causality='input'\n"
    "    variability='continuous'><Real declaredType='T.Share' start='0.5'/></ScalarVariable>\n"
    "  <ScalarVariable name='tank.V' valueReference='33554432' initial='exact'>"
    "<Real declaredType='T.Volume' start='1E-3' fixed='true'/></ScalarVariable>\n"
    "  <ScalarVariable name='der(tank.V)' valueReference='587202560'>"
    "<Real unit='m3/s' derivative='2'/></ScalarVariable>\n"
    "  <ScalarVariable name='V' valueReference='33554432' causality='output'>"
    "<Real declaredType='T.Volume'/><Annotations><Tool name='T'><Item name='a'/></Tool>"
    "</Annotations></ScalarVariable>\n"
    "  <ScalarVariable name='tank.volume' valueReference='33554432' causality='output'>"
    "<Real declaredType='T.Volume'/></ScalarVariable>\n"
    "  <ScalarVariable name='init' valueReference='1' causality='parameter' variability='fixed'>"
    "<Enumeration declaredType='T.Init' start='2'/></ScalarVariable>\n"
    "  <ScalarVariable name='on' valueReference='2' causality='parameter' variability='tunable'>"
    "<Boolean declaredType='T.On' start='true'/></ScalarVariable>\n"
    "  <ScalarVariable name='time' valueReference='3' causality='independent'><Real/>"
    "</ScalarVariable>\n"
    " </ModelVariables>\n"
    " <ModelStructure><Outputs><Unknown index='4' dependencies='2' dependenciesKind='constant'/>"
    "</Outputs><Derivatives><Unknown index='3' dependencies='1 2' dependenciesKind='fixed "
    "dependent'/>"
    "</Derivatives><InitialUnknowns><Unknown index='3'/></InitialUnknowns></ModelStructure>\n"
    "</fmiModelDescription>\n";

Test(fmu_description, as_dymola_writes_it)
{
    cr_expect_str_eq(described_by(as_dymola), "");
    expect_names(&tables.inputs, NAMES("tank_valve_open"));
    expect_names(&tables.outputs, NAMES("v", "tank_volume"));
    expect_names(&tables.states, NAMES("tank_v"));
    expect_names(&tables.parameters, NAMES("init", "on"));
    cr_expect_str_eq(tables.inputs.rows[0].unit, "");
    cr_expect_eq(tables.inputs.rows[0].max, 1);
    cr_expect_str_eq(tables.outputs.rows[0].unit, "m3");
    cr_expect_eq(tables.states.rows[0].value, 1e-3);
    cr_expect_str_eq(tables.parameters.rows[0].doc, "1 NoInit, 2 Steady");
    cr_expect_eq(tables.outputs.groups[0].reference_count, 2u, "they are got in one call");
    cr_expect_eq(description.tolerance, 1e-6);
    cr_expect_str_eq(description.identifier, "Plant_Tank");
}

/* Attributes with a default are left out, or have no value. A variable that is not offered has a
 * unit and a type that nobody defined. */
static const char as_openmodelica[] =
    "<?xml version='1.0' encoding='UTF-8'?>\r\n<fmiModelDescription\r\n fmiVersion='2.0'\r\n"
    " modelName='Swarm'\r\n guid='{5519e8f6}'\r\n description=''\r\n version=''\r\n>\r\n"
    "<CoSimulation modelIdentifier='Swarm' needsExecutionTool='false'"
    " canRunAsynchronuously = 'false' canBeInstantiatedOnlyOncePerProcess='0'>"
    "<SourceFiles>\r\n<File name='Swarm.c' />\r\n</SourceFiles></CoSimulation>\r\n"
    "<UnitDefinitions><Unit name='N.m'><BaseUnit m='2' s='-2' kg='1' /></Unit></UnitDefinitions>"
    "<LogCategories><Category name='logEvents' /></LogCategories>\r\n"
    "<DefaultExperiment startTime='0.0' stopTime='1.0' tolerance='1e-6' stepSize='0.002'/>\r\n"
    "<ModelVariables>\r\n"
    "<ScalarVariable\r\n name='drones[1].vx'\r\n valueReference='0'\r\n initial='exact'>\r\n"
    " <Real start='0.0'/>\r\n</ScalarVariable>\r\n"
    "<ScalarVariable name='drones[1].x' valueReference='1' ><Real/></ScalarVariable>\r\n"
    "<ScalarVariable name='lost' valueReference='2'><Real unit='furlong' declaredType='Gone'/>"
    "</ScalarVariable>\r\n"
    "<ScalarVariable name='drones[1].tau' valueReference='3' description='torque\r\nof it'"
    " causality='input'><Real unit='N.m' min='-1.7976931348623157E+308' start='-1e+00'/>"
    "</ScalarVariable>\r\n"
    "<ScalarVariable name='n' valueReference='4' causality='output' variability='discrete'>"
    "<Integer min='-2147483648' max='2147483647'/></ScalarVariable>\r\n"
    "<ScalarVariable name='pure' valueReference='5' causality='output'><Real unit=''/>"
    "</ScalarVariable>\r\n"
    "<ScalarVariable name='file' valueReference='0' causality='parameter' variability='fixed'>"
    "<String start=''/></ScalarVariable>\r\n"
    "</ModelVariables>\r\n<ModelStructure/>\r\n</fmiModelDescription>\r\n";

Test(fmu_description, as_openmodelica_writes_it)
{
    cr_expect_str_eq(described_by(as_openmodelica), "");
    expect_names(&tables.states, NAMES("drones_1_vx"));
    expect_names(&tables.inputs, NAMES("drones_1_tau"));
    expect_names(&tables.outputs, NAMES("n", "pure"));
    cr_expect_str_eq(tables.inputs.rows[0].doc, "drones[1].tau: torque of it");
    cr_expect_eq(tables.inputs.rows[0].value, -1);
    cr_expect_not(description.only_once);
}

/* Further parts of 3.0: clocks and their attributes, binaries, aliases, annotations, and much that
 * does not concern a tool that steps the FMU from outside. */
static const char as_reference_fmus[] =
    "<?xml version='1.0' encoding='UTF-8'?>\n"
    "<fmiModelDescription fmiVersion='3.0.2' modelName='Feed' instantiationToken='{37B954F1}'"
    " license='BSD' copyright='(c)' author='a'>\n"
    "<ModelExchange modelIdentifier='Feed' providesDirectionalDerivatives='true'/>"
    "<CoSimulation modelIdentifier='Feed' hasEventMode='true' mightReturnEarlyFromDoStep='true'"
    " canReturnEarlyAfterIntermediateUpdate='true' providesIntermediateUpdate='true'"
    " fixedInternalStepSize='1e-2' canGetAndSetFMUState='true' canSerializeFMUState='true'>"
    "<Annotations><Annotation type='x'><y "
    "xmlns='z'><ModelVariables/></y></Annotation></Annotations>"
    "</CoSimulation>\n"
    "<ScheduledExecution modelIdentifier='Feed'/>\n"
    "<UnitDefinitions><Unit name='rad/s'><BaseUnit rad='1' s='-1'/><Annotations/></Unit>"
    "</UnitDefinitions>\n"
    "<TypeDefinitions><Float64Type name='Speed' quantity='w' unit='rad/s' nominal='2'/>"
    "<Int64Type name='Count' min='0'/><BinaryType name='Blob' mimeType='a/b' maxSize='9'/>"
    "<ClockType name='Tick' intervalVariability='constant' intervalDecimal='0.1'/>"
    "<EnumerationType name='Opt'><Item name='O1' value='-1' description='a'/><Item name='O2' "
    "value='4'/></EnumerationType></TypeDefinitions>\n"
    "<LogCategories><Category name='logStatusError' description='e'/></LogCategories>\n"
    "<DefaultExperiment startTime='0' stopTime='2' stepSize='1e-1'/>\n"
    "<ModelVariables>\n"
    "<Float64 name='time' valueReference='0' causality='independent' variability='continuous'/>\n"
    "<Float64 name='w' valueReference='7' causality='input' start='0' declaredType='Speed'"
    " intermediateUpdate='true' canHandleMultipleSetPerTimeInstant='false'>"
    "<Annotations/><Alias name='speed' description='the same' displayUnit='rpm'/></Float64>\n"
    "<Float64 name='w_out' valueReference='8' causality='output' declaredType='Speed'"
    " initial='calculated' derivative='7' reinit='true'/>\n"
    "<Int64 name='n' valueReference='9' causality='output' variability='discrete' previous='10'"
    " declaredType='Count'/>\n"
    "<Int64 name='n_before' valueReference='10' variability='discrete' start='3' "
    "initial='exact'/>\n"
    "<Clock name='tick' valueReference='1001' causality='input' intervalVariability='triggered'"
    " declaredType='Tick'/>\n"
    "<Clock name='tock' valueReference='1002' causality='output' intervalVariability='triggered'"
    " priority='2'/>\n"
    "<Int32 name='ticks' valueReference='2001' causality='output' variability='discrete'"
    " clocks='1001'/>\n"
    "<Binary name='b' valueReference='30' causality='input' declaredType='Blob' mimeType='a/b'"
    " maxSize='9'><Start value='666f6f'/></Binary>\n"
    "<String name='names' valueReference='29' causality='parameter' variability='fixed'>"
    "<Dimension start='2'/><Start value='a'/><Start value='b'/></String>\n"
    "<Enumeration name='opt' valueReference='31' causality='parameter' variability='fixed'"
    " declaredType='Opt' start='4'/>\n"
    "<Boolean name='flags' valueReference='32' causality='parameter' variability='tunable'"
    " start='true false'><Dimension start='2'/></Boolean>\n"
    "</ModelVariables>\n<ModelStructure><Output valueReference='8' dependencies='7'"
    " dependenciesKind='constant'/><EventIndicator valueReference='8'/>"
    "<ClockedState valueReference='9'/></ModelStructure>\n</fmiModelDescription>\n";

Test(fmu_description, as_the_reference_fmus_have_it)
{
    cr_expect_str_eq(described_by(as_reference_fmus), "");
    expect_names(&tables.inputs, NAMES("w"));
    expect_names(&tables.outputs, NAMES("w_out", "n"));
    expect_names(&tables.states, NAMES("n_before"));
    expect_names(&tables.parameters, NAMES("opt", "flags_1", "flags_2"));
    cr_expect_str_eq(tables.inputs.rows[0].unit, "rad/s");
    cr_expect_eq(tables.parameters.rows[0].min, -1);
    cr_expect_eq(tables.parameters.rows[1].value, 1);
    cr_expect_eq(tables.parameters.rows[2].value, 0);
    cr_expect_eq(description.internal_step_s, 1e-2);
}

/* --- encodings -------------------------------------------------------------------------------- */

#define NAMED(encoding, name)                                                                      \
    "<?xml version='1.0' encoding='" encoding "'?>"                                                \
    "<fmiModelDescription fmiVersion='2.0' modelName='" name "' guid='g'>"                         \
    "<CoSimulation modelIdentifier='m'/></fmiModelDescription>"

static void put_bytes(const char *bytes, size_t count)
{
    FILE *file = fopen(in_folder("modelDescription.xml"), "wb");

    cr_assert_not_null(file);
    cr_assert_eq(fwrite(bytes, 1, count, file), count);
    cr_assert_eq(fclose(file), 0);
}

Test(fmu_description, encodings)
{
    static const char wide[] = NAMED("UTF-16", "wide");
    char bytes[2 * sizeof wide + 2] = "\xff\xfe";

    cr_expect_str_eq(described_by("\xef\xbb\xbf" NAMED("UTF-8", "\xc3\xa9")), "");
    cr_expect_str_eq(description.model_name, "\xc3\xa9", "with a byte order mark");
    cr_expect_str_eq(described_by(NAMED("ISO-8859-1", "\xe9")), "");
    cr_expect_str_eq(description.model_name, "\xc3\xa9");
    cr_expect_str_eq(described_by(NAMED("windows-1252", "\x80 \xe9")), "");
    cr_expect_str_eq(description.model_name, "\xe2\x82\xac \xc3\xa9", "the Euro sign, and so on");
    for (size_t i = 0; i + 1 < sizeof wide; i++)
        bytes[2 + 2 * i] = wide[i];
    put_bytes(bytes, 2 * sizeof wide);
    cr_expect_str_eq(described_there(), "");
    cr_expect_str_eq(description.model_name, "wide");
    cr_expect(strstr(described_by(NAMED("martian", "m")), "it is no XML (unknown encoding)"));
}

/* --- many variables --------------------------------------------------------------------------- */

Test(fmu_description, may_have_many_variables)
{
    enum { LOCALS = 50000, EACH = 160 };
    char *xml = malloc(LOCALS * EACH), *at = xml;

    at += sprintf(at, "<fmiModelDescription fmiVersion='2.0' modelName='m' guid='g'>\n"
                      "<CoSimulation modelIdentifier='m'/><UnitDefinitions>");
    for (int i = 0; i < 100; i++)
        at += sprintf(at, "<Unit name='u%d'/>", i);
    at += sprintf(at, "</UnitDefinitions><ModelVariables>");
    for (int i = 0; i < LOCALS; i++)
        at += sprintf(at,
                      "<ScalarVariable name='plant.part[%d].x' valueReference='%d'%s>"
                      "<Real unit='u%d' start='1'/></ScalarVariable>\n",
                      i, i, i % 25 == 0 ? " causality='output'" : " initial='exact'", i % 100);
    sprintf(at, "</ModelVariables></fmiModelDescription>");
    cr_expect_str_eq(described_by(xml), "");
    cr_expect_eq(description.variable_count, (unsigned)LOCALS);
    cr_expect_eq(tables.outputs.count, 2000u);
    cr_expect_str_eq(tables.outputs.rows[1999].name, "plant_part_49975_x");
    cr_expect_eq(tables.states.count, (unsigned)HIL_QUANTITIES_MAX);
    cr_expect_eq(tables.states.left_out, 48000u - HIL_QUANTITIES_MAX);
    free(xml);
}

/* --- time ------------------------------------------------------------------------------------- */

/* Each of many variables has a type, a unit and a size of its own, and nearly all names are alike.
 * What takes time by the square of their number takes longer than the suite may. */
Test(fmu_description, time_grows_with_their_number, .timeout = 60)
{
    enum { MANY = 100000, EACH = 400 };
    char *xml = malloc((size_t)MANY * EACH), *at = xml;

    at +=
        sprintf(at, "<fmiModelDescription fmiVersion='3.0' modelName='m' instantiationToken='t'>\n"
                    "<CoSimulation modelIdentifier='m'/><UnitDefinitions>");
    for (int i = 0; i < MANY; i++)
        at += sprintf(at, "<Unit name='u%d'/>", i);
    at += sprintf(at, "</UnitDefinitions><TypeDefinitions>");
    for (int i = 0; i < MANY; i++)
        at += sprintf(at, "<Float64Type name='t%d'/>", i);
    at += sprintf(at, "</TypeDefinitions><ModelVariables>");
    for (int i = 0; i < MANY; i++)
        at += sprintf(at,
                      "<UInt64 name='n%d' valueReference='%d' causality='structuralParameter' "
                      "start='1'/>",
                      i, i);
    for (int i = 0; i < MANY; i++)
        at += sprintf(at,
                      "<Float64 name='%s%d' valueReference='%d' causality='parameter' "
                      "declaredType='t%d' unit='u%d' start='1'><Dimension valueReference='%d'/>"
                      "</Float64>",
                      i % 2 ? "x_" : "x.", i / 2, MANY + i, i, i, i);
    sprintf(at, "</ModelVariables></fmiModelDescription>");
    cr_expect_str_eq(described_by(xml), "");
    cr_expect_eq(description.variable_count, 2u * MANY);
    cr_expect_eq(tables.others.count, 2u * MANY);
    free(xml);
}
