#include "names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

int hil_names_open(struct hil_names *names, size_t count)
{
    size_t places = 8;

    while (places < 2 * count)
        places *= 2;
    names->at = calloc(places, sizeof names->at[0]);
    names->places = places;
    return names->at ? 0 : -ENOMEM;
}

void hil_names_close(struct hil_names *names)
{
    free(names->at);
    *names = (struct hil_names){0};
}

/* The place of the name, or the free place for it. */
static struct hil_name *names_place(const struct hil_names *names, const char *name, size_t length)
{
    struct hil_name *table = names->at;
    size_t i = XXH3_64bits(name, length) & (names->places - 1);

    while (table[i].name &&
           (strncmp(table[i].name, name, length) != 0 || table[i].name[length] != '\0'))
        i = (i + 1) & (names->places - 1);
    return &table[i];
}

int hil_names_add(struct hil_names *names, const char *name, unsigned number)
{
    struct hil_name *place = names_place(names, name, strlen(name));

    if (place->name)
        return (int)place->number;
    *place = (struct hil_name){name, number};
    return -1;
}

int hil_names_find(const struct hil_names *names, const char *name, size_t length)
{
    const struct hil_name *place = names_place(names, name, length);

    return place->name ? (int)place->number : -1;
}
