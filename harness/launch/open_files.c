#include "open_files.h"

#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>

/* Other files that a process opens: the results, the trace, the tracer's files, the fabric's
 * own. */
enum { OPEN_FILES_OTHER_FILES = 64 };

/* Number of nodes that share a channel with this node: those with a link to or from it, and node 0,
 * which shares a channel with every node. */
static unsigned long open_files_peers(const struct hil_system *s, unsigned node)
{
    const struct hil_node_config *n = &s->nodes[node];
    unsigned long peers = 1;

    if (node == 0)
        return s->node_count - 1;
    for (unsigned i = 0; i < n->link_count; i++)
        peers += s->links[n->first_link + i].to > 0;
    for (unsigned i = 0; i < n->incoming_count; i++) {
        const unsigned from = s->links[n->incoming[i]].from;
        peers += from > 0 && hil_link_find(s, node, from) < 0;
    }
    return peers;
}

/* Files per peer process on shm: a connection, a memory file on huge pages, and another memory
 * file; twice as many if both sides have connected. */
enum { OPEN_FILES_FILES_OF_A_PROCESS = 6 };

/* A socket per node to listen on, and a control connection per peer. Also, on verbs: a file per
 * connection of each thread with a peer; on tcp: a lane in each direction. */
static unsigned long open_files_of_connections(const struct hil_scenario *s, unsigned index)
{
    const struct hil_executor_config *e = &s->executors[index];
    const unsigned long each = 1 + (s->fabric == HIL_FABRIC_TCP ? 2 : hil_executor_threads(e));
    unsigned long files = OPEN_FILES_OTHER_FILES;

    for (unsigned i = 0; i < e->count; i++)
        files += 2 + each * open_files_peers(s->system, e->nodes[i]);
    return files;
}

unsigned long hil_open_files_count(const struct hil_scenario *s, unsigned index)
{
    if (s->mode == HIL_VIRTUAL)
        return 0;
    if (hil_has_addresses(s))
        return open_files_of_connections(s, index);
    return OPEN_FILES_OTHER_FILES + OPEN_FILES_FILES_OF_A_PROCESS * s->executor_count;
}

static unsigned long open_files_most_files(const struct hil_scenario *s)
{
    unsigned long most = 0;

    for (unsigned i = 0; i < s->executor_count; i++)
        if (hil_open_files_count(s, i) > most)
            most = hil_open_files_count(s, i);
    return most;
}

int hil_open_files_raise(const struct hil_scenario *s, FILE *messages)
{
    const unsigned long needed = open_files_most_files(s);
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur >= needed)
        return 0;
    files.rlim_cur = files.rlim_max;
    if (files.rlim_max >= needed)
        return setrlimit(RLIMIT_NOFILE, &files) ? -errno : 0;
    fprintf(messages,
            "%s: %u nodes need %lu open files in one process, and the hard limit is %lu. "
            "Raise it (as root: ulimit -n %lu; for good: nofile in /etc/security/limits.conf, or "
            "LimitNOFILE= of the service), or run in virtual time (--mode virtual)\n",
            s->name, s->system->node_count, needed, (unsigned long)files.rlim_max, needed);
    return -EMFILE;
}
