/*
 * From YAML text to the tree, with libyaml.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "scenario_tree.h"

/* Limits that no scenario needs to exceed, but a hostile or broken file may. libyaml's own work
 * grows with the square of directives, anchors and depth. Therefore events are read one at a time,
 * and reading ends at the first excess. Directives are counted before reading. */
enum {
    DEPTH_MAX = 32,
    NODES_MAX = 1 << 20,
    ANCHORS_MAX = 256,
    DIRECTIVES_MAX = 16,
};

/* A copy of a node with an anchor, for its aliases. */
struct anchor {
    char *name;
    struct scenario_node *node;
};

/* A parse in progress: the origin of the text, and the tree so far. */
struct parse {
    const char *text;
    size_t length;
    const struct scenario_place *place;
    struct scenario_report *report;
    yaml_parser_t parser;
    struct anchor anchors[ANCHORS_MAX];
    unsigned anchor_count;
    unsigned nodes;
};

/* Converts a mark of libyaml to a place; a --set is a single place. */
static struct scenario_place place_of(const struct parse *parse, yaml_mark_t mark)
{
    struct scenario_place place = *parse->place;
    if (place.set == NULL) {
        place.line = mark.line + 1;
        place.column = mark.column + 1;
    }
    return place;
}

static int mistake_at(const struct parse *parse, yaml_mark_t mark, const char *found)
{
    struct scenario_place place = place_of(parse, mark);
    scenario_mistake(parse->report, &place, "%s", found);
    return -EINVAL;
}

/* libyaml reports an unreadable byte only by its offset in the file. */
static yaml_mark_t mark_of_offset(const struct parse *parse, size_t offset)
{
    yaml_mark_t mark = {0};

    for (size_t i = 0; i < offset && i < parse->length; i++) {
        mark.column++;
        if (parse->text[i] == '\n') {
            mark.line++;
            mark.column = 0;
        }
    }
    return mark;
}

/* Whether the character at the mark is a tab, which is the most common YAML error. */
static bool is_tab(const struct parse *parse, yaml_mark_t mark)
{
    const char *line = parse->text, *end = parse->text + parse->length;

    for (size_t i = 0; i < mark.line && line != NULL; i++) {
        line = memchr(line, '\n', (size_t)(end - line));
        line = line == NULL ? NULL : line + 1;
    }
    return line != NULL && mark.column < (size_t)(end - line) &&
           memchr(line, '\t', mark.column + 1) == line + mark.column;
}

static int report_yaml(const struct parse *parse)
{
    const yaml_parser_t *parser = &parse->parser;

    if (parser->error == YAML_MEMORY_ERROR)
        return -ENOMEM;

    bool unreadable = parser->error == YAML_READER_ERROR;
    yaml_mark_t mark =
        unreadable ? mark_of_offset(parse, parser->problem_offset) : parser->problem_mark;
    if (!unreadable && is_tab(parse, mark))
        return mistake_at(parse, mark, "a tab; allowed: spaces");

    char message[512];
    snprintf(message, sizeof(message), "not YAML: %s%s%s; allowed: keys and values in YAML 1.1",
             parser->problem, parser->context == NULL ? "" : " ",
             parser->context == NULL ? "" : parser->context);
    return mistake_at(parse, mark, message);
}

/* Whether a line begins with a percent sign here. YAML's line breaks are recognized by their last
 * bytes. */
static bool is_directive(const struct parse *parse, size_t at)
{
    return parse->text[at] == '%' && (at == 0 || strchr("\n\r\x85\xa8\xa9", parse->text[at - 1]));
}

static int check_directives(const struct parse *parse)
{
    unsigned count = 0;

    for (size_t i = 0; i < parse->length; i++)
        if (is_directive(parse, i) && ++count > DIRECTIVES_MAX)
            return mistake_at(parse, mark_of_offset(parse, i), "too many directives; allowed: 16");
    return 0;
}

/* --- events to nodes ------------------------------------------------------------------------- */

static int compose(struct parse *parse, const yaml_event_t *event, unsigned depth,
                   struct scenario_node **out);

/* The caller deletes the event. */
static int next_event(struct parse *parse, yaml_event_t *event)
{
    return yaml_parser_parse(&parse->parser, event) ? 0 : report_yaml(parse);
}

static bool is_end(const yaml_event_t *event)
{
    return event->type == YAML_SEQUENCE_END_EVENT || event->type == YAML_MAPPING_END_EVENT;
}

/* Makes the node that begins with the next event; NULL at the end of a sequence or a mapping. */
static int compose_next(struct parse *parse, unsigned depth, struct scenario_node **out)
{
    yaml_event_t event;
    int error = next_event(parse, &event);
    if (error != 0)
        return error;

    *out = NULL;
    if (!is_end(&event))
        error = compose(parse, &event, depth, out);
    yaml_event_delete(&event);
    return error;
}

static int compose_sequence(struct parse *parse, unsigned depth, struct scenario_node *node)
{
    struct scenario_node *value;
    int error = compose_next(parse, depth + 1, &value);

    while (error == 0 && value != NULL) {
        error = scenario_node_add(node, NULL, &value->at, value);
        if (error == 0)
            error = compose_next(parse, depth + 1, &value);
    }
    return error;
}

/* Reads the value of this key, and adds both to the mapping. */
static int compose_entry(struct parse *parse, const struct scenario_node *key, unsigned depth,
                         struct scenario_node *node)
{
    struct scenario_node *value;

    if (key->kind != SCENARIO_SCALAR) {
        scenario_mistake(parse->report, &key->at,
                         "a mapping or a list as a key; allowed: the name of a key");
        return -EINVAL;
    }
    int error = compose_next(parse, depth + 1, &value);
    return error == 0 ? scenario_node_add(node, key->text, &key->at, value) : error;
}

static int compose_mapping(struct parse *parse, unsigned depth, struct scenario_node *node)
{
    struct scenario_node *key;
    int error = compose_next(parse, depth + 1, &key);

    while (error == 0 && key != NULL) {
        error = compose_entry(parse, key, depth, node);
        scenario_node_free(key);
        if (error == 0)
            error = compose_next(parse, depth + 1, &key);
    }
    return error;
}

/* Counts one more node at this depth. */
static int count_node(struct parse *parse, yaml_mark_t mark, unsigned depth)
{
    if (depth > DEPTH_MAX)
        return mistake_at(parse, mark, "nested too deeply; allowed: 32 levels");
    if (++parse->nodes > NODES_MAX)
        return mistake_at(parse, mark, "too many values; allowed: a million");
    return 0;
}

/* Each copied node counts again, because aliases of aliases grow exponentially. */
static int copy_node(struct parse *parse, yaml_mark_t mark, const struct scenario_node *from,
                     unsigned depth, struct scenario_node **out)
{
    int error = count_node(parse, mark, depth);
    struct scenario_node *node =
        error == 0 ? scenario_node_new(from->kind, from->text, &from->at) : NULL;

    if (node == NULL)
        return error != 0 ? error : -ENOMEM;
    node->plain = from->plain;
    node->text_column = from->text_column;
    for (size_t i = 0; i < from->count && error == 0; i++) {
        const struct scenario_entry *entry = &from->entries[i];
        struct scenario_node *value;
        error = copy_node(parse, mark, entry->value, depth + 1, &value);
        if (error == 0)
            error = scenario_node_add(node, entry->key, &entry->at, value);
    }
    if (error != 0)
        scenario_node_free(node);
    else
        *out = node;
    return error;
}

static const struct anchor *find_anchor(const struct parse *parse, const yaml_char_t *name)
{
    for (unsigned i = 0; i < parse->anchor_count; i++)
        if (strcmp(parse->anchors[i].name, (const char *)name) == 0)
            return &parse->anchors[i];
    return NULL;
}

static int compose_alias(struct parse *parse, const yaml_event_t *event, unsigned depth,
                         struct scenario_node **out)
{
    const struct anchor *anchor = find_anchor(parse, event->data.alias.anchor);

    if (anchor == NULL)
        return mistake_at(parse, event->start_mark,
                          "not YAML: found undefined alias; allowed: keys and values in YAML 1.1");
    return copy_node(parse, event->start_mark, anchor->node, depth, out);
}

static int add_anchor(struct parse *parse, yaml_mark_t mark, const yaml_char_t *name,
                      const struct scenario_node *node, unsigned depth)
{
    struct anchor *anchor = &parse->anchors[parse->anchor_count];

    if (find_anchor(parse, name) != NULL)
        return mistake_at(parse, mark, "an anchor for the second time; allowed: once");
    if (parse->anchor_count == ANCHORS_MAX)
        return mistake_at(parse, mark, "too many anchors; allowed: 256");
    anchor->name = strdup((const char *)name);
    if (anchor->name == NULL)
        return -ENOMEM;
    int error = copy_node(parse, mark, node, depth, &anchor->node);
    if (error != 0)
        free(anchor->name);
    else
        parse->anchor_count++;
    return error;
}

static void free_anchors(struct parse *parse)
{
    while (parse->anchor_count > 0) {
        struct anchor *anchor = &parse->anchors[--parse->anchor_count];
        free(anchor->name);
        scenario_node_free(anchor->node);
    }
}

static const yaml_char_t *anchor_of(const yaml_event_t *event)
{
    return event->type == YAML_SCALAR_EVENT           ? event->data.scalar.anchor
           : event->type == YAML_SEQUENCE_START_EVENT ? event->data.sequence_start.anchor
                                                      : event->data.mapping_start.anchor;
}

static int compose_content(struct parse *parse, const yaml_event_t *event, unsigned depth,
                           struct scenario_node *node)
{
    if (event->type == YAML_SEQUENCE_START_EVENT)
        return compose_sequence(parse, depth, node);
    if (event->type == YAML_MAPPING_START_EVENT)
        return compose_mapping(parse, depth, node);
    node->plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    const size_t quotes = node->plain ? 0 : 2;
    if (event->end_mark.index - event->start_mark.index == event->data.scalar.length + quotes)
        node->text_column = node->at.column + quotes / 2;
    return 0;
}

static struct scenario_node *new_node(const struct parse *parse, const yaml_event_t *event)
{
    struct scenario_place at = place_of(parse, event->start_mark);

    if (event->type == YAML_SCALAR_EVENT)
        return scenario_node_new(SCENARIO_SCALAR, (const char *)event->data.scalar.value, &at);
    return scenario_node_new(
        event->type == YAML_SEQUENCE_START_EVENT ? SCENARIO_SEQUENCE : SCENARIO_MAPPING, NULL, &at);
}

/* Makes the node that begins with this event. */
static int compose(struct parse *parse, const yaml_event_t *event, unsigned depth,
                   struct scenario_node **out)
{
    if (event->type == YAML_ALIAS_EVENT)
        return compose_alias(parse, event, depth, out);
    if (event->type == YAML_SCALAR_EVENT &&
        strlen((const char *)event->data.scalar.value) != event->data.scalar.length)
        return mistake_at(parse, event->start_mark,
                          "a NUL in a text; allowed: any other character");

    int error = count_node(parse, event->start_mark, depth);
    if (error != 0)
        return error;
    struct scenario_node *node = new_node(parse, event);
    if (node == NULL)
        return -ENOMEM;
    error = compose_content(parse, event, depth, node);
    if (error == 0 && anchor_of(event) != NULL)
        error = add_anchor(parse, event->start_mark, anchor_of(event), node, depth);
    if (error != 0)
        scenario_node_free(node);
    else
        *out = node;
    return error;
}

/* --- documents ------------------------------------------------------------------------------- */

/* Skips the event; *type is its kind. */
static int skip_event(struct parse *parse, yaml_event_type_t *type)
{
    yaml_event_t event;
    int error = next_event(parse, &event);

    if (error != 0)
        return error;
    *type = event.type;
    yaml_event_delete(&event);
    return 0;
}

/* After the first document the text must end. */
static int expect_end(struct parse *parse)
{
    yaml_event_type_t type;
    yaml_event_t event;
    int error = skip_event(parse, &type); /* end of the document */

    if (error == 0)
        error = skip_event(parse, &type);
    if (error != 0 || type == YAML_STREAM_END_EVENT)
        return error;
    error = next_event(parse, &event);
    if (error != 0)
        return error;
    error = mistake_at(parse, event.start_mark, "a second document; allowed: one");
    yaml_event_delete(&event);
    return error;
}

/* Without a document the result is YAML's null. */
static int compose_document(struct parse *parse, struct scenario_node **root)
{
    yaml_event_type_t type;
    int error = skip_event(parse, &type); /* beginning of the stream */

    if (error == 0)
        error = skip_event(parse, &type);
    if (error != 0)
        return error;
    if (type == YAML_STREAM_END_EVENT) {
        struct scenario_place at = place_of(parse, (yaml_mark_t){0});
        *root = scenario_node_new(SCENARIO_SCALAR, "", &at);
        return *root == NULL ? -ENOMEM : 0;
    }
    error = compose_next(parse, 0, root);
    return error == 0 ? expect_end(parse) : error;
}

int scenario_tree_parse(struct scenario_node **root, const char *text, size_t length,
                        const struct scenario_place *place, struct scenario_report *report)
{
    struct parse parse = {.text = text, .length = length, .place = place, .report = report};
    struct scenario_node *tree = NULL;
    int error = check_directives(&parse);

    if (error != 0)
        return error;
    if (!yaml_parser_initialize(&parse.parser))
        return -ENOMEM;
    yaml_parser_set_encoding(&parse.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parse.parser, (const unsigned char *)text, length);
    error = compose_document(&parse, &tree);
    yaml_parser_delete(&parse.parser);
    free_anchors(&parse);
    if (error != 0)
        scenario_node_free(tree);
    else
        *root = tree;
    return error;
}
