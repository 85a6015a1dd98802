#include "trace_chunk.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "shuffle.h"

/* One thread's share: each `threads`-th number, from `first` on. */
struct share {
    struct trace_packed *packed;
    const double *values;
    size_t count;
    unsigned first, threads, numbers;
    int rc;
};

/* `planes` is memory for the shuffled values. */
static int pack_number(struct trace_packed *packed, const double *values, size_t count,
                       unsigned char *planes)
{
    const uLong bytes = count * sizeof *values;
    uLongf used = compressBound(bytes);

    packed->at = malloc(used);
    if (!packed->at)
        return -ENOMEM;
    hil_shuffle(planes, values, count);
    if (compress2(packed->at, &used, planes, bytes, TRACE_DEFLATE_LEVEL) != Z_OK)
        return -ENOMEM;
    packed->bytes = used;
    return 0;
}

static void *pack_share(void *arg)
{
    struct share *s = arg;
    unsigned char *planes = malloc(s->count * sizeof *s->values);

    s->rc = planes ? 0 : -ENOMEM;
    for (unsigned i = s->first; !s->rc && i < s->numbers; i += s->threads)
        s->rc = pack_number(&s->packed[i], s->values + i * s->count, s->count, planes);
    free(planes);
    return NULL;
}

int trace_pack(struct trace_packed packed[], const double *values, size_t count, unsigned numbers,
               unsigned threads)
{
    struct share shares[TRACE_NUMBERS];
    pthread_t thread[TRACE_NUMBERS];
    bool started[TRACE_NUMBERS] = {false};
    int rc = 0;

    if (threads > numbers)
        threads = numbers;
    memset(packed, 0, numbers * sizeof *packed);
    for (unsigned i = 0; i < threads; i++)
        shares[i] = (struct share){packed, values, count, i, threads, numbers, 0};
    for (unsigned i = 1; i < threads; i++)
        started[i] = pthread_create(&thread[i], NULL, pack_share, &shares[i]) == 0;
    for (unsigned i = 0; i < threads; i++) {
        if (started[i])
            pthread_join(thread[i], NULL);
        else
            pack_share(&shares[i]);
        rc = rc ? rc : shares[i].rc;
    }
    return rc;
}

void trace_packed_free(struct trace_packed packed[], unsigned numbers)
{
    for (unsigned i = 0; i < numbers; i++)
        free(packed[i].at);
}
