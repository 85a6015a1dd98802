/*
 * What the page shows about a run besides signals: its nodes, how late steps began, and how long
 * round trips took.
 */
#ifndef HIL_NEWS_H
#define HIL_NEWS_H

#include "../top/sample.h"

/* A histogram of times with two bins per power of two; the first four bins are 32 ns wide. */
enum { HIL_NEWS_PARTS = HIL_HISTOGRAM_BUCKETS / (HIL_HISTOGRAM_HALF / 2) };

struct hil_news_times {
    uint64_t counts[HIL_NEWS_PARTS]; /* cumulative counts at the last message */
};

struct hil_news {
    struct hil_watch watch;
    struct hil_news_times late, round_trip;
};

/* Returns 0 or -ENOMEM. Call hil_news_close in either case. */
int hil_news_open(struct hil_news *news, const struct hil_found *run);
void hil_news_close(struct hil_news *news);

/* The message "state"; NULL: memory ran out. */
json_t *hil_news_state(struct hil_news *news, bool paused, uint64_t now_ns);

#endif
