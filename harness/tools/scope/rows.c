#include "rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/foreign.h"
#include "../../run/lines.h"

/* --- positions in the memory ------------------------------------------------------------------ */

/* Whether `count` items of `each` bytes fit in the memory at `at`, which must be a multiple of
 * `step`. */
static bool rows_fit(const struct hil_attached *run, uint64_t at, uint64_t count, uint64_t each,
                     uint64_t step)
{
    return at % step == 0 && at <= run->size && hil_foreign_fits(count, each, run->size - at);
}

static const void *rows_at(const struct hil_attached *run, uint64_t at)
{
    return (const char *)run->state + at;
}

/* Copies the positions of the taps, if they are in the memory. */
static int rows_taps(const struct hil_attached *run, struct hil_taps *taps)
{
    memcpy(taps, &run->state->taps, sizeof *taps);
    const bool fit =
        taps->ring_count <= run->node_count &&
        rows_fit(run, taps->rings, taps->ring_count, sizeof(struct hil_tap_ring), HIL_LINE) &&
        rows_fit(run, taps->columns, taps->column_count, sizeof(struct hil_tap_column), 8);
    return fit ? 0 : -EPROTO;
}

/* The last row need not be followed by a full stride. */
static bool rows_ring_fits(const struct hil_attached *run, uint64_t at, const struct hil_rows *r)
{
    const uint64_t word = sizeof(uint64_t), stride = r->stride * word;

    return rows_fit(run, at, r->rows - 1, stride, word) &&
           rows_fit(run, at + (r->rows - 1) * stride, r->width, word, word);
}

/* The oldest complete row after `count` were written. The next row may be being written, in the
 * place of the oldest. */
static uint64_t rows_oldest(const struct hil_rows *r, uint64_t count)
{
    return count < r->rows ? 0 : count - r->rows + 1;
}

int hil_rows_open(struct hil_rows *rows, const struct hil_attached *run, unsigned node)
{
    struct hil_taps taps;
    int rc = rows_taps(run, &taps);

    if (rc)
        return rc;
    if (node >= taps.ring_count)
        return -ENOENT;
    const uint64_t from = taps.rings + node * sizeof(struct hil_tap_ring);
    const struct hil_tap_ring *ring = rows_at(run, from);
    const volatile struct hil_tap_ring *once = ring;
    const uint64_t at = once->at;
    *rows = (struct hil_rows){
        .ring = ring, .rows = once->rows, .width = once->width, .stride = once->stride};
    if (rows->rows == 0)
        return -ENOENT;
    if ((rows->rows & (rows->rows - 1)) || rows->width < HIL_TAP_VALUES ||
        rows->stride < rows->width || at > run->size || !rows_ring_fits(run, from + at, rows))
        return -EPROTO;
    rows->words = rows_at(run, from + at);
    rows->next = rows_oldest(rows, hil_rows_count(rows));
    return 0;
}

/* --- available signals ------------------------------------------------------------------------ */

/* Whether the node has rows with such a word. */
static bool shown_is_fit(const struct hil_attached *run, const struct hil_shown *shown)
{
    struct hil_rows rows;

    return shown->node < run->node_count && hil_rows_open(&rows, run, shown->node) == 0 &&
           shown->place >= HIL_TAP_VALUES && shown->place < rows.width;
}

int hil_shown_open(struct hil_shown_list *list, const struct hil_attached *run)
{
    struct hil_taps taps;
    int rc = rows_taps(run, &taps);

    *list = (struct hil_shown_list){0};
    if (rc)
        return rc;
    const struct hil_tap_column *columns = rows_at(run, taps.columns);
    list->at = calloc(taps.column_count + 1ul, sizeof *list->at);
    if (!list->at)
        return -ENOMEM;
    for (unsigned i = 0; i < taps.column_count; i++) {
        const struct hil_tap_column column = columns[i];
        struct hil_shown *shown = &list->at[list->count++];
        hil_foreign_text(shown->name, sizeof shown->name, column.name, sizeof column.name);
        hil_foreign_text(shown->unit, sizeof shown->unit, column.unit, sizeof column.unit);
        shown->node = column.node;
        shown->place = column.place;
        if (!shown_is_fit(run, shown))
            return -EPROTO;
    }
    return 0;
}

void hil_shown_close(struct hil_shown_list *list)
{
    free(list->at);
    *list = (struct hil_shown_list){0};
}

const struct hil_shown *hil_shown_find(const struct hil_shown_list *list, const char *name)
{
    for (unsigned i = 0; i < list->count; i++)
        if (strcmp(list->at[i].name, name) == 0)
            return &list->at[i];
    return NULL;
}

/* --- rows ------------------------------------------------------------------------------------- */

static void rows_copy(const struct hil_rows *r, uint64_t row, const uint32_t *places,
                      unsigned count, uint64_t *to)
{
    const uint64_t *from = r->words + (row & (r->rows - 1)) * r->stride;

    for (unsigned i = 0; i < count; i++)
        to[i] = __atomic_load_n(&from[places[i]], __ATOMIC_RELAXED);
}

unsigned hil_rows_take(struct hil_rows *r, const uint32_t *places, unsigned count, uint64_t *to,
                       unsigned most, uint64_t *lost)
{
    const uint64_t written = hil_rows_count(r), oldest = rows_oldest(r, written);

    if (r->next < oldest) {
        *lost += oldest - r->next;
        r->next = oldest;
    }
    if (written <= r->next || most == 0)
        return 0;
    const unsigned n = written - r->next < most ? (unsigned)(written - r->next) : most;
    for (unsigned i = 0; i < n; i++)
        rows_copy(r, r->next + i, places, count, to + (size_t)i * count);
    atomic_thread_fence(memory_order_acquire);
    const uint64_t whole =
        rows_oldest(r, atomic_load_explicit(&r->ring->count, memory_order_relaxed));
    const unsigned gone = whole <= r->next       ? 0
                          : whole - r->next >= n ? n
                                                 : (unsigned)(whole - r->next);
    memmove(to, to + (size_t)gone * count, (size_t)(n - gone) * count * sizeof *to);
    *lost += gone;
    r->next += n;
    return n - gone;
}
