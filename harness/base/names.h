/* A hash table from names to numbers. */
#ifndef HIL_NAMES_H
#define HIL_NAMES_H

#include <stddef.h>

struct hil_names {
    struct hil_name {
        const char *name; /* owned by the caller */
        unsigned number;
    } * at;
    size_t places; /* a power of two, at least twice the number of names */
};

/* Makes room for `count` names. Returns 0 or -ENOMEM. */
int hil_names_open(struct hil_names *names, size_t count);
void hil_names_close(struct hil_names *names);

/* Adds a name if it is new. Returns -1, or the number of an existing name. */
int hil_names_add(struct hil_names *names, const char *name, unsigned number);

/* The number of a name, or -1. */
int hil_names_find(const struct hil_names *names, const char *name, size_t length);

#endif
