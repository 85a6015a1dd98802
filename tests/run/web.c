#include "web.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "workspace.h"

/* --- the scope -------------------------------------------------------------------------------- */

static bool web_is_said(void *process)
{
    const char *path = ((struct process *)process)->out_path;

    return has_ended(process) || (exists(path) && strchr(read_text(path), '\n'));
}

struct scope scope_start(const struct process *run, const char *options)
{
    struct arguments a = command("hiloco scope %d %s", (int)run->pid, options);
    struct scope s = {.process = start(&a)};

    cr_assert(wait_until(web_is_said, &s.process, 30), "the scope does not say where it is");
    char *out = read_text(s.process.out_path), *url = strstr(out, "http://");
    cr_assert_not_null(url, "no address: %s%s", out, read_text(s.process.err_path));
    sscanf(url, "%119s", s.url);
    cr_assert_eq(sscanf(url, "http://%39[^/]/?token=%39s", s.authority, s.token), 2, "%s", url);
    s.port = (unsigned)atoi(strrchr(s.authority, ':') + 1);
    free(out);
    return s;
}

struct ended scope_stop(struct scope *s)
{
    kill(s->process.pid, SIGTERM);
    return finish(&s->process);
}

/* --- connections ------------------------------------------------------------------------------ */

int web_connect(const struct scope *s, int buffer)
{
    const struct sockaddr_in at = {.sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)s->port),
                                   .sin_addr = {htonl(INADDR_LOOPBACK)}};
    const struct timeval patience = {20, 0};
    const int c = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    cr_assert_geq(c, 0);
    setsockopt(c, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(c, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (buffer)
        setsockopt(c, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
    cr_assert_eq(connect(c, (const struct sockaddr *)&at, sizeof at), 0, "no connection");
    return c;
}

bool web_say(int c, const void *bytes, size_t size)
{
    for (size_t sent = 0; sent < size;) {
        const ssize_t now = send(c, (const char *)bytes + sent, size - sent, MSG_NOSIGNAL);
        if (now <= 0)
            return false;
        sent += (size_t)now;
    }
    return true;
}

char *web_rest(int c)
{
    size_t used = 0, room = 1 << 16;
    char *text = malloc(room + 1);
    ssize_t size;

    while ((size = recv(c, text + used, room - used, 0)) > 0) {
        used += (size_t)size;
        if (used == room)
            text = realloc(text, (room *= 2) + 1);
        cr_assert_not_null(text);
    }
    text[used] = '\0';
    return text;
}

char *web_ask(const struct scope *s, const char *format, ...)
{
    char *request;
    va_list words;

    va_start(words, format);
    const int size = vasprintf(&request, format, words);
    va_end(words);
    cr_assert_geq(size, 0);
    const int c = web_connect(s, 0);
    web_say(c, request, (size_t)size);
    char *answer = web_rest(c);
    close(c);
    free(request);
    return answer;
}

int web_status(const char *answer)
{
    int status = 0;

    sscanf(answer, "HTTP/1.1 %d", &status);
    return status;
}

/* --- WebSockets ------------------------------------------------------------------------------- */

/* The head of an answer, and not a byte more. */
static void web_head(int c, char *head, size_t room)
{
    size_t used = 0;

    while (used + 1 < room && recv(c, head + used, 1, 0) == 1) {
        head[++used] = '\0';
        if (used >= 4 && strcmp(head + used - 4, "\r\n\r\n") == 0)
            return;
    }
    head[used] = '\0';
}

int web_open(const struct scope *s, const char *headers, int buffer, int *status)
{
    const int c = web_connect(s, buffer);
    char head[4096] = "";

    snprintf(head, sizeof head,
             "GET /live?token=%s HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\n"
             "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
             "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n%s\r\n",
             s->token, s->authority, headers);
    web_say(c, head, strlen(head));
    web_head(c, head, sizeof head);
    if (web_status(head) == 101) {
        cr_expect(strstr(head, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), "%s", head);
        return c;
    }
    cr_assert_not_null(status, "the WebSocket is not opened: %s", head);
    *status = web_status(head);
    close(c);
    return -1;
}

bool web_frame(int c, unsigned char first, const void *payload, size_t size)
{
    static const unsigned char mask[] = {0x12, 0x34, 0x56, 0x78};
    unsigned char *frame = malloc(size + 8);
    size_t head = 2;

    cr_assert_lt(size, 65536);
    frame[0] = first;
    frame[1] = (unsigned char)(0x80 | (size < 126 ? size : 126));
    if (size >= 126) {
        frame[2] = (unsigned char)(size >> 8);
        frame[3] = (unsigned char)size;
        head = 4;
    }
    memcpy(frame + head, mask, sizeof mask);
    head += sizeof mask;
    for (size_t i = 0; i < size; i++)
        frame[head + i] = ((const unsigned char *)payload)[i] ^ mask[i % 4];
    const bool rc = web_say(c, frame, head + size);
    free(frame);
    return rc;
}

bool web_tell(int c, const char *text)
{
    return web_frame(c, 0x81, text, strlen(text));
}

static bool web_read(int c, void *bytes, size_t size)
{
    return recv(c, bytes, size, MSG_WAITALL) == (ssize_t)size;
}

char *web_next(int c, bool *binary, size_t *size)
{
    unsigned char head[10];

    if (!web_read(c, head, 2) || (head[0] & 15) > 2)
        return NULL;
    const size_t more = head[1] == 127 ? 8 : head[1] == 126 ? 2 : 0;
    if (more && !web_read(c, head + 2, more))
        return NULL;
    *size = more ? 0 : head[1];
    for (size_t i = 0; i < more; i++)
        *size = *size << 8 | head[2 + i];
    *binary = (head[0] & 15) == 2;
    char *message = malloc(*size + 1);
    if (*size && !web_read(c, message, *size)) {
        free(message);
        return NULL;
    }
    message[*size] = '\0';
    return message;
}

char *web_await(int c, const char *part)
{
    bool binary;
    size_t size;
    char *message;

    while ((message = web_next(c, &binary, &size))) {
        if (!binary && strstr(message, part))
            return message;
        free(message);
    }
    return NULL;
}
