/*
 * A program on a terminal: a pseudo-terminal of which the test has the other end.
 */
#ifndef TEST_TERMINAL_H
#define TEST_TERMINAL_H

#include "process.h"

struct terminal {
    pid_t pid;
    int end;    /* the test's */
    char *text; /* what was written lately, with its escape sequences; ends with a 0 */
    size_t size;
};

struct terminal start_on_terminal(const struct arguments *arguments, int lines, int columns);

/* Waits until `word` is on the screen, by having it drawn anew (Ctrl-L); the test fails where
 * it never is. */
void expect_shown(struct terminal *terminal, const char *word);

/* Whether `word` is in what was written since then. */
bool was_shown(struct terminal *terminal, const char *word);

void press(struct terminal *terminal, const char *keys);
void resize(struct terminal *terminal, int lines, int columns);

/* Whether the terminal echoes and edits lines, as shells find and leave it. */
bool is_ordinary(const struct terminal *terminal);

/* Waits for its end; returns its exit status, or 128 and the signal. */
int finish_on_terminal(struct terminal *terminal);

#endif
