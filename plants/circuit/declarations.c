#include "declarations.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expression.h"

/* Reads the words of one declaration. */
struct words {
    struct cir_declarations *d;
    const struct cir_token *token; /* the whole */
    const char *at;
    const struct cir_said *said;
};

static struct cir_token here(const struct words *w)
{
    struct cir_token token = *w->token;

    token.column += (unsigned)(w->at - token.text);
    return token;
}

static char *copy_of(struct words *w, const char *from, size_t length)
{
    char *copy = cir_allocate(&w->d->blocks, length + 1);

    return copy ? memcpy(copy, from, length) : NULL;
}

static char *lower_copy_of(struct words *w, const char *from, size_t length)
{
    char *copy = copy_of(w, from, length);

    for (char *c = copy; c && *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return copy;
}

/* The next word, in lower case if it is not in double quotes. */
static int word(struct words *w, const char **to, const char *what)
{
    w->at += strspn(w->at, " \t");
    const struct cir_token place = here(w);
    const char *start = w->at + (*w->at == '"');
    const size_t length = strcspn(start, *w->at == '"' ? "\"" : " \t");

    if (!length)
        return cir_refuse(w->said, &place, "found no %s; allowed: one", what);
    *to = *w->at == '"' ? copy_of(w, start, length) : lower_copy_of(w, start, length);
    w->at = start + length + (*w->at == '"' && start[length]);
    return *to ? 0 : cir_say_no_memory(w->said);
}

static int number(struct words *w, double *value, const char *what)
{
    const char *text;

    w->at += strspn(w->at, " \t");
    struct cir_token token = here(w);
    const int rc = word(w, &text, what);
    token.text = text;
    return rc ? rc : cir_number(value, &token, NULL, NULL, w->said);
}

/* --- rows ------------------------------------------------------------------------------------- */

static int add_row(struct cir_table *table, const struct hil_quantity *row,
                   const struct cir_link *link)
{
    if (cir_grow(&table->rows, table->count, sizeof *table->rows) ||
        cir_grow(&table->links, table->count, sizeof *table->links))
        return -ENOMEM;
    table->rows[table->count] = *row;
    table->links[table->count++] = *link;
    return 0;
}

int cir_declare_output(struct cir_declarations *d, const struct hil_quantity *row,
                       const struct cir_link *link)
{
    return add_row(&d->outputs, row, link);
}

/* v(NODE), v(NODE,NODE), i(ELEMENT), s(ELEMENT) and p(ELEMENT); else the name of an element or of a
 * parameter.
 */
static int read_link(struct words *w, struct cir_link *link, const char *element, size_t length)
{
    char *name = lower_copy_of(w, element, length);

    *link = (struct cir_link){.at = w->token, .name = name, .quantity = -1};
    if (!name)
        return cir_say_no_memory(w->said);
    if (length < 4 || name[1] != '(' || name[length - 1] != ')' || !strchr("visp", name[0]))
        return 0;
    name[length - 1] = '\0';
    link->is_current = name[0] == 'i';
    link->is_state = name[0] == 's';
    link->is_power = name[0] == 'p';
    link->name = name + 2;
    char *comma = strchr(name, ',');
    if (comma && name[0] == 'v') {
        *comma = '\0';
        link->other = comma + 1 + strspn(comma + 1, " \t");
    }
    return 0;
}

static int read_range(struct words *w, struct hil_quantity *q, bool is_input)
{
    const char *value_word;

    w->at += strspn(w->at, " \t");
    struct cir_token token = here(w);
    int rc = word(w, &value_word, "default");
    const bool required =
        !rc && is_input && (strcmp(value_word, "required") == 0 || strcmp(value_word, "-") == 0);
    token.text = value_word;
    if (!rc && !required)
        rc = cir_number(&q->value, &token, NULL, NULL, w->said);
    if (!rc)
        rc = number(w, &q->min, "least value");
    if (!rc)
        rc = number(w, &q->max, "greatest value");
    if (!rc && !(q->min <= q->max))
        return cir_refuse(w->said, &token, "found a range from %g to %g; allowed: one in order",
                          q->min, q->max);
    if (!rc && required) {
        q->flags = HIL_REQUIRED;
        q->value = fmin(fmax(0, q->min), q->max);
    }
    if (!rc && !(q->min <= q->value && q->value <= q->max))
        return cir_refuse(w->said, &token, "found the default %g; allowed: %g to %g", q->value,
                          q->min, q->max);
    return rc;
}

static int check_name(struct words *w, const struct cir_token *place, const struct cir_table *table,
                      const char *name)
{
    if (strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != strlen(name))
        return cir_refuse(w->said, place,
                          "found the name %s; allowed: lower-case letters, digits and '_'", name);
    for (unsigned i = 0; i < table->count; i++)
        if (strcmp(table->rows[i].name, name) == 0)
            return cir_refuse(w->said, place, "found %s again; allowed: another name", name);
    return 0;
}

static int read_row(struct words *w, struct cir_table *table, const struct cir_link *link)
{
    struct hil_quantity q = {.min = -INFINITY, .max = INFINITY};
    const bool is_output = table == &w->d->outputs;

    w->at += strspn(w->at, " \t");
    const struct cir_token place = here(w);
    int rc = word(w, &q.name, "name");
    if (!rc)
        rc = check_name(w, &place, table, q.name);
    if (!rc) { /* a unit has its own case */
        w->at += strspn(w->at, " \t");
        const char *at = w->at;
        rc = word(w, &q.unit, "unit");
        if (!rc && *at != '"')
            q.unit = strcmp(q.unit, "-") == 0 ? "" : copy_of(w, at, (size_t)(w->at - at));
        if (!rc && !q.unit)
            rc = cir_say_no_memory(w->said);
    }
    if (!rc && !is_output)
        rc = read_range(w, &q, table == &w->d->inputs);
    if (rc)
        return rc;
    w->at += strspn(w->at, " \t");
    q.doc = copy_of(w, w->at, strlen(w->at));
    return q.doc && !add_row(table, &q, link) ? 0 : cir_say_no_memory(w->said);
}

/* --- the other declarations ------------------------------------------------------------------- */

static int read_diode(struct words *w)
{
    struct cir_declarations *d = w->d;
    const char *colon = strchr(w->at, ':');
    struct cir_diode_line line = {.at = w->token, .vf = NAN, .ron = NAN, .roff = NAN};

    w->at += strspn(w->at, " \t");
    line.model = lower_copy_of(w, w->at, strcspn(w->at, " \t:"));
    if (!line.model)
        return cir_say_no_memory(w->said);
    w->at = colon + 1;
    for (;;) {
        w->at += strspn(w->at, " \t=");
        const struct cir_token place = here(w);
        double *const to = strncasecmp(w->at, "vf", 2) == 0     ? &line.vf
                           : strncasecmp(w->at, "ron", 3) == 0  ? &line.ron
                           : strncasecmp(w->at, "roff", 4) == 0 ? &line.roff
                                                                : NULL;
        if (!*w->at)
            break;
        if (!to)
            return cir_refuse(w->said, &place, "found %s; allowed: vf= ron= roff=", w->at);
        w->at += strspn(w->at, "vfronVFRON");
        w->at += strspn(w->at, " \t=");
        const int rc = number(w, to, "value");
        if (rc)
            return rc;
    }
    if (cir_grow(&d->diodes, d->diode_count, sizeof *d->diodes))
        return cir_say_no_memory(w->said);
    d->diodes[d->diode_count++] = line;
    return 0;
}

/* --- losses ----------------------------------------------------------------------------------- */

/* Pairs of numbers up to the next word. */
static int read_points(struct words *w, struct cir_loss_line *line, unsigned kind)
{
    const struct cir_token place = here(w);
    unsigned *count = &line->count[kind];

    while (w->at += strspn(w->at, " \t,"), isdigit((unsigned char)*w->at)) {
        if (*count == CIR_LOSS_POINTS)
            return cir_refuse(w->said, &place, "found more than %d points; allowed: no more",
                              CIR_LOSS_POINTS);
        int rc = number(w, &line->amperes[kind][*count], "current");
        if (!rc)
            rc = number(w, &line->joules[kind][*count], "energy");
        if (rc)
            return rc;
        if (*count && line->amperes[kind][*count] <= line->amperes[kind][*count - 1])
            return cir_refuse(w->said, &place, "found %g A after %g A; allowed: growing currents",
                              line->amperes[kind][*count], line->amperes[kind][*count - 1]);
        ++*count;
    }
    if (*count < 2)
        return cir_refuse(w->said, &place, "found %u points; allowed: 2 or more, each A J", *count);
    return 0;
}

static int read_losses(struct words *w)
{
    struct cir_declarations *d = w->d;
    const char *colon = strchr(w->at, ':');
    struct cir_loss_line line = {.at = w->token};
    int rc = 0;

    w->at += strspn(w->at, " \t");
    line.element = lower_copy_of(w, w->at, strcspn(w->at, " \t:"));
    if (!line.element)
        return cir_say_no_memory(w->said);
    w->at = colon + 1;
    while (!rc && *(w->at += strspn(w->at, " \t,"))) {
        const struct cir_token place = here(w);
        const size_t length = strcspn(w->at, "= \t");
        const bool is_on = strncasecmp(w->at, "on", length) == 0;
        const bool is_off = strncasecmp(w->at, "off", length) == 0;
        const bool is_volts = strncasecmp(w->at, "volts", length) == 0;
        if (!is_on && !is_off && !is_volts)
            return cir_refuse(w->said, &place, "found %s; allowed: volts= on= off=", w->at);
        w->at += length;
        w->at += strspn(w->at, " \t=");
        rc = is_volts ? number(w, &line.volts, "voltage") : read_points(w, &line, is_on);
    }
    if (rc)
        return rc;
    if (!(line.volts > 0) || !line.count[0] || !line.count[1])
        return cir_refuse(w->said, w->token,
                          "found losses without all of their values; allowed: switching %s: volts= "
                          "above 0, on= and off=",
                          line.element);
    if (cir_grow(&d->losses, d->loss_count, sizeof *d->losses))
        return cir_say_no_memory(w->said);
    d->losses[d->loss_count++] = line;
    return 0;
}

/* --- PWM units -------------------------------------------------------------------------------- */

static const char *const pwm_words[CIR_PWM_QUANTITIES] = {
    "duty",  "frequency", "phase", "dead", "enable", "peak",
    "slope", "blanking",  "trip",  "on",   "off"};

static int pwm_quantity(const char *name)
{
    for (int q = 0; q < CIR_PWM_QUANTITIES; q++)
        if (strcmp(pwm_words[q], name) == 0)
            return q;
    return -1;
}

/* One NAME=VALUE of a unit. */
static int read_setting(struct words *w, struct cir_pwm_line *line)
{
    const struct cir_token place = here(w);
    const size_t length = strcspn(w->at, "= \t");
    const char *name = lower_copy_of(w, w->at, length), *value;

    if (!name)
        return cir_say_no_memory(w->said);
    w->at += length;
    w->at += strspn(w->at, " \t=");
    const int q = pwm_quantity(name);
    if (q >= 0)
        return number(w, &line->value[q], "value");
    int rc = word(w, &value, "value");
    if (rc)
        return rc;
    if (strcmp(name, "carrier") == 0 &&
        (strcmp(value, "sawtooth") == 0 || strcmp(value, "centred") == 0 ||
         strcmp(value, "stamps") == 0)) {
        line->centred = value[0] == 'c';
        line->stamped = value[1] == 't';
    } else if (strcmp(name, "sense") == 0) {
        line->sense = value;
    } else if (strcmp(name, "update") == 0 &&
               (strcmp(value, "single") == 0 || strcmp(value, "double") == 0))
        line->twice = value[0] == 'd';
    else
        return cir_refuse(w->said, &place,
                          "found %s=%s; allowed: duty= frequency= phase= dead= enable= sense= "
                          "peak= slope= blanking= trip= on= off= carrier=sawtooth, centred or "
                          "stamps, update=single or double",
                          name, value);
    return 0;
}

static int read_unit(struct words *w)
{
    struct cir_declarations *d = w->d;
    const char *colon = strchr(w->at, ':');
    struct cir_pwm_line line = {.at = w->token,
                                .value = {NAN, NAN, 0, 0, 1, NAN, 0, 0, NAN, -1, -1}};
    int rc = 0;

    for (unsigned q = 0; q < CIR_PWM_QUANTITIES; q++)
        line.input[q] = -1;
    for (unsigned i = 0; i < 2; i++) {
        w->at += strspn(w->at, " \t");
        const size_t length = strcspn(w->at, " \t:");
        if (length && !(line.source[i] = lower_copy_of(w, w->at, length)))
            return cir_say_no_memory(w->said);
        w->at += length;
    }
    w->at += strspn(w->at, " \t");
    if (w->at != colon || !line.source[0])
        return cir_refuse(w->said, w->token, "found %s; allowed: pwm SOURCE [COMPLEMENT]: ...",
                          w->token->text);
    w->at++;
    while (!rc && *(w->at += strspn(w->at, " \t,")))
        rc = read_setting(w, &line);
    if (rc)
        return rc;
    if (line.twice && !line.centred)
        return cir_refuse(w->said, w->token,
                          "found update=double with a sawtooth; allowed: carrier=centred with it");
    if (cir_grow(&d->units, d->unit_count, sizeof *d->units))
        return cir_say_no_memory(w->said);
    d->units[d->unit_count++] = line;
    return 0;
}

/* "gate SOURCE [QUANTITY]: input ..." */
static int read_gate(struct words *w)
{
    struct cir_link link = {.at = w->token, .quantity = CIR_DUTY};
    const char *colon = strchr(w->at, ':'), *kind;

    w->at += strspn(w->at, " \t");
    size_t length = strcspn(w->at, " \t:");
    link.name = lower_copy_of(w, w->at, length);
    w->at += length;
    w->at += strspn(w->at, " \t");
    const struct cir_token place = here(w);
    length = strcspn(w->at, " \t:");
    const char *name = lower_copy_of(w, w->at, length);
    if (!link.name || !name)
        return cir_say_no_memory(w->said);
    if (length)
        link.quantity = pwm_quantity(name);
    if (link.quantity < 0)
        return cir_refuse(w->said, &place,
                          "found %s; allowed: duty, frequency, phase, dead, enable, peak, slope, "
                          "blanking, trip, on or off",
                          name);
    w->at = colon + 1;
    int rc = word(w, &kind, "kind");
    if (!rc && strcmp(kind, "input") != 0)
        return cir_refuse(w->said, w->token, "found %s; allowed: gate SOURCE [QUANTITY]: input ...",
                          kind);
    if (!rc)
        rc = read_row(w, &w->d->inputs, &link);
    if (!rc && link.quantity == CIR_ENABLE)
        w->d->inputs.rows[w->d->inputs.count - 1].flags |= HIL_ENABLE;
    return rc;
}

static int read_element_row(struct words *w, const char *element, size_t length)
{
    struct cir_link link;
    const char *kind;
    int rc = read_link(w, &link, element, length);

    w->at += strspn(w->at, " \t");
    const struct cir_token place = here(w);
    if (!rc)
        rc = word(w, &kind, "kind");
    if (rc)
        return rc;
    struct cir_table *table = strcmp(kind, "input") == 0       ? &w->d->inputs
                              : strcmp(kind, "output") == 0    ? &w->d->outputs
                              : strcmp(kind, "parameter") == 0 ? &w->d->parameters
                                                               : NULL;
    if (!table)
        return cir_refuse(w->said, &place, "found %s; allowed: input, output, parameter", kind);
    return read_row(w, table, &link);
}

static int read_declaration(struct cir_declarations *d, const struct cir_token *token,
                            const struct cir_said *said)
{
    struct words w = {d, token, token->text, said};
    const char *start = token->text, *colon = strchr(start, ':');
    double ignored;

    if (!colon)
        return cir_refuse(said, token,
                          "found %s; allowed: ELEMENT: input, output or parameter, "
                          "name: NAME, diode MODEL: VALUES, pwm SOURCE: VALUES, gate SOURCE: input",
                          *start ? start : "nothing");
    size_t length = (size_t)(colon - start);
    while (length && isspace((unsigned char)start[length - 1]))
        length--;
    if (strncasecmp(start, "diode", 5) == 0 && isspace((unsigned char)start[5])) {
        w.at = start + 5;
        return read_diode(&w);
    }
    if (strncasecmp(start, "pwm", 3) == 0 && isspace((unsigned char)start[3])) {
        w.at = start + 3;
        return read_unit(&w);
    }
    if (strncasecmp(start, "gate", 4) == 0 && isspace((unsigned char)start[4])) {
        w.at = start + 4;
        return read_gate(&w);
    }
    if (strncasecmp(start, "switching", 9) == 0 && isspace((unsigned char)start[9])) {
        w.at = start + 9;
        return read_losses(&w);
    }
    w.at = colon + 1;
    if (length == 4 && strncasecmp(start, "name", 4) == 0)
        return word(&w, &d->name, "name");
    if (length == 4 && strncasecmp(start, "step", 4) == 0)
        return number(&w, &ignored, "time");
    return read_element_row(&w, start, length);
}

/* Whether a line is of a PWM unit whose gate has a time function in the netlist. */
static bool is_of_own_source(const struct cir_text *text, const char *line)
{
    const char *name = line + strcspn(line, " \t");

    if (strncasecmp(line, "pwm", 3) != 0 && strncasecmp(line, "gate", 4) != 0)
        return false;
    name += strspn(name, " \t");
    const size_t length = strcspn(name, " \t:");
    for (unsigned i = 0; i < text->count; i++) {
        const struct cir_statement *s = &text->at[i];
        if (strncasecmp(s->at[0].text, name, length) == 0 && s->at[0].text[length] == '\0')
            return s->count < 4 || strcmp(s->at[3].text, "external") != 0;
    }
    return false;
}

int cir_declarations_read(struct cir_declarations *d, const struct cir_text *text, bool own_sources,
                          const struct cir_said *said)
{
    int rc = 0;

    *d = (struct cir_declarations){0};
    for (unsigned i = 0; !rc && i < text->count; i++)
        if (strcmp(text->at[i].at[0].text, "*hiloco") == 0 &&
            !(own_sources && is_of_own_source(text, text->at[i].at[1].text)))
            rc = read_declaration(d, &text->at[i].at[1], said);
    if (rc)
        cir_declarations_close(d);
    return rc;
}

const double *cir_defaults(const struct cir_table *table, double *values)
{
    for (unsigned i = 0; i < table->count; i++)
        values[i] = table->rows[i].value;
    return values;
}

static void close_table(struct cir_table *table)
{
    free(table->rows);
    free(table->links);
}

void cir_declarations_close(struct cir_declarations *d)
{
    close_table(&d->inputs);
    close_table(&d->outputs);
    close_table(&d->parameters);
    free(d->diodes);
    free(d->units);
    free(d->losses);
    cir_free_all(&d->blocks);
    *d = (struct cir_declarations){0};
}
