#include "page_parts.h"

#include <stddef.h>

#include "../../base/embed.h"

EMBED(page_template, "harness/tools/report/report.html");
EMBED(page_style, "harness/tools/report/report.css");
EMBED(script_dom, "harness/tools/page/dom.js");
EMBED(script_numbers, "harness/tools/page/numbers.js");
EMBED(script_csv, "harness/tools/page/csv.js");
EMBED(script_curve, "harness/tools/page/curve.js");
EMBED(script_unpack, "harness/tools/report/unpack.js");
EMBED(script_paint, "harness/tools/page/paint.js");
EMBED(script_curve_paths, "harness/tools/page/curve_paths.js");
EMBED(script_axis, "harness/tools/page/axis.js");
EMBED(script_gestures, "harness/tools/report/gestures.js");
EMBED(script_plot, "harness/tools/report/plot.js");
EMBED(script_tables, "harness/tools/report/tables.js");
EMBED(script_heat_map, "harness/tools/report/heat_map.js");
EMBED(script_distribution, "harness/tools/report/distribution.js");
EMBED(script_sweep, "harness/tools/report/sweep.js");
EMBED(script_figures, "harness/tools/report/figures.js");
EMBED(script_traced, "harness/tools/report/traced.js");
EMBED(script_report, "harness/tools/report/report.js");

const char *page_script(unsigned i)
{
    static const char *const scripts[] = {
        script_dom,      script_numbers, script_csv,     script_curve,        script_curve_paths,
        script_unpack,   script_paint,   script_axis,    script_gestures,     script_plot,
        script_heat_map, script_tables,  script_figures, script_distribution, script_sweep,
        script_traced,   script_report};

    return i < sizeof scripts / sizeof scripts[0] ? scripts[i] : NULL;
}
