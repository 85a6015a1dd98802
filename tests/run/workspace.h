/*
 * A folder of its own for each test, below one for the whole run, which is removed at the
 * end. The test stays in the root of the project, where `configs/` is.
 */
#ifndef TEST_WORKSPACE_H
#define TEST_WORKSPACE_H

#include <criterion/parameterized.h>
#include <glob.h>
#include <stdbool.h>

#include "tests/temporary.h"

/* The test's folder; where nodes meet ($XDG_RUNTIME_DIR); the folder of all tests. */
extern char workspace[80], workspace_meeting[96], workspace_shared[TEMPORARY_SIZE];

/* The path of `name` in the workspace, of which a few can be held at a time. */
const char *in_workspace(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A scenario's name of this test's own: programs started by hand find each other by it. */
const char *own_name(void);

/* Fixtures: of a test beside which others may run; of one that needs the cores for itself; and of
 * one in real time, which needs two of them, and is skipped where there is one. */
void workspace_open(void);
void workspace_open_alone(void);
void workspace_open_for_real_time(void);

/* Of a suite with one of the latter two, TestSuite(NAME, ALONE, ...): it runs after the others. */
#define ALONE .data = (void *)workspace_alone
extern const char workspace_alone[];

/* Skips the test on a machine with one core, where two loops cannot be in time. */
void skip_on_one_core(void);

void workspace_close(void);

/* The nodes left nothing where they met. */
void expect_nothing_left(void);

bool exists(const char *path);
bool is_empty(const char *folder);
char *read_text(const char *path); /* to be freed */
void write_text(const char *path, const char *text);

/* The files of a pattern, of which there is one at least. */
glob_t files_of(const char *pattern);

/* The parameters of a test of each of them: their numbers. */
struct criterion_test_params each_file_of(const char *pattern);

#endif
