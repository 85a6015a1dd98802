#include "server.h"

#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "../../../channels/loco/control.h"
#include "../../base/cpus.h"
#include "../../base/exit_status.h"
#include "../../launch/signals.h"
#include "../top/choose.h"
#include "access.h"
#include "client.h"
#include "listen.h"
#include "page.h"

enum {
    PAGES_MAX = 16,
    GUESTS_MAX = 32,           /* connections that are no pages yet */
    CONNECTIONS_MAX = 256,     /* including connections that have ended but are not removed yet */
    REQUEST_MAX = 32 << 10,    /* bytes in the head of a request */
    SOCKET_BUFFER = 256 << 10, /* what the kernel buffers for a page that does not read */
    TURN_MS = 10,
    IDLE_MS = 100,
};

/* Clients without a token cannot keep others out: if a request is not complete by then, its
 * connection is closed; and if there are too many connections, the oldest makes room for the
 * newest. */
static const uint64_t REQUEST_NS = 5000000000;
static const uint64_t LINGER_NS = 5000000000; /* time for telling pages that the run has ended */

struct guest {
    int socket; /* -1: none */
    uint64_t came_ns;
};

struct open_page {
    struct hil_client *client; /* NULL: none */
    struct MHD_UpgradeResponseHandle *upgraded;
};

struct server {
    const struct hil_scope *scope;
    const struct hil_run_entry *run;
    char token[HIL_TOKEN_BYTES];
    struct sockaddr_storage address;
    int listener;
    struct MHD_Daemon *daemon;
    struct MHD_Response *page;
    struct guest guests[GUESTS_MAX];
    struct open_page pages[PAGES_MAX];
};

static uint64_t server_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* --- guests ----------------------------------------------------------------------------------- */

static struct guest *server_guest(struct server *s, int socket)
{
    for (unsigned i = 0; i < GUESTS_MAX; i++)
        if (s->guests[i].socket == socket)
            return &s->guests[i];
    return NULL;
}

static void server_forget(struct server *s, int socket)
{
    struct guest *guest = server_guest(s, socket);

    if (guest)
        guest->socket = -1;
}

/* The HTTP daemon notices the shutdown, and closes the connection. */
static void server_shut_guest(struct guest *guest)
{
    shutdown(guest->socket, SHUT_RDWR);
    guest->socket = -1;
}

/* Finds a place for a guest: a free one, or the oldest guest's. */
static struct guest *server_make_room(struct server *s)
{
    struct guest *oldest = &s->guests[0], *free = server_guest(s, -1);

    if (free)
        return free;
    for (unsigned i = 1; i < GUESTS_MAX; i++)
        if (s->guests[i].came_ns < oldest->came_ns)
            oldest = &s->guests[i];
    server_shut_guest(oldest);
    return oldest;
}

static void server_shut_late(struct server *s, uint64_t now_ns)
{
    for (unsigned i = 0; i < GUESTS_MAX; i++)
        if (s->guests[i].socket >= 0 && now_ns - s->guests[i].came_ns > REQUEST_NS)
            server_shut_guest(&s->guests[i]);
}

static void server_on_connection(void *arg, struct MHD_Connection *connection, void **context,
                                 enum MHD_ConnectionNotificationCode what)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

    (void)context;
    if (what == MHD_CONNECTION_NOTIFY_CLOSED && info)
        server_forget(arg, info->connect_fd);
}

static void server_accept(struct server *s)
{
    struct sockaddr_storage from;
    socklen_t size = sizeof from;
    const int socket =
        accept4(s->listener, (struct sockaddr *)&from, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);

    if (socket < 0)
        return;
    struct guest *guest = server_make_room(s);
    *guest = (struct guest){socket, server_now()};
    if (MHD_add_connection(s->daemon, socket, (struct sockaddr *)&from, size) != MHD_YES)
        guest->socket = -1; /* the daemon has closed it */
}

/* --- pages ------------------------------------------------------------------------------------ */

static struct open_page *server_free_page(struct server *s)
{
    for (unsigned i = 0; i < PAGES_MAX; i++)
        if (!s->pages[i].client)
            return &s->pages[i];
    return NULL;
}

static unsigned server_page_count(const struct server *s)
{
    unsigned count = 0;

    for (unsigned i = 0; i < PAGES_MAX; i++)
        count += s->pages[i].client != NULL;
    return count;
}

static void server_end_page(struct server *s, struct open_page *page, const char *why)
{
    hil_client_close(page->client);
    MHD_upgrade_action(page->upgraded, MHD_UPGRADE_ACTION_CLOSE);
    *page = (struct open_page){0};
    if (!s->scope->quiet)
        fprintf(stderr, "a page was left: %s\n", why);
}

/* From here on the connection belongs to a page. */
static void server_begin_page(void *arg, struct MHD_Connection *connection, void *request,
                              const char *extra, size_t extra_size, MHD_socket socket,
                              struct MHD_UpgradeResponseHandle *upgraded)
{
    struct server *s = arg;
    struct open_page *page = server_free_page(s);

    (void)connection;
    (void)request;
    server_forget(s, socket);
    struct hil_client *client =
        page ? hil_client_open(socket, s->run, s->scope->allow_set, extra, extra_size, server_now())
             : NULL;
    if (client)
        *page = (struct open_page){client, upgraded};
    else
        MHD_upgrade_action(upgraded, MHD_UPGRADE_ACTION_CLOSE);
}

static void server_turn(struct server *s, uint64_t now_ns)
{
    for (unsigned i = 0; i < PAGES_MAX; i++) {
        const char *end = s->pages[i].client ? hil_client_turn(s->pages[i].client, now_ns) : NULL;
        if (end)
            server_end_page(s, &s->pages[i], end);
    }
}

/* --- requests --------------------------------------------------------------------------------- */

static void server_add_headers(struct MHD_Response *response)
{
    static const char *const headers[][2] = {
        {"Cache-Control", "no-store"},
        {"Connection", "close"},
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
        {"X-Frame-Options", "DENY"},
        {"Cross-Origin-Opener-Policy", "same-origin"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
    };

    for (unsigned i = 0; i < sizeof headers / sizeof headers[0]; i++)
        MHD_add_response_header(response, headers[i][0], headers[i][1]);
}

static enum MHD_Result server_refuse(struct MHD_Connection *connection, unsigned status,
                                     const char *text)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(strlen(text), (void *)text, MHD_RESPMEM_PERSISTENT);

    if (!response)
        return MHD_NO;
    server_add_headers(response);
    MHD_add_response_header(response, "Content-Type", "text/plain; charset=utf-8");
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, "Allow", "GET");
    const enum MHD_Result rc = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return rc;
}

static const char *server_header(struct MHD_Connection *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static enum MHD_Result server_count_host(void *arg, enum MHD_ValueKind kind, const char *name,
                                         const char *value)
{
    unsigned *count = arg;

    (void)kind;
    (void)value;
    *count += strcasecmp(name, "Host") == 0;
    return MHD_YES;
}

static bool server_is_host(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    unsigned count = 0;

    MHD_get_connection_values(connection, MHD_HEADER_KIND, server_count_host, &count);
    return count == 1 && info &&
           getsockname(info->connect_fd, (struct sockaddr *)&address, &size) == 0 &&
           hil_access_host(&address, server_header(connection, "Host"));
}

/* Why a request is refused; NULL: it is not. */
static const char *server_objection(const struct server *s, struct MHD_Connection *connection)
{
    if (!server_is_host(connection))
        return "The request names another host.\n";
    if (!hil_access_origin(server_header(connection, "Host"), server_header(connection, "Origin")))
        return "The request comes from another page.\n";
    if (!hil_token_is(s->token,
                      MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "token")))
        return "The token is missing or wrong. hiloco scope has printed the address that has it.\n";
    return NULL;
}

static enum MHD_Result server_upgrade(struct server *s, struct MHD_Connection *connection)
{
    const char *key = server_header(connection, "Sec-WebSocket-Key");
    const char *version = server_header(connection, "Sec-WebSocket-Version");
    const char *upgrade = server_header(connection, "Upgrade");
    char accept[HIL_WS_ACCEPT_BYTES];

    if (!upgrade || strcasecmp(upgrade, "websocket") != 0 || !version ||
        strcmp(version, "13") != 0 || !key || !hil_ws_accept(key, accept))
        return server_refuse(connection, MHD_HTTP_BAD_REQUEST, "This address is for WebSockets.\n");
    if (!server_free_page(s))
        return server_refuse(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
                             "Too many pages are open.\n");
    struct MHD_Response *response = MHD_create_response_for_upgrade(server_begin_page, s);
    if (!response)
        return MHD_NO;
    MHD_add_response_header(response, "Upgrade", "websocket");
    MHD_add_response_header(response, "Sec-WebSocket-Accept", accept);
    const enum MHD_Result rc =
        MHD_queue_response(connection, MHD_HTTP_SWITCHING_PROTOCOLS, response);
    MHD_destroy_response(response);
    return rc;
}

static enum MHD_Result server_answer(void *arg, struct MHD_Connection *connection, const char *url,
                                     const char *method, const char *version, const char *body,
                                     size_t *body_size, void **request)
{
    struct server *s = arg;
    const char *objection = server_objection(s, connection);

    (void)version;
    (void)body;
    (void)body_size;
    (void)request;
    if (objection)
        return server_refuse(connection, MHD_HTTP_FORBIDDEN, objection);
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0)
        return server_refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "GET is allowed.\n");
    if (strcmp(url, "/live") == 0)
        return server_upgrade(s, connection);
    if (strcmp(url, "/") != 0)
        return server_refuse(connection, MHD_HTTP_NOT_FOUND, "The only page is /\n");
    return MHD_queue_response(connection, MHD_HTTP_OK, s->page);
}

/* --- running ---------------------------------------------------------------------------------- */

static int server_wait_ms(const struct server *s, uint64_t now_ns, uint64_t turn_ns)
{
    const int turn_ms = turn_ns > now_ns ? (int)((turn_ns - now_ns + 999999) / 1000000) : 0;
    MHD_UNSIGNED_LONG_LONG daemon_ms;

    if (MHD_get_timeout(s->daemon, &daemon_ms) == MHD_YES && daemon_ms < (unsigned)turn_ms)
        return (int)daemon_ms;
    return turn_ms;
}

/* The descriptors for select(), and which of them are ready. */
struct ready {
    fd_set read, write, except;
    int last;
};

static void server_add_file(int file, fd_set *set, int *last)
{
    FD_SET(file, set);
    if (file > *last)
        *last = file;
}

static void server_look_for(const struct server *s, struct ready *r)
{
    FD_ZERO(&r->read);
    FD_ZERO(&r->write);
    FD_ZERO(&r->except);
    r->last = -1;
    MHD_get_fdset(s->daemon, &r->read, &r->write, &r->except, &r->last);
    server_add_file(s->listener, &r->read, &r->last);
    for (unsigned i = 0; i < PAGES_MAX; i++) {
        const struct hil_client *client = s->pages[i].client;
        if (client)
            server_add_file(hil_client_socket(client), &r->read, &r->last);
        if (client && hil_client_has_more(client))
            server_add_file(hil_client_socket(client), &r->write, &r->last);
    }
}

static void server_on_page(struct server *s, struct open_page *page, const struct ready *r)
{
    const int socket = hil_client_socket(page->client);
    const char *end = NULL;

    if (FD_ISSET(socket, &r->write))
        end = hil_client_write(page->client, server_now());
    if (!end && FD_ISSET(socket, &r->read))
        end = hil_client_read(page->client);
    if (end)
        server_end_page(s, page, end);
}

static void server_wait(struct server *s, int wait_ms)
{
    struct timeval wait = {wait_ms / 1000, wait_ms % 1000 * 1000};
    struct ready r;

    server_look_for(s, &r);
    if (select(r.last + 1, &r.read, &r.write, &r.except, &wait) < 0)
        return; /* interrupted by a signal */
    for (unsigned i = 0; i < PAGES_MAX; i++)
        if (s->pages[i].client)
            server_on_page(s, &s->pages[i], &r);
    MHD_run_from_select(s->daemon, &r.read, &r.write, &r.except);
    if (FD_ISSET(s->listener, &r.read))
        server_accept(s);
}

/* Whether there is nothing left to do. */
static bool server_is_done(const struct server *s, uint64_t now_ns, uint64_t *ended_ns)
{
    int status;

    if (hil_signal_status())
        return true;
    if (!*ended_ns && hil_run_ended(s->run, &status))
        *ended_ns = now_ns;
    return *ended_ns && (server_page_count(s) == 0 || now_ns - *ended_ns > LINGER_NS);
}

static void server_run(struct server *s)
{
    uint64_t now_ns = server_now(), turn_ns = now_ns, ended_ns = 0;

    while (!server_is_done(s, now_ns, &ended_ns)) {
        server_wait(s, server_wait_ms(s, now_ns, turn_ns));
        now_ns = server_now();
        if (now_ns < turn_ns)
            continue;
        server_turn(s, now_ns);
        server_shut_late(s, now_ns);
        turn_ns = now_ns + 1000000u * (server_page_count(s) ? TURN_MS : IDLE_MS);
    }
}

/* --- beginning and end ------------------------------------------------------------------------ */

static void server_say_nothing(void *arg, const char *format, va_list words)
{
    (void)arg;
    (void)format;
    (void)words;
}

static int server_start_daemon(struct server *s)
{
    s->daemon = MHD_start_daemon(MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_UPGRADE, 0, NULL, NULL,
                                 server_answer, s, MHD_OPTION_EXTERNAL_LOGGER, server_say_nothing,
                                 NULL, MHD_OPTION_NOTIFY_CONNECTION, server_on_connection, s,
                                 MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX,
                                 MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_MAX,
                                 MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
    return s->daemon ? 0 : -ENOMEM;
}

static int server_make_page(struct server *s)
{
    struct hil_scope_page page;

    if (hil_scope_page(&page))
        return -ENOMEM;
    s->page = MHD_create_response_from_buffer(page.size, page.text, MHD_RESPMEM_MUST_FREE);
    if (!s->page) {
        free(page.text);
        free(page.policy);
        return -ENOMEM;
    }
    server_add_headers(s->page);
    MHD_add_response_header(s->page, "Content-Type", "text/html; charset=utf-8");
    MHD_add_response_header(s->page, "Content-Security-Policy", page.policy);
    free(page.policy);
    return 0;
}

static int server_listen(struct server *s)
{
    const char *where = s->scope->listen ? s->scope->listen : "127.0.0.1:0";
    const int one = 1, buffer = SOCKET_BUFFER;

    s->listener = hil_listen(where, &s->address);
    if (s->listener < 0) {
        fprintf(stderr, "--listen %s: %s\n", where,
                s->listener == -EINVAL
                    ? "ADDRESS:PORT is allowed, both numbers, as in 127.0.0.1:8080"
                    : strerror(-s->listener));
        return s->listener;
    }
    setsockopt(s->listener, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    setsockopt(s->listener, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer);
    return 0;
}

/* Prints the reason if it fails. */
static int server_open(struct server *s)
{
    for (unsigned i = 0; i < GUESTS_MAX; i++)
        s->guests[i] = (struct guest){-1, 0};
    s->listener = -1;
    hil_token_make(s->token);
    int rc = server_make_page(s);
    if (!rc)
        rc = server_start_daemon(s);
    if (!rc)
        return server_listen(s);
    fprintf(stderr, "%s\n", strerror(-rc));
    return rc;
}

static void server_close(struct server *s)
{
    server_turn(s, server_now()); /* sends pending messages, such as the end of the run */
    for (unsigned i = 0; i < PAGES_MAX; i++)
        if (s->pages[i].client) {
            hil_client_say_goodbye(s->pages[i].client, HIL_WS_GOING_AWAY);
            server_end_page(s, &s->pages[i], "the scope ends");
        }
    if (s->daemon)
        MHD_stop_daemon(s->daemon);
    if (s->page)
        MHD_destroy_response(s->page);
    if (s->listener >= 0)
        close(s->listener);
}

/* Gives the run's loops precedence. */
static void server_step_aside(const struct server *s)
{
    const struct sched_param none = {0};

    if (hil_keep_off(&s->run->attached.card.cores))
        return;
    sched_setscheduler(0, SCHED_IDLE, &none);
    if (!s->scope->quiet)
        fputs("every core has a loop of the run, so the scope shares a core with one, at the "
              "lowest priority\n",
              stderr);
}

static void server_tell(const struct server *s)
{
    char authority[HIL_AUTHORITY_BYTES];

    hil_authority(&s->address, authority);
    fprintf(s->scope->to, "scope of %s (process %d): http://%s/?token=%s\n",
            s->run->attached.card.name, (int)s->run->pid, authority, s->token);
    fflush(s->scope->to);
    if (!loco_address_is_loopback(&s->address))
        fputs("Anyone on this network who has this address can reach it; nothing is encrypted.\n",
              stderr);
}

int hil_scope_serve(const struct hil_scope *scope, const struct hil_run_entry *run)
{
    struct server s = {.scope = scope, .run = run};
    const int rc = server_open(&s);

    if (!rc) {
        hil_catch_signals();
        server_step_aside(&s);
        server_tell(&s);
        server_run(&s);
    }
    server_close(&s);
    return !rc ? HIL_EXIT_OK : rc == -EINVAL ? HIL_EXIT_USAGE : HIL_EXIT_FAILED;
}
