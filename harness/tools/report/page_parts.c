#include "page_parts.h"

#include <stddef.h>

#include "../../base/embed.h"

EMBED(page_template, "harness/tools/report/report.html");
EMBED(page_style, "harness/tools/report/report.css");
EMBED(script_dom, "harness/tools/report/dom.js");
EMBED(script_numbers, "harness/tools/report/numbers.js");
EMBED(script_csv, "harness/tools/report/csv.js");
EMBED(script_curve, "harness/tools/report/curve.js");
EMBED(script_unpack, "harness/tools/report/unpack.js");
EMBED(script_canvas, "harness/tools/report/canvas.js");
EMBED(script_axis, "harness/tools/report/axis.js");
EMBED(script_gestures, "harness/tools/report/gestures.js");
EMBED(script_plot, "harness/tools/report/plot.js");
EMBED(script_tables, "harness/tools/report/tables.js");
EMBED(script_heat_map, "harness/tools/report/heat_map.js");
EMBED(script_distribution, "harness/tools/report/distribution.js");
EMBED(script_sweep, "harness/tools/report/sweep.js");
EMBED(script_figures, "harness/tools/report/figures.js");
EMBED(script_report, "harness/tools/report/report.js");

const char *page_script(unsigned i)
{
    static const char *const scripts[] = {
        script_dom,    script_numbers, script_csv,          script_curve, script_unpack,
        script_canvas, script_axis,    script_gestures,     script_plot,  script_heat_map,
        script_tables, script_figures, script_distribution, script_sweep, script_report};

    return i < sizeof scripts / sizeof scripts[0] ? scripts[i] : NULL;
}
