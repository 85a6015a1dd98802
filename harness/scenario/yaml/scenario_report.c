#include "scenario_report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../../base/foreign.h"

enum { LINE_MAX_BYTES = 2048, WORD_MAX = 64, MISTAKES_MAX = 100 };

void scenario_report_open(struct scenario_report *report, char *text, size_t size)
{
    *report = (struct scenario_report){.text = text, .size = size};
    if (size > 0)
        text[0] = '\0';
}

bool scenario_report_is_full(const struct scenario_report *report)
{
    return report->mistakes >= MISTAKES_MAX;
}

static void append(struct scenario_report *report, const char *line)
{
    if (report->used + 1 >= report->size)
        return;
    size_t room = report->size - report->used;
    int length = snprintf(report->text + report->used, room, "%s\n", line);
    report->used += length < (int)room ? (size_t)length : room - 1;
}

void scenario_mistake(struct scenario_report *report, const struct scenario_place *place,
                      const char *format, ...)
{
    char line[LINE_MAX_BYTES];
    int length = place->set != NULL ? snprintf(line, sizeof(line), "--set %.512s: ", place->set)
                                    : snprintf(line, sizeof(line), "%.1024s:%zu:%zu: ", place->file,
                                               place->line, place->column);

    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + length, sizeof(line) - (size_t)length, format, arguments);
    va_end(arguments);

    /* quoted text of the user must not break the line */
    hil_foreign_tame(line, ' ', '\0');
    report->mistakes++;
    append(report, line);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* How many letters must be added, removed, changed or swapped with their neighbour. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t rows = strlen(a), columns = strlen(b);
    size_t cost[3][WORD_MAX + 1]; /* the rows i - 2, i - 1 and i, taken in turn */

    for (size_t j = 0; j <= columns; j++)
        cost[0][j] = j;
    for (size_t i = 1; i <= rows; i++) {
        size_t *row = cost[i % 3], *above = cost[(i + 2) % 3], *above2 = cost[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= columns; j++) {
            size_t change = above[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = least(change, least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], above2[j - 2] + 1);
        }
    }
    return cost[rows % 3][columns];
}

/* "period" for "period_us": the unit is what is most likely forgotten. */
static bool is_stem(const char *word, const char *name)
{
    size_t length = strlen(word);
    return length >= 2 && strncasecmp(word, name, length) == 0 && name[length] == '_';
}

const char *scenario_near_miss(const char *word, const char *const *names, size_t count)
{
    size_t length = strlen(word), best = length / 3 + 1;
    const char *near = NULL;

    if (length > WORD_MAX)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        if (strcasecmp(word, names[i]) == 0 || is_stem(word, names[i]))
            return names[i];
        if (strlen(names[i]) > WORD_MAX)
            continue;
        size_t distance = edit_distance(word, names[i]);
        if (distance <= best && distance < length) {
            best = distance - (distance > 0);
            near = names[i];
        }
    }
    return near;
}

void scenario_say_choice(const char *word, const char *const *names, size_t count,
                         char text[SCENARIO_CHOICE_BYTES])
{
    const char *near = scenario_near_miss(word, names, count);
    size_t used = 0;

    if (near != NULL)
        used = (size_t)snprintf(text, SCENARIO_CHOICE_BYTES, " (did you mean '%.60s'?)", near);
    if (near != NULL && count > SCENARIO_FEW_CHOICES)
        return;
    used += (size_t)snprintf(text + used, SCENARIO_CHOICE_BYTES - used, "; allowed: %s",
                             count == 0 ? "none" : "");
    for (size_t i = 0; i < count && used + 64 < SCENARIO_CHOICE_BYTES; i++)
        used += (size_t)snprintf(text + used, SCENARIO_CHOICE_BYTES - used, "%s%.60s",
                                 i > 0 ? ", " : "", names[i]);
}

const char *scenario_article(const char *name)
{
    return *name && strchr("aeiou", *name) ? "an" : "a";
}
