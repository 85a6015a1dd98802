/*
 * Joining a run of hiloco: a process of your own is one of its nodes, as hardware behind a driver
 * of yours, or a program that is to stay as it is. The others run by `hiloco run`, and meet this
 * process in network memory like any other node.
 *
 * In the scenario the node has a component of the model `outside`, with the names and units of what
 * it takes and what it gives:
 *
 *      components:
 *        bench:
 *          model: outside
 *          node: bench
 *          settings:
 *            takes: {torque_nm: N m}
 *            gives: {speed_rad_per_s: rad/s}
 *
 * This process joins as the node, steps, and leaves:
 *
 *      struct hiloco_join join = HILOCO_JOIN;
 *      join.scenario = "servo.yaml";
 *      join.node = "bench";
 *
 *      int rc = hiloco_node_join(&node, &join);
 *      while (!rc && (rc = hiloco_node_step(node, in, out)) > 0)
 *          out[0] = work(in[0]);
 *      hiloco_node_leave(node);
 *
 * A step is that of hiloco/model.h for a sampled model: it is due at a fixed time, in[] is the
 * newest there is then, and what out[] holds when the next call comes is sent at once. The time
 * between is the step's own, so a step that takes longer than its period is counted as missed like
 * any other, and the scenario's `overrun` says which step is next. A run in virtual time has no
 * other processes, and cannot be joined.
 *
 * Threads. A node belongs to the thread that joined: no other thread may step it or leave with it.
 * Until it leaves, that thread is pinned and scheduled as the scenario says, and the process's
 * memory is locked, as of any executor. With `wait: spin` the thread reads the clock all the time
 * while it waits. Several threads may have a node each.
 *
 * Errors are negative errnos, with a line for a person through the log. Nothing here prints, exits,
 * or handles signals.
 *
 * This header stands alone. It is C11 and later, and C++17 and later.
 */
#ifndef HILOCO_NODE_H
#define HILOCO_NODE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define HILOCO_API __attribute__((visibility("default")))
#else
#define HILOCO_API
#endif

struct hiloco_node;

enum hiloco_level {
    HILOCO_ERROR,   /* why a call returned what it did */
    HILOCO_WARNING, /* the run continues: what the kernel refused, which nodes are waited for */
};

/* Takes one line, without its end. The thread that joined calls it, and threads of the fabric. */
typedef void hiloco_log_fn(void *arg, enum hiloco_level level, const char *line);

/* What is 0 or NULL has the value in parentheses. */
struct hiloco_join {
    uint32_t size;                 /* sizeof(struct hiloco_join) */
    uint32_t wait_s;               /* for the other nodes (30) */
    const char *scenario;          /* its file; the other nodes need the same, or refuse to run */
    const char *node;              /* "bench", or of an array "bench[2]" */
    const char *const *sets;       /* "KEY=VALUE" as of --set, NULL at the end (none) */
    const char *const *parameters; /* files as of --parameters, NULL at the end (none) */
    const char *run_directory;     /* where nodes meet on shm (derived from the scenario's name, the
                                      user and the job) */
    const char *out;               /* a folder for this node's record and summary (none are kept) */
    hiloco_log_fn *log;            /* (nobody is told) */
    void *log_arg;
};

/* To begin with: struct hiloco_join join = HILOCO_JOIN; */
#define HILOCO_JOIN                                                                                \
    {                                                                                              \
        sizeof(struct hiloco_join), 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL              \
    }

/*
 * Joins the run: loads the scenario, meets the other nodes, and agrees with them on a start time.
 * It waits for them, and returns when the first step is due, so prepare everything before. The
 * secret of the network is that of HILOCO_SECRET, or of the file that HILOCO_SECRET_FILE names
 * (docs/meeting.md); both are removed from the environment.
 *
 * Returns 0; or -EINVAL: *join or the scenario has a mistake; -ETIMEDOUT: the others did not come;
 * -EPROTO: they run another scenario; -ECONNRESET: one that came was lost; or another negative
 * errno. *node is set on success only.
 */
HILOCO_API int hiloco_node_join(struct hiloco_node **node, const struct hiloco_join *join);

/*
 * Ends the present step: sends the values in out[], and waits until the next step is due. The first
 * call after joining ends no step, and ignores out[].
 *
 * Returns 1: a step is due, and in[] has its inputs. 0: the run has ended. -ECONNRESET: a peer was
 * lost, and the run cannot continue without it; -ESTALE, -ETIME: an input was too old, or a
 * deadline was missed, and the scenario then ends the run; -ENOTRECOVERABLE: out[] had a value that
 * is not a number; or another negative errno. Every further call returns the same errno. -EPERM:
 * the calling thread is not the one that joined.
 *
 * The component rests while a node that it receives from is lost (on_lost: restart), and while safe
 * values are in force. No step is due until that is over.
 */
HILOCO_API int hiloco_node_step(struct hiloco_node *node, double *in, const double *out);

/*
 * Leaves the run, and frees the node; NULL is allowed. If the run has not ended, the other nodes
 * lose this one, which ends the run for them unless the scenario has on_lost: restart. The thread
 * gets its former cores, scheduler and floating-point mode back. Returns 0; or the negative errno
 * with which the run ended or its results could not be written. The node has left in any case.
 */
HILOCO_API int hiloco_node_leave(struct hiloco_node *node);

/* --- what there is ------------------------------------------------------------------------------
 */

/* A place in in[] or in out[]. Of a wide signal each has a number: "speed_rad_per_s[3]". */
struct hiloco_signal {
    const char *name;
    const char *unit; /* "" for a pure number */
};

/* How many places in[] and out[] have, and in *signals (which may be NULL) what they are, in this
 * order; they stay until the node leaves. */
HILOCO_API uint32_t hiloco_node_inputs(const struct hiloco_node *node,
                                       const struct hiloco_signal **signals);
HILOCO_API uint32_t hiloco_node_outputs(const struct hiloco_node *node,
                                        const struct hiloco_signal **signals);

HILOCO_API uint64_t hiloco_node_period_ns(const struct hiloco_node *node);

/* When the present step was due, after the start of the run. */
HILOCO_API uint64_t hiloco_node_time_ns(const struct hiloco_node *node);

/* Steps that had not ended when the next was due, and those left out for it. */
HILOCO_API uint64_t hiloco_node_missed(const struct hiloco_node *node);

#ifdef __cplusplus
}
#endif

#endif
