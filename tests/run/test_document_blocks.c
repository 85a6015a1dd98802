/* Tests the YAML blocks of the documents: each is right as it stands, or inside the scenario that a
 * line above it names (tests/documents_yaml.py). */
#include <criterion/criterion.h>
#include <string.h>

#include "process.h"
#include "workspace.h"

TestSuite(document_blocks, .init = workspace_open, .fini = workspace_close);

static struct ended check(const char *document)
{
    return run_command("python3 tests/documents_yaml.py %s %s", program_path("hiloco"), document);
}

Test(document_blocks, are_right)
{
    struct ended e = check("");

    expect_status(&e, 0);
}

#define SCENARIO                                                                                   \
    "```yaml\nname: whole\nduration_s: 1\nnodes: {one: {period_us: 100}}\ncomponents:\n"           \
    "  lag: {model: gain, node: one, %s: {gain: 2}}\nsources: {a: {to: lag.input, constant: 1}}\n" \
    "```\n"

static void expect_found(const char *document, const char *mistake)
{
    write_text(in_workspace("document.md"), document);
    struct ended e = check(in_workspace("document.md"));

    expect_status(&e, mistake ? 1 : 0);
    if (mistake)
        expect_said(&e, mistake);
}

Test(document_blocks, a_mistake_is_found_by_its_line)
{
    char text[1000];

    snprintf(text, sizeof text, "Text.\n\n" SCENARIO, "parameters");
    expect_found(text, NULL);
    snprintf(text, sizeof text, "Text.\n\n" SCENARIO, "parameter");
    expect_found(text, "document.md:3: 5:33: unknown key 'parameter'");
    expect_found("<!-- in configs/servo.yaml -->\n```yaml\nnodes:\n  drive: {period_us: 10}\n```\n",
                 NULL);
    expect_found("<!-- in configs/servo.yaml -->\n```yaml\nnodes:\n  drive: {period_us: x}\n```\n",
                 "period_us is 'x'");
    expect_found("<!-- a part: of something -->\n```yaml\nfaults:\n  a: {knd: bias}\n```\n",
                 "unknown key 'knd'");
    expect_found("<!-- a part: of something -->\n```yaml\nfaults: {a: {kind: bias]\n```\n",
                 "document.md:2: ");
    expect_found("So:\n\n    nodes:\n      drive: {period_us: 10}\n",
                 "document.md:3: an indented block");
    expect_found("no block at all\n", "");
}
