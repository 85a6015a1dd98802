#include "rewriting.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../yaml/scenario_check.h"
#include "../yaml/scenario_schema.h"

/* --- reading ------------------------------------------------------------------------------- */

const char *short_text(const struct scenario_node *block, const char *key, const char *without)
{
    const struct scenario_node *value = scenario_node_get(block, key);

    return value ? value->text : without;
}

double short_number(const struct scenario_node *block, const char *key, double without)
{
    const char *text = short_text(block, key, NULL);

    return text ? strtod(text, NULL) : without;
}

bool short_is(const struct scenario_node *block, const char *key, const char *word)
{
    return strcmp(short_text(block, key, ""), word) == 0;
}

const struct hil_model *short_model(struct rewriting *x, const struct scenario_node *name)
{
    const struct hil_model *built_in = hil_model_find(name->text ? name->text : "");
    const struct hil_loaded *loaded;
    char wrong[1024] = "there is no such model";
    const struct hil_said said = {wrong, sizeof wrong, NULL};

    if (built_in || x->error)
        return built_in;
    if (name->text && hil_model_is_provided(name->text)) {
        x->error = hil_model_load(&loaded, name->text, x->folder, NULL, &said);
        if (!x->error)
            return loaded->model;
    }
    x->error = x->error ? x->error : -EINVAL;
    scenario_mistake(x->report, &name->at, "the model is '%.200s', but %s",
                     name->text ? name->text : "", wrong);
    return NULL;
}

bool short_law_takes(const struct rewriting *x, const char *input)
{
    return hil_quantity_find(&x->law->inputs, input) >= 0;
}

bool short_plant_takes(const struct rewriting *x, unsigned i, const char *input)
{
    return i < x->count && hil_quantity_find(&x->plants[i]->inputs, input) >= 0;
}

const struct scenario_node *short_override(const struct rewriting *x, unsigned converter)
{
    for (size_t i = 0; x->overrides && i < x->overrides->count; i++) {
        const struct scenario_node *o = x->overrides->entries[i].value;
        unsigned first, last;
        if (scenario_ids_parse(short_text(o, "id", ""), &first, &last) && first <= converter &&
            converter <= last)
            return o;
    }
    return NULL;
}

bool short_any_overrides(const struct rewriting *x, const char *key)
{
    for (size_t i = 0; x->overrides && i < x->overrides->count; i++)
        if (scenario_node_get(x->overrides->entries[i].value, key))
            return true;
    return false;
}

/* The value of a key that must be there. */
static const struct scenario_node *short_needed(struct rewriting *x,
                                                const struct scenario_node *block, const char *name,
                                                const char *key)
{
    const struct scenario_node *value = scenario_node_get(block, key);

    if (value)
        return value;
    scenario_mistake(x->report, block ? &block->at : &x->from->at, "%s.%s is missing", name, key);
    x->error = -EINVAL;
    return NULL;
}

static int short_open_plants(struct rewriting *x, const struct scenario_node *common)
{
    x->plants = calloc(x->count ? x->count : 1, sizeof(struct hil_model *));
    if (!x->plants)
        return -ENOMEM;
    for (unsigned i = 0; !x->error && i < x->count; i++) {
        const struct scenario_node *own = scenario_node_get(short_override(x, i), "plant");
        x->plants[i] = short_model(x, own ? own : common);
    }
    return x->error;
}

int short_open(struct rewriting *x)
{
    const struct scenario_node *law = short_needed(x, x->controller, "controller", "law");
    const struct scenario_node *plant = short_needed(x, x->converters, "converters", "plant");
    const double count = short_number(x->converters, "count", 0);

    if (x->error)
        return x->error;
    x->count = count >= 1 && count <= SCENARIO_NODES_MAX ? (unsigned)count : 0;
    x->law = short_model(x, law);
    return x->error ? x->error : short_open_plants(x, plant);
}

/* --- writing ------------------------------------------------------------------------------- */

/* Takes ownership of the value. */
static void short_add(struct rewriting *x, struct scenario_node *to, const char *key,
                      struct scenario_node *value)
{
    if (x->error || !to)
        scenario_node_free(value);
    else
        x->error = scenario_node_add(to, key, &to->at, value);
}

struct scenario_node *short_block(struct rewriting *x, struct scenario_node *to, const char *key,
                                  enum scenario_kind kind)
{
    short_add(x, to, key, to ? scenario_node_new(kind, NULL, &to->at) : NULL);
    return x->error || !to ? NULL : to->entries[to->count - 1].value;
}

struct scenario_node *short_entry(struct rewriting *x, struct scenario_node *list)
{
    return short_block(x, list, NULL, SCENARIO_MAPPING);
}

void short_say(struct rewriting *x, struct scenario_node *to, const char *key, const char *text)
{
    short_add(x, to, key, to ? scenario_node_new(SCENARIO_SCALAR, text, &to->at) : NULL);
}

void short_name(struct rewriting *x, struct scenario_node *to, const char *key, const char *text)
{
    short_say(x, to, key, text);
    if (!x->error && to)
        to->entries[to->count - 1].value->plain = !strchr(text, '[');
}

void short_count(struct rewriting *x, struct scenario_node *to, const char *key, double number)
{
    char text[SCENARIO_NUMBER_BYTES];

    scenario_number_text(text, number);
    short_say(x, to, key, text);
}

void short_move(struct rewriting *x, struct scenario_node *to, const char *key,
                const struct scenario_node *block, const char *from)
{
    const struct scenario_node *value = scenario_node_get(block, from);

    if (value && to)
        short_add(x, to, key, scenario_node_copy(value));
}

void short_keys(struct rewriting *x, struct scenario_node *to, const struct scenario_node *block,
                const char *const *keys)
{
    for (unsigned i = 0; keys[i]; i++)
        short_move(x, to, keys[i], block, keys[i]);
}
void short_entries(struct rewriting *x, struct scenario_node *to, const struct scenario_node *block)
{
    for (size_t i = 0; block && i < block->count; i++)
        short_move(x, to, block->entries[i].key, block, block->entries[i].key);
}

void short_each(struct rewriting *x, struct scenario_node *to, const char *key,
                double (*number)(const struct rewriting *x, unsigned i))
{
    struct scenario_node *list = short_block(x, to, key, SCENARIO_SEQUENCE);

    for (unsigned i = 0; i < x->count; i++)
        short_count(x, list, NULL, number(x, i));
}
