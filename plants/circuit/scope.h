/*
 * The scope of a subcircuit while it is expanded, or of the netlist itself: its statements, the
 * values of its parameters, and the nodes that it was given.
 */
#ifndef HILOCO_CIRCUIT_SCOPE_H
#define HILOCO_CIRCUIT_SCOPE_H

#include <stdbool.h>

#include "expression.h"

struct cir_parameter {
    const char *name;
    const struct cir_token *token; /* its value as written, evaluated when it is first needed */
    struct cir_scope *written_in;
    double value;
    enum { CIR_UNKNOWN, CIR_UNDER_WAY, CIR_KNOWN } state;
};

struct cir_scope {
    struct cir_scope *outer;
    const char *prefix; /* of its names: "x1." */
    const struct cir_statement *statements;
    unsigned statement_count;
    struct cir_parameter *parameters;
    unsigned parameter_count;
    const struct cir_token **formal; /* nodes as the subcircuit calls them... */
    unsigned *actual;                /* ...and their numbers */
    unsigned node_count;
    unsigned depth;
    const struct cir_said *said;
};

/* The number of a token in this scope. Returns 0, or a negative errno after a message. */
int cir_scope_number(struct cir_scope *scope, const struct cir_token *token, double *value);

/* A cir_lookup; its argument is a scope. */
int cir_scope_lookup(void *scope, const char *name, double *value);

/* Adds the parameters NAME=VALUE in the tokens from `first` on, whose values are written in another
 * scope. A later one of the same name takes the place of the one before. */
int cir_scope_add(struct cir_scope *scope, const struct cir_statement *s, unsigned first,
                  struct cir_scope *written_in);

bool cir_scope_has(const struct cir_scope *scope, const char *name);

/* Gives a parameter this value, whatever is written. */
int cir_scope_set(struct cir_scope *scope, const char *name, double value);

/* Adds those of all .param statements of the scope. */
int cir_scope_add_all(struct cir_scope *scope);

/* The statement after `from` that is not inside a subcircuit's definition; the number of
 * statements: there is none. */
unsigned cir_scope_next(const struct cir_scope *scope, unsigned from);

/* Finds .WORD NAME in this scope, or in those around it. NULL: there is none. `owner` (may be NULL)
 * gets the scope, `place` (may be NULL) the statement's place in it. */
const struct cir_statement *cir_scope_find(struct cir_scope *scope, const char *word,
                                           const char *name, struct cir_scope **owner,
                                           unsigned *place);

void cir_scope_close(struct cir_scope *scope);

#endif
