#include "client.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "../../base/foreign.h"
#include "../../base/json_number.h"

/* --- asking ---------------------------------------------------------------------------------- */

/* The longest answer: a change at each of very many nodes. */
enum { ASKING_ANSWER_MAX = 1 << 29 };

struct hil_asking {
    int file;
    char *answer;
    size_t used, size, searched; /* searched: how much of it has no line end */
};

/* Checks that the launcher itself listens there, and not another process that took the name
 * first. */
static int asking_check_peer(int file, const struct hil_run_entry *run)
{
    struct ucred peer;
    socklen_t size = sizeof peer;

    if (getsockopt(file, SOL_SOCKET, SO_PEERCRED, &peer, &size))
        return -errno;
    if (peer.uid != geteuid() && geteuid() != 0)
        return -EPERM;
    return peer.pid == run->pid ? 0 : -ECONNREFUSED;
}

/* Others may fill the launcher's queue with connections, which it refuses as it comes to them. */
enum { ASKING_TRIES = 200, ASKING_PAUSE_MS = 10 };

static int asking_connect(int file, const struct hil_run_entry *run)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *name = run->attached.card.tuning;
    int rc = -ECONNREFUSED;

    snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "%s", name);
    const size_t size = offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name);
    for (int i = 0; name[0] && i < ASKING_TRIES; i++) {
        rc = connect(file, (const struct sockaddr *)&address, (socklen_t)size) ? -errno : 0;
        if (rc != -EAGAIN)
            break;
        poll(NULL, 0, ASKING_PAUSE_MS);
    }
    return !rc ? asking_check_peer(file, run) : rc == -ENOENT ? -ECONNREFUSED : rc;
}

static int asking_send(int file, const json_t *request)
{
    char *text = json_dumps(request, JSON_COMPACT | JSON_REAL_PRECISION(17));
    const size_t length = text ? strlen(text) : 0;

    if (!text)
        return -ENOMEM;
    text[length] = '\n'; /* in place of the NUL */
    const ssize_t sent = send(file, text, length + 1, MSG_NOSIGNAL);
    const int rc = sent == (ssize_t)length + 1 ? 0 : sent < 0 ? -errno : -EMSGSIZE;
    free(text);
    return rc;
}

int hil_asking_start(struct hil_asking **asking, const struct hil_run_entry *run,
                     const json_t *request)
{
    struct hil_asking *a = calloc(1, sizeof *a);
    int rc;

    if (!a)
        return -ENOMEM;
    a->file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    rc = a->file < 0 ? -errno : asking_connect(a->file, run);
    if (!rc)
        rc = asking_send(a->file, request);
    if (!rc) {
        *asking = a;
        return 0;
    }
    hil_asking_close(a);
    return rc;
}

static int asking_grow(struct hil_asking *a)
{
    const size_t size = a->size ? 2 * a->size : 4096;

    if (a->used < a->size)
        return 0;
    if (size > ASKING_ANSWER_MAX)
        return -EMSGSIZE;
    char *more = realloc(a->answer, size);
    if (!more)
        return -ENOMEM;
    a->answer = more;
    a->size = size;
    return 0;
}

/* Returns 1 when more data may be available now, otherwise 0. */
static int asking_receive(struct hil_asking *a)
{
    int rc = asking_grow(a);

    if (rc)
        return rc;
    const ssize_t got = recv(a->file, a->answer + a->used, a->size - a->used, MSG_DONTWAIT);
    if (got > 0) {
        a->used += (size_t)got;
        return 1;
    }
    return got == 0                                                    ? -ECONNRESET
           : errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? 0
                                                                       : -errno;
}

int hil_asking_finish(struct hil_asking *a, json_t **answer)
{
    int rc = 1;
    const char *end = NULL;

    while (rc == 1 && !end) {
        rc = asking_receive(a);
        if (a->used > a->searched)
            end = memchr(a->answer + a->searched, '\n', a->used - a->searched);
        a->searched = a->used;
    }
    if (!end)
        return rc;
    *answer = json_loadb(a->answer, (size_t)(end - a->answer), 0, NULL);
    return *answer ? 1 : -EBADMSG;
}

void hil_asking_close(struct hil_asking *a)
{
    if (!a)
        return;
    if (a->file >= 0)
        close(a->file);
    free(a->answer);
    free(a);
}

int hil_tune_ask(const struct hil_run_entry *run, const json_t *request, json_t **answer)
{
    struct hil_asking *asking;
    int rc = hil_asking_start(&asking, run, request);

    if (rc)
        return rc;
    while ((rc = hil_asking_finish(asking, answer)) == 0) {
        struct pollfd file = {.fd = asking->file, .events = POLLIN};
        poll(&file, 1, -1);
    }
    hil_asking_close(asking);
    return rc < 0 ? rc : 0;
}

/* --- seeing ---------------------------------------------------------------------------------- */

/* The memory is not trusted: position and length of the table are checked against its size. NULL:
 * there is no table. */
static const struct hil_tuning *tune_memory(const struct hil_attached *run, unsigned *count)
{
    const uint64_t at = *(const volatile uint64_t *)&run->state->tuning_at;

    if (at < sizeof(struct hil_state) || at % _Alignof(struct hil_tuning) || at > run->size ||
        run->size - at < sizeof(struct hil_tuning))
        return NULL;
    const struct hil_tuning *t = (const void *)((const char *)run->state + at);
    *count = *(const volatile unsigned *)&t->count;
    return hil_foreign_fits(*count, sizeof t->tunables[0], run->size - at - sizeof *t) ? t : NULL;
}

/* The same for the log behind the table. */
static const struct hil_tuned_here *
tune_log(const struct hil_attached *run, const struct hil_tuning *t, unsigned count, unsigned *size)
{
    const struct hil_tuned_here *log = (const void *)(t->tunables + count);
    const size_t before = (size_t)((const char *)log - (const char *)run->state);

    *size = *(const volatile unsigned *)&t->log_size;
    return *size && hil_foreign_fits(*size, sizeof *log, run->size - before) ? log : NULL;
}

static void tune_copy(struct hil_tunable_shown *to, const struct hil_tunable_state *from)
{
    hil_foreign_text(to->name, sizeof to->name, from->name, sizeof from->name);
    hil_foreign_text(to->unit, sizeof to->unit, from->unit, sizeof from->unit);
    hil_foreign_text(to->doc, sizeof to->doc, from->doc, sizeof from->doc);
    to->min = from->min;
    to->max = from->max;
    to->is_source = from->is_source != 0;
}

int hil_tune_list(const struct hil_attached *run, struct hil_tunable_shown **list, unsigned *count)
{
    const struct hil_tuning *t = tune_memory(run, count);

    if (!t)
        *count = 0;
    *list = calloc(*count + 1, sizeof **list);
    if (!*list)
        return -ENOMEM;
    for (unsigned i = 0; i < *count; i++)
        tune_copy(&(*list)[i], &t->tunables[i]);
    return 0;
}

double hil_tune_value(const struct hil_attached *run, unsigned tunable)
{
    unsigned count;
    const struct hil_tuning *t = tune_memory(run, &count);

    return t && tunable < count
               ? atomic_load_explicit(&t->tunables[tunable].value, memory_order_relaxed)
               : NAN;
}

json_t *hil_tune_list_json(const struct hil_attached *run, const struct hil_tunable_shown *list,
                           unsigned count)
{
    json_t *all = json_array();

    for (unsigned i = 0; i < count; i++)
        json_array_append_new(
            all, json_pack("{s:s, s:s, s:o, s:o, s:o, s:s, s:b}", "name", list[i].name, "unit",
                           list[i].unit, "value", hil_json_number(hil_tune_value(run, i)), "min",
                           hil_json_number(list[i].min), "max", hil_json_number(list[i].max), "doc",
                           list[i].doc, "source", (int)list[i].is_source));
    return all;
}

/* Reads only the newest half of the ring, because node 0 may be writing in the other half. */
bool hil_tune_next(const struct hil_attached *run, uint64_t *seen, struct hil_tuned *change)
{
    unsigned count;
    unsigned size;
    const struct hil_tuning *t = tune_memory(run, &count);
    const struct hil_tuned_here *log = t ? tune_log(run, t, count, &size) : NULL;
    const uint64_t logged = log ? atomic_load_explicit(&t->logged, memory_order_acquire) : 0;

    if (*seen > logged)
        *seen = logged;
    if (log && logged - *seen > size / 2)
        *seen = logged - size / 2;
    while (*seen < logged) {
        const struct hil_tuned_here one = log[(*seen)++ % size];
        if (one.how != HIL_TUNED || one.tunable >= count || one.node >= run->node_count)
            continue;
        *change = (struct hil_tuned){one.tunable, one.node, one.value, one.step, one.time_ns};
        return true;
    }
    return false;
}

bool hil_tune_paused(const struct hil_attached *run)
{
    return hil_state_is_paused(run->state);
}
