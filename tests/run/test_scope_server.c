/*
 * `hiloco scope`: who may have the page and what it shows, and that no client stalls the server,
 * breaks it or disturbs the run.
 */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "process.h"
#include "results.h"
#include "web.h"
#include "workspace.h"

TestSuite(scope_server, .init = workspace_open, .fini = workspace_close, .timeout = 300);

/* --- a run to look at ------------------------------------------------------------------------- */

static bool is_there(void *run)
{
    const struct process *p = run;

    return run_command("hiloco top %d --json --count 1", (int)p->pid).status == 0;
}

/* A run without an end, in which nothing is recorded; it takes the time that nobody else wants. */
static struct process endless_with(const char *options)
{
    struct arguments a = command(
        "nice -n 19 %s run configs/dcdc20.yaml --mode virtual --quiet --set duration_s=36000 "
        "--set record.0.decimation=0 --set name=%s --out %s %s",
        program_path("hiloco"), own_name(), in_workspace("out"), options);
    struct process p = start(&a);

    cr_assert(wait_until(is_there, &p, 30), "no run is to be seen");
    return p;
}

static struct process endless(void)
{
    return endless_with("");
}

static void end_run(struct process *p)
{
    kill(p->pid, SIGTERM);
    finish(p);
}

/* What a browser asks for. */
static int page_status(const struct scope *s, const char *token, const char *headers)
{
    char *answer = web_ask(s, "GET /%s%s HTTP/1.1\r\nHost: %s\r\n%s\r\n", *token ? "?token=" : "",
                           token, s->authority, headers);
    const int status = web_status(answer);

    free(answer);
    return status;
}

static bool is_up(const struct scope *s)
{
    return page_status(s, s->token, "") == 200;
}

/* --- who may ---------------------------------------------------------------------------------- */

Test(scope_server, the_page_is_for_who_knows_the_token)
{
    struct process p = endless();
    struct scope s = scope_start(&p, ""), other = scope_start(&p, "");
    int status = 0;

    cr_expect_eq(page_status(&s, s.token, ""), 200);
    cr_expect_eq(page_status(&s, s.token, ""), 200, "and once more");
    cr_expect_eq(page_status(&s, "", ""), 403);
    cr_expect_eq(page_status(&s, "0123456789abcdef0123456789abcdef", ""), 403);
    cr_expect_eq(page_status(&s, other.token, ""), 403, "that of another page");
    close(web_open(&s, "", 0, NULL));
    struct scope wrong = s;
    snprintf(wrong.token, sizeof wrong.token, "%s", other.token);
    cr_expect_eq(web_open(&wrong, "", 0, &status), -1);
    cr_expect_eq(status, 403);
    scope_stop(&other);
    struct ended e = scope_stop(&s);
    expect_status(&e, 0);
    char *first = strstr(e.out, s.token);
    cr_assert_not_null(first);
    cr_expect_null(strstr(first + 1, s.token), "the token is printed once");
    cr_expect_null(strstr(e.err, s.token));
    end_run(&p);
}

/* Nothing on the page may be of elsewhere, be kept, or be shown in another page. */
Test(scope_server, the_page_keeps_to_itself)
{
    struct process p = endless();
    struct scope s = scope_start(&p, "");
    char *answer = web_ask(&s, "GET /?token=%s HTTP/1.1\r\nHost: %s\r\n\r\n", s.token, s.authority);
    static const char *const said[] = {"Content-Security-Policy: default-src 'none'",
                                       "frame-ancestors 'none'", "Cache-Control: no-store",
                                       "X-Content-Type-Options: nosniff",
                                       "Referrer-Policy: no-referrer"};

    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++)
        cr_expect(strstr(answer, said[i]), "%s", said[i]);
    cr_expect_null(strstr(answer, "Set-Cookie"), "all ports of a machine share cookies");
    cr_expect_null(strstr(answer, "https://"));
    cr_expect_null(strstr(answer, "unsafe-inline"));
    free(answer);
    scope_stop(&s);
    end_run(&p);
}

Test(scope_server, a_request_for_another_host_or_of_another_page_is_refused)
{
    struct process p = endless();
    struct scope s = scope_start(&p, "");
    static const char *const heads[] = {
        "",
        "Host: scope.example.org\r\n",
        "Host: 127.0.0.1\r\n",
        "Host: 127.0.0.1:1\r\n",
    };
    char header[200];
    int status = 0;

    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        char *answer = web_ask(&s, "GET /?token=%s HTTP/1.1\r\n%s\r\n", s.token, heads[i]);
        cr_expect(web_status(answer) == 403 || web_status(answer) == 400, "%s: %s", heads[i],
                  answer);
        free(answer);
    }
    snprintf(header, sizeof header, "Host: %s\r\n", s.authority);
    cr_expect_eq(page_status(&s, s.token, header), 403, "two hosts");
    snprintf(header, sizeof header, "Origin: http://%s\r\n", s.authority);
    cr_expect_eq(page_status(&s, s.token, header), 200);
    close(web_open(&s, header, 0, NULL));
    cr_expect_eq(page_status(&s, s.token, "Origin: http://example.org\r\n"), 403);
    cr_expect_eq(page_status(&s, s.token, "Origin: null\r\n"), 403);
    cr_expect_eq(web_open(&s, "Origin: http://example.org\r\n", 0, &status), -1);
    cr_expect_eq(status, 403);
    char *answer =
        web_ask(&s, "GET /?token=%s HTTP/1.1\r\nHost: localhost:%u\r\n\r\n", s.token, s.port);
    cr_expect_eq(web_status(answer), 200);
    free(answer);
    scope_stop(&s);
    end_run(&p);
}

/* Where a process listens: "0100007F:1F90" of /proc/net/tcp. */
static bool listens(const char *table, const char *at)
{
    char *text = read_text(table);
    const bool is = strstr(text, at) != NULL;

    free(text);
    return is;
}

Test(scope_server, only_this_machine_unless_asked)
{
    struct process p = endless();
    struct scope s = scope_start(&p, "");
    char at[20];

    snprintf(at, sizeof at, "0100007F:%04X", s.port);
    cr_expect(listens("/proc/net/tcp", at));
    snprintf(at, sizeof at, "00000000:%04X ", s.port);
    cr_expect_not(listens("/proc/net/tcp", at));
    scope_stop(&s);
    s = scope_start(&p, "--listen 0.0.0.0:0");
    snprintf(at, sizeof at, "00000000:%04X", s.port);
    cr_expect(listens("/proc/net/tcp", at));
    snprintf(s.authority, sizeof s.authority, "127.0.0.1:%u", s.port);
    cr_expect_eq(page_status(&s, s.token, ""), 200, "by the address that it came to");
    struct ended e = scope_stop(&s);
    expect_said(&e, "nothing is encrypted");
    end_run(&p);
}

Test(scope_server, mistakes_on_the_command_line)
{
    struct process p = endless();
    static const char *const bad[] = {
        "here:80",         "127.0.0.1", "127.0.0.1:",   ":80", "127.0.0.1:x",
        "127.0.0.1:70000", "[::1:80",   "1.2.3.4.5:80", ""};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct arguments a = command("hiloco scope %d --listen", (int)p.pid);
        add(&a, "%s", bad[i]);
        struct ended e = run(&a);
        cr_expect_eq(e.status, 2, "--listen %s: %d, %s", bad[i], e.status, e.err);
        expect_said(&e, "--listen");
    }
    struct ended e = run_command("hiloco scope no-such-run");
    expect_status(&e, 1);
    expect_said(&e, "there is no run with the name, process id or folder of results no-such-run");
    e = run_command("hiloco scope %d --listen 192.0.2.1:0", (int)p.pid);
    expect_status(&e, 1);
    end_run(&p);
}

/* Somebody else finds no run here, and their own token opens nothing. */
Test(scope_server, another_users_run_is_not_found)
{
    if (geteuid() != 0)
        cr_skip_test("only the superuser can be somebody else");
    if (run_command("setpriv --reuid 65534 --clear-groups %s --help", program_path("hiloco"))
            .status)
        cr_skip_test("nobody may not run hiloco here");
    struct process p = endless();
    char line[300];
    snprintf(line, sizeof line, "setpriv --reuid 65534 --clear-groups %s scope",
             program_path("hiloco"));
    struct ended e = run_command("%s %s", line, own_name());
    expect_status(&e, 1);
    e = run_command("%s %d", line, (int)p.pid);
    expect_status(&e, 1);
    expect_said(&e, "there is no run with the name");
    e = run_command("%s %d --all-users", line, (int)p.pid);
    expect_status(&e, 1);
    end_run(&p);
}

Test(scope_server, a_change_is_refused_unless_allowed)
{
    struct process p = endless();
    struct scope s = scope_start(&p, "");
    const int c = web_open(&s, "", 0, NULL);

    char *hello = web_await(c, "\"hello\"");
    cr_assert_not_null(hello);
    cr_expect(strstr(hello, "\"allow_set\":false"), "%.300s", hello);
    static const char *const asked[] = {"{\"set\":[{\"name\":\"controller.kp\",\"value\":0.2}]}",
                                        "{\"control\":\"stop\"}", "{\"control\":\"pause\"}"};
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        web_tell(c, asked[i]);
        char *refused = web_await(c, "\"refused\"");
        cr_assert_not_null(refused, "%s is not answered", asked[i]);
        free(refused);
    }
    close(c);
    scope_stop(&s);
    cr_expect(is_there(&p), "it runs on");
    end_run(&p);
}

/* The page hears what was done, and when; and it pauses the run, and lets it go on. */
Test(scope_server, a_change_is_made_where_it_is_allowed)
{
    struct process p = endless_with("--allow-set");
    struct scope s = scope_start(&p, "--allow-set");
    const int c = web_open(&s, "", 0, NULL);
    static const char *const asked[][2] = {
        {"{\"set\":[{\"name\":\"reference\",\"value\":200,\"ramp_s\":0.001}]}", "\"value\":200"},
        {"{\"set\":[{\"name\":\"no.such\",\"value\":1}]}", "\"refused\""},
        {"{\"control\":\"pause\"}", "\"paused\":true"},
        {"{\"control\":\"resume\"}", "\"paused\":false"},
    };
    char *hello = web_await(c, "\"hello\"");

    cr_expect(strstr(hello, "\"name\":\"reference\""), "%.3000s", hello);
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        web_tell(c, asked[i][0]);
        char *answer = web_await(c, asked[i][1]);
        cr_expect_not_null(answer, "%s is not answered", asked[i][0]);
        free(answer);
    }
    web_tell(c, "{\"control\":\"stop\"}");
    struct ended e = finish(&p);
    cr_expect(e.status == 0 || e.status == 130, "%d", e.status);
    free(hello);
    close(c);
    finish(&s.process);
}

/* --- requests --------------------------------------------------------------------------------- */

static int status_of(const struct scope *s, const char *method, const char *path, const char *rest)
{
    char *answer = web_ask(s, "%s %s?token=%s HTTP/1.1\r\nHost: %s\r\n%s\r\n", method, path,
                           s->token, s->authority, rest);
    const int status = web_status(answer);

    free(answer);
    return status;
}

Test(scope_server, only_what_is_there_is_answered)
{
    struct process p = endless();
    struct scope s = scope_start(&p, "");
    char *path = malloc(100001);

    cr_expect_eq(status_of(&s, "GET", "/index.html", ""), 404);
    cr_expect_eq(status_of(&s, "GET", "/../../etc/passwd", ""), 404);
    cr_expect_eq(status_of(&s, "GET", "/%2e%2e/etc/passwd", ""), 404);
    cr_expect_eq(status_of(&s, "GET", "http://example.org/", ""), 404);
    cr_expect_eq(status_of(&s, "POST", "/", "Content-Length: 5\r\n\r\nhello"), 405);
    cr_expect_eq(status_of(&s, "PUT", "/", "Content-Length: 0\r\n"), 405);
    cr_expect_eq(status_of(&s, "DELETE", "/", ""), 405);
    cr_expect_eq(status_of(&s, "GET", "/live", ""), 400);
    cr_expect_eq(status_of(&s, "GET", "/live",
                           "Upgrade: websocket\r\nConnection: Upgrade\r\n"
                           "Sec-WebSocket-Version: 12\r\n"
                           "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"),
                 400);
    memset(path, 'a', 100000);
    path[0] = '/';
    path[100000] = '\0';
    const int status = status_of(&s, "GET", path, "");
    cr_expect(status == 414 || status == 431 || status == 0, "%d", status);
    cr_expect(is_up(&s));
    free(path);
    scope_stop(&s);
    end_run(&p);
}

/* More connections than there is room for say nothing, or half a request: a page is answered at
 * once all the same, and in the end they are closed. */
Test(scope_server, who_says_nothing_keeps_nobody_out)
{
    struct process p = endless();
    struct scope s = scope_start(&p, "");
    enum { SILENT = 100 };
    int silent[SILENT];

    const int page = web_open(&s, "", 0, NULL);
    for (int i = 0; i < SILENT; i++) {
        silent[i] = web_connect(&s, 0);
        if (i % 2)
            web_say(silent[i], "GET / HTTP/1.1\r\nHost:", 21);
    }
    cr_expect(is_up(&s));
    char *state = web_await(page, "\"state\"");
    cr_expect_not_null(state, "an open page goes on");
    free(state);
    for (int i = 0; i < SILENT; i++) {
        char *rest = web_rest(silent[i]); /* until it is closed */
        free(rest);
        char byte;
        const ssize_t got = recv(silent[i], &byte, 1, MSG_DONTWAIT);
        cr_expect(got == 0 || (got < 0 && errno != EAGAIN), "connection %d is still open", i);
        close(silent[i]);
    }
    cr_expect(is_up(&s));
    close(page);
    scope_stop(&s);
    end_run(&p);
}

/* A signal's name of this run. */
static const char watch[] =
    "{\"watch\":{\"signals\":[\"%s\"],\"mode\":\"roll\",\"window_s\":0.1,\"columns\":4096}}";

static char *first_signal(const char *hello)
{
    json_t *root = json_loads(hello, 0, NULL);
    const char *name = json_string_value(
        json_object_get(json_array_get(json_object_get(root, "signals"), 0), "name"));

    cr_assert_not_null(name, "no signals: %.300s", hello);
    return strdup(name);
}

static int open_and_watch(const struct scope *s, int buffer)
{
    const int c = web_open(s, "", buffer, NULL);
    char text[400];
    char *hello = web_await(c, "\"hello\""), *name;

    cr_assert_not_null(hello);
    name = first_signal(hello);
    snprintf(text, sizeof text, watch, name);
    web_tell(c, text);
    free(name);
    free(hello);
    return c;
}

/* The number of steps that the next roll lacks. */
static double lost_of_a_roll(int c)
{
    bool binary;
    size_t size;
    char *message;

    while ((message = web_next(c, &binary, &size)) && !binary)
        free(message);
    cr_assert_not_null(message);
    json_t *roll = json_loads(message + sizeof(uint32_t), JSON_DISABLE_EOF_CHECK, NULL);
    const double lost = number_at(roll, "lost");
    json_decref(roll);
    free(message);
    return lost;
}

/* Virtual time is too fast for anybody who looks 100 times a second, once the run has a core. */
Test(scope_server, a_roll_says_how_many_steps_it_lacks)
{
    struct process p = endless();
    struct scope s = scope_start(&p, "");
    const int page = open_and_watch(&s, 0);
    double lost = 0;

    for (unsigned i = 0; lost == 0 && i < 20000; i++)
        lost = lost_of_a_roll(page);
    cr_expect_gt(lost, 0);
    close(page);
    scope_stop(&s);
    end_run(&p);
}

/* A page that reads goes on being told, while one that does not is given up. */
Test(scope_server, a_page_that_takes_nothing_is_dropped)
{
    struct process p = endless();
    struct scope s = scope_start(&p, "");
    const int slow = open_and_watch(&s, 2048), quick = open_and_watch(&s, 0);
    size_t size, messages = 0;
    bool binary;
    char *message;

    while (!has_said(&s.process, "it takes nothing") &&
           (message = web_next(quick, &binary, &size))) {
        free(message);
        messages++;
    }
    cr_expect(has_said(&s.process, "it takes nothing"),
              "it is kept, after %zu messages to the other", messages);
    message = web_await(quick, "\"state\"");
    cr_expect_not_null(message, "the other one is told on");
    free(message);
    close(slow);
    close(quick);
    scope_stop(&s);
    end_run(&p);
}

Test(scope_server, so_many_pages_and_no_more)
{
    struct process p = endless();
    struct scope s = scope_start(&p, "");
    enum { MOST = 16 };
    int pages[MOST], status = 0;

    for (int i = 0; i < MOST; i++)
        pages[i] = web_open(&s, "", 0, NULL);
    cr_expect_eq(web_open(&s, "", 0, &status), -1);
    cr_expect_eq(status, 503);
    cr_expect(web_frame(pages[0], 0x88, "\x03\xe8", 2));
    free(web_await(pages[0], "never")); /* until the server has closed it */
    close(pages[0]);
    pages[0] = web_open(&s, "", 0, NULL);
    for (int i = 0; i < MOST; i++)
        close(pages[i]);
    scope_stop(&s);
    end_run(&p);
}

/* --- 10,000 malformed requests ---------------------------------------------------------------- */

/* xorshift: the same ones each time. */
static uint32_t draw(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    return *state ^= *state << 5;
}

/* A request in which some bytes are others, or which ends anywhere. */
static size_t spoil(char *bytes, size_t size, uint32_t *random)
{
    for (unsigned i = draw(random) % 8; i > 0; i--)
        bytes[draw(random) % size] = (char)draw(random);
    return draw(random) % 4 ? size : draw(random) % (size + 1);
}

static void say_malformed(const struct scope *s, unsigned number, uint32_t *random)
{
    static const char *const kinds[] = {
        "GET /?token=%s HTTP/1.1\r\nHost: %s\r\n\r\n",
        "GET /live?token=%s HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        "POST /?token=%s HTTP/1.1\r\nHost: %s\r\nTransfer-Encoding: chunked\r\n\r\nfffffffff\r\n",
        "GET /?token=%s HTTP/1.1\r\nHost: %s\r\nContent-Length: -1\r\n\r\n",
        "GET /?token=%s HTTP/9.9\r\n Host: %s\r\n\r\n",
    };
    char bytes[600];
    const int c = web_connect(s, 0);
    size_t size = (size_t)snprintf(bytes, sizeof bytes, kinds[number % 5], s->token, s->authority);

    if (number % 7 == 0)
        for (size_t i = 0; i < size; i++)
            bytes[i] = (char)draw(random);
    web_say(c, bytes, spoil(bytes, size, random));
    shutdown(c, SHUT_WR);
    if (number % 16 == 0) { /* the others do not wait for an answer */
        char answer[512];
        while (recv(c, answer, sizeof answer, 0) > 0)
            ;
    }
    close(c);
}

/* Frames of a page that knows the token. */
static void say_bad_frames(const struct scope *s, unsigned number, uint32_t *random)
{
    static const char *const texts[] = {
        "{",
        "[]",
        "null",
        "{\"watch\":7}",
        "{\"watch\":{\"signals\":[1,2],\"mode\":\"roll\"}}",
        "{\"watch\":{\"signals\":[\"no.such\"],\"mode\":\"roll\",\"window_s\":-1,\"columns\":1e9}}",
        "{\"watch\":{\"mode\":\"trigger\",\"trigger\":{\"on\":\"level\",\"level\":\"x\"}}}",
        "{\"hold\":3}",
        "{\"arm\":{}}",
        "{\"set\":[{}]}",
        "{\"control\":\"explode\"}"};
    const int c = web_open(s, "", 0, NULL);
    unsigned char bytes[200];

    for (unsigned i = 0; i < 20; i++) {
        const char *text = texts[draw(random) % (sizeof texts / sizeof texts[0])];
        memcpy(bytes, text, strlen(text) + 1);
        const size_t size = i % 3 ? strlen(text) : spoil((char *)bytes, strlen(text), random);
        if (!web_frame(c, i == 19 ? (unsigned char)draw(random) : 0x81, bytes, size))
            break;
    }
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)draw(random);
    if (number % 2)
        web_say(c, bytes, sizeof bytes);
    close(c);
}

static unsigned open_files(pid_t pid)
{
    char path[40];
    unsigned count = 0;

    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *folder = opendir(path);
    while (folder && readdir(folder))
        count++;
    if (folder)
        closedir(folder);
    return count;
}

struct settled {
    pid_t pid;
    unsigned files;
};

static bool has_settled(void *arg)
{
    const struct settled *s = arg;

    return open_files(s->pid) <= s->files;
}

/* Neither the server nor the run ends, and nothing of them stays. */
Test(scope_server, malformed_requests_break_nothing)
{
    struct process p = endless();
    struct scope s = scope_start(&p, "--quiet");
    struct settled settled = {s.process.pid, open_files(s.process.pid)};
    uint32_t random = 15;

    for (unsigned i = 0; i < 9600; i++)
        say_malformed(&s, i, &random);
    for (unsigned i = 0; i < 400; i++)
        say_bad_frames(&s, i, &random);
    cr_expect(is_up(&s));
    cr_expect_not(has_ended(&s.process));
    cr_expect(wait_until(has_settled, &settled, 30), "connections are left: %u files, not %u",
              open_files(s.process.pid), settled.files);
    struct ended e = scope_stop(&s);
    expect_status(&e, 0);
    cr_expect(is_there(&p), "the run goes on");
    end_run(&p);
}

/* --- the end ---------------------------------------------------------------------------------- */

Test(scope_server, it_ends_with_the_run_and_says_so)
{
    struct process p = endless();
    struct scope s = scope_start(&p, "");
    const int c = web_open(&s, "", 0, NULL);

    char *hello = web_await(c, "\"hello\"");
    cr_expect_not_null(hello);
    kill(p.pid, SIGTERM);
    char *ended = web_await(c, "\"ended\"");
    cr_expect_not_null(ended, "the page is told");
    struct ended run = finish(&p), scope = finish(&s.process);
    expect_status(&run, 130);
    expect_status(&scope, 0);
    free(hello);
    free(ended);
    close(c);
}
