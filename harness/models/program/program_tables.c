#include "program_tables.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/foreign.h"

/* The next word of the line, which may be in double quotes if it has blanks; NULL: there is
 * none. */
static char *tables_word(char **line)
{
    char *word = *line + strspn(*line, " \t\r");
    const bool quoted = *word == '"';

    word += quoted;
    const size_t length = strcspn(word, quoted ? "\"" : " \t\r");
    if (length == 0)
        return NULL;
    *line = word + length + (word[length] != '\0');
    word[length] = '\0';
    return word;
}

static bool tables_number(const char *word, double *value)
{
    char *end;

    if (!word)
        return false;
    *value = strtod(word, &end);
    return end != word && *end == '\0' && isfinite(*value);
}

/* The rest of the line in printable form. */
static char *tables_text(const char *line)
{
    const char *text = line + strspn(line, " \t\r");
    const size_t size = strlen(text) + 1;
    char *copy = malloc(size);

    return copy ? (char *)hil_foreign_text(copy, size, text, size) : NULL;
}

/* --- rows ------------------------------------------------------------------------------------- */

static const struct {
    const char *word, *form;
    bool ranged; /* has a range */
} kinds[HIL_PROGRAM_TABLES] = {
    [HIL_PROGRAM_PARAMETERS] = {"parameter", "parameter NAME UNIT DEFAULT LEAST MOST TEXT", true},
    [HIL_PROGRAM_INPUTS] = {"input",
                            "input NAME UNIT DEFAULT LEAST MOST TEXT, where DEFAULT may be "
                            "required",
                            true},
    [HIL_PROGRAM_OUTPUTS] = {"output", "output NAME UNIT TEXT", false},
    [HIL_PROGRAM_STATES] = {"state", "state NAME UNIT DEFAULT LEAST MOST TEXT", true},
};

static bool tables_range(enum hil_program_table table, char **line, struct hil_quantity *q)
{
    const char *value = tables_word(line), *min = tables_word(line), *max = tables_word(line);

    if (!tables_number(min, &q->min) || !tables_number(max, &q->max))
        return false;
    if (table != HIL_PROGRAM_INPUTS || strcmp(value, "required") != 0)
        return tables_number(value, &q->value);
    q->flags = HIL_REQUIRED;
    q->value = q->min > 0 ? q->min : q->max < 0 ? q->max : 0;
    return true;
}

static int tables_row(struct hil_program_tables *t, enum hil_program_table table, char *line,
                      const struct hil_said *said)
{
    struct hil_quantity *q = &t->rows[table][t->counts[table]];

    if (t->counts[table] == HIL_PROGRAM_ROWS)
        return hil_say(said, -EINVAL,
                       "it has more than %d lines that begin with %s; allowed: "
                       "no more",
                       HIL_PROGRAM_ROWS, kinds[table].word);
    *q = (struct hil_quantity){0};
    const char *name = tables_word(&line), *unit = tables_word(&line);
    if (!name || !unit || (kinds[table].ranged && !tables_range(table, &line, q)))
        return hil_say(said, -EINVAL, "it has a line with a mistake: %s", kinds[table].form);
    q->name = tables_text(name);
    q->unit = tables_text(strcmp(unit, "-") == 0 ? "" : unit);
    q->doc = tables_text(line);
    t->counts[table]++;
    return q->name && q->unit && q->doc ? 0 : hil_say_no_memory(said);
}

/* --- lines ------------------------------------------------------------------------------------ */

static int tables_kind(struct hil_program_tables *t, char *line, const struct hil_said *said)
{
    const char *word = tables_word(&line);

    t->kind = !word                             ? 0
              : strcmp(word, "continuous") == 0 ? (uint32_t)HIL_CONTINUOUS
              : strcmp(word, "sampled") == 0    ? (uint32_t)HIL_SAMPLED
                                                : 0;
    return t->kind ? 0
                   : hil_say(said, -EINVAL,
                             "its kind is unknown; allowed: kind continuous, or kind sampled");
}

static int tables_ready(struct hil_program_tables *t, const struct hil_said *said)
{
    if (!t->name || !t->doc || !t->kind)
        return hil_say(said, -EINVAL,
                       "it is ready, but has no %s; allowed: lines name, doc and "
                       "kind before",
                       !t->name  ? "name"
                       : !t->doc ? "doc"
                                 : "kind");
    t->complete = true;
    return 0;
}

static int tables_begin(struct hil_program_tables *t, const char *first, const char *rest,
                        const struct hil_said *said)
{
    char shown[80];

    if (first && strcmp(first, "hiloco") == 0 && strtol(rest, NULL, 10) == 1) {
        t->begun = true;
        return 0;
    }
    hil_foreign_text(shown, sizeof shown, first ? first : "", sizeof shown);
    return hil_say(said, -EPROTO,
                   "its first word is '%.60s'; allowed: hiloco 1, and then its "
                   "tables (docs/writing-a-program.md)",
                   shown);
}

int hil_program_tables_take(struct hil_program_tables *t, char *line, const struct hil_said *said)
{
    const char *first = tables_word(&line);
    char shown[200];

    if (first && strcmp(first, "error") == 0)
        return hil_say(said, -EINVAL, "%s",
                       hil_foreign_text(shown, sizeof shown, line, strlen(line)));
    if (!t->begun)
        return tables_begin(t, first, line, said);
    if (!first)
        return 0;
    for (unsigned k = 0; k < HIL_PROGRAM_TABLES; k++)
        if (strcmp(first, kinds[k].word) == 0)
            return tables_row(t, (enum hil_program_table)k, line, said);
    if (strcmp(first, "kind") == 0)
        return tables_kind(t, line, said);
    if (strcmp(first, "ready") == 0)
        return tables_ready(t, said);
    char **text = strcmp(first, "name") == 0  ? &t->name
                  : strcmp(first, "doc") == 0 ? &t->doc
                                              : NULL;
    if (!text)
        return hil_say(said, -EPROTO,
                       "it has a line that begins with '%.60s'; allowed: name, doc, "
                       "kind, parameter, input, output, state, ready",
                       hil_foreign_text(shown, sizeof shown, first, sizeof shown));
    free(*text);
    *text = tables_text(line);
    return *text ? 0 : hil_say_no_memory(said);
}

void hil_program_tables_free(struct hil_program_tables *t)
{
    for (unsigned k = 0; k < HIL_PROGRAM_TABLES; k++)
        for (unsigned i = 0; i < t->counts[k]; i++) {
            free((char *)t->rows[k][i].name);
            free((char *)t->rows[k][i].unit);
            free((char *)t->rows[k][i].doc);
        }
    free(t->name);
    free(t->doc);
    *t = (struct hil_program_tables){0};
}
