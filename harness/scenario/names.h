/* A hash table from names to numbers. */
#ifndef SCENARIO_NAMES_H
#define SCENARIO_NAMES_H

#include <stddef.h>

struct scenario_names {
    struct scenario_name {
        const char *name; /* owned by the caller */
        unsigned number;
    } * at;
    size_t places; /* a power of two, at least twice the number of names */
};

/* Makes room for `count` names. Returns 0 or -ENOMEM. */
int scenario_names_open(struct scenario_names *names, size_t count);
void scenario_names_close(struct scenario_names *names);

/* Adds a name if it is new. Returns -1, or the number of an existing name. */
int scenario_names_add(struct scenario_names *names, const char *name, unsigned number);

/* The number of a name, or -1. */
int scenario_names_find(const struct scenario_names *names, const char *name, size_t length);

#endif
