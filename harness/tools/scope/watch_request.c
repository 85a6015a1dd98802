#include "watch_request.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "roll.h"

enum { WISH_NAME = 100 /* letters of a wrong name in the reply */ };

/* The index of a text in a list of words; -1: it is not there. */
static int request_word(const json_t *value, const char *const *words, int count)
{
    const char *text = json_string_value(value);

    for (int i = 0; text && i < count; i++)
        if (strcmp(text, words[i]) == 0)
            return i;
    return -1;
}

static bool request_is(const json_t *value, double least, double most)
{
    return json_is_number(value) && json_number_value(value) >= least &&
           json_number_value(value) <= most;
}

static int request_refuse(char *why, size_t size, const char *text)
{
    snprintf(why, size, "%s", text);
    return -EINVAL;
}

static int request_signal(const json_t *value, const struct hil_shown_list *shown,
                          const struct hil_shown **signal, char *why, size_t size)
{
    const char *name = json_string_value(value);

    *signal = name ? hil_shown_find(shown, name) : NULL;
    if (*signal)
        return 0;
    snprintf(why, size, "there is no signal %.*s", WISH_NAME, name ? name : "without a name");
    return -EINVAL;
}

static int request_signals(struct hil_watch_request *w, const json_t *signals,
                           const struct hil_shown_list *shown, char *why, size_t size)
{
    int rc = 0;

    if (!json_is_array(signals) || json_array_size(signals) > HIL_TRACES_MAX)
        return request_refuse(why, size, "watch.signals: up to 16 names are allowed");
    for (unsigned i = 0; !rc && i < json_array_size(signals); i++)
        rc = request_signal(json_array_get(signals, i), shown, &w->capture.signals[i], why, size);
    w->capture.count = (unsigned)json_array_size(signals);
    return rc;
}

static int request_level(struct hil_trigger *t, const json_t *trigger,
                         const struct hil_shown_list *shown, char *why, size_t size)
{
    static const char *const edges[] = {"rising", "falling", "both"};
    const json_t *level = json_object_get(trigger, "level");
    const json_t *hysteresis = json_object_get(trigger, "hysteresis");
    const int edge = request_word(json_object_get(trigger, "edge"), edges, 3);

    if (!json_is_number(level) || (hysteresis && !request_is(hysteresis, 0, INFINITY)) || edge < 0)
        return request_refuse(
            why, size,
            "trigger: level and hysteresis must be numbers, hysteresis 0 or more, "
            "and edge rising, falling or both");
    t->level = json_number_value(level);
    t->hysteresis = json_number_value(hysteresis);
    t->rising = edge != 1;
    t->falling = edge != 0;
    return request_signal(json_object_get(trigger, "signal"), shown, &t->signal, why, size);
}

static int request_trigger(struct hil_watch_request *w, const json_t *watch,
                           const struct hil_shown_list *shown, char *why, size_t size)
{
    static const char *const kinds[] = {"free", "level", "miss", "fault", "age"};
    static const char *const modes[] = {"auto", "normal", "single"};
    const json_t *trigger = json_object_get(watch, "trigger");
    const json_t *before = json_object_get(watch, "before_s");
    const json_t *after = json_object_get(watch, "after_s");
    const int on = request_word(json_object_get(trigger, "on"), kinds, HIL_ON_COUNT);
    const int mode = request_word(json_object_get(trigger, "mode"), modes, 3);

    if (on < 0 || mode < 0)
        return request_refuse(why, size,
                              "trigger: on must be free, level, miss, fault or age, and mode auto, "
                              "normal or single");
    if (!request_is(before, 0, 1e6) || !request_is(after, 0, 1e6))
        return request_refuse(why, size, "before_s and after_s must be times in seconds");
    w->capture.before_s = json_number_value(before);
    w->capture.after_s = json_number_value(after);
    w->capture.trigger.on = (enum hil_trigger_on)on;
    w->capture.trigger.mode = (enum hil_trigger_mode)mode;
    return on == HIL_ON_LEVEL ? request_level(&w->capture.trigger, trigger, shown, why, size) : 0;
}

static int request_roll(struct hil_watch_request *w, const json_t *watch, char *why, size_t size)
{
    const json_t *window = json_object_get(watch, "window_s");
    const json_t *columns = json_object_get(watch, "columns");

    w->rolls = true;
    if (!request_is(window, 1e-6, 1e6) || !json_is_integer(columns) ||
        !request_is(columns, 2, HIL_ROLL_COLUMNS_MAX))
        return request_refuse(
            why, size,
            "window_s must be a time in seconds, and columns a whole number from 2 "
            "to 4096");
    w->window_s = json_number_value(window);
    w->columns = (unsigned)json_integer_value(columns);
    return 0;
}

int hil_watch_request_read(struct hil_watch_request *w, const json_t *watch,
                           const struct hil_shown_list *shown, char *why, size_t size)
{
    static const char *const modes[] = {"roll", "trigger"};
    const int mode = request_word(json_object_get(watch, "mode"), modes, 2);

    *w = (struct hil_watch_request){0};
    if (mode < 0)
        return request_refuse(why, size, "watch.mode: roll or trigger is allowed");
    const int rc = request_signals(w, json_object_get(watch, "signals"), shown, why, size);
    if (rc)
        return rc;
    return mode == 0 ? request_roll(w, watch, why, size)
                     : request_trigger(w, watch, shown, why, size);
}
