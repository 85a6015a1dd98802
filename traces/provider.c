/*
 * The LTTng provider `hiloco`. It is a shared object, so that a program gets LTTng's threads only
 * when it is traced. harness/tracing/provider.c loads it.
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "traces/provider.h"

#include <unistd.h>

#include "harness/tracing/provider.h"

uint32_t hiloco_run;

static void on_node(const struct hil_traced_node *node)
{
    lttng_ust_tracepoint(hiloco, node, node);
}

static void on_link(const struct hil_traced_link *link)
{
    lttng_ust_tracepoint(hiloco, link, link);
}

static void on_step(const struct hil_traced_step *step)
{
    lttng_ust_tracepoint(hiloco, loop_step, step);
}

static void on_left_out(const struct hil_traced_left_out *left_out)
{
    lttng_ust_tracepoint(hiloco, loop_left_out, left_out);
}

static void on_miss(const struct hil_traced_miss *miss)
{
    lttng_ust_tracepoint(hiloco, loop_miss, miss);
}

static void on_links(const struct hil_traced_step *step)
{
    lttng_ust_tracepoint(hiloco, loop_links, step);
}

static void on_state(uint32_t node, enum hil_stage stage)
{
    lttng_ust_tracepoint(hiloco, state, node, stage, gettid());
}

static void on_event(const struct hil_event_row *event)
{
    lttng_ust_tracepoint(hiloco, event, event);
}

static void on_push(uint32_t node, const char *channel, size_t size)
{
    lttng_ust_tracepoint(hiloco, push, node, channel, size);
}

static void on_pull(uint32_t node, const char *channel, size_t size)
{
    lttng_ust_tracepoint(hiloco, pull, node, channel, size);
}

static void on_fence(uint32_t node, enum loco_fence fence)
{
    lttng_ust_tracepoint(hiloco, fence, node, fence);
}

static void on_lock_acquire(uint32_t node, const char *channel, uint32_t host, size_t index)
{
    lttng_ust_tracepoint(hiloco, lock_acquire, node, channel, host, index);
}

static void on_lock_release(uint32_t node, const char *channel, uint32_t host, size_t index)
{
    lttng_ust_tracepoint(hiloco, lock_release, node, channel, host, index);
}

static void on_barrier_enter(uint32_t node, const char *channel, uint32_t round)
{
    lttng_ust_tracepoint(hiloco, barrier_enter, node, channel, round);
}

static void on_barrier_leave(uint32_t node, const char *channel, uint32_t round)
{
    lttng_ust_tracepoint(hiloco, barrier_leave, node, channel, round);
}

static void on_peer_join(uint32_t node, uint32_t peer)
{
    lttng_ust_tracepoint(hiloco, peer_join, node, peer);
}

static void on_peer_lost(uint32_t node, uint32_t peer, bool left)
{
    lttng_ust_tracepoint(hiloco, peer_lost, node, peer, left);
}

/* LTTng changes this word when somebody starts or stops tracing the event. */
#define WANTED(event) &lttng_ust_tracepoint_hiloco___##event.state

__attribute__((visibility("default"))) const struct hil_trace_provider hiloco_provider = {
    .run = &hiloco_run,
    .loops =
        {
            .node = on_node,
            .node_wanted = WANTED(node),
            .link = on_link,
            .link_wanted = WANTED(link),
            .step = on_step,
            .step_wanted = WANTED(loop_step),
            .miss = on_miss,
            .miss_wanted = WANTED(loop_miss),
            .left_out = on_left_out,
            .left_out_wanted = WANTED(loop_left_out),
            .links = on_links,
            .links_wanted = WANTED(loop_links),
            .event = on_event,
            .event_wanted = WANTED(event),
            .state = on_state,
            .state_wanted = WANTED(state),
        },
    .channels =
        {
            .push = on_push,
            .push_wanted = WANTED(push),
            .pull = on_pull,
            .pull_wanted = WANTED(pull),
            .fence = on_fence,
            .fence_wanted = WANTED(fence),
            .lock_acquire = on_lock_acquire,
            .lock_acquire_wanted = WANTED(lock_acquire),
            .lock_release = on_lock_release,
            .lock_release_wanted = WANTED(lock_release),
            .barrier_enter = on_barrier_enter,
            .barrier_enter_wanted = WANTED(barrier_enter),
            .barrier_leave = on_barrier_leave,
            .barrier_leave_wanted = WANTED(barrier_leave),
            .peer_join = on_peer_join,
            .peer_join_wanted = WANTED(peer_join),
            .peer_lost = on_peer_lost,
            .peer_lost_wanted = WANTED(peer_lost),
        },
};
