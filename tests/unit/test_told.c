/* Tests reading of summaries, whoever wrote them. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "folder.h"
#include "harness/base/foreign.h"
#include "harness/record/summary_reader.h"

TestSuite(told, .init = folder_open, .fini = folder_close);

static struct hil_summary_reader told_of(const char *summary)
{
    put("summary.json", summary);
    return hil_summary_reader_of_run(folder);
}

/* The first summary was made here. A missing one is null. */
Test(told, measures_and_arrays_of_them)
{
    struct hil_summary_reader told = told_of(
        "{\"measures\": {\"away\": null, \"cell_v\": {\"unit\": \"V\", \"settled\": false,"
        " \"worst\": 1, \"each\": [{\"pp\": 1}, {\"pp\": 2}]}, \"speed\": {\"unit\": \"rad/s\","
        " \"settled\": true, \"settling_ms\": 3, \"window\": {\"from_s\": 1, \"to_s\": 2}},"
        " \"free\": {\"settled\": null}},"
        " \"events\": [{\"over_s\": 0.1, \"measures\": {\"speed\": {\"settling_ms\": 7}}}]}");
    struct hil_summary_reader_measure m;

    cr_assert(hil_summary_reader_first(&told, false, &m));
    cr_expect_str_eq(m.name, "speed");
    cr_expect(m.judged && m.settled && m.figures.settling_ms == 3 && m.startup_ms == 107);
    cr_expect(m.figures.from_s == 1 && m.figures.to_s == 2 && isnan(m.figures.pp));
    cr_assert(hil_summary_reader_first(&told, true, &m));
    cr_expect_str_eq(m.name, "cell_v");
    cr_expect(m.judged && !m.settled && m.worst == 1 && m.figures.pp == 2);
    cr_assert(hil_summary_reader_measure(&told, "free", &m));
    cr_expect(!m.judged && !m.settled);
    cr_expect_not(hil_summary_reader_measure(&told, "none", &m));
    hil_summary_reader_close(&told);
}

Test(told, events_and_which_a_figure_is_of)
{
    struct hil_summary_reader told =
        told_of("{\"measures\": {\"v\": {\"settling_event\": 1, \"overshoot_event\": 1e300}, \"w\":"
                " {\"settling_event\": -1, \"overshoot_event\": 7}}, \"events\": [{\"name\":"
                " \"start-up\", \"time_s\": 0}, {\"name\": \"load 10 to 8 Ohm\", \"time_s\": 0.2,"
                " \"measures\": {\"v\": {\"worst\": {\"settling_ms\": 7, \"pp\": 2}}}}, 3]}");
    char words[HIL_EVENT_WORDS_BYTES];
    struct hil_summary_reader_figures f;
    struct hil_summary_reader_event event;
    struct hil_summary_reader_measure m;

    cr_assert(hil_summary_reader_measure(&told, "v", &m));
    hil_summary_reader_event_words(&m.settling_event, words);
    cr_expect_str_eq(words, "load 10 to 8 Ohm at 0.2 s");
    cr_expect_eq(m.overshoot_event.number, -1);
    cr_assert(hil_summary_reader_measure(&told, "w", &m));
    cr_expect(m.settling_event.number == -1 && m.overshoot_event.number == -1);
    hil_summary_reader_event_words(&m.settling_event, words);
    cr_expect_str_eq(words, "");
    cr_expect_eq(hil_summary_reader_event_count(&told), 3);
    cr_expect(hil_summary_reader_after(&told, 1, "v", &event, &f) && f.settling_ms == 7 &&
              f.pp == 2);
    cr_expect_not(hil_summary_reader_after(&told, 0, "v", &event, &f));
    cr_expect(event.number == 0 && isnan(f.settling_ms));
    cr_expect_not(hil_summary_reader_after(&told, 2, "v", &event, &f) ||
                  hil_summary_reader_after(&told, -1, "v", &event, &f));
    hil_summary_reader_close(&told);
}

Test(told, nodes_and_round_trips)
{
    struct hil_summary_reader told = told_of(
        "{\"nodes\": {\"hub\": {\"missed\": 2, \"steps\": 90, \"left_out\": 10}, \"cell\": null},"
        " \"links\": [{\"age_us\": {}}, {\"round_trip_us\": {\"p50\": 4, \"p999\": 6}}]}");
    struct hil_summary_reader_nodes nodes;
    double us[3];

    cr_assert(hil_summary_reader_nodes(&told, 0, &nodes));
    cr_expect_str_eq(nodes.name, "hub");
    cr_expect(nodes.missed == 2 && nodes.due == 100);
    cr_assert(hil_summary_reader_nodes(&told, 1, &nodes));
    cr_expect(isnan(nodes.missed) && isnan(nodes.due));
    cr_expect_not(hil_summary_reader_nodes(&told, 2, &nodes));
    hil_summary_reader_round_trip(&told, us);
    cr_expect(us[0] == 4 && isnan(us[1]) && us[2] == 6);
    cr_expect_eq(hil_summary_reader_valid(&told), -1);
    hil_summary_reader_close(&told);
}

/* Values of wrong types, and no summary at all. */
Test(told, nothing)
{
    static const char *const summaries[] = {
        "[]",
        "{\"measures\": [1], \"nodes\": 3, \"links\": {}, \"events\": 1, \"validity\": \"x\"}",
        "{\"measures\": {\"a\": {\"each\": [], \"worst\": 1e300}}}", "{"};
    struct hil_summary_reader_measure m;
    struct hil_summary_reader_nodes nodes;
    double us[3];

    for (size_t i = 0; i <= sizeof summaries / sizeof summaries[0]; i++) {
        struct hil_summary_reader told;
        if (i == 0)
            told = hil_summary_reader_of_run(folder);
        else
            told = told_of(summaries[i - 1]);
        cr_expect_not(hil_summary_reader_first(&told, false, &m));
        cr_expect(isnan(m.figures.settling_ms) && !m.settled && m.name[0] == '\0');
        hil_summary_reader_first(&told, true, &m);
        cr_expect(isnan(m.figures.pp));
        cr_expect_not(hil_summary_reader_nodes(&told, 0, &nodes));
        hil_summary_reader_round_trip(&told, us);
        cr_expect(isnan(us[0]));
        cr_expect_str_empty(hil_summary_reader_invalid(&told));
        hil_summary_reader_close(&told);
    }
}

/* --- long files ------------------------------------------------------------------------------- */

/* A file of blanks with an object at the end. */
static json_t *read_of_size(off_t size, json_error_t *error)
{
    const char *path = in_folder("sweep.json");
    const int file = open(path, O_CREAT | O_RDWR | O_TRUNC, 0600);
    char blanks[65536];

    memset(blanks, ' ', sizeof blanks);
    cr_assert_geq(file, 0);
    for (off_t at = 0; at < 70 << 20; at += (off_t)sizeof blanks)
        cr_assert_eq(write(file, blanks, sizeof blanks), (ssize_t)sizeof blanks);
    cr_assert_eq(write(file, "{}", 2), 2);
    if (size)
        cr_assert_eq(ftruncate(file, size), 0);
    close(file);
    return hil_foreign_json(path, error);
}

/* A sweep of thousands of runs has such a large file. */
Test(told, a_file_of_more_than_64_mib_is_read_and_one_beyond_all_measure_is_not)
{
    json_error_t error;
    json_t *read = read_of_size(0, &error);

    cr_expect_not_null(read, "%s", error.text);
    json_decref(read);
    cr_expect_null(read_of_size((512 << 20) + 1, &error));
    cr_expect_str_eq(error.text, "it is larger than 512 MiB");
}

/* A file of 16 MB whose values would take gigabytes. */
Test(told, what_would_take_too_much_memory_is_refused_in_words)
{
    char *said = NULL;
    size_t size;
    FILE *to = fopen(in_folder("summary.json"), "w"), *messages = open_memstream(&said, &size);

    cr_assert(to && messages);
    fputs("{\"a\": [{}", to);
    for (unsigned i = 0; i < 5000000; i++)
        fputs(",{}", to);
    fputs("]}", to);
    fclose(to);
    cr_expect_null(hil_summary_reader_read(folder, messages).root);
    fclose(messages);
    cr_expect_not_null(strstr(said, "summary.json:1:1: it has too many values"), "%s", said);
    free(said);

    /* In a text they are only letters. */
    to = fopen(in_folder("summary.json"), "w");
    cr_assert_not_null(to);
    fputs("{\"a\": \"\\\"", to);
    for (unsigned i = 0; i < 5000000; i++)
        fputs(",{}", to);
    fputs("\"}", to);
    fclose(to);
    struct hil_summary_reader told = hil_summary_reader_of_run(folder);
    cr_expect_not_null(told.root);
    hil_summary_reader_close(&told);
}
