/*
 * The mistakes found in a scenario, one line each, and the places they point at.
 */
#ifndef HIL_SCENARIO_REPORT_H
#define HIL_SCENARIO_REPORT_H

#include <stdbool.h>
#include <stddef.h>

/* Where a key or a value was written: a file's line and column, or a --set. */
struct scenario_place {
    const char *file;    /* NULL: in a --set */
    const char *set;     /* "KEY=VALUE" as given; NULL: in the file */
    size_t line, column; /* of the file, both from 1 */
};

/* Lines written into the caller's buffer, cut where it ends. */
struct scenario_report {
    char *text;
    size_t size, used;
    unsigned mistakes;
};

void scenario_report_open(struct scenario_report *report, char *text, size_t size);

/* Whether there are so many mistakes that nobody reads more: to look for them ends. */
bool scenario_report_is_full(const struct scenario_report *report);

/* Adds one line: the place, then the message. Control characters in it become spaces. */
__attribute__((format(printf, 3, 4))) void scenario_mistake(struct scenario_report *report,
                                                            const struct scenario_place *place,
                                                            const char *format, ...);

/* Of `names`, the one that a writer of `word` most likely meant; NULL when none is near. */
const char *scenario_near_miss(const char *word, const char *const *names, size_t count);

/* What follows a word that is none of `names`: " (did you mean 'period_us'?); allowed: period_us,
 * phase_us". What does not fit is left out, name by name. */
enum { SCENARIO_CHOICE_BYTES = 1200 };
void scenario_say_choice(const char *word, const char *const *names, size_t count,
                         char text[SCENARIO_CHOICE_BYTES]);

#endif
