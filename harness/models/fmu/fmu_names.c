#include "fmu_names.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

struct naming {
    struct hil_names *names;
    struct hil_pool *pool;
    unsigned next; /* a number that no row has, if the row's own is taken */
};

/* "Motor.cell[2].i" becomes "motor_cell_2_i". */
static void names_convert(const char *theirs, char ours[FMU_NAME_BYTES])
{
    size_t length = 0;

    for (; *theirs && length + 24 < FMU_NAME_BYTES; theirs++) {
        const unsigned char c = (unsigned char)*theirs;
        if (c < 128 && isalnum(c))
            ours[length++] = (char)tolower(c);
        else if (c == '_' || (length && ours[length - 1] != '_'))
            ours[length++] = '_';
    }
    while (length > 1 && ours[length - 1] == '_' && theirs[-1] != '_')
        length--;
    ours[length] = '\0';
    if (length == 0)
        memcpy(ours, "variable", sizeof "variable");
}

void fmu_element_text(const struct fmu_variable *v, uint64_t element, const char *begin,
                      const char *between, char text[FMU_ELEMENT_BYTES])
{
    uint64_t stride = v->size;
    size_t used = 0;

    text[0] = '\0';
    for (unsigned d = 0; d < v->dimension_count && used < FMU_ELEMENT_BYTES; d++) {
        stride /= v->extents[d];
        used += (size_t)snprintf(text + used, FMU_ELEMENT_BYTES - used, "%s%u", d ? between : begin,
                                 (unsigned)(element / stride % v->extents[d] + 1));
    }
}

/* The name of the row, before conflicts are resolved. */
static void names_plain(const struct fmu_table *t, unsigned row, char name[FMU_NAME_BYTES])
{
    char element[FMU_ELEMENT_BYTES];

    names_convert(t->variables[row]->name, name);
    fmu_element_text(t->variables[row], t->elements[row], "_", "_", element);
    const size_t length = strlen(element), room = FMU_NAME_BYTES - 1 - length;
    memcpy(name + (strlen(name) < room ? strlen(name) : room), element, length + 1);
}

/* Names the row. The numbers that it tries in vain are not tried again for any row, so the time
 * grows only with the number of rows. */
static int names_give_row(struct naming *n, struct fmu_table *t, unsigned row, const char *name,
                          unsigned number)
{
    char numbered[FMU_NAME_BYTES + 16];
    unsigned suffix = row + 1;

    snprintf(numbered, sizeof numbered, "%s", name);
    while (hil_names_find(n->names, numbered, strlen(numbered)) >= 0) {
        snprintf(numbered, sizeof numbered, "%s_%u", name, suffix);
        suffix = n->next++;
    }
    t->rows[row].name = hil_pool_text(n->pool, numbered);
    if (!t->rows[row].name)
        return -ENOMEM;
    hil_names_add(n->names, t->rows[row].name, number);
    return 0;
}

/* Names the rows whose name is the FMU's own, or the others. */
static int names_give_rows(struct naming *n, struct fmu_table *t, unsigned first, bool own)
{
    char name[FMU_NAME_BYTES];
    int rc = 0;

    for (unsigned i = 0; !rc && i < t->count; i++) {
        names_plain(t, i, name);
        if (!t->rows[i].name && (strcmp(name, t->variables[i]->name) == 0) == own)
            rc = names_give_row(n, t, i, name, first + i);
    }
    return rc;
}

int fmu_names_give(struct fmu_table *const *tables, unsigned count, struct hil_names *names,
                   struct hil_pool *pool)
{
    struct naming n = {.names = names, .pool = pool};
    int rc;

    for (unsigned i = 0; i < count; i++)
        n.next += tables[i]->count;
    rc = hil_names_open(names, n.next);
    n.next++;
    for (unsigned own = 2; own-- > 0;)
        for (unsigned i = 0, first = 0; !rc && i < count; first += tables[i++]->count)
            rc = names_give_rows(&n, tables[i], first, own);
    return rc;
}
