/*
 * docs/figure.png is what the code draws. Virtual time gives the same numbers everywhere, so the
 * sums in docs/figure.sum are those of the data and the scripts, whatever gnuplot makes of them. If
 * a change of the code is meant to change the figure: make figure.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process.h"
#include "workspace.h"

TestSuite(figure, .init = workspace_open, .fini = workspace_close, .timeout = 300);

/* The first line says how it was made: "# hiloco sweep ...". */
static char *command_of_sums(void)
{
    char *sums = read_text("docs/figure.sum");

    cr_assert(strncmp(sums, "# hiloco sweep ", 15) == 0, "docs/figure.sum begins otherwise:\n%s",
              sums);
    sums[strcspn(sums, "\n")] = '\0';
    return sums + 2;
}

Test(figure, of_the_readme_is_what_the_code_draws)
{
    char *root = realpath(".", NULL), *script = strdup(in_workspace("check.sh"));
    char text[1000];

    struct ended e = run_command("%s --out %s", command_of_sums(), in_workspace("out"));
    expect_status(&e, 0);
    e = run_command("hiloco plot %s", in_workspace("out"));
    expect_status(&e, 0);
    snprintf(
        text, sizeof text,
        "cp %s/docs/figure.png '%s' && cd '%s' && sha256sum --quiet --check %s/docs/figure.sum\n",
        root, in_workspace("out"), in_workspace("out"), root);
    write_text(script, text);
    e = run_command("sh %s", script);
    cr_expect_eq(e.status, 0, "docs/figure.png shows something else (make figure):\n%s", e.out);
}
