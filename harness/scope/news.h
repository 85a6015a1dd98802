/*
 * What the page is told of the run besides signals: its nodes, how late steps began, how long round
 * trips took.
 */
#ifndef HIL_NEWS_H
#define HIL_NEWS_H

#include "../top/sample.h"

/* Times in parts of half a power of two; the first four are of 32 ns. */
enum { HIL_NEWS_PARTS = HIL_HISTOGRAM_BUCKETS / (HIL_HISTOGRAM_HALF / 2) };

struct hil_news_times {
    uint64_t counts[HIL_NEWS_PARTS]; /* as they were told last, from the start */
};

struct hil_news {
    struct hil_watch watch;
    struct hil_news_times late, round_trip;
};

/* Returns 0 or -ENOMEM; hil_news_close in either case. */
int hil_news_open(struct hil_news *news, const struct hil_found *run);
void hil_news_close(struct hil_news *news);

/* The message "state"; NULL: no memory. */
json_t *hil_news_state(struct hil_news *news, bool paused, uint64_t now_ns);

#endif
