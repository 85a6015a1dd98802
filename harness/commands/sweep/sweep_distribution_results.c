/* Prints distributions below the table of a sweep, and writes them to sweep.json and to a CSV
 * file. */
#include <math.h>
#include <stdio.h>

#include "../../base/csv.h"
#include "../../base/json_number.h"
#include "sweep_distribution.h"

/* --- below the table ------------------------------------------------------------------------- */

static void print_distribution(void *unused, const struct sweep_group *g,
                               const struct sweep_distribution *d)
{
    char name[SWEEP_WORDS_BYTES];

    (void)unused;
    snprintf(name, sizeof name, "%s %s", d->measure, d->figure);
    printf("  %-30s %7u", name, d->count);
    for (unsigned i = 0; i < SWEEP_STATISTICS; i++)
        if (isfinite(d->at[i]))
            printf(" %10.5g", d->at[i]);
        else
            printf(" %10s", "-");
    printf("  %s\n", g->sweep->points[d->worst].name);
}

static void print_group(const struct sweep_group *g)
{
    const unsigned passed = sweep_group_passed(g);
    char name[SWEEP_WORDS_BYTES];
    struct sweep_worst worst;

    sweep_group_name(g, name);
    printf("\n%s%s%u runs", name, name[0] ? ": " : "", g->count);
    if (g->sweep->arguments->runs)
        printf(" of seed %lu", (unsigned long)g->sweep->arguments->seed);
    if (g->sweep->has_limits)
        printf(", %.4g %% passed", 100.0 * passed / g->count);
    sweep_find_worst(g, &worst);
    printf("; the worst is %s: %s\n", g->sweep->points[worst.point].name, worst.words);
    printf("  %-30s %7s", "", "runs");
    for (unsigned i = 0; i < SWEEP_STATISTICS; i++)
        printf(" %10s", sweep_statistic_names[i]);
    printf("  of run\n");
    sweep_each_distribution(g, print_distribution, NULL);
}

void sweep_print_distributions(const struct sweep *s)
{
    for (struct sweep_group g = {0}; sweep_group_next(s, &g);)
        print_group(&g);
}

/* --- JSON ------------------------------------------------------------------------------------ */

static void add_distribution(void *list, const struct sweep_group *g,
                             const struct sweep_distribution *d)
{
    json_t *json =
        json_pack("{s:s, s:s, s:s, s:i, s:s}", "measure", d->measure, "figure", d->figure, "unit",
                  d->unit, "runs", d->count, "worst", g->sweep->points[d->worst].name);

    for (unsigned i = 0; i < SWEEP_STATISTICS; i++)
        json_object_set_new(json, sweep_statistic_names[i], hil_json_number(d->at[i]));
    json_array_append_new(list, json);
}

static json_t *group_json(const struct sweep_group *g)
{
    json_t *figures = json_array();
    char name[SWEEP_WORDS_BYTES];
    struct sweep_worst worst;

    sweep_group_name(g, name);
    sweep_find_worst(g, &worst);
    sweep_each_distribution(g, add_distribution, figures);
    return json_pack("{s:s, s:i, s:i, s:i, s:{s:s, s:s}, s:o}", "of", name, "first", g->first,
                     "runs", g->count, "passed", sweep_group_passed(g), "worst", "dir",
                     g->sweep->points[worst.point].name, "words", worst.words, "figures", figures);
}

json_t *sweep_distributions_json(const struct sweep *s)
{
    json_t *list = json_array();

    for (struct sweep_group g = {0}; sweep_group_next(s, &g);)
        json_array_append_new(list, group_json(&g));
    return list;
}

/* --- CSV ------------------------------------------------------------------------------------- */

static void put_distribution(void *file, const struct sweep_group *g,
                             const struct sweep_distribution *d)
{
    char name[SWEEP_WORDS_BYTES];
    FILE *to = file;

    sweep_group_name(g, name);
    for (const char *const *text =
             (const char *const[]){name, d->measure, d->figure, d->unit, NULL};
         *text; text++) {
        hil_csv_text(to, *text);
        fputc(',', to);
    }
    fprintf(to, "%u", d->count);
    for (unsigned i = 0; i < SWEEP_STATISTICS; i++) {
        fputc(',', to);
        sweep_csv_number(to, d->at[i]);
    }
    fputc(',', to);
    hil_csv_text(to, g->sweep->points[d->worst].name);
    fputc('\n', to);
}

void sweep_put_distributions(const struct sweep *s, FILE *to)
{
    fputs("of,measure,figure,unit,runs", to);
    for (unsigned i = 0; i < SWEEP_STATISTICS; i++)
        fprintf(to, ",%s", sweep_statistic_names[i]);
    fputs(",worst\n", to);
    for (struct sweep_group g = {0}; sweep_group_next(s, &g);)
        sweep_each_distribution(&g, put_distribution, to);
}
