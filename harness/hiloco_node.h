/*
 * Joins a run of hiloco: your own process becomes one of the nodes of the run, for example hardware
 * behind your own driver, or an existing program that should not be changed. `hiloco run` runs the
 * other nodes, which meet your process in network memory like any other node.
 *
 * In the scenario the node has a component of the model `outside`, with the names and units of its
 * inputs and outputs:
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
 * Steps are those of a sampled model in hiloco/model.h. A step is due at a fixed time, in[] then
 * holds the newest inputs, and the next call immediately sends the values in out[]. The time
 * between two calls belongs to the step: a step that takes longer than its period counts as missed,
 * and `overrun` in the scenario decides which step is next. A run in virtual time has no other
 * processes, and cannot be joined.
 *
 * Threads. A node belongs to the thread that joined: no other thread may step it or make it leave.
 * Until the node leaves, its thread is pinned and scheduled as the scenario says, and the process's
 * memory is locked, as for every executor. With `wait: spin` the thread constantly reads the clock
 * while it waits. Several threads may have a node each.
 *
 * Errors are negative errnos, with a readable line to the log. No function here prints, exits, or
 * handles signals.
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
    HILOCO_ERROR,   /* the reason of an error that a call returned */
    HILOCO_WARNING, /* the run continues, but the kernel refused a setting or nodes are still
                     * missing */
};

/* Receives one line, without a newline. The thread that joined and threads of the fabric call it.
 */
typedef void hiloco_log_fn(void *arg, enum hiloco_level level, const char *line);

/* A member that is 0 or NULL has the value in parentheses. */
struct hiloco_join {
    uint32_t size;                 /* sizeof(struct hiloco_join) */
    uint32_t wait_s;               /* how long to wait for the other nodes (30) */
    const char *scenario;          /* the scenario's file; all nodes need the same scenario, or
                                    * refuse to run */
    const char *node;              /* "bench", or "bench[2]" in an array */
    const char *const *sets;       /* "KEY=VALUE" as for --set, NULL at the end (none) */
    const char *const *parameters; /* files as for --parameters, NULL at the end (none) */
    const char *run_directory;     /* where nodes meet on shm (derived from the scenario's name, the
                                      user and the job) */
    const char *out;               /* a folder for this node's record and summary (none are kept) */
    hiloco_log_fn *log;            /* (messages are discarded) */
    void *log_arg;
};

/* The initial value: struct hiloco_join join = HILOCO_JOIN; */
#define HILOCO_JOIN                                                                                \
    {                                                                                              \
        sizeof(struct hiloco_join), 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL              \
    }

/*
 * Joins the run: loads the scenario, meets the other nodes, and agrees with them on a start time.
 * The call waits for them, and returns when the first step is due, so prepare everything
 * beforehand. The secret of the network is taken from HILOCO_SECRET, or from the file that
 * HILOCO_SECRET_FILE names (docs/meeting.md); both variables are removed from the environment.
 *
 * Returns 0; -EINVAL: *join or the scenario has a mistake; -ETIMEDOUT: the other nodes did not
 * come; -EPROTO: they run another scenario; -ECONNRESET: a node came but was lost; or another
 * negative errno. *node is set on success only.
 */
HILOCO_API int hiloco_node_join(struct hiloco_node **node, const struct hiloco_join *join);

/*
 * Ends the current step: sends the values in out[], and waits until the next step is due. The first
 * call after joining ends no step, and ignores out[].
 *
 * Returns 1: a step is due, and in[] has its inputs. 0: the run has ended, perhaps because a signal
 * stopped it at another program. -ECONNRESET: a peer was lost, and the run cannot continue without
 * it; -ESTALE, -ETIME: an input was too old, or a deadline was missed, and the scenario then ends
 * the run; -ENOTRECOVERABLE: a value in out[] is not a number; or another negative errno. Every
 * further call returns the same errno. -EPERM: the calling thread is not the one that joined.
 *
 * The component rests while a node that it receives from is lost (on_lost: restart), and while safe
 * values are in force. No step is due until that is over.
 */
HILOCO_API int hiloco_node_step(struct hiloco_node *node, double *in, const double *out);

/*
 * Leaves the run, and frees the node; NULL is allowed. If the run has not ended, the other nodes
 * lose this node, which ends the run for them unless the scenario has on_lost: restart. The thread
 * gets its former cores, scheduler and floating-point mode back. Returns 0; or the negative errno
 * that ended the run, or that prevented its results from being written. The node has left in any
 * case.
 */
HILOCO_API int hiloco_node_leave(struct hiloco_node *node);

/* --- signals and times ------------------------------------------------------------------------ */

/* A place in in[] or in out[]. Each place of a wide signal has a number: "speed_rad_per_s[3]". */
struct hiloco_signal {
    const char *name;
    const char *unit; /* "" for a pure number */
};

/* The number of places in in[] and in out[]. *signals, which may be NULL, is set to their
 * descriptions in the same order; these stay valid until the node leaves. */
HILOCO_API uint32_t hiloco_node_inputs(const struct hiloco_node *node,
                                       const struct hiloco_signal **signals);
HILOCO_API uint32_t hiloco_node_outputs(const struct hiloco_node *node,
                                        const struct hiloco_signal **signals);

HILOCO_API uint64_t hiloco_node_period_ns(const struct hiloco_node *node);

/* When the current step was due, in ns after the start of the run. */
HILOCO_API uint64_t hiloco_node_time_ns(const struct hiloco_node *node);

/* The number of steps that had not ended when the next step was due, plus the steps left out
 * because of them. */
HILOCO_API uint64_t hiloco_node_missed(const struct hiloco_node *node);

#ifdef __cplusplus
}
#endif

#endif
