#include "loops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../run/tracer.h"

enum { NODES_MAX = 100001 };

/* --- courses ---------------------------------------------------------------------------------- */

void hil_course_init(struct hil_course *c)
{
    c->column_ns = 1000;
    memset(c->greatest, 0xff, sizeof c->greatest);
}

static uint64_t greater(uint64_t a, uint64_t b)
{
    if (a == UINT64_MAX || b == UINT64_MAX)
        return a == UINT64_MAX ? b : a;
    return a > b ? a : b;
}

/* Merges pairs of columns until the time fits. */
static void course_reach(struct hil_course *c, uint64_t time_ns)
{
    while (time_ns / c->column_ns >= 2 * HIL_COURSE_COLUMNS) {
        for (unsigned i = 0; i < HIL_COURSE_COLUMNS; i++)
            c->greatest[i] = greater(c->greatest[2 * i], c->greatest[2 * i + 1]);
        memset(&c->greatest[HIL_COURSE_COLUMNS], 0xff, sizeof c->greatest / 2);
        c->column_ns *= 2;
    }
}

void hil_course_add(struct hil_course *c, uint64_t time_ns, uint64_t value)
{
    course_reach(c, time_ns);
    uint64_t *column = &c->greatest[time_ns / c->column_ns];
    *column = greater(*column, value);
}

/* --- arrays ----------------------------------------------------------------------------------- */

static void array_free(struct hil_traced_array *array)
{
    free(array->name);
    free(array->words);
    free(array);
}

/* Makes an array with this name, one of whose nodes has the given name. */
static struct hil_traced_array *array_make(const char *name, const char *node)
{
    struct hil_traced_array *array = calloc(1, sizeof *array);

    if (!array)
        return NULL;
    array->first = UINT32_MAX;
    array->many = strcmp(name, node) != 0;
    array->name = strdup(name);
    if (!array->name || asprintf(&array->words, "%s%s", name, array->many ? "[*]" : "") < 0) {
        array->words = NULL;
        array_free(array);
        return NULL;
    }
    hil_course_init(&array->late);
    hil_course_init(&array->duration);
    return array;
}

/* Returns its number, or -1. */
static int array_of(struct hil_traced_loops *loops, const char *name, const char *node)
{
    for (unsigned i = 0; i < loops->array_count; i++)
        if (strcmp(loops->arrays[i]->name, name) == 0)
            return (int)i;
    void *arrays = realloc(loops->arrays, (loops->array_count + 1) * sizeof *loops->arrays);
    if (!arrays)
        return -1;
    loops->arrays = arrays;
    loops->arrays[loops->array_count] = array_make(name, node);
    return loops->arrays[loops->array_count] ? (int)loops->array_count++ : -1;
}

static void array_add(struct hil_traced_array *array, uint32_t node)
{
    array->count++;
    array->first = node < array->first ? node : array->first;
}

const struct hil_traced_array *hil_loops_array(const struct hil_traced_loops *loops, unsigned node)
{
    const struct hil_traced_loop *loop = loops->at[node];
    const struct hil_traced_array *array = loop ? loops->arrays[loop->array] : NULL;

    return array && array->first == node ? array : NULL;
}

/* --- loops ------------------------------------------------------------------------------------ */

static bool reach(struct hil_traced_loops *loops, uint64_t node)
{
    if (node >= NODES_MAX)
        return false;
    if (node < loops->count)
        return true;
    void *at = realloc(loops->at, (node + 1) * sizeof *loops->at);
    if (!at)
        return false;
    loops->at = at;
    memset(&loops->at[loops->count], 0, (node + 1 - loops->count) * sizeof *loops->at);
    loops->count = (unsigned)node + 1;
    return true;
}

void hil_loops_name(struct hil_traced_loops *loops, uint64_t node, const char *name,
                    const char *array, uint64_t period_ns)
{
    if (!reach(loops, node) || loops->at[node])
        return;
    const int number = array_of(loops, array, name);
    struct hil_traced_loop *loop = number < 0 ? NULL : calloc(1, sizeof *loop);
    if (!loop)
        return;
    loop->name = strdup(name);
    if (!loop->name) {
        free(loop);
        return;
    }
    loop->node = (uint32_t)node;
    loop->period_ns = period_ns;
    loop->array = (unsigned)number;
    array_add(loops->arrays[number], loop->node);
    loops->at[node] = loop;
}

struct hil_traced_loop *hil_loops_of(struct hil_traced_loops *loops, uint64_t node)
{
    char name[40];

    if (node < loops->count && loops->at[node])
        return loops->at[node];
    snprintf(name, sizeof name, "node[%llu]", (unsigned long long)node);
    hil_loops_name(loops, node, name, "node", 0);
    return node < loops->count ? loops->at[node] : NULL;
}

static void figures_step(struct hil_loop_figures *f, uint64_t late_ns, uint64_t duration_ns,
                         uint64_t input_age_ns)
{
    f->steps++;
    hil_histogram_add(&f->late, late_ns);
    hil_histogram_add(&f->duration, duration_ns);
    if (input_age_ns != HIL_NO_AGE)
        hil_histogram_add(&f->input_age, input_age_ns);
}

void hil_loops_step(struct hil_traced_loops *loops, struct hil_traced_loop *loop, uint64_t at_ns,
                    uint64_t late_ns, uint64_t duration_ns, uint64_t input_age_ns)
{
    struct hil_traced_array *array = loops->arrays[loop->array];

    figures_step(&loop->figures, late_ns, duration_ns, input_age_ns);
    figures_step(&array->figures, late_ns, duration_ns, input_age_ns);
    hil_course_add(&array->late, at_ns, late_ns);
    hil_course_add(&array->duration, at_ns, duration_ns);
}

void hil_loops_miss(struct hil_traced_loops *loops, struct hil_traced_loop *loop)
{
    loop->figures.misses++;
    loops->arrays[loop->array]->figures.misses++;
}

static void figures_left_out(struct hil_loop_figures *f, uint64_t count, uint64_t late_ns,
                             uint64_t period_ns)
{
    f->left_out += count;
    hil_histogram_add_series(&f->late, late_ns, period_ns, count);
}

/* They were late by then; summary.json counts them in the same way. */
void hil_loops_left_out(struct hil_traced_loops *loops, struct hil_traced_loop *loop,
                        uint64_t count, uint64_t late_ns, uint64_t period_ns)
{
    figures_left_out(&loop->figures, count, late_ns, period_ns);
    figures_left_out(&loops->arrays[loop->array]->figures, count, late_ns, period_ns);
}

void hil_loops_free(struct hil_traced_loops *loops)
{
    for (unsigned i = 0; i < loops->count; i++) {
        if (loops->at[i])
            free(loops->at[i]->name);
        free(loops->at[i]);
    }
    for (unsigned i = 0; i < loops->array_count; i++)
        array_free(loops->arrays[i]);
    free(loops->at);
    free(loops->arrays);
    *loops = (struct hil_traced_loops){0};
}
