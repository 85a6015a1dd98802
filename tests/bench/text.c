#include "text.h"

#include <math.h>
#include <stdio.h>

void text_heading(void)
{
    printf("\n%-28s %10s %-5s %23s  %-24s %8s %6s %7s\n", "benchmark", "median", "",
           "least .. most", "against", "", "ratio", "target");
    fflush(stdout);
}

/* Prints four significant digits. */
static void print_number(int width, double value)
{
    int before = value >= 1 ? (int)log10(value) + 1 : 1;

    printf("%*.*f", width, before < 4 ? 4 - before : 0, value);
}

static void print_waits(const char *what, const double waits[BENCH_WAITS], const char *unit)
{
    static const char *const shares[BENCH_WAITS] = {"50 %", "99.9 %", "99.99 %"};

    if (!(waits[BENCH_WAITS - 1] > 0))
        return;
    printf("    %-24s ", what);
    for (unsigned i = 0; i < BENCH_WAITS; i++) {
        print_number(10, waits[i]);
        printf(" %s (%s)", unit, shares[i]);
    }
    printf("\n");
}

static void print_target(const struct result *r, const struct digest *d)
{
    const struct benchmark *b = &r->benchmark;

    if (d->met >= 0)
        printf("  %s%5.2f %s", b->more ? ">=" : "<=", b->target_ratio,
               d->met             ? "met"
               : r->left_out == 0 ? "MISSED"
                                  : "not met");
    if (r->left_out > 0) {
        const double percent = 100 * r->left_out;
        printf("  its loops left out ");
        printf(percent < 10 ? "%.2g" : "%.0f", percent);
        printf(" %% of their steps");
    }
}

static void print_numbers(const struct result *r, const struct digest *d)
{
    const struct benchmark *b = &r->benchmark;

    print_number(10, d->value);
    printf(" %-5s ", b->unit);
    print_number(10, d->min);
    printf(" ..");
    print_number(10, d->max);
    if (r->absent) {
        printf("  %-24s %s", b->against, r->absent);
    } else if (b->against) {
        printf("  %-24s ", b->against);
        print_number(8, d->against);
        printf(" %6.2f", d->ratio);
    }
    print_target(r, d);
    printf("\n");
}

static void print_longest(const struct digest *d)
{
    if (!(d->longest > 0))
        return;
    printf("%-28s ", "    longest wait");
    print_number(10, d->longest);
    printf(" %-33s", "us");
    if (d->longest_against > 0) {
        printf("%-24s ", "");
        print_number(8, d->longest_against);
    }
    printf("\n");
}

void text_result(const struct result *r)
{
    printf("%-28s ", r->benchmark.name);
    if (r->skipped[0]) {
        printf("skipped: %s\n", r->skipped);
    } else {
        const struct digest d = result_digest(r);
        print_numbers(r, &d);
        print_longest(&d);
        print_waits("waits of at most", d.waits, "us");
        print_waits("passed by at most", d.passed, "others");
    }
    fflush(stdout);
}

void text_run(const struct result *r, unsigned runs)
{
    printf("    run %u of %u: %s ", r->runs, runs, r->benchmark.name);
    print_number(0, r->values[r->runs - 1]);
    printf(" %s\n", r->benchmark.unit);
    fflush(stdout);
}
