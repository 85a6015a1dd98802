/* From the tree to YAML text, with libyaml. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "scenario_tree.h"

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
