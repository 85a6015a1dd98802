/* Finds the input at which the sine is added, and the output that is read. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/list.h"
#include "../../scenario/yaml/scenario_report.h"
#include "bode.h"

static struct hil_signal bode_signal(unsigned component, bool output, unsigned number)
{
    return (struct hil_signal){.component = component, .output = output, .number = number};
}

/* What feeds the input. False: no output does. */
static bool bode_feeder(const struct hil_system *s, const struct hil_signal *input,
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
        *from = bode_signal(i, true, out - of->out);
        return true;
    }
    return false;
}

/* Calls `each` with all inputs or all outputs, until it returns true. */
static bool bode_any(const struct hil_system *s, bool outputs,
                     bool (*each)(void *arg, const struct hil_signal *signal), void *arg)
{
    for (unsigned i = 0; i < s->component_count; i++) {
        const struct hil_component *c = &s->components[i];
        for (unsigned k = 0; k < (outputs ? c->out_count : c->in_count); k++) {
            const struct hil_signal signal = bode_signal(i, outputs, k);
            if (each(arg, &signal))
                return true;
        }
    }
    return false;
}

struct bode_search {
    const struct hil_system *system;
    const char *text;
    struct hil_signal found;
};

static bool bode_is_named(void *arg, const struct hil_signal *signal)
{
    struct bode_search *search = arg;
    char name[HIL_SIGNAL_NAME_BYTES];

    search->found = *signal;
    hil_signal_name(search->system, signal, name);
    return strcmp(name, search->text) == 0;
}

static bool bode_named(const struct hil_system *s, const char *text, bool output,
                       struct hil_signal *found)
{
    struct bode_search search = {.system = s, .text = text};
    const bool is = bode_any(s, output, bode_is_named, &search);

    *found = search.found;
    return is;
}

/* --- what an output feeds -------------------------------------------------------------------- */

struct bode_uses {
    const struct hil_system *system;
    struct hil_signal output, first;
    unsigned count;
    char names[400];
};

static bool bode_uses(void *arg, const struct hil_signal *input)
{
    struct bode_uses *uses = arg;
    struct hil_signal from;
    char name[HIL_SIGNAL_NAME_BYTES];
    const size_t used = strlen(uses->names);

    if (!bode_feeder(uses->system, input, &from) || !hil_signal_is(&from, &uses->output))
        return false;
    if (uses->count++ == 0)
        uses->first = *input;
    hil_signal_name(uses->system, input, name);
    snprintf(uses->names + used, sizeof uses->names - used, "%s%s", used ? ", " : "", name);
    return false;
}

/* An output stands for the one input that it feeds. */
static int bode_input_of(const struct hil_system *s, const char *text, struct hil_signal *signal)
{
    struct bode_uses uses = {.system = s, .output = *signal};

    bode_any(s, false, bode_uses, &uses);
    *signal = uses.first;
    if (uses.count == 1)
        return 0;
    if (uses.count == 0)
        fprintf(stderr, "--inject %s: it feeds nothing; allowed: an input in the loop\n", text);
    else
        fprintf(stderr, "--inject %s: it feeds %u inputs; allowed: one of %s\n", text, uses.count,
                uses.names);
    return -EINVAL;
}

/* --- names that there are not ---------------------------------------------------------------- */

struct bode_names {
    const struct hil_system *system;
    char **at;
    unsigned count;
};

static bool bode_add_name(void *arg, const struct hil_signal *signal)
{
    struct bode_names *names = arg;
    char name[HIL_SIGNAL_NAME_BYTES];
    char **more = hil_list_more(names->at, names->count, sizeof *more);

    if (!more)
        return true;
    names->at = more;
    hil_signal_name(names->system, signal, name);
    names->at[names->count] = strdup(name);
    return !names->at[names->count] || ++names->count == 1000;
}

static int bode_unknown(const struct hil_system *s, const char *option, const char *text,
                        bool inputs)
{
    struct bode_names names = {.system = s};
    char choice[SCENARIO_CHOICE_BYTES];

    if (inputs)
        bode_any(s, false, bode_add_name, &names);
    bode_any(s, true, bode_add_name, &names);
    scenario_say_choice(text, (const char *const *)names.at, names.count, choice);
    fprintf(stderr, "--%s %s: there is no such %s%s\n", option, text, inputs ? "signal" : "output",
            choice);
    for (unsigned i = 0; i < names.count; i++)
        free(names.at[i]);
    free(names.at);
    return -EINVAL;
}

/* --- the place ------------------------------------------------------------------------------- */

static int bode_find_input(const struct hil_system *s, const char *text, struct hil_signal *input)
{
    if (bode_named(s, text, false, input))
        return 0;
    if (bode_named(s, text, true, input))
        return bode_input_of(s, text, input);
    return bode_unknown(s, "inject", text, true);
}

int bode_find(struct bode_place *place, const struct bode_arguments *a, const struct hil_system *s)
{
    struct hil_signal input, feeder, response;

    if (bode_find_input(s, a->inject, &input))
        return -EINVAL;
    const bool fed = bode_feeder(s, &input, &feeder);
    if (a->response && !bode_named(s, a->response, true, &response))
        return bode_unknown(s, "response", a->response, false);
    if (!a->response && !fed) {
        fprintf(stderr,
                "--inject %s: no output feeds it, so nothing comes back to it; required: "
                "--response\n",
                a->inject);
        return -EINVAL;
    }
    place->of_loop = fed && (!a->response || hil_signal_is(&response, &feeder));
    hil_signal_name(s, &input, place->input);
    hil_signal_name(s, a->response ? &response : &feeder, place->response);
    place->node = s->components[input.component].node;
    return 0;
}
