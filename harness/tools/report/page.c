#include "page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/file_save.h"
#include "../../base/looks.h"
#include "../../base/page_hash.h"
#include "page_data.h"
#include "page_parts.h"

struct page {
    json_t *data;
    char *style;
};

/* --- text ------------------------------------------------------------------------------------- */

/* Writes HTML text, in which no character is taken for markup. */
static void page_text(const char *text, FILE *to)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '<':
            fputs("&lt;", to);
            break;
        case '>':
            fputs("&gt;", to);
            break;
        case '&':
            fputs("&amp;", to);
            break;
        default:
            fputc(*text, to);
        }
    }
}

/* Writes JSON inside a script, which a "</script>" in it would end. In JSON "<" only occurs in
 * texts. */
static int page_json(const char *json, size_t size, void *to)
{
    for (size_t i = 0; i < size; i++) {
        if (json[i] == '<')
            fputs("\\u003c", to);
        else
            fputc(json[i], to);
    }
    return ferror(to) ? -1 : 0;
}

/* --- parts ------------------------------------------------------------------------------------ */

/* Permissions: the page may run its own scripts and use its own style. It may not fetch
 * anything. */
static void page_policy(const char *style, FILE *to)
{
    fputs("default-src 'none'; base-uri 'none'; form-action 'none'; style-src", to);
    hil_page_hash(style, to);
    fputs("; script-src", to);
    for (unsigned i = 0; page_script(i); i++)
        hil_page_hash(page_script(i), to);
}

static void page_scripts(FILE *to)
{
    for (unsigned i = 0; page_script(i); i++)
        fprintf(to, "<script>%s</script>\n", page_script(i));
}

/* A line for each run, for readers without scripts. */
static void page_verdicts(const json_t *data, FILE *to)
{
    const json_t *run, *runs = json_object_get(data, "runs");
    size_t i;

    json_array_foreach(runs, i, run)
    {
        const char *verdict =
            json_string_value(json_object_get(json_object_get(run, "summary"), "verdict"));
        fputs("<p>", to);
        page_text(json_string_value(json_object_get(run, "label")), to);
        fputs(": ", to);
        page_text(verdict ? verdict : "no verdict", to);
        fputs("</p>\n", to);
    }
}

static void page_title(const json_t *data, FILE *to)
{
    const json_t *runs = json_object_get(data, "runs"), *first = json_array_get(runs, 0);

    page_text(json_string_value(json_object_get(first, "label")), to);
    if (json_array_size(runs) > 1)
        fprintf(to, " and %zu more", json_array_size(runs) - 1);
}

/* The template has a comment at the place of each part. */
static int page_part(const char *name, size_t length, const struct page *page, FILE *to)
{
    static const char *const names[] = {"policy", "title", "style", "verdicts", "data", "scripts"};
    unsigned i = 0;

    while (i < 6 && (strlen(names[i]) != length || strncmp(names[i], name, length) != 0))
        i++;
    switch (i) {
    case 0:
        page_policy(page->style, to);
        return 0;
    case 1:
        page_title(page->data, to);
        return 0;
    case 2:
        fprintf(to, "<style>%s</style>", page->style);
        return 0;
    case 3:
        page_verdicts(page->data, to);
        return 0;
    case 4:
        return json_dump_callback(page->data, page_json, to, JSON_COMPACT) ? -EIO : 0;
    default:
        page_scripts(to);
        return 0;
    }
}

static int page_print(const void *page, FILE *to)
{
    static const char begin[] = "<!--", end[] = "-->";
    const char *at = page_template, *part;
    int rc = 0;

    for (; !rc && (part = strstr(at, begin)); at = strstr(part, end) + strlen(end)) {
        fwrite(at, 1, (size_t)(part - at), to);
        part += strlen(begin);
        rc = page_part(part, (size_t)(strstr(part, end) - part), page, to);
    }
    fputs(at, to);
    return rc;
}

/* --- the file --------------------------------------------------------------------------------- */

int hil_page_write(const char *const *dirs, unsigned count, const char *path, FILE *messages)
{
    struct page page = {0};
    int rc = hil_page_data(&page.data, dirs, count, messages);

    if (rc)
        return rc;
    page.style = hil_looks_style(page_style);
    rc = page.style ? hil_file_save(path, page_print, &page) : -ENOMEM;
    if (rc)
        fprintf(messages, "%s: %s\n", path, strerror(-rc));
    free(page.style);
    json_decref(page.data);
    return rc;
}
