/* For tests below the core: what a node hears of its fabric. */
#ifndef TESTS_EAR_H
#define TESTS_EAR_H

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "channels/loco/fabric/fabric.h"

/* What a node heard. */
struct ear {
    _Atomic unsigned ups, losts, lefts, messages, warnings, foreigners;
    _Atomic uint32_t foreign_count;
    _Atomic bool warned;
    char warning[300];
};

static inline void ear_up(void *arg, uint32_t peer)
{
    (void)peer;
    ((struct ear *)arg)->ups++;
}

static inline void ear_message(void *arg, uint32_t peer, const void *message, size_t size)
{
    (void)peer;
    if (size == 5 && memcmp(message, "hello", 5) == 0)
        ((struct ear *)arg)->messages++;
}

static inline void ear_lost(void *arg, uint32_t peer, bool left)
{
    struct ear *e = arg;

    (void)peer;
    e->lefts += left;
    e->losts++;
}

static inline void ear_foreigner(void *arg, uint32_t count)
{
    struct ear *e = arg;

    e->foreign_count = count;
    e->foreigners++;
}

static inline void ear_warning(void *arg, const char *text)
{
    struct ear *e = arg;

    if (strstr(text, "pages"))
        return; /* which there are is the machine's affair */
    snprintf(e->warning, sizeof e->warning, "%s", text);
    e->warnings++;
    e->warned = true;
}

static inline struct loco_events ear_events(struct ear *ear)
{
    return (struct loco_events){.peer_up = ear_up,
                                .message = ear_message,
                                .peer_lost = ear_lost,
                                .foreigner = ear_foreigner,
                                .warning = ear_warning,
                                .arg = ear};
}

#endif
