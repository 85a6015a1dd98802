#include "reader.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

/* How often it looks, and how long it waits for a run that does not look, as it is paused. */
enum { READER_LOOK_NS = 20000, READER_LOOKS_MOST = 50000 };

static void reader_nap(void)
{
    static const struct timespec nap = {.tv_nsec = READER_LOOK_NS};

    nanosleep(&nap, NULL);
}

static void reader_lock(const struct hil_reader *r, uint64_t turn, bool hold)
{
    struct flock lock = {
        .l_type = hold ? F_RDLCK : F_UNLCK, .l_start = (off_t)(turn % 2), .l_len = 1};

    fcntl(r->file, F_OFD_SETLK, &lock);
}

/* Another reader may end the turn meanwhile. */
static void reader_join(struct hil_reader *r)
{
    do {
        r->turn = atomic_load(&r->state->pace.turn);
        reader_lock(r, r->turn + 1, false);
        reader_lock(r, r->turn, true);
    } while (atomic_load(&r->state->pace.turn) != r->turn);
}

bool hil_reader_is_waited_for(const struct hil_reader *r)
{
    return r->file >= 0 && atomic_load(&r->state->pace.waits) &&
           atomic_load(&r->state->pace.turn) == r->turn;
}

void hil_reader_open(struct hil_reader *r, const struct hil_run_entry *run)
{
    int unused;

    *r = (struct hil_reader){.state = run->attached.state, .file = -1};
    if (!run->attached.card.virtual_time)
        return;
    r->file = hil_run_open_file(run);
    if (r->file < 0)
        return;
    reader_join(r);
    for (unsigned i = 0; i < READER_LOOKS_MOST && !hil_reader_is_waited_for(r); i++) {
        if (hil_run_ended(run, &unused))
            return;
        reader_nap();
    }
}

void hil_reader_let_go(struct hil_reader *r)
{
    reader_lock(r, r->turn + 1, true);
    reader_lock(r, r->turn, false);
    r->turn++;
}

void hil_reader_close(struct hil_reader *r)
{
    if (r->file >= 0)
        close(r->file);
    r->file = -1;
}
