/*
 * The text of a netlist: statements made of tokens, each with its place in a file, for messages.
 *
 * A statement is a line with its continuations ("+ ..."). Comments are gone, .include is replaced
 * by what it names, and all is in lower case. "(", ")" and "=" are tokens of their own; commas
 * separate tokens like spaces. {EXPRESSION} is one token, as is 'EXPRESSION', which becomes
 * {EXPRESSION}. A comment "*hiloco REST" is a statement of the two tokens "*hiloco" and REST, which
 * keeps its case.
 */
#ifndef HILOCO_CIRCUIT_TEXT_H
#define HILOCO_CIRCUIT_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* The destination of a message: one line that says where, what was found, and what is allowed. */
struct cir_said {
    char *text;
    size_t size;
};

struct cir_token {
    const char *text;
    const char *file; /* as in messages: the name without its folder */
    unsigned line, column;
};

struct cir_statement {
    struct cir_token *at;
    unsigned count;
};

struct cir_text {
    struct cir_statement *at;
    unsigned count;
    char *title; /* the first line */
    struct cir_block *blocks;
};

/* Reads a netlist and what it includes. Returns 0, or a negative errno after a message. A text that
 * could not be read is closed. */
int cir_text_read(struct cir_text *text, const char *path, const struct cir_said *said);
void cir_text_close(struct cir_text *text);

/* Writes the text as one netlist, with what it includes, which reads back as the same text. */
void cir_text_write(const struct cir_text *text, FILE *to);

/* Writes the message, with the token's place in front. Returns -EINVAL. */
__attribute__((format(printf, 3, 4))) int
cir_refuse(const struct cir_said *said, const struct cir_token *at, const char *format, ...);

int cir_say_no_memory(const struct cir_said *said);

/* Zeroed memory that lives as long as the list of blocks. */
void *cir_allocate(struct cir_block **blocks, size_t size);
void cir_free_all(struct cir_block **blocks);

/* Makes room in an array for one entry more; `count` is the number of entries it has. */
int cir_grow(void *array, unsigned count, size_t entry);

#endif
