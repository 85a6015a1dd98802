/*
 * Converts between YAML text and the tree with libyaml.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml.h>

#include "../../base/text_mark.h"
#include "scenario_tree.h"

/* Limits that no scenario needs to exceed, but a hostile or broken file may. libyaml's own work
 * grows with the square of directives, anchors and depth. Therefore events are read one at a time,
 * and reading ends at the first excess. Directives are counted before reading. */
enum {
    DEPTH_MAX = 32,
    NODES_MAX = 1 << 20,
    FILE_BYTES_MAX = 16 << 20,
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

static bool is_standard_input(const char *path)
{
    return strcmp(path, "-") == 0;
}

/* Reads all that is left of a file; the caller frees *text. */
static int read_rest(FILE *file, char **text, size_t *length)
{
    int error = 0;

    char *buffer = malloc(FILE_BYTES_MAX + 1);
    if (buffer == NULL)
        return -ENOMEM;
    *length = fread(buffer, 1, FILE_BYTES_MAX + 1, file);
    if (ferror(file))
        error = errno != 0 ? -errno : -EIO;
    else if (*length > FILE_BYTES_MAX)
        error = -EFBIG;
    if (error != 0)
        free(buffer);
    else
        *text = buffer;
    return error;
}

/* Puts a copy that can be opened again in place of standard input. A sweep reads its scenario anew
 * in the process of each run. */
static int keep_standard_input(void)
{
    char *text = NULL;
    size_t length = 0;
    int error = read_rest(stdin, &text, &length);
    if (error != 0)
        return error;
    const int copy = memfd_create("scenario", MFD_CLOEXEC);

    if (copy < 0 || write(copy, text, length) != (ssize_t)length || dup2(copy, STDIN_FILENO) < 0)
        error = errno != 0 ? -errno : -EIO;
    if (copy >= 0)
        close(copy);
    free(text);
    return error;
}

static int open_standard_input(FILE **file)
{
    struct stat status;

    if (fstat(STDIN_FILENO, &status) != 0)
        return -errno;
    const int error = S_ISREG(status.st_mode) ? 0 : keep_standard_input();
    if (error != 0)
        return error;
    *file = fopen("/proc/self/fd/0", "re");
    return *file != NULL ? 0 : -errno;
}

/* Reads a whole file; the caller frees *text. */
static int read_file(const char *path, char **text, size_t *length)
{
    FILE *file = NULL;
    int error = 0;

    if (is_standard_input(path))
        error = open_standard_input(&file);
    else if ((file = fopen(path, "re")) == NULL)
        error = -errno;
    if (error != 0)
        return error;
    error = read_rest(file, text, length);
    fclose(file);
    return error;
}

/* What a file or folder is that is no scenario, and what helps; false: it may be one. */
static bool is_no_scenario(const char *path, struct scenario_report *report)
{
    static const char *const models[] = {".so", ".fmu", ".cir", ".csv"};
    const struct scenario_place place = {.file = path, .line = 1, .column = 1};
    const char *end = strrchr(path, '.');
    char inside[4200];
    struct stat status;

    snprintf(inside, sizeof(inside), "%s/scenario.yaml", path);
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
        if (access(inside, F_OK) == 0)
            scenario_mistake(report, &place, "a folder of results; its scenario is %s", inside);
        else
            scenario_mistake(report, &place, "a folder; required: a scenario, a YAML file");
        return true;
    }
    if (end && strcmp(end, ".py") == 0) {
        scenario_mistake(report, &place,
                         "a Python file; required: a scenario, a YAML file. It may be a model "
                         "there: python:%s:CLASS",
                         path);
        return true;
    }
    for (size_t i = 0; end && i < sizeof(models) / sizeof(models[0]); i++) {
        if (strcmp(end, models[i]) != 0)
            continue;
        scenario_mistake(report, &place,
                         "a model; required: a scenario, a YAML file. hiloco models %s shows it",
                         path);
        return true;
    }
    return false;
}

int scenario_tree_read(struct scenario_node **root, const char *path,
                       struct scenario_report *report)
{
    struct scenario_place place = {.file = path, .line = 1, .column = 1};
    char *text = NULL;
    size_t length = 0;

    if (!is_standard_input(path) && is_no_scenario(path, report))
        return -EINVAL;
    int error = read_file(path, &text, &length);

    if (error == -ENOMEM)
        return error;
    if (error != 0) {
        scenario_mistake(report, &place,
                         "cannot be read (%s); allowed: a scenario, a YAML file of up to 16 MiB",
                         strerror(-error));
        return error;
    }
    const size_t mark = hil_text_mark(text, length);
    error = scenario_tree_parse(root, text + mark, length - mark, &place, report);
    free(text);
    return error;
}

/* --- from the tree to text ------------------------------------------------------------- */

static bool only_scalars(const struct scenario_node *node)
{
    for (size_t i = 0; i < node->count; i++)
        if (node->entries[i].value->kind != SCENARIO_SCALAR)
            return false;
    return true;
}

/* Adds the node to the document; returns its number there, or 0 when memory runs out. */
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

/* Takes ownership of the document, also on errors. */
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
