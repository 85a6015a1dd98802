#include "terminal.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

static const double too_long_s = 30;

struct terminal start_on_terminal(const struct arguments *a, int lines, int columns)
{
    const struct winsize size = {.ws_row = (unsigned short)lines,
                                 .ws_col = (unsigned short)columns};
    const char *path = program_path(a->at[0]);
    struct terminal t = {.text = calloc(1, 1)};

    t.pid = forkpty(&t.end, NULL, NULL, &size);
    cr_assert(t.pid >= 0);
    if (t.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        setenv("TERM", "xterm", 1);
        setenv("LC_ALL", "C.UTF-8", 1);
        unsetenv("LINES");
        unsetenv("COLUMNS");
        execv(path, a->at);
        _exit(127);
    }
    fcntl(t.end, F_SETFL, O_NONBLOCK);
    return t;
}

/* What has come since. Once the program is gone there is only an error. */
static void read_more(struct terminal *t)
{
    char part[4096];
    ssize_t length;

    while ((length = read(t->end, part, sizeof part)) > 0) {
        t->text = realloc(t->text, t->size + (size_t)length + 1);
        memcpy(t->text + t->size, part, (size_t)length);
        t->size += (size_t)length;
        t->text[t->size] = '\0';
    }
}

bool was_shown(struct terminal *t, const char *word)
{
    read_more(t);
    return memmem(t->text, t->size, word, strlen(word)) != NULL;
}

void press(struct terminal *t, const char *keys)
{
    cr_assert_eq(write(t->end, keys, strlen(keys)), (ssize_t)strlen(keys));
}

struct wanted {
    struct terminal *terminal;
    const char *word;
};

/* Of what is on the screen already only changes are written, unless it is drawn anew. */
static bool is_shown(void *arg)
{
    static const char draw_anew[] = "\f";
    struct wanted *w = arg;

    w->terminal->size = 0;
    w->terminal->text[0] = '\0';
    press(w->terminal, draw_anew);
    usleep(100000);
    return was_shown(w->terminal, w->word);
}

void expect_shown(struct terminal *t, const char *word)
{
    struct wanted w = {t, word};

    cr_assert(wait_until(is_shown, &w, too_long_s), "%s is not shown, but:\n%s", word, t->text);
}

void resize(struct terminal *t, int lines, int columns)
{
    const struct winsize size = {.ws_row = (unsigned short)lines,
                                 .ws_col = (unsigned short)columns};

    cr_assert_eq(ioctl(t->end, TIOCSWINSZ, &size), 0);
}

bool is_ordinary(const struct terminal *t)
{
    struct termios settings;

    cr_assert_eq(tcgetattr(t->end, &settings), 0);
    return (settings.c_lflag & (ECHO | ICANON)) == (ECHO | ICANON);
}

static bool has_gone(void *arg)
{
    struct terminal *t = arg;
    siginfo_t info = {0};

    read_more(t); /* so that it can write on */
    return waitid(P_PID, (id_t)t->pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid;
}

int finish_on_terminal(struct terminal *t)
{
    int status = 0;
    bool in_time = wait_until(has_gone, t, too_long_s);

    if (!in_time)
        kill(t->pid, SIGKILL);
    waitpid(t->pid, &status, 0);
    read_more(t);
    cr_expect(in_time, "it does not end");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
