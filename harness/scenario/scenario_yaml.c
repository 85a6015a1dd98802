/*
 * Between YAML text and the tree, through libyaml.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "scenario_tree.h"

/* What no scenario needs, but a hostile or mistaken file may have. */
enum { DEPTH_MAX = 32, NODES_MAX = 1 << 20, FILE_BYTES_MAX = 16 << 20 };

/* One parse: where the text came from, and how much of the tree there is already. */
struct parse {
    const char *text;
    size_t length;
    const struct scenario_place *place;
    struct scenario_report *report;
    yaml_document_t document;
    unsigned nodes;
};

/* A mark of libyaml as a place; in a --set there is only one place. */
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

/* libyaml gives an unreadable byte only by its offset in the file. */
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

/* True when the character at the mark is a tab, the commonest reason to be no YAML. */
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

static int report_yaml(const struct parse *parse, const yaml_parser_t *parser)
{
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

static int convert(struct parse *parse, int index, unsigned depth, struct scenario_node **out);

static int convert_sequence(struct parse *parse, const yaml_node_t *from, unsigned depth,
                            struct scenario_node *node)
{
    const yaml_node_item_t *item = from->data.sequence.items.start;

    for (; item < from->data.sequence.items.top; item++) {
        struct scenario_node *value;
        int error = convert(parse, *item, depth + 1, &value);
        if (error == 0)
            error = scenario_node_add(node, NULL, &value->at, value);
        if (error != 0)
            return error;
    }
    return 0;
}

static int convert_mapping(struct parse *parse, const yaml_node_t *from, unsigned depth,
                           struct scenario_node *node)
{
    const yaml_node_pair_t *pair = from->data.mapping.pairs.start;

    for (; pair < from->data.mapping.pairs.top; pair++) {
        const yaml_node_t *key = yaml_document_get_node(&parse->document, pair->key);
        if (key->type != YAML_SCALAR_NODE)
            return mistake_at(parse, key->start_mark,
                              "a mapping or a list as a key; allowed: the name of a key");
        struct scenario_place at = place_of(parse, key->start_mark);
        struct scenario_node *value;
        int error = convert(parse, pair->value, depth + 1, &value);
        if (error == 0)
            error = scenario_node_add(node, (const char *)key->data.scalar.value, &at, value);
        if (error != 0)
            return error;
    }
    return 0;
}

/* An alias arrives as one more use of the same node: each becomes a copy, within limits. */
static int convert(struct parse *parse, int index, unsigned depth, struct scenario_node **out)
{
    const yaml_node_t *from = yaml_document_get_node(&parse->document, index);
    bool scalar = from->type == YAML_SCALAR_NODE;
    struct scenario_place at = place_of(parse, from->start_mark);
    int error = 0;

    if (depth > DEPTH_MAX || ++parse->nodes > NODES_MAX)
        return mistake_at(parse, from->start_mark,
                          depth > DEPTH_MAX ? "nested too deeply; allowed: 32 levels"
                                            : "too many values; allowed: a million");
    if (scalar && strlen((const char *)from->data.scalar.value) != from->data.scalar.length)
        return mistake_at(parse, from->start_mark, "a NUL in a text; allowed: any other character");

    struct scenario_node *node =
        scenario_node_new(scalar                             ? SCENARIO_SCALAR
                          : from->type == YAML_SEQUENCE_NODE ? SCENARIO_SEQUENCE
                                                             : SCENARIO_MAPPING,
                          scalar ? (const char *)from->data.scalar.value : NULL, &at);
    if (node == NULL)
        return -ENOMEM;
    if (scalar)
        node->plain = from->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    else if (node->kind == SCENARIO_SEQUENCE)
        error = convert_sequence(parse, from, depth, node);
    else
        error = convert_mapping(parse, from, depth, node);

    if (error != 0)
        scenario_node_free(node);
    else
        *out = node;
    return error;
}

/* What follows the first document must be the end of the text. */
static int expect_end(struct parse *parse, yaml_parser_t *parser)
{
    yaml_document_t second;

    if (!yaml_parser_load(parser, &second))
        return report_yaml(parse, parser);
    const yaml_node_t *root = yaml_document_get_root_node(&second);
    int error = 0;
    if (root != NULL)
        error = mistake_at(parse, root->start_mark, "a second document; allowed: one");
    yaml_document_delete(&second);
    return error;
}

int scenario_tree_parse(struct scenario_node **root, const char *text, size_t length,
                        const struct scenario_place *place, struct scenario_report *report)
{
    struct parse parse = {.text = text, .length = length, .place = place, .report = report};
    yaml_parser_t parser;
    struct scenario_node *tree = NULL;

    if (!yaml_parser_initialize(&parser))
        return -ENOMEM;
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    if (!yaml_parser_load(&parser, &parse.document)) {
        int error = report_yaml(&parse, &parser);
        yaml_parser_delete(&parser);
        return error;
    }

    int error;
    if (yaml_document_get_root_node(&parse.document) == NULL) {
        /* No document at all: YAML's null. */
        struct scenario_place at = place_of(&parse, (yaml_mark_t){0});
        tree = scenario_node_new(SCENARIO_SCALAR, "", &at);
        error = tree == NULL ? -ENOMEM : 0;
    } else {
        error = convert(&parse, 1, 0, &tree);
        if (error == 0)
            error = expect_end(&parse, &parser);
    }
    yaml_document_delete(&parse.document);
    yaml_parser_delete(&parser);
    if (error != 0)
        scenario_node_free(tree);
    else
        *root = tree;
    return error;
}

/* Reads a whole file; *text is the caller's to free. */
static int read_file(const char *path, char **text, size_t *length)
{
    FILE *file = fopen(path, "re");
    int error = 0;

    if (file == NULL)
        return -errno;
    char *buffer = malloc(FILE_BYTES_MAX + 1);
    if (buffer == NULL) {
        fclose(file);
        return -ENOMEM;
    }
    *length = fread(buffer, 1, FILE_BYTES_MAX + 1, file);
    if (ferror(file))
        error = errno != 0 ? -errno : -EIO;
    else if (*length > FILE_BYTES_MAX)
        error = -EFBIG;
    fclose(file);
    if (error != 0)
        free(buffer);
    else
        *text = buffer;
    return error;
}

int scenario_tree_read(struct scenario_node **root, const char *path,
                       struct scenario_report *report)
{
    struct scenario_place place = {.file = path, .line = 1, .column = 1};
    char *text = NULL;
    size_t length = 0;
    int error = read_file(path, &text, &length);

    if (error == -ENOMEM)
        return error;
    if (error != 0) {
        scenario_mistake(report, &place,
                         "cannot be read (%s); allowed: a scenario, a YAML file of up to 16 MiB",
                         strerror(-error));
        return error;
    }
    error = scenario_tree_parse(root, text, length, &place, report);
    free(text);
    return error;
}

/* --- the way back ---------------------------------------------------------------------- */

static bool only_scalars(const struct scenario_node *node)
{
    for (size_t i = 0; i < node->count; i++)
        if (node->entries[i].value->kind != SCENARIO_SCALAR)
            return false;
    return true;
}

/* Adds the node to the document; returns its number there, or 0 when memory ran out. */
static int add_to_document(yaml_document_t *document, const struct scenario_node *node)
{
    if (node->kind == SCENARIO_SCALAR)
        return yaml_document_add_scalar(
            document, NULL, (const yaml_char_t *)node->text, (int)strlen(node->text),
            node->plain ? YAML_PLAIN_SCALAR_STYLE : YAML_DOUBLE_QUOTED_SCALAR_STYLE);

    bool sequence = node->kind == SCENARIO_SEQUENCE;
    int self = sequence ? yaml_document_add_sequence(document, NULL,
                                                     only_scalars(node) ? YAML_FLOW_SEQUENCE_STYLE
                                                                        : YAML_BLOCK_SEQUENCE_STYLE)
                        : yaml_document_add_mapping(document, NULL, YAML_BLOCK_MAPPING_STYLE);
    for (size_t i = 0; self != 0 && i < node->count; i++) {
        const struct scenario_entry *entry = &node->entries[i];
        int key = 0, value = add_to_document(document, entry->value);
        if (!sequence)
            key = yaml_document_add_scalar(document, NULL, (const yaml_char_t *)entry->key,
                                           (int)strlen(entry->key), YAML_PLAIN_SCALAR_STYLE);
        bool added =
            value != 0 &&
            (sequence ? yaml_document_append_sequence_item(document, self, value)
                      : key != 0 && yaml_document_append_mapping_pair(document, self, key, value));
        if (!added)
            return 0;
    }
    return self;
}

static int write_to_stream(void *stream, unsigned char *bytes, size_t size)
{
    return fwrite(bytes, 1, size, stream) == size;
}

/* Takes the document, also on error. */
static int dump(yaml_document_t *document, FILE *stream)
{
    yaml_emitter_t emitter;

    if (!yaml_emitter_initialize(&emitter)) {
        yaml_document_delete(document);
        return -ENOMEM;
    }
    yaml_emitter_set_output(&emitter, write_to_stream, stream);
    yaml_emitter_set_unicode(&emitter, 1);
    yaml_emitter_set_width(&emitter, 96);
    bool written = yaml_emitter_dump(&emitter, document) && yaml_emitter_flush(&emitter);
    yaml_emitter_delete(&emitter);
    return written ? 0 : -ENOMEM;
}

int scenario_tree_print(const struct scenario_node *root, char **text)
{
    yaml_document_t document;
    size_t size;
    char *buffer = NULL;
    FILE *stream = open_memstream(&buffer, &size);

    if (stream == NULL)
        return -ENOMEM;
    int error = -ENOMEM;
    if (yaml_document_initialize(&document, NULL, NULL, NULL, 1, 1)) {
        if (add_to_document(&document, root) != 0)
            error = dump(&document, stream);
        else
            yaml_document_delete(&document);
    }
    if (fclose(stream) != 0)
        error = -ENOMEM;
    if (error != 0)
        free(buffer);
    else
        *text = buffer;
    return error;
}
