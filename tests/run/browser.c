#include "browser.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "process.h"
#include "workspace.h"

enum { SECONDS_AT_MOST = 60 };

struct browser {
    pid_t pid;
    int to, from; /* pipes: what it reads, and writes */
    char *read;   /* what has come, and has not been taken */
    size_t used, room;
    int last; /* message that was sent */
    char session[80];
    unsigned requests;
    char complaints[4000];
};

/* --- starting --------------------------------------------------------------------------------- */

static const char *browser_program(void)
{
    static const char *const names[] = {"/usr/bin/chromium-headless-shell", "/usr/bin/chromium",
                                        "/usr/bin/chromium-browser", "/usr/bin/google-chrome"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (access(names[i], X_OK) == 0)
            return names[i];
    return NULL;
}

/* It reads messages from descriptor 3, and writes them to 4. */
static void browser_exec(const char *program, int in, int out, bool dark)
{
    char profile[200];
    const int log = open(in_workspace("browser.log"), O_WRONLY | O_CREAT | O_TRUNC, 0600);

    snprintf(profile, sizeof profile, "--user-data-dir=%s", in_workspace("browser"));
    in = fcntl(in, F_DUPFD, 10); /* out of the way of 3 and 4 */
    out = fcntl(out, F_DUPFD, 10);
    dup2(in, 3);
    dup2(out, 4);
    dup2(log, 1);
    dup2(log, 2);
    setpgid(0, 0);
    setenv("TMPDIR", in_workspace("."), true); /* it leaves folders behind */
    execl(program, program, "--headless", "--no-sandbox", "--disable-gpu",
          "--disable-dev-shm-usage", "--disable-background-networking", "--no-first-run",
          "--hide-scrollbars", "--remote-debugging-pipe", profile,
          dark ? "--blink-settings=preferredColorScheme=0"
               : "--blink-settings=preferredColorScheme=1",
          "about:blank", (char *)NULL);
    _exit(127);
}

static bool browser_fork(struct browser *b, const char *program, bool dark)
{
    int to[2], from[2];

    if (pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC))
        return false;
    b->pid = fork();
    if (b->pid == 0)
        browser_exec(program, to[0], from[1], dark);
    close(to[0]);
    close(from[1]);
    b->to = to[1];
    b->from = from[0];
    return b->pid > 0;
}

/* --- messages: JSON, each with a 0 behind it -------------------------------------------------- */

static double browser_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void browser_send(struct browser *b, const char *method, json_t *parameters)
{
    json_t *message = json_pack("{s:i, s:s, s:o}", "id", ++b->last, "method", method, "params",
                                parameters ? parameters : json_object());

    if (b->session[0])
        json_object_set_new(message, "sessionId", json_string(b->session));
    char *text = json_dumps(message, JSON_COMPACT);
    const size_t size = strlen(text) + 1;
    for (size_t sent = 0; sent < size;) {
        const ssize_t now = write(b->to, text + sent, size - sent);
        if (now <= 0)
            break;
        sent += (size_t)now;
    }
    free(text);
    json_decref(message);
}

static void browser_make_room(struct browser *b)
{
    if (b->room - b->used >= 1 << 16)
        return;
    b->room = 2 * b->room + (1 << 17);
    b->read = realloc(b->read, b->room);
    cr_assert_not_null(b->read);
}

/* The next message; NULL when none has come until then, or it has ended. */
static json_t *browser_receive(struct browser *b, double until)
{
    for (;;) {
        char *end = b->used ? memchr(b->read, '\0', b->used) : NULL;
        if (end) {
            const size_t size = (size_t)(end - b->read) + 1;
            json_t *message = json_loads(b->read, 0, NULL);
            memmove(b->read, b->read + size, b->used - size);
            b->used -= size;
            return message;
        }
        struct pollfd wait = {b->from, POLLIN, 0};
        if (poll(&wait, 1, (int)(1e3 * (until - browser_now()))) <= 0)
            return NULL;
        browser_make_room(b);
        const ssize_t now = read(b->from, b->read + b->used, b->room - b->used);
        if (now <= 0)
            return NULL;
        b->used += (size_t)now;
    }
}

static bool browser_is_error(const json_t *parameters)
{
    const json_t *entry = json_object_get(parameters, "entry");
    const char *level = json_string_value(json_object_get(entry, "level"));

    return !level || strcmp(level, "error") == 0;
}

static void browser_complain(struct browser *b, const json_t *parameters)
{
    char *text = json_dumps(parameters, JSON_COMPACT);
    const size_t used = strlen(b->complaints);

    snprintf(b->complaints + used, sizeof b->complaints - used, "%s\n", text);
    free(text);
}

static void browser_note(struct browser *b, const json_t *message)
{
    const char *method = json_string_value(json_object_get(message, "method"));
    const json_t *parameters = json_object_get(message, "params");

    if (!method)
        return;
    if (strcmp(method, "Network.requestWillBeSent") == 0) {
        const char *type = json_string_value(json_object_get(parameters, "type"));
        b->requests += !type || strcmp(type, "Document") != 0;
    }
    if ((strcmp(method, "Log.entryAdded") == 0 && browser_is_error(parameters)) ||
        strcmp(method, "Runtime.exceptionThrown") == 0)
        browser_complain(b, parameters);
}

/* The answer to the last message that was sent; NULL: there was none. */
static json_t *browser_answer(struct browser *b)
{
    const double until = browser_now() + SECONDS_AT_MOST;
    json_t *message;

    while ((message = browser_receive(b, until))) {
        if (json_integer_value(json_object_get(message, "id")) == b->last)
            return message;
        browser_note(b, message);
        json_decref(message);
    }
    return NULL;
}

/* What the method returns, to be freed; the test fails where it fails. */
static json_t *browser_call(struct browser *b, const char *method, json_t *parameters)
{
    browser_send(b, method, parameters);
    json_t *answer = browser_answer(b);
    cr_assert_not_null(answer, "the browser does not answer %s: %s", method,
                       read_text(in_workspace("browser.log")));
    json_t *error = json_object_get(answer, "error"), *result = json_object_get(answer, "result");
    cr_assert_null(error, "%s: %s", method, json_dumps(error, 0));
    json_incref(result);
    json_decref(answer);
    return result;
}

static void browser_do(struct browser *b, const char *method, json_t *parameters)
{
    json_decref(browser_call(b, method, parameters));
}

/* --- opening and closing ---------------------------------------------------------------------- */

static void browser_end(struct browser *b)
{
    close(b->to);
    close(b->from);
    if (b->pid > 0) {
        kill(-b->pid, SIGKILL);
        waitpid(b->pid, NULL, 0);
    }
    free(b->read);
    free(b);
}

static void browser_attach(struct browser *b, json_t *created)
{
    const char *target =
        json_string_value(json_object_get(json_object_get(created, "result"), "targetId"));
    json_t *attached = browser_call(b, "Target.attachToTarget",
                                    json_pack("{s:s, s:b}", "targetId", target, "flatten", 1));

    snprintf(b->session, sizeof b->session, "%s",
             json_string_value(json_object_get(attached, "sessionId")));
    json_decref(attached);
    json_decref(created);
    browser_do(b, "Page.enable", NULL);
    browser_do(b, "Network.enable", NULL);
    browser_do(b, "Log.enable", NULL);
    browser_do(b, "Runtime.enable", NULL);
}

struct browser *browser_open(int width, int height, bool dark)
{
    const char *program = browser_program();
    struct browser *b = calloc(1, sizeof *b);

    cr_assert_not_null(b);
    signal(SIGPIPE, SIG_IGN);
    if (!program) {
        free(b);
        cr_skip_test("there is no chromium here");
    }
    if (!browser_fork(b, program, dark)) {
        free(b);
        cr_skip_test("chromium cannot be started");
    }
    browser_send(b, "Target.createTarget", json_pack("{s:s}", "url", "about:blank"));
    json_t *created = browser_answer(b);
    if (!created) {
        browser_end(b);
        cr_skip_test("chromium does not start here: %s", read_text(in_workspace("browser.log")));
    }
    browser_attach(b, created);
    browser_do(b, "Emulation.setDeviceMetricsOverride",
               json_pack("{s:i, s:i, s:i, s:b}", "width", width, "height", height,
                         "deviceScaleFactor", 1, "mobile", 0));
    return b;
}

void browser_close(struct browser *b)
{
    browser_end(b);
}

/* --- the page --------------------------------------------------------------------------------- */

static json_t *browser_evaluate(struct browser *b, const char *expression)
{
    json_t *result = browser_call(b, "Runtime.evaluate",
                                  json_pack("{s:s, s:b, s:b}", "expression", expression,
                                            "returnByValue", 1, "awaitPromise", 1));
    json_t *thrown = json_object_get(result, "exceptionDetails");

    cr_assert_null(thrown, "%s: %s", expression, json_dumps(thrown, 0));
    json_t *value = json_object_get(json_object_get(result, "result"), "value");
    json_incref(value);
    json_decref(result);
    return value;
}

static json_t *browser_evaluate_words(struct browser *b, const char *format, va_list words)
{
    char *expression;

    cr_assert_geq(vasprintf(&expression, format, words), 0);
    json_t *value = browser_evaluate(b, expression);
    free(expression);
    return value;
}

json_t *browser_value(struct browser *b, const char *format, ...)
{
    va_list words;

    va_start(words, format);
    json_t *value = browser_evaluate_words(b, format, words);
    va_end(words);
    return value;
}

double browser_number(struct browser *b, const char *format, ...)
{
    va_list words;

    va_start(words, format);
    json_t *value = browser_evaluate_words(b, format, words);
    va_end(words);
    cr_assert(json_is_number(value), "%s is no number", format);
    const double number = json_number_value(value);
    json_decref(value);
    return number;
}

char *browser_text(struct browser *b, const char *format, ...)
{
    va_list words;

    va_start(words, format);
    json_t *value = browser_evaluate_words(b, format, words);
    va_end(words);
    cr_assert(json_is_string(value), "%s is no text", format);
    char *text = strdup(json_string_value(value));
    json_decref(value);
    return text;
}

void browser_go(struct browser *b, const char *path, const char *until)
{
    char *root = realpath(path, NULL), address[5000];

    cr_assert_not_null(root, "%s is not there", path);
    snprintf(address, sizeof address, "file://%s", root);
    free(root);
    browser_visit(b, address, until);
}

void browser_visit(struct browser *b, const char *address, const char *until)
{
    browser_do(b, "Page.navigate", json_pack("{s:s}", "url", address));
    browser_wait(b, until);
}

void browser_wait(struct browser *b, const char *until)
{
    const double end = browser_now() + SECONDS_AT_MOST;
    bool there = false;

    while (!there && browser_now() < end) {
        json_t *value = browser_evaluate(b, until);
        there = json_is_true(value);
        json_decref(value);
        usleep(20000);
    }
    cr_assert(there, "%s never became true; %s", until, b->complaints);
}

double browser_heap(struct browser *b)
{
    browser_do(b, "HeapProfiler.collectGarbage", NULL);
    json_t *usage = browser_call(b, "Runtime.getHeapUsage", NULL);
    const double used = json_number_value(json_object_get(usage, "usedSize")) +
                        json_number_value(json_object_get(usage, "backingStorageSize"));

    json_decref(usage);
    return used;
}

/* --- what the reader does --------------------------------------------------------------------- */

void browser_mouse(struct browser *b, const char *what, double x, double y)
{
    const bool moves = strcmp(what, "mouseMoved") == 0;

    browser_do(b, "Input.dispatchMouseEvent",
               json_pack("{s:s, s:f, s:f, s:s, s:i}", "type", what, "x", x, "y", y, "button",
                         moves ? "none" : "left", "clickCount", moves ? 0 : 1));
}

void browser_wheel(struct browser *b, double x, double y, double by)
{
    browser_do(b, "Input.dispatchMouseEvent",
               json_pack("{s:s, s:f, s:f, s:f, s:f}", "type", "mouseWheel", "x", x, "y", y,
                         "deltaX", 0.0, "deltaY", by));
}

void browser_key(struct browser *b, const char *key)
{
    browser_do(b, "Input.dispatchKeyEvent", json_pack("{s:s, s:s}", "type", "keyDown", "key", key));
    browser_do(b, "Input.dispatchKeyEvent", json_pack("{s:s, s:s}", "type", "keyUp", "key", key));
}

unsigned browser_requests(const struct browser *b)
{
    return b->requests;
}

const char *browser_complaints(const struct browser *b)
{
    return b->complaints;
}

void browser_downloads(struct browser *b, const char *folder)
{
    browser_do(b, "Browser.setDownloadBehavior",
               json_pack("{s:s, s:s}", "behavior", "allow", "downloadPath", folder));
}

void browser_media(struct browser *b, const char *media)
{
    browser_do(b, "Emulation.setEmulatedMedia", json_pack("{s:s}", "media", media));
}

void browser_print(struct browser *b)
{
    browser_do(b, "Page.printToPDF", NULL);
}
