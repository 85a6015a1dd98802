/*
 * "A test runs every command that the README shows": and those of docs/.
 *
 * The commands are the blocks marked as shell, that is between ```sh and ```. Each runs in a
 * shell of its own with `set -e`, in a folder that looks like the project's root and is not
 * it: `configs/`, `build/` and so on are there, `results/` is the test's. The blocks of a
 * document share that folder, in their order, so that one can draw what another has run.
 *
 * Not run, and said so: sudo, apt, git, mpirun and srun, and python3 without h5py. `make TARGET` is
 * asked what it would do, and fails when there is no such target; `cd hiloco`, as after a clone,
 * stays there. A block below a line
 *      <!-- not run: REASON -->
 * is left out, and the reason printed.
 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <dirent.h>
#include <glob.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process.h"
#include "python.h"
#include "workspace.h"

TestSuite(documents, .init = workspace_open, .fini = workspace_close);
TestSuite(documents_by_the_clock, ALONE, .init = workspace_open_alone, .fini = workspace_close);

static const char fence[] = "```", shell[] = "```sh", not_run[] = "<!-- not run: ";

/* --- blocks ---------------- */

struct block {
    unsigned line; /* of its fence, from 1 */
    char text[8000], reason[200];
};

static bool begins(const char *line, const char *with)
{
    return strncmp(line, with, strlen(with)) == 0;
}

static bool opens_shell(const char *line)
{
    return begins(line, shell) && (line[strlen(shell)] == '\n' || line[strlen(shell)] == '\0');
}

static void add_line(struct block *b, const char *line)
{
    cr_assert_lt(strlen(b->text) + strlen(line), sizeof b->text);
    strcat(b->text, line);
}

/* The next shell block of the document; false when there are no more. */
static bool next_block(FILE *document, unsigned *line_number, struct block *b)
{
    char line[1000];
    bool inside = false, other = false;

    *b = (struct block){0};
    while (fgets(line, sizeof line, document)) {
        ++*line_number;
        if (inside && begins(line, fence))
            return true;
        if (inside) {
            add_line(b, line);
        } else if (!other && opens_shell(line)) {
            inside = true;
            b->line = *line_number;
        } else if (begins(line, fence)) {
            other = !other;
        } else if (begins(line, not_run)) {
            snprintf(b->reason, sizeof b->reason, "%.*s",
                     (int)(strcspn(line, ">") - strlen(not_run) - strlen(" --")),
                     line + strlen(not_run));
        } else if (line[0] != '\n') {
            b->reason[0] = '\0'; /* it was said of something else */
        }
    }
    cr_assert_not(inside, "a block that begins in line %u never ends", b->line);
    return false;
}

/* --- where they run ---------------- */

static void write_script(const char *path, const char *text)
{
    write_text(path, text);
    cr_assert_eq(chmod(path, 0700), 0);
}

static void stand_in(const char *name, const char *reason)
{
    char text[200];

    snprintf(text, sizeof text, "#!/bin/sh\necho \"not run: %s $* (%s)\" >&2\n", name, reason);
    write_script(in_workspace("bin/%s", name), text);
}

/* The command that is shown works, also where this machine is too busy for its run to be valid.
 * `kill $!` of the document is for the program. */
static void forgive_invalid_runs(const char *program)
{
    char text[4500];

    snprintf(text, sizeof text,
             "#!/bin/sh\n'%s' \"$@\" <&0 &\ntrap 'kill $!' TERM\nwait $!\nstatus=$?\n"
             "[ $status = 3 ] && exit 0\nexit $status\n",
             program_path(program));
    write_script(in_workspace("bin/%s", program), text);
}

/* The examples of docs/record.md read HDF5. To look for h5py takes a while. */
static void choose_python(const char *document)
{
    char text[200], *commands = read_text(document);
    const bool needed = strstr(commands, "python3");

    free(commands);
    if (!needed)
        return;
    const char *python = python_with("h5py");

    if (!python) {
        stand_in("python3", "needs python3-h5py");
        return;
    }
    snprintf(text, sizeof text, "#!/bin/sh\nPATH=${PATH#*:}\nexec %s \"$@\"\n", python);
    write_script(in_workspace("bin/python3"), text);
}

/* Programs that come before the real ones. */
static void make_stand_ins(const char *root, const char *document)
{
    char text[4500];

    cr_assert_eq(mkdir(in_workspace("bin"), 0700), 0);
    stand_in("sudo", "needs the superuser");
    stand_in("apt", "installs packages");
    stand_in("apt-get", "installs packages");
    stand_in("git", "needs the network");
    stand_in("mpirun", "may not be installed");
    stand_in("srun", "needs Slurm");
    choose_python(document);
    forgive_invalid_runs("hiloco");
    forgive_invalid_runs("controller");
    forgive_invalid_runs("converter");
    snprintf(text, sizeof text,
             "#!/bin/sh\nPATH=${PATH#*:}\nunset MAKEFLAGS MAKELEVEL\n"
             "exec make -n -C '%s' \"$@\" >/dev/null\n",
             root);
    write_script(in_workspace("bin/make"), text);
}

/* The root of the project but for the results: links to all that is there. */
static void make_checkout(const char *root)
{
    DIR *entries = opendir(root);
    char target[8192];
    struct dirent *entry;

    cr_assert_not_null(entries);
    cr_assert_eq(mkdir(in_workspace("root"), 0700), 0);
    while ((entry = readdir(entries))) {
        const char *name = entry->d_name;
        if (name[0] == '.' || strcmp(name, "results") == 0 || strcmp(name, "build") == 0)
            continue;
        snprintf(target, sizeof target, "%s/%s", root, name);
        cr_assert_eq(symlink(target, in_workspace("root/%s", name)), 0);
    }
    closedir(entries);
    snprintf(target, sizeof target, "%s", program_path(""));
    target[strlen(target) - 1] = '\0';
    cr_assert_eq(symlink(target, in_workspace("root/build")), 0);
    cr_assert_eq(symlink(".", in_workspace("root/hiloco")), 0); /* after `git clone`: cd hiloco */
}

static void set_path(void)
{
    char path[8192];

    snprintf(path, sizeof path, "%s/bin:%s:%s", workspace, program_path(""), getenv("PATH"));
    setenv("PATH", path, 1);
    setenv("HOME", workspace, 1);
}

static void prepare(const char *document)
{
    char *root = getcwd(NULL, 0);

    make_stand_ins(root, document);
    make_checkout(root);
    set_path();
    free(root);
}

/* --- running them ---------------- */

static struct ended run_block(const struct block *b)
{
    char *script = strdup(in_workspace("block.sh")), text[9000];

    snprintf(text, sizeof text, "set -e\ncd '%s/root'\n%s", workspace, b->text);
    write_text(script, text);
    struct ended e = run_command("sh %s", script);
    free(script);
    return e;
}

static void print_not_run(const char *name, const char *text)
{
    for (const char *at = text; (at = strstr(at, "not run: ")); at++)
        fprintf(stderr, "%s: %.*s\n", name, (int)strcspn(at, "\n"), at);
}

/* Returns how many blocks there were; those that fail are named. */
static unsigned run_document(const char *path, unsigned *failures)
{
    FILE *document = fopen(path, "r");
    unsigned line = 0, count = 0;
    static struct block b;

    cr_assert_not_null(document, "%s is not there", path);
    for (; next_block(document, &line, &b); count++) {
        if (b.reason[0]) {
            fprintf(stderr, "%s:%u: not run: %s\n", path, b.line, b.reason);
            continue;
        }
        struct ended e = run_block(&b);
        print_not_run(path, e.err);
        if (e.status != 0) {
            ++*failures;
            fprintf(stderr, "%s:%u: exit status %d\n%s%s\n", path, b.line, e.status, b.text, e.err);
        }
    }
    fclose(document);
    return count;
}

/* Commands against the clock take the cores. */
static bool is_by_the_clock(const char *path)
{
    static const char *const words[] = {"realtime", "converter configs/", "hiloco doctor "};
    FILE *document = fopen(path, "r");
    static struct block b;
    unsigned line = 0;
    bool found = false;

    cr_assert_not_null(document, "%s is not there", path);
    while (next_block(document, &line, &b))
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
            found |= !b.reason[0] && strstr(b.text, words[i]);
    fclose(document);
    return found;
}

enum { DOCUMENTS_MAX = 100 };

/* README.md, then the documents of docs/, of those that are by the clock or are not. */
static size_t documents(bool by_the_clock, const char *paths[DOCUMENTS_MAX])
{
    glob_t files;
    size_t count = 0;

    cr_assert_eq(glob("README.md", GLOB_NOCHECK, NULL, &files), 0);
    cr_assert_eq(glob("docs/*.md", GLOB_APPEND, NULL, &files), 0);
    cr_assert_lt(files.gl_pathc, DOCUMENTS_MAX);
    for (size_t i = 0; i < files.gl_pathc; i++)
        if (is_by_the_clock(files.gl_pathv[i]) == by_the_clock)
            paths[count++] = files.gl_pathv[i];
    return count;
}

static void expect_works(bool by_the_clock, size_t i)
{
    const char *paths[DOCUMENTS_MAX];
    unsigned failures = 0;

    cr_assert_lt(i, documents(by_the_clock, paths));
    prepare(paths[i]);
    unsigned blocks = run_document(paths[i], &failures);
    cr_expect_eq(failures, 0, "%s: %u blocks fail", paths[i], failures);
    if (strcmp(paths[i], "README.md") == 0)
        cr_expect_geq(blocks, 1, "%s shows no command", paths[i]);
}

static struct criterion_test_params each_document(bool by_the_clock)
{
    static size_t at[DOCUMENTS_MAX];
    const char *paths[DOCUMENTS_MAX];
    const size_t count = documents(by_the_clock, paths);

    for (size_t i = 0; i < count; i++)
        at[i] = i;
    return cr_make_param_array(size_t, at, count);
}

ParameterizedTestParameters(documents_by_the_clock, every_command_shown_works)
{
    return each_document(true);
}

ParameterizedTest(size_t *i, documents_by_the_clock, every_command_shown_works)
{
    expect_works(true, *i);
}

ParameterizedTestParameters(documents, every_command_shown_works)
{
    return each_document(false);
}

ParameterizedTest(size_t *i, documents, every_command_shown_works)
{
    expect_works(false, *i);
}

/* --- the ports that they name ---------------- */

static bool is_free(uint16_t port)
{
    const struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port)};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

    cr_assert_geq(fd, 0);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    const bool bound = bind(fd, (const struct sockaddr *)&at, sizeof at) == 0 && listen(fd, 1) == 0;
    close(fd);
    return bound;
}

/* Whatever runs on this machine: tests/own_network.c. */
Test(documents_by_the_clock, their_ports_are_free)
{
    if (!getenv("HILOCO_TEST_NETWORK"))
        cr_skip_test("network namespaces are forbidden here");
    cr_expect(is_free(18699));
    for (uint16_t port = 18700; port < 18721; port++)
        cr_expect(is_free(port), "%u", port);
}

/* --- what a document names ---------------- */

static const char *const folders[] = {"harness/", "channels/", "plants/", "controllers/",
                                      "configs/", "traces/",   "tests/",  "docs/"};

static bool names_a_file(const char *word)
{
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        if (begins(word, folders[i]))
            return true;
    return false;
}

/* Returns how many files and folders of this tree the text names; those that are not there are
 * counted, and named. `harness/command_*.c` stands for several. */
static unsigned names_in(const char *path, unsigned *missing)
{
    char *text = read_text(path), *rest = text, *word;
    unsigned count = 0;
    glob_t found;

    while ((word = strsep(&rest, " \t\n`'\",;:()<>|"))) {
        if (!names_a_file(word))
            continue;
        count++;
        if (glob(word, 0, NULL, &found)) {
            ++*missing;
            fprintf(stderr, "%s: %s is not there\n", path, word);
        }
        globfree(&found);
    }
    free(text);
    return count;
}

Test(documents, the_house_is_as_it_is_drawn)
{
    unsigned missing = 0;

    cr_expect_gt(names_in("docs/architecture.md", &missing), 30);
    cr_expect_gt(names_in("docs/architecture.svg", &missing), 10);
    cr_expect_eq(missing, 0, "%u files or folders are not there", missing);
}

/* --- the test itself can fail ---------------- */

Test(documents, a_file_that_is_not_there_is_found)
{
    unsigned missing = 0;

    write_text(in_workspace("document.md"), "`harness/hiloco.c`, harness/none.c; (docs/no-*.md)\n");
    cr_expect_eq(names_in(in_workspace("document.md"), &missing), 3);
    cr_expect_eq(missing, 2);
}

static unsigned failures_of(const char *text)
{
    unsigned failures = 0;

    write_text(in_workspace("document.md"), text);
    prepare(in_workspace("document.md"));
    run_document(in_workspace("document.md"), &failures);
    return failures;
}

Test(documents, a_command_that_fails_is_found)
{
    cr_expect_eq(failures_of("text\n\n```sh\nbuild/hiloco run configs/none.yaml\ntrue\n```\n\n"
                             "```sh\nmake no-such-target\n```\n"
                             "```yaml\nfalse\n```\n"
                             "```sh\nno-such-program\n```\n"),
                 3);
}

Test(documents, what_works_or_is_not_run_does_not_fail)
{
    cr_expect_eq(failures_of("```sh\nhiloco check configs/quickstart.yaml\n"
                             "build/hiloco run configs/quickstart.yaml --out results/here\n```\n"
                             "```sh\ntest -e results/here/trace.h5\nmake test\n"
                             "sudo apt-get install gnuplot && sudo false\n"
                             "git clone https://example.org/hiloco && cd hiloco && make\n```\n"
                             "<!-- not run: it does not end -->\n\n```sh\nfalse\n```\n"),
                 0);
}
