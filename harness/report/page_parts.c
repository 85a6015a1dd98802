#include "page_parts.h"

#include <stddef.h>

#include "../base/embed.h"

EMBED(page_template, "harness/report/report.html");
EMBED(page_style, "harness/report/report.css");
EMBED(script_dom, "harness/report/dom.js");
EMBED(script_numbers, "harness/report/numbers.js");
EMBED(script_csv, "harness/report/csv.js");
EMBED(script_curve, "harness/report/curve.js");
EMBED(script_unpack, "harness/report/unpack.js");
EMBED(script_canvas, "harness/report/canvas.js");
EMBED(script_axis, "harness/report/axis.js");
EMBED(script_plot, "harness/report/plot.js");
EMBED(script_tables, "harness/report/tables.js");
EMBED(script_heat_map, "harness/report/heat_map.js");
EMBED(script_distribution, "harness/report/distribution.js");
EMBED(script_sweep, "harness/report/sweep.js");
EMBED(script_figures, "harness/report/figures.js");
EMBED(script_report, "harness/report/report.js");

const char *page_script(unsigned i)
{
    static const char *const scripts[] = {
        script_dom,     script_numbers,      script_csv,   script_curve,    script_unpack,
        script_canvas,  script_axis,         script_plot,  script_heat_map, script_tables,
        script_figures, script_distribution, script_sweep, script_report};

    return i < sizeof scripts / sizeof scripts[0] ? scripts[i] : NULL;
}
