/* The report: a table that is printed row by row, or JSON, printed at the end. */
#include <stdio.h>

#include "conform.h"

static void print_facts(const char *whose, json_t *facts)
{
    const char *name;
    json_t *text;

    printf("%s\n", whose);
    json_object_foreach(facts, name, text) printf("  %-28s %s\n", name, json_string_value(text));
    printf("\n");
}

void report_begin(struct report *r, bool as_json, json_t *here, json_t *there)
{
    *r = (struct report){0};
    if (as_json) {
        r->rows = json_array();
        r->json = json_pack("{sO sO* so}", "here", here, "there", there, "rows", r->rows);
        if (!r->json)
            conform_die("there is no memory");
        return;
    }
    print_facts(there ? "The card that posts" : "The card", here);
    if (there)
        print_facts("The card whose memory is used", there);
}

static void add_row(struct report *r, json_t *row)
{
    if (json_array_append_new(r->rows, row))
        conform_die("there is no memory");
}

void report_litmus(struct report *r, const struct litmus *l, bool excluded, uint64_t trials,
                   uint64_t seen)
{
    r->excluded += excluded && seen > 0;
    if (r->json) {
        add_row(r, json_pack("{ss ss sb sI sI}", "name", l->name, "outcome", l->outcome, "excluded",
                             excluded, "trials", (json_int_t)trials, "seen", (json_int_t)seen));
        return;
    }
    if (l == litmus_programs)
        printf("%-58s %10s %10s  %s\n", "What was looked for", "trials", "seen", "libloco");
    printf("  %-56s %10llu %10llu  %s\n", l->outcome, (unsigned long long)trials,
           (unsigned long long)seen, excluded ? "excludes it" : "allows it");
    fflush(stdout);
}

void report_cost(struct report *r, const struct cost *c, uint64_t trials, struct price price)
{
    if (r->json) {
        add_row(r, json_pack("{ss ss sI sI sI}", "name", c->name, "operation", c->what, "trials",
                             (json_int_t)trials, "median_ns", (json_int_t)price.median, "p99_ns",
                             (json_int_t)price.p99));
        return;
    }
    if (c == cost_operations)
        printf("\n%-58s %10s %10s %10s\n", "What operations cost", "trials", "median ns", "p99 ns");
    printf("  %-56s %10llu %10llu %10llu\n", c->what, (unsigned long long)trials,
           (unsigned long long)price.median, (unsigned long long)price.p99);
    fflush(stdout);
}

void report_end(struct report *r)
{
    if (r->json) {
        json_object_set_new(r->json, "excluded", json_integer(r->excluded));
        json_dumpf(r->json, stdout, JSON_INDENT(2));
        printf("\n");
        json_decref(r->json);
        return;
    }
    printf(
        "\nseen 0 means: not seen in so many trials. It proves nothing; more trials, or another\n"
        "load on the card, may show the outcome.\n");
    if (r->excluded)
        printf("libloco is not safe on this card: %u outcomes were seen that it excludes.\n",
               r->excluded);
}
