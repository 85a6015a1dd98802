/* Finds the input at which the sine is added, and the output that is read. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/list.h"
#include "../yaml/scenario_report.h"
#include "loop_place.h"

static struct hil_signal loop_signal(unsigned component, bool output, unsigned number)
{
    return (struct hil_signal){.component = component, .output = output, .number = number};
}

/* What feeds the input. False: no output does. */
static bool loop_feeder(const struct hil_system *s, const struct hil_signal *input,
                        struct hil_signal *from)
{
    const struct hil_component *c = &s->components[input->component];
    const struct hil_feed *feed = &s->nodes[c->node].feeds[c->in + input->number];
    unsigned node = c->node, out = feed->at;

    if (feed->kind == HIL_FEED_LINK) {
        node = s->links[feed->from].from;
        out = s->links[feed->from].values[feed->at];
    } else if (feed->kind != HIL_FEED_OUTPUT) {
        return false;
    }
    for (unsigned i = 0; i < s->component_count; i++) {
        const struct hil_component *of = &s->components[i];
        if (of->node != node || out < of->out || out >= of->out + of->out_count)
            continue;
        *from = loop_signal(i, true, out - of->out);
        return true;
    }
    return false;
}

/* Calls `each` with all inputs or all outputs, until it returns true. */
static bool loop_any(const struct hil_system *s, bool outputs,
                     bool (*each)(void *arg, const struct hil_signal *signal), void *arg)
{
    for (unsigned i = 0; i < s->component_count; i++) {
        const struct hil_component *c = &s->components[i];
        for (unsigned k = 0; k < (outputs ? c->out_count : c->in_count); k++) {
            const struct hil_signal signal = loop_signal(i, outputs, k);
            if (each(arg, &signal))
                return true;
        }
    }
    return false;
}

struct loop_search {
    const struct hil_system *system;
    const char *text;
    struct hil_signal found;
};

static bool loop_is_named(void *arg, const struct hil_signal *signal)
{
    struct loop_search *search = arg;
    char name[HIL_SIGNAL_NAME_BYTES];

    search->found = *signal;
    hil_signal_name(search->system, signal, name);
    return strcmp(name, search->text) == 0;
}

static bool loop_named(const struct hil_system *s, const char *text, bool output,
                       struct hil_signal *found)
{
    struct loop_search search = {.system = s, .text = text};
    const bool is = loop_any(s, output, loop_is_named, &search);

    *found = search.found;
    return is;
}

/* --- what an output feeds -------------------------------------------------------------------- */

struct loop_uses {
    const struct hil_system *system;
    struct hil_signal output, first;
    unsigned count;
    char names[400];
};

static bool loop_uses(void *arg, const struct hil_signal *input)
{
    struct loop_uses *uses = arg;
    struct hil_signal from;
    char name[HIL_SIGNAL_NAME_BYTES];
    const size_t used = strlen(uses->names);

    if (!loop_feeder(uses->system, input, &from) || !hil_signal_is(&from, &uses->output))
        return false;
    if (uses->count++ == 0)
        uses->first = *input;
    hil_signal_name(uses->system, input, name);
    snprintf(uses->names + used, sizeof uses->names - used, "%s%s", used ? ", " : "", name);
    return false;
}

/* An output stands for the one input that it feeds. */
static int loop_input_of(const struct hil_system *s, struct hil_signal *signal,
                         struct hil_loop_mistake *mistake)
{
    struct loop_uses uses = {.system = s, .output = *signal};

    loop_any(s, false, loop_uses, &uses);
    *signal = uses.first;
    if (uses.count == 1)
        return 0;
    if (uses.count == 0)
        snprintf(mistake->said, sizeof mistake->said,
                 "it feeds nothing; allowed: an input in the loop");
    else
        snprintf(mistake->said, sizeof mistake->said, "it feeds %u inputs; allowed: one of %s",
                 uses.count, uses.names);
    return -EINVAL;
}

/* --- names that there are not ---------------------------------------------------------------- */

struct loop_names {
    const struct hil_system *system;
    char **at;
    unsigned count;
};

static bool loop_add_name(void *arg, const struct hil_signal *signal)
{
    struct loop_names *names = arg;
    char name[HIL_SIGNAL_NAME_BYTES];
    char **more = hil_list_more(names->at, names->count, sizeof *more);

    if (!more)
        return true;
    names->at = more;
    hil_signal_name(names->system, signal, name);
    names->at[names->count] = strdup(name);
    return !names->at[names->count] || ++names->count == 1000;
}

static int loop_unknown(const struct hil_system *s, const char *text,
                        struct hil_loop_mistake *mistake)
{
    struct loop_names names = {.system = s};
    char choice[SCENARIO_CHOICE_BYTES];

    if (!mistake->response)
        loop_any(s, false, loop_add_name, &names);
    loop_any(s, true, loop_add_name, &names);
    scenario_say_choice(text, (const char *const *)names.at, names.count, choice);
    snprintf(mistake->said, sizeof mistake->said, "there is no such %s%s",
             mistake->response ? "output" : "signal", choice);
    for (unsigned i = 0; i < names.count; i++)
        free(names.at[i]);
    free(names.at);
    return -EINVAL;
}

/* --- the place ------------------------------------------------------------------------------- */

static int loop_find_input(const struct hil_system *s, const char *text, struct hil_signal *input,
                           struct hil_loop_mistake *mistake)
{
    mistake->response = false;
    if (loop_named(s, text, false, input))
        return 0;
    if (loop_named(s, text, true, input))
        return loop_input_of(s, input, mistake);
    return loop_unknown(s, text, mistake);
}

int hil_loop_place_find(struct hil_loop_place *place, const struct hil_system *s,
                        const char *inject, const char *response, struct hil_loop_mistake *mistake)
{
    struct hil_signal feeder;

    if (loop_find_input(s, inject, &place->input, mistake))
        return -EINVAL;
    const bool fed = loop_feeder(s, &place->input, &feeder);
    if (response && !loop_named(s, response, true, &place->response)) {
        mistake->response = true;
        return loop_unknown(s, response, mistake);
    }
    if (!response && !fed) {
        snprintf(mistake->said, sizeof mistake->said,
                 "no output feeds it, so nothing comes back to it; required: a response");
        return -EINVAL;
    }
    if (!response)
        place->response = feeder;
    place->of_loop = fed && hil_signal_is(&place->response, &feeder);
    return 0;
}
