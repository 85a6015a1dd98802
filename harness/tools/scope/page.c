#include "page.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../base/embed.h"
#include "../../base/looks.h"
#include "../../base/page_hash.h"

EMBED(scope_head, "harness/tools/scope/page/head.html");
EMBED(scope_body, "harness/tools/scope/page/body.html");
EMBED(scope_style, "harness/tools/scope/page/scope.css");
EMBED(scope_dom, "harness/tools/page/dom.js");
EMBED(scope_numbers, "harness/tools/page/numbers.js");
EMBED(scope_csv, "harness/tools/page/csv.js");
EMBED(scope_axis, "harness/tools/page/axis.js");
EMBED(scope_link, "harness/tools/scope/page/link.js");
EMBED(scope_roll, "harness/tools/scope/page/roll.js");
EMBED(scope_readings, "harness/tools/scope/page/readings.js");
EMBED(scope_spectrum, "harness/tools/scope/page/spectrum.js");
EMBED(scope_lanes, "harness/tools/scope/page/lanes.js");
EMBED(scope_curve, "harness/tools/page/curve.js");
EMBED(scope_curve_paths, "harness/tools/page/curve_paths.js");
EMBED(scope_paint, "harness/tools/page/paint.js");
EMBED(scope_screen, "harness/tools/scope/page/screen.js");
EMBED(scope_parts, "harness/tools/scope/page/parts.js");
EMBED(scope_chooser, "harness/tools/scope/page/chooser.js");
EMBED(scope_trigger, "harness/tools/scope/page/trigger.js");
EMBED(scope_bars, "harness/tools/scope/page/bars.js");
EMBED(scope_nodes, "harness/tools/scope/page/nodes.js");
EMBED(scope_tuning, "harness/tools/scope/page/tuning.js");
EMBED(scope_table, "harness/tools/scope/page/table.js");
EMBED(scope_hand_out, "harness/tools/scope/page/hand_out.js");
EMBED(scope_scope, "harness/tools/scope/page/scope.js");

static const char *const scripts[] = {
    scope_dom,      scope_numbers,  scope_csv,      scope_axis,    scope_link,        scope_roll,
    scope_readings, scope_spectrum, scope_lanes,    scope_curve,   scope_curve_paths, scope_paint,
    scope_screen,   scope_parts,    scope_chooser,  scope_trigger, scope_bars,        scope_nodes,
    scope_tuning,   scope_table,    scope_hand_out, scope_scope};

enum { SCRIPTS = sizeof scripts / sizeof scripts[0] };

static char *page_text(const char *style, size_t *size)
{
    char *text = NULL;
    FILE *to = open_memstream(&text, size);

    if (!to)
        return NULL;
    fprintf(to, "%s<style>%s</style>\n%s", scope_head, style, scope_body);
    for (unsigned i = 0; i < SCRIPTS; i++)
        fprintf(to, "<script>%s</script>\n", scripts[i]);
    fputs("</html>\n", to);
    return fclose(to) ? NULL : text;
}

static char *page_policy(const char *style)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);

    if (!to)
        return NULL;
    fputs("default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
          "connect-src 'self'; img-src data:; style-src",
          to);
    hil_page_hash(style, to);
    fputs("; script-src", to);
    for (unsigned i = 0; i < SCRIPTS; i++)
        hil_page_hash(scripts[i], to);
    return fclose(to) ? NULL : text;
}

int hil_scope_page(struct hil_scope_page *page)
{
    char *style = hil_looks_style(scope_style);

    *page = (struct hil_scope_page){0};
    if (style) {
        page->text = page_text(style, &page->size);
        page->policy = page_policy(style);
    }
    free(style);
    if (page->text && page->policy)
        return 0;
    free(page->text);
    free(page->policy);
    return -ENOMEM;
}
