#include "mentioned.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/list.h"

static const char mentioned_letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";

/* --- finding them ----------------------------------------------------------------------------- */

static int mentioned_add(struct scenario_mentioned *m, const char *component, size_t length,
                         const char *signal, size_t signal_length)
{
    struct scenario_mention *more = hil_list_more(m->at, m->count, sizeof *more);

    if (!more)
        return -ENOMEM;
    m->at = more;
    more[m->count] =
        (struct scenario_mention){strndup(component, length), strndup(signal, signal_length)};
    const struct scenario_mention *added = &more[m->count++];
    return added->component && added->signal ? 0 : -ENOMEM;
}

/* Adds the signal if the text is "NAME.NAME", with "[...]" after either name or not. */
static int mentioned_in_text(struct scenario_mentioned *m, const char *text)
{
    const size_t length = text ? strspn(text, mentioned_letters) : 0;

    if (length == 0)
        return 0;
    const char *at = text + length;
    if (*at == '[')
        at += strcspn(at, "]") + (strchr(at, ']') != NULL);
    if (*at++ != '.')
        return 0;
    const size_t signal = strspn(at, mentioned_letters);
    return signal && (at[signal] == '\0' || at[signal] == '[')
               ? mentioned_add(m, text, length, at, signal)
               : 0;
}

static int mentioned_in(struct scenario_mentioned *m, const struct scenario_node *node)
{
    int rc = node && node->kind == SCENARIO_SCALAR ? mentioned_in_text(m, node->text) : 0;

    for (size_t i = 0; !rc && node && i < node->count; i++) {
        rc = mentioned_in_text(m, node->entries[i].key);
        if (!rc)
            rc = mentioned_in(m, node->entries[i].value);
    }
    return rc;
}

/* --- in order --------------------------------------------------------------------------------- */

static int mentioned_compare(const void *one, const void *other)
{
    const struct scenario_mention *a = one, *b = other;
    const int order = strcmp(a->component, b->component);

    return order ? order : strcmp(a->signal, b->signal);
}

static void mentioned_free(struct scenario_mention *m)
{
    free(m->component);
    free(m->signal);
}

static void mentioned_sort(struct scenario_mentioned *m)
{
    size_t kept = 0;

    if (m->count)
        qsort(m->at, m->count, sizeof *m->at, mentioned_compare);
    for (size_t i = 0; i < m->count; i++)
        if (kept && mentioned_compare(&m->at[kept - 1], &m->at[i]) == 0)
            mentioned_free(&m->at[i]);
        else
            m->at[kept++] = m->at[i];
    m->count = kept;
}

int scenario_mentioned_open(struct scenario_mentioned *m, const struct scenario_node *root)
{
    *m = (struct scenario_mentioned){0};
    const int rc = mentioned_in(m, root);
    if (!rc)
        mentioned_sort(m);
    return rc;
}

void scenario_mentioned_close(struct scenario_mentioned *m)
{
    for (size_t i = 0; i < m->count; i++)
        mentioned_free(&m->at[i]);
    free(m->at);
    *m = (struct scenario_mentioned){0};
}

size_t scenario_mentioned_find(const struct scenario_mentioned *m, const char *component,
                               size_t *first)
{
    size_t low = 0, high = m->count, count = 0;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (strcmp(m->at[middle].component, component) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    while (low + count < m->count && strcmp(m->at[low + count].component, component) == 0)
        count++;
    *first = low;
    return count;
}
