#include "report_page.h"

#include <criterion/criterion.h>

#include "process.h"
#include "workspace.h"

const char report_complete[] = "document.documentElement?.classList.contains('complete') &&"
                               " [...document.querySelectorAll('.plot')]"
                               ".every(({plot}) => !plot.isStale)";

const char *report_of(const char *folder)
{
    struct ended e = run_command("hiloco report %s", in_workspace("%s", folder));

    expect_status(&e, 0);
    return in_workspace("%s/report.html", folder);
}

struct browser *shown(const char *path)
{
    struct browser *b = browser_open(1000, 900, false);

    browser_go(b, path, report_complete);
    return b;
}

void expect_quiet(struct browser *b)
{
    cr_expect_eq(browser_requests(b), 0, "the page fetches something");
    cr_expect_str_eq(browser_complaints(b), "");
    browser_close(b);
}

static const char coloured[] =
    "(() => { const {canvas, x, y} = document.querySelectorAll('.plot')[%d].plot;"
    " const scale = canvas.width / canvas.clientWidth;"
    " const at = Math.round((x.start + %g * (x.stop - x.start)) * scale);"
    " const pixels = canvas.getContext('2d').getImageData(at - 1, 0, 3, canvas.height).data;"
    " const rows = [];"
    " for (let i = 0; i < pixels.length; i += 4) {"
    "  const [r, g, b] = pixels.slice(i, i + 3), alpha = pixels[i + 3];"
    "  if (alpha > 128 && Math.max(r, g, b) - Math.min(r, g, b) > 90)"
    "   rows.push(Math.floor(i / 12) / scale); }"
    " const share = (row) => (row - y.stop) / (y.start - y.stop);"
    " return rows.length ? share(%s) : -1; })()";

double highest(struct browser *b, int plot, double x)
{
    return browser_number(b, coloured, plot, x, "Math.min(...rows)");
}

double lowest(struct browser *b, int plot, double x)
{
    return browser_number(b, coloured, plot, x, "Math.max(...rows)");
}

struct place place_of(struct browser *b, int plot, double x)
{
    struct place place = {
        browser_number(b,
                       "(() => { const {plot} = document.querySelectorAll('.plot')[%d];"
                       " plot.area.scrollIntoView({block: 'center'});"
                       " return plot.area.getBoundingClientRect().left + plot.x.pixel(%.9g); })()",
                       plot, x),
        browser_number(b,
                       "(() => { const box = document.querySelectorAll('.plot-area')[%d]"
                       ".getBoundingClientRect(); return box.top + box.height / 2; })()",
                       plot)};

    return place;
}

bool is_shown(struct browser *b, const char *text)
{
    json_t *found = browser_value(b, "document.body.innerText.includes('%s')", text);
    const bool is = json_is_true(found);

    json_decref(found);
    return is;
}
