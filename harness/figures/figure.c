#include "figure.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/foreign.h"
#include "../base/looks.h"
#include "../base/result_file.h"
#include "../base/tool.h"
#include "../h5/run_files.h"
#include "figure_scripts.h"

enum { TEXT_BYTES = 1024, COMPLAINT_BYTES = 2048, GNUPLOT_S = 600 };

static void fail(struct hil_figure *figure, int rc, const char *what)
{
    if (figure->error)
        return;
    figure->error = rc;
    fprintf(figure->messages, "%s: %s\n", what, hil_result_words(rc));
}

/* Creates a file in DIR/plot. */
__attribute__((format(printf, 2, 3))) static FILE *create(struct hil_figure *figure,
                                                          const char *format, ...)
{
    char name[NAME_MAX + 1], path[HIL_PATH_BYTES];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(name, sizeof(name), format, arguments);
    va_end(arguments);
    const int rc = hil_run_path(path, figure->dir, "plot/%s", name);
    FILE *file = rc ? NULL : hil_result_create(path, &figure->written);
    if (!file)
        fail(figure, rc ? rc : figure->written, path);
    return file;
}

static void finish(struct hil_figure *figure, FILE *file, const char *what)
{
    fclose(file);
    if (figure->written)
        fail(figure, figure->written, what);
}

static int make_folder(struct hil_figure *figure)
{
    char path[HIL_PATH_BYTES];
    int rc = hil_run_path(path, figure->dir, "plot");

    if (!rc)
        rc = hil_result_folder(path);
    if (rc)
        fail(figure, rc, path);
    return rc;
}

int hil_figure_open(struct hil_figure *figure, const char *dir, const char *name, FILE *messages)
{
    *figure = (struct hil_figure){.dir = dir, .name = name, .messages = messages};
    if (make_folder(figure) != 0)
        return figure->error;
    figure->values = create(figure, "%s.gp", name);
    if (!figure->values)
        return figure->error;
    fprintf(figure->values,
            "# Made by hiloco plot. To draw it again, here: gnuplot %s.gp\n"
            "if (!exists('part')) part = ''\n"
            "name = '%s'\n",
            name, name);
    return 0;
}

/* Replaces control characters other than newlines: they mean nothing in a figure, but could harm a
 * terminal to which gnuplot prints error messages. */
static void figure_tame(char *text)
{
    hil_foreign_tame(text, '?', '\n');
}

void hil_figure_text(struct hil_figure *figure, const char *variable, const char *format, ...)
{
    char text[TEXT_BYTES];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    figure_tame(text);

    /* In gnuplot's single quotes only the quote itself is special, and must be doubled. Newlines
     * need double quotes. */
    fprintf(figure->values, "%s = '", variable);
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '\'')
            putc('\'', figure->values);
        if (*c == '\n')
            fputs("'.\"\\n\".'", figure->values);
        else
            putc(*c, figure->values);
    }
    fputs("'\n", figure->values);
}

FILE *hil_figure_data(struct hil_figure *figure, const char *series, unsigned i)
{
    return create(figure, "%s-%s-%u.dat", figure->name, series, i);
}

void hil_figure_data_end(struct hil_figure *figure, FILE *data)
{
    finish(figure, data, "plot data");
}

void hil_figure_drop(struct hil_figure *figure)
{
    char path[HIL_PATH_BYTES];

    fclose(figure->values);
    if (hil_run_path(path, figure->dir, "plot/%s.gp", figure->name) == 0)
        unlink(path);
}

static void write_script(struct hil_figure *figure, const char *name)
{
    FILE *file = create(figure, "%s", name);

    if (!file)
        return;
    if (strcmp(name, "style.gp") == 0)
        hil_looks_gnuplot(file);
    fputs(hil_figure_script(name), file);
    finish(figure, file, name);
}

static void drop_part(const struct hil_figure *figure, const char *format)
{
    char part[HIL_PATH_BYTES];

    if (hil_run_path(part, figure->dir, "%s.%s.part", figure->name, format) == 0)
        unlink(part);
}

static int run_gnuplot(const struct hil_figure *figure)
{
    char dir[HIL_PATH_BYTES], script[NAME_MAX + 1], complaint[COMPLAINT_BYTES];
    char *const arguments[] = {"gnuplot", "--default-settings", "-e", "part = '.part'", script,
                               NULL};
    int rc = hil_run_path(dir, figure->dir, "plot");

    if (rc)
        return rc;
    drop_part(figure, "png"); /* where they are links, gnuplot would follow them */
    drop_part(figure, "svg");
    snprintf(script, sizeof(script), "%s.gp", figure->name);
    rc = hil_tool_run(dir, arguments, GNUPLOT_S, complaint, sizeof(complaint));
    if (rc <= 0)
        return rc;
    fprintf(figure->messages, "gnuplot could not draw %s/plot/%s.gp:\n%s%s\n", figure->dir,
            figure->name, complaint, rc > 128 ? strsignal(rc - 128) : "");
    return -EPROTO;
}

/* A complete picture replaces the old one. */
static int replace_picture(const struct hil_figure *figure, const char *format)
{
    char path[HIL_PATH_BYTES], part[HIL_PATH_BYTES];
    int rc = hil_run_path(path, figure->dir, "%s.%s", figure->name, format);

    if (!rc)
        rc = hil_run_path(part, figure->dir, "%s.%s.part", figure->name, format);
    return rc ? rc : rename(part, path) ? -errno : 0;
}

static int draw_pictures(const struct hil_figure *figure)
{
    int rc = run_gnuplot(figure);

    if (!rc)
        rc = replace_picture(figure, "png");
    if (!rc)
        rc = replace_picture(figure, "svg");
    if (rc) {
        drop_part(figure, "png");
        drop_part(figure, "svg");
    }
    return rc;
}

static void draw(struct hil_figure *figure)
{
    int rc = draw_pictures(figure);

    if (rc == -ENOENT)
        rc = -ENOPKG;
    if (rc == -ENOPKG)
        fprintf(figure->messages, "gnuplot is not installed: sudo apt install gnuplot-nox\n");
    else if (rc && rc != -EPROTO)
        fprintf(figure->messages, "gnuplot: %s\n", strerror(-rc));
    else if (!rc)
        fprintf(figure->messages, "%s/%s.png, %s.svg\n", figure->dir, figure->name, figure->name);
    figure->error = rc;
}

int hil_figure_draw(struct hil_figure *figure, const char *script)
{
    if (!figure->values)
        return figure->error;
    fprintf(figure->values,
            "do for [format in 'png svg'] {\n"
            "    reset\n"
            "    load 'style.gp'\n"
            "    load '%s'\n"
            "}\n",
            script);
    finish(figure, figure->values, figure->name);
    write_script(figure, "style.gp");
    write_script(figure, script);
    if (!figure->error)
        draw(figure);
    return figure->error;
}
