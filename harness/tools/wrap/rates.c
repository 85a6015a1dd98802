/* The rates of a code with several: its main program counts the steps between two runs of each
 * task, and says what the period of the first is. */
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "wrap.h"

/* "taskCounter[1] == 5" */
static void rates_take_every(struct wrap_rates *rates, const char *line)
{
    unsigned task, every;
    const char *at = strstr(line, "taskCounter[");

    if (!at || sscanf(at, "taskCounter[%u] == %u", &task, &every) != 2 || every == 0)
        return;
    if (task == 0 || task >= WRAP_RATES_MAX)
        return;
    rates->at[task].every = every;
    if (task >= rates->count)
        rates->count = task + 1;
}

/* "taskCounter[3] = { 0, 0, 2 }": where each begins. */
static void rates_take_start(struct wrap_rates *rates, const char *text)
{
    const char *at = strstr(text, "taskCounter[");
    const char *brace = at ? strchr(at, '{') : NULL;

    if (!brace || brace - at > 40)
        return;
    char *next = (char *)brace;
    for (unsigned i = 0; i < WRAP_RATES_MAX && (*next == '{' || *next == ','); i++) {
        rates->at[i].start = (unsigned)strtoul(next + 1, &next, 10);
        next += strspn(next, " \n");
    }
}

/* "Attach rt_OneStep to a timer ... with\n * period 0.2 seconds" */
static void rates_take_period(struct wrap_rates *rates, const char *text)
{
    double period;

    for (const char *at = text; (at = strstr(at, "period ")); at++)
        if (sscanf(at, "period %lf second", &period) == 1 && strstr(text, "rt_OneStep") &&
            period > 0 && period < 1e3)
            rates->period_s = period;
}

static void rates_take(struct wrap_rates *rates, char *text)
{
    rates_take_start(rates, text);
    rates_take_period(rates, text);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        rates_take_every(rates, line);
}

void wrap_rates_read(struct wrap_rates *rates, const char *folder)
{
    static const char *const words[] = {"rt_OneStep", "taskCounter["};
    char pattern[4200];
    glob_t files;

    snprintf(pattern, sizeof pattern, "%s/*.c", folder);
    if (glob(pattern, 0, NULL, &files) != 0)
        return;
    for (size_t i = 0; i < files.gl_pathc; i++) {
        FILE *file = fopen(files.gl_pathv[i], "re");
        char *text = NULL;
        size_t size = 0;
        if (file && getdelim(&text, &size, '\0', file) > 0 &&
            (strstr(text, words[0]) || strstr(text, words[1])))
            rates_take(rates, text);
        free(text);
        if (file)
            fclose(file);
    }
    globfree(&files);
}
