#include "scope.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int lookup_here(struct cir_scope *scope, struct cir_parameter *p, double *value)
{
    if (p->state == CIR_UNDER_WAY)
        return cir_refuse(scope->said, p->token,
                          "found %s, whose value needs itself; allowed: "
                          "parameters in an order",
                          p->name);
    if (p->state == CIR_UNKNOWN) {
        p->state = CIR_UNDER_WAY;
        const int rc = cir_scope_number(p->written_in, p->token, &p->value);
        if (rc)
            return rc;
        p->state = CIR_KNOWN;
    }
    *value = p->value;
    return 0;
}

int cir_scope_lookup(void *arg, const char *name, double *value)
{
    for (struct cir_scope *scope = arg; scope; scope = scope->outer)
        for (unsigned i = scope->parameter_count; i-- > 0;)
            if (strcmp(scope->parameters[i].name, name) == 0)
                return lookup_here(scope, &scope->parameters[i], value);
    return -ENOENT;
}

int cir_scope_number(struct cir_scope *scope, const struct cir_token *token, double *value)
{
    return cir_number(value, token, cir_scope_lookup, scope, scope->said);
}

static int add_parameter(struct cir_scope *scope, const struct cir_parameter *parameter)
{
    for (unsigned i = 0; i < scope->parameter_count; i++)
        if (strcmp(scope->parameters[i].name, parameter->name) == 0) {
            scope->parameters[i] = *parameter;
            return 0;
        }
    if (cir_grow(&scope->parameters, scope->parameter_count, sizeof *scope->parameters))
        return cir_say_no_memory(scope->said);
    scope->parameters[scope->parameter_count++] = *parameter;
    return 0;
}

int cir_scope_add(struct cir_scope *scope, const struct cir_statement *s, unsigned first,
                  struct cir_scope *written_in)
{
    for (unsigned i = first; i < s->count; i += 3) {
        if (i + 2 >= s->count || strcmp(s->at[i + 1].text, "=") != 0)
            return cir_refuse(scope->said, &s->at[i], "found %s; allowed: NAME=VALUE",
                              s->at[i].text);
        const int rc = add_parameter(scope, &(struct cir_parameter){.name = s->at[i].text,
                                                                    .token = &s->at[i + 2],
                                                                    .written_in = written_in});
        if (rc)
            return rc;
    }
    return 0;
}

bool cir_scope_has(const struct cir_scope *scope, const char *name)
{
    for (unsigned i = 0; i < scope->parameter_count; i++)
        if (strcmp(scope->parameters[i].name, name) == 0)
            return true;
    return false;
}

int cir_scope_set(struct cir_scope *scope, const char *name, double value)
{
    return add_parameter(scope,
                         &(struct cir_parameter){.name = name, .value = value, .state = CIR_KNOWN});
}

int cir_scope_add_all(struct cir_scope *scope)
{
    int rc = 0;

    for (unsigned i = cir_scope_next(scope, 0); !rc && i < scope->statement_count;
         i = cir_scope_next(scope, i + 1))
        if (strcmp(scope->statements[i].at[0].text, ".param") == 0)
            rc = cir_scope_add(scope, &scope->statements[i], 1, scope);
    return rc;
}

static bool statement_is(const struct cir_statement *s, const char *word)
{
    return strcmp(s->at[0].text, word) == 0;
}

unsigned cir_scope_next(const struct cir_scope *scope, unsigned from)
{
    unsigned depth = 0;

    for (unsigned i = from; i < scope->statement_count; i++) {
        const struct cir_statement *s = &scope->statements[i];
        if (statement_is(s, ".subckt"))
            depth++;
        else if (statement_is(s, ".ends") && depth)
            depth--;
        else if (!depth)
            return i;
    }
    return scope->statement_count;
}

static const struct cir_statement *find_here(struct cir_scope *scope, const char *word,
                                             const char *name, unsigned *place)
{
    unsigned depth = 0;

    for (unsigned i = 0; i < scope->statement_count; i++) {
        const struct cir_statement *s = &scope->statements[i];
        if (!depth && s->count > 1 && statement_is(s, word) && strcmp(s->at[1].text, name) == 0) {
            if (place)
                *place = i;
            return s;
        }
        if (statement_is(s, ".subckt"))
            depth++;
        else if (statement_is(s, ".ends") && depth)
            depth--;
    }
    return NULL;
}

const struct cir_statement *cir_scope_find(struct cir_scope *scope, const char *word,
                                           const char *name, struct cir_scope **owner,
                                           unsigned *place)
{
    for (; scope; scope = scope->outer) {
        const struct cir_statement *found = find_here(scope, word, name, place);
        if (found && owner)
            *owner = scope;
        if (found)
            return found;
    }
    return NULL;
}

void cir_scope_close(struct cir_scope *scope)
{
    free(scope->parameters);
    free(scope->formal);
    free(scope->actual);
}
