#include "kernel.h"
#include "../base/list.h"

#include "../base/result_file.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CORES_MAX = 4096, SUSPECTS = 64 };

/* --- recording stays -------------------------------------------------------------------------- */

static struct hil_stays *stays_of(struct hil_kernel *k, int cpu, enum hil_kernel_kind kind)
{
    if (cpu < 0 || cpu >= CORES_MAX || k->out_of_memory)
        return NULL;
    if ((unsigned)cpu >= k->core_count) {
        unsigned count = (unsigned)cpu + 1;
        void *cores = realloc(k->cores, count * sizeof *k->cores);
        k->out_of_memory = !cores;
        if (!cores)
            return NULL;
        k->cores = cores;
        memset(&k->cores[k->core_count], 0, (count - k->core_count) * sizeof *k->cores);
        k->core_count = count;
    }
    return &k->cores[cpu][kind];
}

static bool make_room(struct hil_stays *stays)
{
    struct hil_stay *more = hil_list_more(stays->at, stays->count, sizeof *more);

    if (!more)
        return false;
    stays->at = more;
    return true;
}

static void end_last(struct hil_stays *stays, uint64_t time_ns)
{
    struct hil_stay *last = stays->count ? &stays->at[stays->count - 1] : NULL;

    if (last && !last->to_ns)
        last->to_ns = time_ns;
}

void hil_kernel_enter(struct hil_kernel *k, int cpu, enum hil_kernel_kind kind, uint64_t time_ns,
                      int task, const char *name)
{
    struct hil_stays *stays = stays_of(k, cpu, kind);

    if (!stays)
        return;
    end_last(stays, time_ns); /* a task ends when the next one begins; otherwise an exit event was
                               * lost */
    if (!make_room(stays)) {
        k->out_of_memory = true;
        return;
    }
    struct hil_stay *stay = &stays->at[stays->count++];
    *stay = (struct hil_stay){.from_ns = time_ns, .task = task};
    snprintf(stay->name, sizeof stay->name, "%s", name);
}

void hil_kernel_exit(struct hil_kernel *k, int cpu, enum hil_kernel_kind kind, uint64_t time_ns)
{
    struct hil_stays *stays = stays_of(k, cpu, kind);

    if (stays)
        end_last(stays, time_ns);
}

bool hil_kernel_any(const struct hil_kernel *k)
{
    return k->core_count > 0;
}

void hil_kernel_free(struct hil_kernel *k)
{
    for (unsigned cpu = 0; cpu < k->core_count; cpu++)
        for (int kind = 0; kind < HIL_KERNEL_KINDS; kind++)
            free(k->cores[cpu][kind].at);
    free(k->cores);
    *k = (struct hil_kernel){0};
}

/* --- finding the intruder --------------------------------------------------------------------- */

struct suspect {
    const struct hil_stay *who;
    enum hil_kernel_kind kind;
    uint64_t ns;
};

struct suspects {
    struct suspect at[SUSPECTS];
    unsigned count;
};

static void suspect(struct suspects *all, const struct hil_stay *who, enum hil_kernel_kind kind,
                    uint64_t ns)
{
    unsigned i = 0;

    while (i < all->count && (all->at[i].kind != kind || all->at[i].who->task != who->task ||
                              strcmp(all->at[i].who->name, who->name) != 0))
        i++;
    if (i == SUSPECTS)
        return;
    if (i == all->count)
        all->at[all->count++] = (struct suspect){who, kind, 0};
    all->at[i].ns += ns;
}

/* The first stay that ends after `from_ns`. */
static size_t first_after(const struct hil_stays *stays, uint64_t from_ns)
{
    size_t low = 0, high = stays->count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct hil_stay *stay = &stays->at[middle];
        if (stay->to_ns && stay->to_ns <= from_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_among(int task, const int *tasks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (tasks[i] == task)
            return true;
    return false;
}

static void look_at(const struct hil_stays *stays, enum hil_kernel_kind kind, uint64_t from_ns,
                    uint64_t to_ns, const int *tasks, size_t task_count, struct suspects *all)
{
    for (size_t i = first_after(stays, from_ns); i < stays->count; i++) {
        const struct hil_stay *s = &stays->at[i];
        if (s->from_ns >= to_ns)
            return;
        if (kind == HIL_TASK && (s->task == 0 || is_among(s->task, tasks, task_count)))
            continue;
        uint64_t begin = s->from_ns > from_ns ? s->from_ns : from_ns;
        uint64_t end = s->to_ns && s->to_ns < to_ns ? s->to_ns : to_ns;
        suspect(all, s, kind, end - begin);
    }
}

struct hil_intruder hil_kernel_intruder(const struct hil_kernel *k, int cpu, uint64_t from_ns,
                                        uint64_t to_ns, const int *tasks, size_t task_count)
{
    static const char *const kinds[] = {"", "irq ", "softirq "};
    struct suspects all = {.count = 0};
    const struct suspect *worst = NULL;
    struct hil_intruder intruder = {.ns = 0};

    if (cpu < 0 || (unsigned)cpu >= k->core_count)
        return intruder;
    for (unsigned kind = 0; kind < HIL_KERNEL_KINDS; kind++)
        look_at(&k->cores[cpu][kind], (enum hil_kernel_kind)kind, from_ns, to_ns, tasks, task_count,
                &all);
    for (unsigned i = 0; i < all.count; i++) {
        intruder.all_ns += all.at[i].ns;
        if (!worst || all.at[i].ns > worst->ns)
            worst = &all.at[i];
    }
    if (!worst)
        return intruder;
    intruder.ns = worst->ns;
    if (worst->kind == HIL_TASK)
        snprintf(intruder.name, sizeof intruder.name, "%s (task %d)", worst->who->name,
                 worst->who->task);
    else
        snprintf(intruder.name, sizeof intruder.name, "%s%s", kinds[worst->kind], worst->who->name);
    return intruder;
}

/* --- the text of tracefs ---------------------------------------------------------------------- *
 *
 *           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
 *          bench-25081   [001] d..2. 12088.378696: sched_switch: prev_comm=... next_comm=bench ...
 */

/* The position of "[001] "; a task's name may contain brackets, too. */
static const char *find_cpu(const char *line)
{
    for (const char *c = strchr(line, '['); c; c = strchr(c + 1, '[')) {
        size_t digits = strspn(c + 1, "0123456789");
        if (digits >= 3 && c[1 + digits] == ']' && c[2 + digits] == ' ')
            return c;
    }
    return NULL;
}

/* The value after "key=" up to `end`. */
static bool value_of(const char *text, const char *key, const char *end, char *value, size_t size)
{
    const char *from = strstr(text, key);
    const char *to = from ? strstr(from, end) : NULL;

    if (!to)
        return false;
    from += strlen(key);
    snprintf(value, size, "%.*s", to > from ? (int)(to - from) : 0, from);
    return true;
}

static void take_switch(struct hil_kernel *k, int cpu, uint64_t time_ns, const char *said)
{
    char name[28], task[16];

    if (value_of(said, "next_comm=", " next_pid=", name, sizeof name) &&
        value_of(said, "next_pid=", " ", task, sizeof task))
        hil_kernel_enter(k, cpu, HIL_TASK, time_ns, atoi(task), name);
}

/* "irq_handler_entry", "softirq_exit", "local_timer_entry" ... */
static void take_interrupt(struct hil_kernel *k, int cpu, uint64_t time_ns, const char *event,
                           const char *said)
{
    const enum hil_kernel_kind kind = strncmp(event, "softirq_", 8) == 0 ? HIL_SOFTIRQ : HIL_IRQ;
    const char *last = strrchr(event, '_');
    char name[28] = "";

    if (!last)
        return;
    if (strcmp(last, "_exit") == 0)
        hil_kernel_exit(k, cpu, kind, time_ns);
    if (strcmp(last, "_entry") != 0)
        return;
    if (kind == HIL_SOFTIRQ) {
        value_of(said, "action=", "]", name, sizeof name);
    } else if (strncmp(event, "irq_handler_", 12) == 0) {
        value_of(said, "name=", "\n", name, sizeof name);
    } else {
        snprintf(name, sizeof name, "%.*s", (int)(last - event) % 28, event);
    }
    hil_kernel_enter(k, cpu, kind, time_ns, 0, name);
}

static void take_line(struct hil_kernel *k, const char *line)
{
    const char *at = find_cpu(line);
    unsigned long long s, us;
    char event[64];
    int cpu, length = 0;

    if (line[0] == '#' || !at ||
        sscanf(at, "[%d] %*s %llu.%6llu: %63[^:]: %n", &cpu, &s, &us, event, &length) != 4 ||
        !length)
        return;
    uint64_t time_ns = s * 1000000000 + us * 1000;
    if (strcmp(event, "sched_switch") == 0)
        take_switch(k, cpu, time_ns, at + length);
    else
        take_interrupt(k, cpu, time_ns, event, at + length);
}

int hil_kernel_take(struct hil_kernel *k, FILE *text)
{
    char line[1024];

    while (fgets(line, sizeof line, text))
        take_line(k, line);
    return ferror(text) ? -EIO : k->out_of_memory ? -ENOMEM : 0;
}

int hil_kernel_read(struct hil_kernel *k, const char *path)
{
    FILE *text = hil_result_read(path);

    if (!text)
        return -errno;
    const int rc = hil_kernel_take(k, text);
    fclose(text);
    return rc;
}
