/* Checks docs/keys.md against the schema and the table of keys, and the example of
 * docs/scenario.md. */
#include "test_scenario.h"

#include "harness/scenario/yaml/key_table.h"
#include "harness/scenario/yaml/scenario_schema.h"

enum { EXAMPLE_BYTES = 4096, LINE_BYTES = 1024 };

/* The first block of YAML in the document: the complete example. */
static char *read_example(void)
{
    static char example[EXAMPLE_BYTES];
    FILE *file = fopen("docs/scenario.md", "r");
    char line[LINE_BYTES];
    bool inside = false;

    cr_assert_not_null(file);
    while (fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, "```", 3) == 0 && inside)
            break;
        if (inside)
            strcat(example, line);
        inside = inside || strcmp(line, "```yaml\n") == 0;
    }
    fclose(file);
    return example;
}

/* --- the tests -------------------------------------------------------------------------- */

static char *read_whole(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t size = 0;

    cr_assert_not_null(file);
    cr_assert_gt(getdelim(&text, &size, '\0', file), 0);
    fclose(file);
    return text;
}

static char *printed_table(void)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);

    hil_key_table_print(to);
    cr_assert_eq(fclose(to), 0);
    return text;
}

Test(scenario_docs, the_document_is_what_the_program_prints)
{
    char *printed = printed_table(), *document = read_whole("docs/keys.md");

    cr_expect(strcmp(printed, document) == 0,
              "docs/keys.md is older than the keys: build/hiloco schema keys >docs/keys.md");
    free(printed);
    free(document);
}

/* The schema's keys are all in the table, as printing finds them there. This checks the converse.
 */
Test(scenario_docs, the_table_has_no_key_that_the_schema_lacks)
{
    char *printed = printed_table();
    unsigned rows = 0;

    for (const char *at = printed; (at = strstr(at, "\n| `")); at++)
        rows++;
    cr_expect_eq(rows, scenario_key_count);
    free(printed);
}

Test(scenario_docs, names_of_keys_end_in_their_units)
{
    for (unsigned i = 0; i < scenario_key_count; i++) {
        const struct scenario_key *key = &scenario_keys[i];
        if (key->rule != SCENARIO_WHOLE_NS)
            continue;
        size_t length = strlen(key->path), unit = strlen(key->unit);
        cr_expect_str_eq(key->path + length - unit, key->unit);
        cr_expect_eq(key->path[length - unit - 1], '_');
    }
}

Test(scenario_docs, the_example_loads)
{
    hil_scenario_free(load(read_example(), NULL));
}
