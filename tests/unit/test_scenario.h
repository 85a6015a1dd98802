/*
 * Functions with which tests load scenarios from text.
 */
#ifndef TEST_SCENARIO_H
#define TEST_SCENARIO_H

#include <criterion/criterion.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/models/models.h"
#include "harness/scenario/load/load.h"
#include "harness/scenario/scenario.h"
#include "tests/bank_text.h"
#include "tests/temporary.h"

enum { MESSAGE_BYTES = 1 << 16 };

/* A short scenario, line by line: a controller, and three converters. Tests of mistakes depend on
 * its line numbers. */
#define LINE_1    "name: small\n"
#define LINE_2    "duration_s: 0.1\n"
#define LINE_3    BANK_NODES("3")
#define LINE_4_5  BANK_CONTROL
#define LINE_6_8  "  converter:\n    model: buck\n    node: converter\n"
#define LINE_9    BANK_CONNECTIONS
#define LINE_10   "sources: {" BANK_REFERENCE "}\n"
#define LINE_11   "record: [" BANK_RECORD "]\n"
#define LINE_12   BANK_MEASURES
#define BEGINNING LINE_1 LINE_2 LINE_3 LINE_4_5 LINE_6_8
#define END       LINE_9 LINE_10 LINE_11 LINE_12
#define SMALL     BEGINNING END
/* With more lines about the converters' component. */
#define CONVERTERS(lines) BEGINNING lines END
/* Places all its nodes in one executor. */
#define TOGETHER "placement:\n  - nodes: [controller, converter]\n"

/* Loads a text with some --set (NULL at the end). In `message`, FILE stands for the file's name. */
static inline int load_text(struct hil_scenario **scenario, const char *text, size_t length,
                            const char *const *sets, char message[MESSAGE_BYTES])
{
    static char raw[MESSAGE_BYTES];
    char path[TEMPORARY_SIZE];
    int file = temporary_file(path);
    struct hil_scenario_options options = {.sets = sets};

    cr_assert(file >= 0);
    cr_assert_eq(write(file, text, length), (ssize_t)length);
    close(file);
    while (sets != NULL && sets[options.set_count] != NULL)
        options.set_count++;
    int error = hil_scenario_load(scenario, path, &options, raw, sizeof(raw));
    unlink(path);

    char *to = message;
    for (const char *from = raw; *from != '\0';) {
        bool name = strncmp(from, path, strlen(path)) == 0;
        if (name)
            to = stpcpy(to, "FILE");
        else
            *to++ = *from;
        from += name ? strlen(path) : 1;
    }
    *to = '\0';
    return error;
}

/* The scenario of a text that must load. */
static inline struct hil_scenario *load(const char *text, const char *const *sets)
{
    static char message[MESSAGE_BYTES];
    struct hil_scenario *scenario = NULL;
    int error = load_text(&scenario, text, strlen(text), sets, message);

    cr_assert_eq(error, 0, "%s", message);
    cr_assert_str_empty(message);
    return scenario;
}

/* The message without its end, if that says how models that are not built in are named. */
static inline const char *with_provided(const char *said)
{
    static char text[4096];
    char provided[1024];

    hil_models_say_provided(provided, sizeof provided);
    snprintf(text, sizeof text, "%s%s\n", said, provided);
    return text;
}

#define SETS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* The message about a text that must not load. Valid until the next call. */
static inline const char *refusal(const char *text, const char *const *sets)
{
    static char message[MESSAGE_BYTES];
    struct hil_scenario *scenario = NULL;
    int error = load_text(&scenario, text, strlen(text), sets, message);

    cr_assert_lt(error, 0, "this loads:\n%s", text);
    cr_assert_null(scenario);
    return message;
}

/* Checks that the text does not load, and that the message has these words. */
static inline void expect_refused_with(const char *text, const char *expected)
{
    const char *said = refusal(text, NULL);

    cr_expect(strstr(said, expected), "%s\nis said, not\n%s", said, expected);
}

#endif
