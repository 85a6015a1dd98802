/*
 * The mistakes found in a scenario, one line each, and their places.
 */
#ifndef HIL_SCENARIO_REPORT_H
#define HIL_SCENARIO_REPORT_H

#include <stdbool.h>
#include <stddef.h>

/* Where a key or a value was written: the line and column of a file, or a --set. */
struct scenario_place {
    const char *file;    /* NULL: in a --set */
    const char *set;     /* "KEY=VALUE" as given; NULL: it is in the file */
    size_t line, column; /* of the file, both from 1 */
};

/* Lines in the caller's buffer, cut at its end. */
struct scenario_report {
    char *text;
    size_t size, used;
    unsigned mistakes;
};

void scenario_report_open(struct scenario_report *report, char *text, size_t size);

/* Whether there are so many mistakes that looking for more is pointless. */
bool scenario_report_is_full(const struct scenario_report *report);

/* Adds one line: the place, then the message. Control characters become spaces. */
__attribute__((format(printf, 3, 4))) void scenario_mistake(struct scenario_report *report,
                                                            const struct scenario_place *place,
                                                            const char *format, ...);

/* The article of a model's name in a message: "a pid", "an expr". */
const char *scenario_article(const char *name);

/* The one of `names` that the writer of `word` most likely meant; NULL when none is similar. */
const char *scenario_near_miss(const char *word, const char *const *names, size_t count);

/* The text after a text that is not a number of this unit: " (did you mean '2.5'?)" after "2,5", or
 * what is wrong with its unit; "" if nothing helps. */
enum { SCENARIO_REMARK_BYTES = 120 };
void scenario_number_remark(const char *text, const char *unit, char remark[SCENARIO_REMARK_BYTES]);

/* A suggestion is followed by a list of what is allowed only if that is no longer than this. */
enum { SCENARIO_FEW_CHOICES = 8 };

/* The text after a word that is not in `names`: " (did you mean 'period_us'?)", or "; allowed:
 * period_us, phase_us", or both if there are few names. Names that do not fit are left out. */
enum { SCENARIO_CHOICE_BYTES = 1200 };
void scenario_say_choice(const char *word, const char *const *names, size_t count,
                         char text[SCENARIO_CHOICE_BYTES]);

#endif
