#include "bench.h"

#include <errno.h>
#include <fnmatch.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/run/clock.h"
#include "machine.h"

enum { RUNS_MAX = 1000 };

static const char help[] =
    "usage: bench [--runs N] [--seconds S] [--only GLOB] [--out FILE] [--configs DIR]\n"
    "             [--accounts N] [--keys N] [--list] [--help]\n"
    "\n"
    "Measures, and prints a table. Where something is measured beside another, both are\n"
    "measured in turns in the same run. The numbers are medians over the runs, with the\n"
    "least and the greatest beside them; a run is the first quartile of its turns. The ratio\n"
    "is the median of the runs' ratios, as the machine's speed may change from run to run. A\n"
    "missed target is said, and is no failure.\n"
    "\n"
    "  --runs N       runs of each benchmark (default: 5)\n"
    "  --seconds S    about how long a run lasts, where that can be chosen (default: 0.3)\n"
    "  --only GLOB    only benchmarks of such names, as in --only 'barrier*'\n"
    "  --out FILE     also writes the results as JSON\n"
    "  --configs DIR  where the scenarios are (default: configs)\n"
    "  --accounts N   accounts that the lock benchmarks transfer between, of 8 bytes each\n"
    "                 (default: 100000000)\n"
    "  --keys N       keys that the key-value stores have room for; 80 percent are there\n"
    "                 (default: 1310720: 10 MB)\n"
    "  --list         names the benchmarks, and measures nothing\n";

/* --- time and order - --------------------------------------------------------------------- */

static struct hil_clock bench_clock;

/* Calibrates bench_now(). Must be called before any child process is made. */
static void bench_prepare(void)
{
    hil_clock_calibrate(&bench_clock);
}

uint64_t bench_now(void)
{
#if defined(__x86_64__)
    __builtin_ia32_lfence();
#endif
    return hil_clock_now(&bench_clock);
}

uint64_t bench_glance(void)
{
    return hil_clock_now(&bench_clock);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double bench_quartile(double *values, size_t count)
{
    if (count == 0)
        return NAN;
    qsort(values, count, sizeof *values, by_value);
    return values[(count - 1) / 4];
}

double bench_median(double *values, size_t count)
{
    if (count == 0)
        return NAN;
    qsort(values, count, sizeof *values, by_value);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

/* --- results -------------------------------------------------------------------------------- */

struct result {
    const struct benchmark *benchmark;
    double values[RUNS_MAX], against[RUNS_MAX], ratios[RUNS_MAX];
    double longest[RUNS_MAX], longest_against[RUNS_MAX];
    double waits[BENCH_WAITS][RUNS_MAX], passed[BENCH_WAITS][RUNS_MAX];
    unsigned runs;
    bool failed;
    const char *absent; /* why the comparison is missing; NULL: it is not */
    char skipped[96];   /* why it was skipped */
};

static void run_once(struct result *r, const struct bench_options *o)
{
    const struct benchmark *b = r->benchmark;
    struct bench_sample sample = {0};

    if (r->skipped[0])
        return;
    if (o->cpu_count < b->cores) {
        snprintf(r->skipped, sizeof r->skipped, "needs %u cores, and %u can be used", b->cores,
                 o->cpu_count);
        return;
    }
    int rc = b->measure(b, o, &sample);
    if (rc) {
        r->failed = true;
        snprintf(r->skipped, sizeof r->skipped, "failed: %s", strerror(-rc));
        return;
    }
    r->absent = sample.absent;
    r->values[r->runs] = sample.value;
    r->against[r->runs] = sample.against;
    r->ratios[r->runs] = sample.value / sample.against;
    for (unsigned i = 0; i < BENCH_WAITS; i++) {
        r->waits[i][r->runs] = sample.waits[i];
        r->passed[i][r->runs] = sample.passed[i];
    }
    r->longest[r->runs] = sample.longest;
    r->longest_against[r->runs++] = sample.longest_against;
}

/* The summary of a result's runs. */
struct digest {
    double value, min, max;
    double against, ratio; /* NAN: no comparison */
    double longest, longest_against;
    double waits[BENCH_WAITS], passed[BENCH_WAITS];
    int met; /* -1: no target, or nothing to compare with */
};

static struct digest digest_of(struct result *r)
{
    const struct benchmark *b = r->benchmark;
    struct digest d = {
        .value = bench_median(r->values, r->runs), .against = NAN, .ratio = NAN, .met = -1};

    d.min = r->values[0]; /* the median sorted them */
    d.max = r->values[r->runs - 1];
    d.longest = bench_median(r->longest, r->runs);
    d.longest_against = bench_median(r->longest_against, r->runs);
    for (unsigned i = 0; i < BENCH_WAITS; i++) {
        d.waits[i] = bench_median(r->waits[i], r->runs);
        d.passed[i] = bench_median(r->passed[i], r->runs);
    }
    if (b->against && !r->absent) {
        d.against = bench_median(r->against, r->runs);
        d.ratio = bench_median(r->ratios, r->runs);
    }
    if (b->target_ratio > 0 && isfinite(d.ratio))
        d.met = b->more ? d.ratio >= b->target_ratio : d.ratio <= b->target_ratio;
    return d;
}

/* --- the table ------------------------------------------------------------------------------ */

static void print_heading(void)
{
    printf("\n%-28s %10s %-5s %23s  %-24s %8s %6s %7s\n", "benchmark", "median", "",
           "least .. most", "against", "", "ratio", "target");
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

static void print_result(struct result *r)
{
    const struct benchmark *b = r->benchmark;
    printf("%-28s ", b->name);
    if (r->skipped[0]) {
        printf("skipped: %s\n", r->skipped);
        return;
    }
    struct digest d = digest_of(r);
    print_number(10, d.value);
    printf(" %-5s ", b->unit);
    print_number(10, d.min);
    printf(" ..");
    print_number(10, d.max);
    if (r->absent) {
        printf("  %-24s %s", b->against, r->absent);
    } else if (b->against) {
        printf("  %-24s ", b->against);
        print_number(8, d.against);
        printf(" %6.2f", d.ratio);
    }
    if (d.met >= 0)
        printf("  %s%5.2f %s", b->more ? ">=" : "<=", b->target_ratio, d.met ? "met" : "MISSED");
    printf("\n");
    if (d.longest > 0) {
        printf("%-28s ", "    longest wait");
        print_number(10, d.longest);
        printf(" %-33s", "us");
        if (d.longest_against > 0) {
            printf("%-24s ", "");
            print_number(8, d.longest_against);
        }
        printf("\n");
    }
    print_waits("waits of at most", d.waits, "us");
    print_waits("passed by at most", d.passed, "others");
}

/* --- JSON ----------------------------------------------------------------------------------- */

static json_t *number_or_null(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *waits_json(const double waits[BENCH_WAITS])
{
    return json_pack("{s:f,s:f,s:f}", "50", waits[0], "99.9", waits[1], "99.99", waits[2]);
}

static json_t *result_json(struct result *r)
{
    const struct benchmark *b = r->benchmark;
    json_t *j = json_object();

    json_object_set_new(j, "name", json_string(b->name));
    json_object_set_new(j, "unit", json_string(b->unit));
    if (r->skipped[0]) {
        json_object_set_new(j, "skipped", json_string(r->skipped));
        return j;
    }
    struct digest d = digest_of(r);
    json_object_set_new(j, "value", number_or_null(d.value));
    json_object_set_new(j, "against", b->against ? json_string(b->against) : json_null());
    json_object_set_new(j, "against_value", number_or_null(d.against));
    json_object_set_new(j, "ratio", number_or_null(d.ratio));
    if (r->absent)
        json_object_set_new(j, "absent", json_string(r->absent));
    if (d.longest > 0) {
        json_object_set_new(j, "longest_wait_us", json_real(d.longest));
        json_object_set_new(j, "longest_wait_us_against", json_real(d.longest_against));
        json_object_set_new(j, "waits_us", waits_json(d.waits));
        json_object_set_new(j, "passed_by", waits_json(d.passed));
    }
    json_object_set_new(j, "target_ratio",
                        b->target_ratio > 0 ? json_real(b->target_ratio) : json_null());
    json_object_set_new(j, "met", d.met < 0 ? json_null() : json_boolean(d.met));
    json_object_set_new(j, "more_is_better", json_boolean(b->more));
    json_object_set_new(j, "spread", json_pack("[f,f]", d.min, d.max));
    json_object_set_new(j, "runs", json_integer(r->runs));
    return j;
}

static int write_json(const char *path, json_t *machine, struct result *results, size_t count)
{
    json_t *list = json_array(), *all = json_object();

    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, result_json(&results[i]));
    json_object_set(all, "machine", machine);
    json_object_set_new(all, "results", list);
    int rc = json_dump_file(all, path, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    json_decref(all);
    return rc;
}

/* --- the command line ----------------------------------------------------------------------- */

static bool is_wanted(const struct benchmark *b, const struct bench_options *o)
{
    return !o->only || fnmatch(o->only, b->name, 0) == 0;
}

static size_t choose(struct result *results, const struct bench_options *o)
{
    size_t count = 0;

    for (const struct benchmark *const *table = bench_tables; *table; table++) {
        for (const struct benchmark *b = *table; b->name; b++) {
            if (!is_wanted(b, o))
                continue;
            if (results)
                results[count].benchmark = b;
            count++;
        }
    }
    return count;
}

/* The runs of one benchmark are spread over time, as noise comes in waves. */
static void run_all(struct result *results, size_t count, const struct bench_options *o)
{
    bool terminal = isatty(STDERR_FILENO);

    for (unsigned run = 0; run < o->runs; run++) {
        for (size_t i = 0; i < count; i++) {
            if (terminal)
                fprintf(stderr, "\r\033[Krun %u of %u: %s", run + 1, o->runs,
                        results[i].benchmark->name);
            run_once(&results[i], o);
        }
    }
    if (terminal)
        fprintf(stderr, "\r\033[K");
}

static int measure_all(struct result *results, size_t count, const struct bench_options *o)
{
    json_t *machine = machine_facts();

    machine_print(machine);
    run_all(results, count, o);
    print_heading();
    bool failed = false;
    for (size_t i = 0; i < count; i++) {
        print_result(&results[i]);
        failed |= results[i].failed;
    }
    int rc = o->out ? write_json(o->out, machine, results, count) : 0;
    if (rc)
        fprintf(stderr, "%s cannot be written\n", o->out);
    json_decref(machine);
    return rc || failed;
}

/* Returns 0, 1 when there is nothing more to do, or a negative errno. */
static int parse(struct bench_options *o, int argc, char **argv)
{
    static const struct option options[] = {
        {"runs", required_argument, NULL, 'r'},     {"seconds", required_argument, NULL, 's'},
        {"only", required_argument, NULL, 'o'},     {"out", required_argument, NULL, 'f'},
        {"configs", required_argument, NULL, 'c'},  {"list", no_argument, NULL, 'l'},
        {"accounts", required_argument, NULL, 'a'}, {"keys", required_argument, NULL, 'k'},
        {"help", no_argument, NULL, 'h'},           {0},
    };

    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (c == 'r')
            o->runs = (unsigned)strtoul(optarg, NULL, 10);
        else if (c == 's')
            o->seconds = strtod(optarg, NULL);
        else if (c == 'o')
            o->only = optarg;
        else if (c == 'f')
            o->out = optarg;
        else if (c == 'c')
            o->configs = optarg;
        else if (c == 'a')
            o->accounts = strtoull(optarg, NULL, 10);
        else if (c == 'k')
            o->keys = strtoull(optarg, NULL, 10);
        else if (c == 'l')
            o->list = true;
        else if (c == 'h')
            return printf("%s", help), 1;
        else
            return -EINVAL;
    }
    if (optind == argc && o->runs >= 1 && o->runs <= RUNS_MAX && o->seconds > 0 &&
        o->seconds <= 10 && o->accounts >= 1000 && o->keys >= 1000 && o->keys <= 1 << 30)
        return 0;
    fprintf(stderr,
            "--runs 1 to %d, --seconds above 0, up to 10, --accounts 1000 or more and --keys 1000"
            " to 2^30 are allowed\n",
            RUNS_MAX);
    return -EINVAL;
}

int main(int argc, char **argv)
{
    struct bench_options o = {
        .runs = 5, .seconds = 0.3, .configs = "configs", .accounts = 100000000, .keys = 1310720};
    int rc = parse(&o, argc, argv);

    if (rc)
        return rc < 0 ? 2 : 0;
    size_t count = choose(NULL, &o);
    struct result *results = calloc(count + 1, sizeof *results);
    if (!results)
        return 1;
    choose(results, &o);
    if (o.list) {
        for (size_t i = 0; i < count; i++)
            printf("%s\n", results[i].benchmark->name);
    } else {
        bench_prepare();
        machine_cores(&o);
        rc = measure_all(results, count, &o);
    }
    free(results);
    return rc;
}
