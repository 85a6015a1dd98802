#include "lane.h"

#include <errno.h>
#include <stdlib.h>

enum { LANE_CHUNK = 512 };

int hil_lane_open(struct hil_lane *l, const struct hil_attached *run, unsigned node)
{
    *l = (struct hil_lane){.node = node, .count = LANE_WORDS};
    l->period_ns = *(const volatile uint64_t *)&run->state->nodes[node].period_ns;
    l->period_ns = l->period_ns ? l->period_ns : 1;
    l->places[LANE_STEP] = HIL_TAP_STEP;
    l->places[LANE_TIME] = HIL_TAP_TIME;
    return hil_rows_open(&l->rows, run, node);
}

void hil_lane_close(struct hil_lane *l)
{
    free(l->kept);
}

unsigned hil_lane_column(struct hil_lane *l, uint32_t place)
{
    for (unsigned i = LANE_WORDS; i < l->count; i++)
        if (l->places[i] == place)
            return i;
    l->places[l->count] = place;
    return l->count++;
}

int hil_lane_reserve(struct hil_lane *l, uint64_t capacity)
{
    l->capacity = capacity;
    l->kept = malloc(capacity * l->count * sizeof *l->kept);
    return l->kept ? 0 : -ENOMEM;
}

/* Copies chunks that do not cross the end of the kept rows. places[0] is not in the ring. */
void hil_lane_take(struct hil_lane *l, uint64_t until_ns)
{
    const uint64_t most = l->capacity < l->rows.rows ? l->capacity : l->rows.rows;
    uint64_t chunk[LANE_CHUNK * (LANE_WORDS + HIL_TRACES_MAX + 1)];
    unsigned taken = 1;

    for (uint64_t all = 0; taken && all < most && hil_lane_newest(l) <= until_ns; all += taken) {
        taken = hil_rows_take(&l->rows, l->places, l->count, chunk, LANE_CHUNK, &l->lost);
        for (unsigned i = 0; i < taken; i++) {
            uint64_t *row = l->kept + l->end++ % l->capacity * l->count;
            memcpy(row, chunk + (size_t)i * l->count, l->count * sizeof *row);
            row[LANE_INDEX] = l->rows.next - taken + i;
        }
    }
}

uint64_t hil_lane_find(const struct hil_lane *l, uint64_t t_ns)
{
    uint64_t first = hil_lane_begin(l), last = l->end;

    while (first < last) {
        const uint64_t middle = first + (last - first) / 2;
        if (hil_lane_row(l, middle)[LANE_TIME] < t_ns)
            first = middle + 1;
        else
            last = middle;
    }
    return first;
}

bool hil_lane_covers(const struct hil_lane *l, uint64_t from_ns, uint64_t to_ns)
{
    const uint64_t end = hil_lane_find(l, to_ns);

    for (uint64_t i = end; i > hil_lane_begin(l); i--) {
        const uint64_t *row = hil_lane_row(l, i - 1);
        if (i < l->end && row[LANE_INDEX] + 1 != hil_lane_row(l, i)[LANE_INDEX])
            return false;
        if (row[LANE_TIME] <= from_ns || row[LANE_INDEX] == 0)
            return true;
    }
    return end < l->end &&
           (hil_lane_row(l, end)[LANE_INDEX] == 0 || hil_lane_row(l, end)[LANE_TIME] <= from_ns);
}
