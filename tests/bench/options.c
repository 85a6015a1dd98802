#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "harness/base/digits.h"
#include "result.h"

static const char help[] =
    "usage: bench [--only GLOB]... [--quick] [--runs N] [--seconds S] [--out FILE]\n"
    "             [--beside BENCH] [--configs DIR] [--accounts N] [--keys N] [--list] [--help]\n"
    "\n"
    "Measures, and prints a line for each benchmark as it ends. Where something is measured\n"
    "beside another, both are measured in turns in the same run. The numbers are medians over\n"
    "the runs, with the least and the greatest beside them; a run is the first quartile of its\n"
    "turns. The ratio is the median of the runs' ratios, as the machine's speed may change from\n"
    "run to run. A missed target is said, and is no failure. A target does not count as met\n"
    "where loops left out steps.\n"
    "\n"
    "  --only GLOB     only benchmarks of such names, as in --only 'barrier*'; may be repeated\n"
    "  --quick         only the benchmarks of the README's table: about a minute\n"
    "  --runs N        runs of each benchmark (default: 5, but 1 if it lasts over a second)\n"
    "  --seconds S     about how long a run lasts, where that can be chosen (default: 0.2)\n"
    "  --out FILE      also writes the results as JSON, after each pass over the benchmarks and\n"
    "                  when SIGTERM or SIGINT ends it\n"
    "  --beside BENCH  measures this build and another, by its program, in turns: --runs pairs,\n"
    "                  whatever they take, and the median of their ratios; no rivals\n"
    "  --configs DIR   where the scenarios are (default: configs)\n"
    "  --accounts N    accounts that the lock benchmarks transfer between, of 8 bytes each\n"
    "                  (default: 10000000)\n"
    "  --keys N        keys that the key-value stores have room for; 80 percent are there\n"
    "                  (default: 1310720: 10 MB)\n"
    "  --list          names the benchmarks, and measures nothing\n";

static int refuse(const char *option, const char *text, const char *expected)
{
    fprintf(stderr, "bench: --%s %s: expected %s\n", option, text, expected);
    return -EINVAL;
}

static bool read_count(const char *text, uint64_t least, uint64_t most, uint64_t *number)
{
    return hil_whole_number(text, most, number) && *number >= least;
}

static int set_runs(struct bench_options *o, const char *text)
{
    uint64_t runs;

    if (!read_count(text, 1, RESULT_RUNS_MAX, &runs))
        return refuse("runs", text, "a whole number from 1 to 1000");
    o->runs = (unsigned)runs;
    return 0;
}

static int set_seconds(struct bench_options *o, const char *text)
{
    char *end;

    o->seconds = strtod(text, &end);
    if (end == text || *end || !(o->seconds > 0 && o->seconds <= 10))
        return refuse("seconds", text, "a number above 0 and up to 10");
    return 0;
}

static int set_accounts(struct bench_options *o, const char *text)
{
    return read_count(text, 1000, UINT32_MAX, &o->accounts)
               ? 0
               : refuse("accounts", text, "a whole number from 1000 to 4294967295");
}

static int set_keys(struct bench_options *o, const char *text)
{
    return read_count(text, 1000, 1 << 30, &o->keys)
               ? 0
               : refuse("keys", text, "a whole number from 1000 to 1073741824");
}

/* A device must not be replaced by a file, nor a folder. */
static int set_out(struct bench_options *o, const char *text)
{
    struct stat at;

    o->out = text;
    return stat(text, &at) || S_ISREG(at.st_mode) ? 0 : refuse("out", text, "the name of a file");
}

static int add_only(struct bench_options *o, const char *text)
{
    if (o->only_count == BENCH_ONLY_MAX)
        return refuse("only", text, "no more than 16 of them");
    o->only[o->only_count++] = text;
    return 0;
}

static int apply(struct bench_options *o, int option, const char *text)
{
    switch (option) {
    case 'r':
        return set_runs(o, text);
    case 's':
        return set_seconds(o, text);
    case 'o':
        return add_only(o, text);
    case 'f':
        return set_out(o, text);
    case 'a':
        return set_accounts(o, text);
    case 'k':
        return set_keys(o, text);
    case 'c':
        o->configs = text;
        return 0;
    case 'b':
        o->beside = text;
        return 0;
    case 'q':
        o->quick = true;
        return 0;
    case 'l':
        o->list = true;
        return 0;
    case 'S':
        o->serve = true;
        return 0;
    case 'h':
        printf("%s", help);
        return 1;
    default:
        return -EINVAL; /* getopt has said why */
    }
}

int options_parse(struct bench_options *o, int argc, char **argv)
{
    static const struct option options[] = {
        {"runs", required_argument, NULL, 'r'},     {"seconds", required_argument, NULL, 's'},
        {"only", required_argument, NULL, 'o'},     {"out", required_argument, NULL, 'f'},
        {"configs", required_argument, NULL, 'c'},  {"beside", required_argument, NULL, 'b'},
        {"accounts", required_argument, NULL, 'a'}, {"keys", required_argument, NULL, 'k'},
        {"quick", no_argument, NULL, 'q'},          {"list", no_argument, NULL, 'l'},
        {"serve", no_argument, NULL, 'S'}, /* for --beside */
        {"help", no_argument, NULL, 'h'},           {0},
    };

    *o = (struct bench_options){
        .seconds = 0.2, .configs = "configs", .accounts = 10000000, .keys = 1310720};
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        const int rc = apply(o, c, optarg);
        if (rc)
            return rc;
    }
    if (optind == argc)
        return 0;
    fprintf(stderr, "bench: %s: expected an option\n", argv[optind]);
    return -EINVAL;
}
