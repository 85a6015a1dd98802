/* Sources: inputs over time. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/text_mark.h"
#include "general.h"

static const char *const source_kinds[] = {"constant", "steps", "sine", "pulses", "csv", "record"};
enum { SOURCE_KINDS = sizeof source_kinds / sizeof source_kinds[0] };

/* --- steps --------------------------------------------------------------------------------- */

static int source_steps(const struct general *g, const struct scenario_node *block,
                        struct hil_profile *profile)
{
    const struct scenario_node *list = scenario_node_get(block, "changes");

    profile->initial = general_number(block, "initial", 0);
    profile->count = (unsigned)list->count;
    profile->changes = hil_pool_get(g->system->pool, list->count, sizeof profile->changes[0]);
    if (!profile->changes)
        return -ENOMEM;
    for (unsigned i = 0; i < profile->count; i++) {
        const struct scenario_node *change = list->entries[i].value;
        struct hil_change *c = &profile->changes[i];
        *c = (struct hil_change){.start_ns = general_ns(change, "time_s", 0, 1e9),
                                 .ramp_ns = general_ns(change, "ramp_s", 0, 1e9),
                                 .value = general_number(change, "value", 0)};
        const uint64_t end_ns = i == 0 ? 0 : c[-1].start_ns + c[-1].ramp_ns;
        if (c->start_ns < end_ns)
            scenario_mistake(
                g->report, &scenario_node_get(change, "time_s")->at,
                "time_s is %.9g; allowed: in the order of time, here from %.9g s, when "
                "the change before it ends",
                (double)c->start_ns * 1e-9, (double)end_ns * 1e-9);
    }
    return 0;
}

static void source_pulses(const struct general *g, const struct scenario_node *block,
                          struct hil_source *source)
{
    source->pulses.low = general_number(block, "low", 0);
    source->pulses.high = general_number(block, "high", 0);
    source->pulses.delay_ns = general_ns(block, "delay_s", 0, 1e9);
    source->pulses.width_ns = general_ns(block, "width_s", 0, 1e9);
    source->pulses.period_ns = general_ns(block, "period_s", 0, 1e9);
    if (source->pulses.width_ns > source->pulses.period_ns)
        scenario_mistake(g->report, &scenario_node_get(block, "width_s")->at,
                         "width_s is %g; allowed: up to period_s, which is %g",
                         general_number(block, "width_s", 0), general_number(block, "period_s", 0));
}

/* --- a column of a file -------------------------------------------------------------------- */

/* A file while it is read, with the place for mistakes in its lines. */
struct source_table {
    const struct general *g;
    char path[1024];
    FILE *file;
    int error; /* of reading it */
    char *line;
    size_t size;
    size_t number;
    int time, value; /* indices of columns */
};

static void source_wrong(const struct source_table *t, const char *cell, const char *allowed)
{
    const struct scenario_place at = {
        .file = t->path, .line = t->number, .column = cell ? (size_t)(cell - t->line) + 1 : 1};

    if (cell)
        scenario_mistake(t->g->report, &at, "'%.*s'; allowed: %s", (int)strcspn(cell, ",\r\n"),
                         cell, allowed);
    else
        scenario_mistake(t->g->report, &at, "the line ends too early; allowed: %s", allowed);
}

/* Cell `number` of the line, or NULL. */
static const char *source_cell(const char *line, int number)
{
    for (; number > 0; number--) {
        line = strchr(line, ',');
        if (!line)
            return NULL;
        line++;
    }
    return line + strspn(line, " \t");
}

/* The column with this name in the first line; -1: none. */
static int source_column_of(const char *line, const char *name)
{
    const char *cell;

    for (int i = 0; (cell = source_cell(line, i)) != NULL; i++) {
        size_t length = strcspn(cell, ",\r\n");
        while (length > 0 && (cell[length - 1] == ' ' || cell[length - 1] == '\t'))
            length--;
        if (strlen(name) == length && strncmp(cell, name, length) == 0)
            return i;
    }
    return -1;
}

static bool source_number(const struct source_table *t, int column, double *value)
{
    const char *cell = source_cell(t->line, column);
    char text[64];

    if (!cell) {
        source_wrong(t, NULL, "a number in each column");
        return false;
    }
    size_t length = strcspn(cell, ",\r\n");
    while (length > 0 && (cell[length - 1] == ' ' || cell[length - 1] == '\t'))
        length--;
    snprintf(text, sizeof text, "%.*s", (int)(length < 63 ? length : 63), cell);
    *value = length < 63 && scenario_is_number(text) ? strtod(text, NULL) : NAN;
    if (isfinite(*value))
        return true;
    source_wrong(t, cell, "a number");
    return false;
}

static int source_row(const struct source_table *t, struct hil_column_source *c)
{
    double time_s = 0, value = 0;

    if (!source_number(t, t->time, &time_s) || !source_number(t, t->value, &value))
        return -EINVAL;
    const uint64_t t_ns = time_s >= 0 && time_s <= 1e9 ? scenario_ns(time_s, 1e9) : 0;
    if (time_s < 0 || time_s > 1e9 || (c->count && t_ns <= c->t_ns[c->count - 1])) {
        source_wrong(t, source_cell(t->line, t->time),
                     "a time of 0 to 1e9 s, after that of the line before");
        return -EINVAL;
    }
    uint64_t *times = hil_pool_more(t->g->system->pool, c->t_ns, c->count, sizeof *times);
    double *values = hil_pool_more(t->g->system->pool, c->values, c->count, sizeof *values);
    if (!times || !values)
        return -ENOMEM;
    c->t_ns = times;
    c->values = values;
    c->t_ns[c->count] = t_ns;
    c->values[c->count++] = value;
    return 0;
}

static bool source_next(struct source_table *t)
{
    t->number++;
    errno = 0;
    const ssize_t got = getline(&t->line, &t->size, t->file);
    if (got < 0 && !feof(t->file))
        t->error = errno ? errno : EIO;
    if (t->number == 1 && got > 0) {
        const size_t mark = hil_text_mark(t->line, (size_t)got);
        memmove(t->line, t->line + mark, (size_t)got - mark + 1);
    }
    return got >= 0;
}

static int source_rows(struct source_table *t, const struct scenario_node *block, const char *name,
                       struct hil_column_source *c)
{
    const struct scenario_node *time = scenario_node_get(block, "time");
    int rc = 0;

    if (!source_next(t)) {
        if (t->error)
            return 0;
        source_wrong(t, NULL, "a line with the names of columns, with commas between them");
        return -EINVAL;
    }
    t->time = source_column_of(t->line, time->text);
    t->value = source_column_of(t->line, name);
    if (t->time < 0 || t->value < 0) {
        scenario_mistake(t->g->report,
                         &scenario_node_get(block, t->time < 0 ? "time" : "column")->at,
                         "%s has no column '%.60s'; allowed: %.*s", t->path,
                         t->time < 0 ? time->text : name, (int)strcspn(t->line, "\r\n"), t->line);
        return -EINVAL;
    }
    while (!rc && source_next(t))
        if (t->line[strspn(t->line, " \t\r\n")])
            rc = source_row(t, c);
    if (!rc && !t->error && c->count == 0) {
        source_wrong(t, NULL, "at least one line of numbers");
        rc = -EINVAL;
    }
    return rc;
}

int general_csv(const struct general *g, const struct scenario_node *block, const char *column,
                struct hil_column_source *c)
{
    const struct scenario_node *name = scenario_node_get(block, "file");
    struct source_table t = {.g = g};

    c->linear = strcmp(general_text(block, "between"), "line") == 0;
    snprintf(t.path, sizeof t.path, "%s", name->text);
    t.file = fopen(t.path, "re");
    if (!t.file) {
        scenario_mistake(g->report, &name->at,
                         "'%.200s' cannot be read (%s); allowed: a CSV file, by its name from the "
                         "scenario's folder",
                         name->text, strerror(errno));
        return 0;
    }
    int rc = source_rows(&t, block, column, c);
    if (t.error)
        scenario_mistake(g->report, &name->at,
                         "'%.200s' cannot be read to its end (%s); allowed: a CSV file that can",
                         name->text, strerror(t.error));
    fclose(t.file);
    free(t.line);
    return rc == -ENOMEM ? rc : 0;
}

/* --- one source ---------------------------------------------------------------------------- */

/* Reads an entry for this many inputs; most kinds have one source for all inputs. */
static int source_read(const struct general *g, const struct scenario_entry *entry, unsigned inputs,
                       struct hil_source *source, unsigned *count)
{
    unsigned given = 0;

    *count = 1;
    source->name = hil_pool_text(g->system->pool, entry->key);
    for (unsigned k = 0; k < SOURCE_KINDS; k++)
        if (scenario_node_get(entry->value, source_kinds[k])) {
            source->kind = k;
            given++;
        }
    if (given != 1) {
        scenario_mistake(
            g->report, &entry->at,
            "sources.%s is of %u kinds; allowed: one of constant, steps, sine, pulses, "
            "csv, record",
            entry->key, given);
        return 0;
    }
    const struct scenario_node *block = scenario_node_get(entry->value, source_kinds[source->kind]);
    switch (source->kind) {
    case HIL_SOURCE_CONSTANT:
        source->constant = strtod(block->text, NULL);
        return 0;
    case HIL_SOURCE_STEPS:
        return source_steps(g, block, &source->steps);
    case HIL_SOURCE_SINE:
        source->sine.mean = general_number(block, "mean", 0);
        source->sine.amplitude = general_number(block, "amplitude", 0);
        source->sine.frequency_hz = general_number(block, "frequency_hz", 0);
        source->sine.phase_deg = general_number(block, "phase_deg", 0);
        return 0;
    case HIL_SOURCE_PULSES:
        source_pulses(g, block, source);
        return 0;
    case HIL_SOURCE_RECORD:
        return general_replay(g, block, inputs, source, count);
    default:
        return general_csv(g, block, general_text(block, "column"), &source->column);
    }
}

/* Finds the inputs that an entry feeds. */
static int source_inputs(const struct general *g, const struct scenario_node *names,
                         struct general_elements *to)
{
    int rc = 0;

    to->count = 0;
    for (unsigned i = 0; !rc && i < general_text_count(names); i++)
        rc = general_signals(g, general_text_at(names, i), GENERAL_INPUTS, to);
    return rc;
}

/* --- the range of an input ----------------------------------------------------------------- */

struct source_span {
    double least, most;
};

static void source_spans(struct source_span *span, double value)
{
    span->least = fmin(span->least, value);
    span->most = fmax(span->most, value);
}

/* The range of a source's values; empty for a record, whose values were accepted in another run. */
static struct source_span source_span(const struct hil_source *s)
{
    struct source_span span = {INFINITY, -INFINITY};

    switch (s->kind) {
    case HIL_SOURCE_CONSTANT:
        source_spans(&span, s->constant);
        break;
    case HIL_SOURCE_STEPS:
        source_spans(&span, s->steps.initial);
        for (unsigned i = 0; i < s->steps.count; i++)
            source_spans(&span, s->steps.changes[i].value);
        break;
    case HIL_SOURCE_SINE:
        source_spans(&span, s->sine.mean - s->sine.amplitude);
        source_spans(&span, s->sine.mean + s->sine.amplitude);
        break;
    case HIL_SOURCE_PULSES:
        source_spans(&span, s->pulses.low);
        source_spans(&span, s->pulses.high);
        break;
    case HIL_SOURCE_CSV:
        for (unsigned i = 0; i < s->column.count; i++)
            source_spans(&span, s->column.values[i]);
        break;
    default:
        break;
    }
    return span;
}

/* Returns false after a report. */
static bool source_in_range(const struct general *g, const struct scenario_node *block,
                            const struct hil_source *source, const struct hil_quantity *input,
                            double scale)
{
    const struct source_span span = source_span(source);
    const double ends[] = {span.least * scale, span.most * scale};
    char range[128];

    for (unsigned i = 0; span.least <= span.most && i < 2; i++) {
        if (ends[i] >= input->min && ends[i] <= input->max)
            continue;
        scenario_say_range(input->min, input->max, input->unit, range, sizeof range);
        scenario_mistake(g->report, &scenario_node_get(block, source_kinds[source->kind])->at,
                         "sources.%s makes %g of %s; allowed: %s", source->name, ends[i],
                         input->name, range);
        return false;
    }
    return true;
}

/* --- all of them --------------------------------------------------------------------------- */

/* Feeds the inputs from `made` sources, beginning with `first`: a single source feeds all inputs,
 * several sources feed one each. */
static void source_feed(struct general *g, const struct scenario_node *block, unsigned first,
                        unsigned made, const struct general_elements *to)
{
    const struct scenario_node *names = scenario_node_get(block, "to");

    if (!general_fits(g, block, "scale", to->count, "inputs"))
        return;
    for (unsigned i = 0; i < to->count; i++) {
        const unsigned input = g->first_input[to->at[i].component] + to->at[i].number;
        const unsigned from = first + (made > 1 ? i : 0);
        if (i == 0 || made > 1)
            g->system->sources[from].unit = g->input_row[input]->unit;
        const struct hil_feed feed = {.kind = HIL_FEED_SOURCE,
                                      .from = from,
                                      .scale = general_number(block, "scale", i) *
                                               g->input_factor[input],
                                      .initial = g->input_row[input]->value};
        if (!general_feed(g, to->at[i], names, &feed) ||
            !source_in_range(g, block, &g->system->sources[from], g->input_row[input], feed.scale))
            return;
    }
}

static int source_append(struct general *g, const struct hil_source *source)
{
    struct hil_system *s = g->system;
    struct hil_source *more = hil_pool_more(s->pool, s->sources, s->source_count, sizeof *more);

    if (!more)
        return -ENOMEM;
    s->sources = more;
    s->sources[s->source_count++] = *source;
    return 0;
}

/* Adds the sources of one entry: one, or one for each of its inputs. */
static int source_add(struct general *g, const struct scenario_entry *entry,
                      struct general_elements *to)
{
    const unsigned first = g->system->source_count;
    unsigned count;
    int rc = source_inputs(g, scenario_node_get(entry->value, "to"), to);

    if (rc)
        return rc == -ENOMEM ? rc : 0;
    struct hil_source *made = hil_pool_get(g->system->pool, to->count, sizeof *made);
    rc = made ? source_read(g, entry, to->count, made, &count) : -ENOMEM;
    for (unsigned i = 0; !rc && i < count; i++) {
        made[i].kind = made[0].kind;
        made[i].name = made[0].name;
        rc = source_append(g, &made[i]);
    }
    if (!rc)
        source_feed(g, entry->value, first, count, to);
    return rc;
}

int general_sources(struct general *g)
{
    const struct scenario_node *list = scenario_node_get(g->root, "sources");
    struct general_elements to = {0};
    int rc = 0;

    for (unsigned i = 0; !rc && i < list->count && !scenario_report_is_full(g->report); i++)
        rc = source_add(g, &list->entries[i], &to);
    free(to.at);
    return rc;
}
