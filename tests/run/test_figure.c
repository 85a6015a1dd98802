/*
 * The figures of docs/ are what the code draws. Virtual time gives the same numbers everywhere, so
 * the sums in docs/NAME.sum are those of docs/NAME.png, and of the data and the scripts that it was
 * drawn from, whatever gnuplot makes of them. If a change of the code is meant to change a figure:
 * make figure.
 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process.h"
#include "workspace.h"

TestSuite(figure, .init = workspace_open, .fini = workspace_close, .timeout = 300);

/* The first line says how it was made: "# hiloco sweep ...", or "# hiloco run ...". */
static char *command_of_sums(const char *path)
{
    char *sums = read_text(path);

    cr_assert(strncmp(sums, "# hiloco ", 9) == 0, "%s begins otherwise:\n%s", path, sums);
    sums[strcspn(sums, "\n")] = '\0';
    return sums + 2;
}

ParameterizedTestParameters(figure, of_a_document_is_what_the_code_draws)
{
    return each_file_of("docs/*.sum");
}

ParameterizedTest(size_t *i, figure, of_a_document_is_what_the_code_draws)
{
    char *root = realpath(".", NULL), *script = strdup(in_workspace("check.sh"));
    const char *sums = files_of("docs/*.sum").gl_pathv[*i];
    char text[1000];

    struct ended e = run_command("%s --out %s", command_of_sums(sums), in_workspace("out"));
    expect_status(&e, 0);
    e = run_command("hiloco plot %s", in_workspace("out"));
    expect_status(&e, 0);
    snprintf(text, sizeof text,
             "cd '%s' && cp %s/docs/*.png . && sha256sum --quiet --check %s/%s\n",
             in_workspace("out"), root, root, sums);
    write_text(script, text);
    e = run_command("sh %s", script);
    cr_expect_eq(e.status, 0, "%s: the figure shows something else (make figure):\n%s", sums,
                 e.out);
}

Test(figure, of_each_document_is_checked)
{
    cr_expect_eq(files_of("docs/*.png").gl_pathc, files_of("docs/*.sum").gl_pathc);
}
