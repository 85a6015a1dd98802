#include "report.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "../base/cpus.h"

enum { WIDTH = 100, INDENT = 26 };

static const char *const severities[] = {[HIL_FINE] = "ok",
                                         [HIL_NOTE] = "note",
                                         [HIL_WARNING] = "warning",
                                         [HIL_SERIOUS] = "SERIOUS",
                                         [HIL_UNKNOWN] = "unknown"};

/* --- text ---------------- */

void hil_report_machine(const struct hil_machine *p, FILE *to)
{
    char cpus[64];

    hil_cpus_format(&p->loops, cpus, sizeof cpus);
    if (p->name)
        fprintf(to, "%s, with loops on cpu %s\n\n", p->name, cpus);
    else
        fprintf(to, "this machine, with loops on cpu %s as in the reference scenario\n\n", cpus);
}

/* Wraps text at blanks, and indents further lines to the starting column; the first line has begun
 * already. */
static void print_wrapped(const char *text, FILE *to)
{
    const size_t room = WIDTH - INDENT;

    while (strlen(text) > room) {
        size_t length = room;
        while (length > 0 && text[length] != ' ')
            length--;
        if (length == 0)
            break;
        fprintf(to, "%.*s\n%*s", (int)length, text, INDENT, "");
        text += length + 1;
    }
    fprintf(to, "%s\n", text);
}

void hil_report_finding(const struct hil_finding *f, FILE *to)
{
    fprintf(to, "%-8s %-16s ", severities[f->severity], f->name);
    print_wrapped(f->found, to);
    if (f->severity == HIL_FINE)
        return;
    fprintf(to, "%*s", INDENT, "");
    print_wrapped(f->why, to);
    if (f->is_command) /* on one line, for copying */
        fprintf(to, "%*s# %s\n", INDENT, "", f->remedy);
    else if (f->remedy[0]) {
        fprintf(to, "%*s", INDENT, "");
        print_wrapped(f->remedy, to);
    }
    fputs("\n", to);
}

static void print_time(uint64_t ns, FILE *to)
{
    char text[24] = "-";

    if (ns > 0)
        hil_time_text(ns, text, sizeof text);
    fprintf(to, " %9s", text);
}

static void print_gaps(const struct hil_gaps *g, FILE *to)
{
    for (int i = 0; i < HIL_GAPS_LIMITS; i++)
        fprintf(to, " %7llu", (unsigned long long)g->over[i]);
    fputs(" ", to);
    for (int i = 0; i < 3; i++)
        print_time(g->largest[i], to);
}

static void print_cpu(int cpu, FILE *to)
{
    if (cpu < 0)
        fprintf(to, "%4s", "any");
    else
        fprintf(to, "%4d", cpu);
}

static const char *cyclictest_why(const struct hil_measured *m)
{
    return m->cyclictest_why[0] ? m->cyclictest_why : strerror(-m->cyclictest_rc);
}

static void print_cyclictest(const struct hil_measured *m, FILE *to)
{
    print_cpu(m->cpu, to);
    fprintf(to, "  %-10s", "cyclictest");
    if (m->cyclictest_rc == -ENOENT)
        fputs("  not installed (apt-get install rt-tests)", to);
    else if (m->cyclictest_rc)
        fprintf(to, "  failed: %s", cyclictest_why(m));
    else
        print_gaps(&m->cyclictest, to);
    fputs("\n", to);
}

static void print_others(const struct hil_measured *m, FILE *to)
{
    char longest[24], all[24];

    for (unsigned i = 0; i < m->other_count; i++) {
        hil_time_text(m->others[i].longest_ns, longest, sizeof longest);
        hil_time_text(m->others[i].all_ns, all, sizeof all);
        fprintf(to, "%4s  %s had it for %s at most, %s in all\n", "", m->others[i].name, longest,
                all);
    }
}

static const char *policy_name(int policy)
{
    return policy == SCHED_FIFO       ? "SCHED_FIFO"
           : policy == SCHED_DEADLINE ? "SCHED_DEADLINE"
                                      : "SCHED_OTHER";
}

static void print_scheduling(const struct hil_measured *m, FILE *to)
{
    fprintf(to, "Each core for %.0f s, ", (double)m->spun_ns * 1e-9);
    fprintf(to, "under %s: the gaps of a loop that only reads the clock,\n",
            m->policy == SCHED_OTHER ? "the ordinary scheduler" : policy_name(m->policy));
    fputs(
        "and, taking turns with it, the latencies of cyclictest, which wakes up every 200 us.\n\n",
        to);
}

void hil_report_measured(const struct hil_machine *p, const struct hil_measured *measured, FILE *to)
{
    fputs("\n", to);
    print_scheduling(&measured[0], to);
    fprintf(to, " cpu  %-10s    >1 us  >10 us >100 us   >1 ms  >10 ms  %-29s      lost\n", "",
            " the longest");
    for (unsigned i = 0; i < p->executor_count; i++) {
        const struct hil_measured *m = &measured[i];
        print_cpu(m->cpu, to);
        fprintf(to, "  %-10s", "loop");
        print_gaps(&m->loop, to);
        fprintf(to, " %6.3f %%\n",
                m->spun_ns ? 100 * (double)m->loop.lost_ns / (double)m->spun_ns : 0);
        print_cyclictest(m, to);
        print_others(m, to);
        if (m->stolen_s > 0)
            fprintf(to, "%4s  the hypervisor reports that it took %.2f s meanwhile\n", "",
                    m->stolen_s);
    }
    fputs("\n", to);
}

void hil_report_counts(const struct hil_findings *findings, FILE *to)
{
    static const enum hil_severity order[] = {HIL_SERIOUS, HIL_WARNING, HIL_UNKNOWN, HIL_NOTE,
                                              HIL_FINE};

    if (findings->at[findings->count - 1].severity == HIL_FINE)
        fputs("\n", to);
    for (int i = 0; i < 5; i++)
        fprintf(to, "%s%u %s", i ? ", " : "", hil_findings_count(findings, order[i]),
                order[i] == HIL_SERIOUS ? "serious" : severities[order[i]]);
    fputs("\n", to);
}

/* --- JSON ---------------- */

json_t *hil_report_findings_json(const struct hil_findings *findings)
{
    json_t *list = json_array();

    for (unsigned i = 0; i < findings->count; i++) {
        const struct hil_finding *f = &findings->at[i];
        const char *severity = f->severity == HIL_SERIOUS ? "serious" : severities[f->severity];
        json_t *one =
            json_pack("{s:s, s:s, s:s, s:s, s:b}", "name", f->name, "severity", severity, "found",
                      f->found, "why", f->why, "can_be_lent", (int)f->can_be_lent);
        if (f->remedy[0])
            json_object_set_new(one, f->is_command ? "command" : "advice", json_string(f->remedy));
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *gaps_json(const struct hil_gaps *g)
{
    static const char *const names[] = {"1_us", "10_us", "100_us", "1_ms", "10_ms"};
    json_t *over = json_object(), *largest = json_array();

    for (int i = 0; i < HIL_GAPS_LIMITS; i++)
        json_object_set_new(over, names[i], json_integer((json_int_t)g->over[i]));
    for (int i = 0; i < HIL_GAPS_LARGEST && g->largest[i]; i++)
        json_array_append_new(largest, json_real((double)g->largest[i] * 1e-3));
    return json_pack("{s:o, s:o}", "over", over, "largest_us", largest);
}

static json_t *others_json(const struct hil_measured *m)
{
    json_t *list = json_array();

    for (unsigned i = 0; i < m->other_count; i++)
        json_array_append_new(list, json_pack("{s:s, s:f, s:f}", "name", m->others[i].name,
                                              "longest_us", (double)m->others[i].longest_ns * 1e-3,
                                              "all_us", (double)m->others[i].all_ns * 1e-3));
    return list;
}

static json_t *measured_json(const struct hil_machine *p, const struct hil_measured *measured)
{
    json_t *list = json_array();

    for (unsigned i = 0; i < p->executor_count; i++) {
        const struct hil_measured *m = &measured[i];
        json_t *loop = gaps_json(&m->loop);
        json_object_set_new(loop, "lost_s", json_real((double)m->loop.lost_ns * 1e-9));
        json_t *one =
            json_pack("{s:i, s:s, s:f, s:o}", "cpu", m->cpu, "scheduler", policy_name(m->policy),
                      "seconds", (double)m->spun_ns * 1e-9, "loop", loop);
        json_object_set_new(one, "others", others_json(m));
        if (m->stolen_s >= 0)
            json_object_set_new(one, "stolen_s", json_real(m->stolen_s));
        if (!m->cyclictest_rc)
            json_object_set_new(one, "cyclictest", gaps_json(&m->cyclictest));
        else if (m->cyclictest_rc != -ENOENT)
            json_object_set_new(one, "cyclictest_failed", json_string(cyclictest_why(m)));
        json_array_append_new(list, one);
    }
    return list;
}

int hil_report_json(const struct hil_machine *p, const struct hil_findings *findings,
                    const struct hil_measured *measured, FILE *to)
{
    json_t *cpus = json_array();

    for (int cpu = hil_cpus_next(&p->loops, -1); cpu >= 0; cpu = hil_cpus_next(&p->loops, cpu))
        json_array_append_new(cpus, json_integer(cpu));
    json_t *all = json_pack("{s:o, s:i, s:o}", "cpus", cpus, "serious",
                            (int)hil_findings_count(findings, HIL_SERIOUS), "findings",
                            hil_report_findings_json(findings));
    if (!all)
        return -ENOMEM;
    if (p->name)
        json_object_set_new(all, "scenario", json_string(p->name));
    if (measured)
        json_object_set_new(all, "measured", measured_json(p, measured));
    int rc = json_dumpf(all, to, JSON_INDENT(2)) ? -EIO : 0;
    fputs("\n", to);
    json_decref(all);
    return rc;
}
