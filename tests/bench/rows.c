#include "rows.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

static bool is_quick(const char *name)
{
    for (const char *const *quick = bench_quick; *quick; quick++)
        if (strcmp(*quick, name) == 0)
            return true;
    return false;
}

/* Notes in `found` which patterns have a benchmark. */
static bool is_wanted(const struct bench_options *o, const char *name, bool found[BENCH_ONLY_MAX])
{
    bool wanted = o->only_count == 0;

    if (o->quick && !is_quick(name))
        return false;
    for (unsigned i = 0; i < o->only_count; i++)
        if (fnmatch(o->only[i], name, 0) == 0)
            wanted = found[i] = true;
    return wanted;
}

int rows_choose(const struct bench_options *o, const struct benchmark *rows[ROWS_MAX])
{
    bool found[BENCH_ONLY_MAX] = {false};
    const char *const of = o->quick ? " of --quick" : "";
    int count = 0;

    for (const struct benchmark *const *table = bench_tables; *table; table++)
        for (const struct benchmark *b = *table; b->name && count < ROWS_MAX; b++)
            if (is_wanted(o, b->name, found))
                rows[count++] = b;
    for (unsigned i = 0; i < o->only_count; i++) {
        if (found[i])
            continue;
        fprintf(stderr, "bench: --only %s: no benchmark%s is named so; --list names them\n",
                o->only[i], of);
        return -EINVAL;
    }
    if (count)
        return count;
    fprintf(stderr, "bench: there is no benchmark%s\n", of);
    return -EINVAL;
}

const struct benchmark *rows_find(const char *name)
{
    for (const struct benchmark *const *table = bench_tables; *table; table++)
        for (const struct benchmark *b = *table; b->name; b++)
            if (strcmp(b->name, name) == 0)
                return b;
    return NULL;
}
