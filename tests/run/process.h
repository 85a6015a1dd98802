/*
 * Running the programs. What they print is kept; nothing that a test starts outlives it.
 */
#ifndef TEST_PROCESS_H
#define TEST_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

#include "harness/run/state.h"

/* An argument list that grows. The first is the program's name: this project's programs
 * are taken from $HILOCO_BUILD (default: build), others from the path. */
struct arguments {
    char *at[200];
    unsigned count;
};

void add(struct arguments *arguments, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void add_set(struct arguments *arguments, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The arguments of a line such as "hiloco run configs/boost.yaml": words without blanks. */
struct arguments command(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The absolute path of a program of this project. */
const char *program_path(const char *name);

struct process {
    pid_t pid;
    char out_path[120], err_path[120];
};

/* How a process ended: its exit status, or 128 and the signal; and what it printed. */
struct ended {
    int status;
    char *out, *err;
};

struct process start(const struct arguments *arguments);
bool has_ended(const struct process *process); /* leaves it to be waited for */
struct ended finish(struct process *process);  /* waits; two minutes are too long */
struct ended run(const struct arguments *arguments);

/* Runs a line, as command() takes it. */
struct ended run_command(const char *format, ...) __attribute__((format(printf, 1, 2)));

void expect_status(const struct ended *ended, int status);
/* A run in real time came to its end: 0, or 3 where this machine was too busy for it to be valid.
 */
void expect_ran(const struct ended *ended);
void expect_said(const struct ended *ended, const char *text); /* on stderr */

/* Starts a process called "the [hog] =1" that takes this core for half of the time, ahead of any
 * loop. */
pid_t start_hog(int cpu);

/* A launcher and its processes, in the order in which it starts them. */
enum { CONTROLLER, CONVERTERS };

struct family {
    pid_t parent, children[2];
};

/* A condition: the launcher `parent` of the family has both. */
bool find_children(void *family);

/* Waits until `condition` holds; false after `seconds`. */
bool wait_until(bool (*condition)(void *arg), void *arg, double seconds);

/* Whether the process has said `text` on stderr; and waits until it has. False after `seconds`, and
 * when it has ended without it. */
bool has_said(const struct process *p, const char *text);
bool wait_until_said(struct process *p, const char *text, double seconds);

/* The state that this launcher shares, to be detached; false: there is none yet. */
bool attach_run(const struct process *p, struct hil_attached *run);

/* A condition: the loops of this launcher have run for some steps; or it has ended. */
bool is_running(void *process);

/* How many steps the last of its nodes has run, by what it told last. */
uint64_t last_steps_of(const struct process *p);

#endif
