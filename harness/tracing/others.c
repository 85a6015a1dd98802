#include "others.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../base/foreign.h"

enum { OTHERS_KIB = 4096, OTHERS_NAMES = 256 };

static int others_compare(const void *a, const void *b)
{
    const struct hil_other *x = a, *y = b;

    return (x->longest_ns < y->longest_ns) - (x->longest_ns > y->longest_ns);
}

/* Adds a stay to those of its name, while there is room for names. */
static void others_add(struct hil_other *all, unsigned *count, const struct hil_stay *s)
{
    const uint64_t ns = s->to_ns - s->from_ns;
    unsigned i = 0;

    while (i < *count && strcmp(all[i].name, s->name) != 0)
        i++;
    if (i == OTHERS_NAMES)
        return;
    if (i == *count)
        memcpy(all[(*count)++].name, s->name, sizeof all[i].name);
    all[i].all_ns += ns;
    if (ns > all[i].longest_ns)
        all[i].longest_ns = ns;
}

unsigned hil_others_find(const struct hil_kernel *k, int cpu, const char *own, struct hil_span span,
                         struct hil_other others[HIL_OTHERS])
{
    struct hil_other all[OTHERS_NAMES] = {0};
    unsigned count = 0;

    if (cpu < 0 || (unsigned)cpu >= k->core_count)
        return 0;
    const struct hil_stays *stays = &k->cores[cpu][HIL_TASK];
    const struct hil_stay *last = NULL;
    for (const struct hil_stay *s = stays->at; s < stays->at + stays->count; s++) {
        if (strcmp(s->name, own) != 0)
            continue;
        const bool same = last && last->task == s->task;
        for (const struct hil_stay *between = last; same && ++between < s;)
            if (between->task && between->from_ns >= span.from_ns && between->to_ns <= span.to_ns)
                others_add(all, &count, between);
        last = s;
    }
    qsort(all, count, sizeof all[0], others_compare);
    count = count < HIL_OTHERS ? count : HIL_OTHERS;
    for (unsigned i = 0; i < count; i++) { /* a thread may give itself any name */
        others[i] = all[i];
        hil_foreign_text(others[i].name, sizeof others[i].name, all[i].name, sizeof all[i].name);
    }
    return count;
}

bool hil_others_begin(struct hil_tracefs *fs, const struct hil_executor_config *executors,
                      unsigned count)
{
    if (hil_tracefs_open(fs, NULL, executors, count, OTHERS_KIB))
        return false;
    if (hil_tracefs_start(fs) == 0)
        return true;
    hil_tracefs_close(fs);
    return false;
}

void hil_others_end(struct hil_tracefs *fs, struct hil_kernel *k)
{
    const int file = memfd_create("hiloco-others", MFD_CLOEXEC);
    FILE *text = file < 0 ? NULL : fdopen(file, "w+");
    uint64_t lost;

    if (text && hil_tracefs_stop(fs, text, &lost) == 0) {
        rewind(text);
        hil_kernel_take(k, text);
    }
    if (text)
        fclose(text);
    else if (file >= 0)
        close(file);
    hil_tracefs_close(fs);
}

static bool others_matter(const struct hil_state *state)
{
    for (unsigned i = 0; i < state->executor_count; i++)
        if (state->executors[i].stalls.count && state->executors[i].stalls.waited_ns)
            return true;
    return false;
}

static void others_tell_of(const struct hil_kernel *kernel, int cpu, const char *own,
                           uint64_t elapsed_ns, struct hil_executor_state *state)
{
    const struct hil_span loops = {state->start_ns, state->start_ns + elapsed_ns};
    struct hil_other others[HIL_OTHERS];
    const unsigned count = hil_others_find(kernel, cpu, own, loops, others);
    uint64_t most_ns = 0;

    for (unsigned k = 0; k < count; k++)
        if (others[k].all_ns > most_ns) {
            memcpy(state->stalls.other, others[k].name, sizeof state->stalls.other);
            most_ns = others[k].all_ns;
        }
}

/* Reading what the kernel wrote takes a moment, so it is done only if a loop stood still. */
void hil_others_tell(struct hil_tracefs *fs, const struct hil_scenario *s, struct hil_state *state,
                     void (*own)(const void *arg, unsigned executor, char name[HIL_OWN_NAME]),
                     const void *arg)
{
    struct hil_kernel kernel = {0};
    char name[HIL_OWN_NAME];

    if (!others_matter(state)) {
        hil_tracefs_close(fs);
        return;
    }
    hil_others_end(fs, &kernel);
    for (unsigned i = 0; i < s->executor_count; i++) {
        own(arg, i, name);
        others_tell_of(&kernel, s->executors[i].cpu, name, atomic_load(&state->elapsed_ns),
                       &state->executors[i]);
    }
    hil_kernel_free(&kernel);
}
