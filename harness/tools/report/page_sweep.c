#include "page_sweep.h"

#include <string.h>

#include "../../figures/key_words.h"
#include "../../figures/plot_sweep.h"
#include "curves.h"

static const char *sweep_text_at(const json_t *list, size_t i)
{
    const char *text = json_string_value(json_array_get(list, i));

    return text ? text : "";
}

static json_t *sweep_keys(const json_t *index)
{
    const json_t *keys = json_object_get(index, "keys"), *units = json_object_get(index, "units");
    char words[HIL_KEY_WORDS_BYTES];
    json_t *list = json_array();

    for (size_t i = 0; i < json_array_size(keys); i++) {
        const char *key = sweep_text_at(keys, i), *unit = sweep_text_at(units, i);
        hil_key_words(key, unit, words);
        json_array_append_new(list, json_pack("{s:o, s:o, s:o}", "key", hil_curves_text(key),
                                              "unit", hil_curves_text(hil_unit_words(unit)),
                                              "words", hil_curves_text(words)));
    }
    return list;
}

/* --- choosing the runs with curves ------------------------------------------------------------ */

static void sweep_draw(struct hil_page_run *runs, unsigned count, const json_t *dir)
{
    const char *name = json_string_value(dir);

    for (unsigned i = 0; i < count && name; i++) {
        const json_t *of = json_object_get(runs[i].point, "dir");
        if (json_string_value(of) && strcmp(json_string_value(of), name) == 0)
            runs[i].is_drawn = true;
    }
}

static void sweep_choose(const json_t *index, struct hil_page_run *runs, unsigned count)
{
    const json_t *bisection = json_object_get(index, "bisection"), *distribution;
    size_t step = plot_sweep_step(count), i;

    for (i = 0; i < count; i += step)
        runs[i].is_drawn = true;
    json_array_foreach(json_object_get(index, "distributions"), i, distribution)
    {
        sweep_draw(runs, count, json_object_get(json_object_get(distribution, "worst"), "dir"));
    }
    sweep_draw(runs, count, json_object_get(bisection, "passes_dir"));
    sweep_draw(runs, count, json_object_get(bisection, "fails_dir"));
}

/* Leaves out values of the wrong type. */
static json_t *sweep_part(const json_t *index, const char *key, json_type type)
{
    json_t *part = json_object_get(index, key);

    return part && json_typeof(part) == type ? json_incref(part) : json_null();
}

/* --- the sweep -------------------------------------------------------------------------------- */

json_t *hil_page_sweep_json(const char *label, const json_t *index, struct hil_page_run *runs,
                            unsigned count)
{
    sweep_choose(index, runs, count);
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:i, s:o}", "label", hil_curves_text(label), "keys",
                     sweep_keys(index), "drawn", sweep_part(index, "drawn", JSON_OBJECT),
                     "distributions", sweep_part(index, "distributions", JSON_ARRAY), "bisection",
                     sweep_part(index, "bisection", JSON_OBJECT), "every",
                     (int)plot_sweep_step(count), "scenario", hil_page_scenario(runs[0].dir));
}
