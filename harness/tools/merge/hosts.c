#include "hosts.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../base/exit_status.h"
#include "../../base/reap.h"
#include "../../h5/run_files.h"
#include "../../launch/launcher.h"
#include "../../launch/results.h"
#include "../../launch/secret.h"
#include "../../launch/signals.h"
#include "../../record/recover.h"
#include "../../run/node_name.h"
#include "merge.h"

enum { HOSTS_MAX = 64, HOSTS_SECRET = 32, HOSTS_LOOK_MS = 100 };

#define HOSTS_RESULTS "hiloco: results"

/*
 * The shell script that runs on a host. Its input is the run's secret, the size of the scenario and
 * the scenario; then it stays open as long as the run is wanted. At the end of its input the nodes
 * are told to stop. Its output is the line above, and an archive of the results.
 */
static const char hosts_script[] =
    "d=$(mktemp -d) || exit 1; trap 'rm -rf \"$d\"' EXIT; "
    "read -r HILOCO_SECRET; export HILOCO_SECRET; read -r n; head -c \"$n\" >\"$d/scenario.yaml\"; "
    "exec 3<&0; hiloco node '%s' \"$d/scenario.yaml\" --out \"$d/out\" --wait %u --quiet >&2 & "
    "p=$!; "
    "(cat <&3 >/dev/null; kill -TERM $p) >/dev/null 2>&1 & c=$!; "
    "wait $p; rc=$?; kill $c 2>/dev/null; "
    "[ ! -d \"$d/out\" ] || { echo '" HOSTS_RESULTS "'; tar -C \"$d/out\" -cf - .; }; exit $rc";

/* Unpacks the archive into a folder. What a user's shell may print at its start comes before the
 * line. */
static const char hosts_unpack[] =
    "while IFS= read -r line; do case $line in *'" HOSTS_RESULTS "') "
    "exec tar -C \"$0\" --no-same-owner -xf -;; esac; done; exit 1";

struct host {
    char name[256];
    char nodes[2000]; /* as for hiloco node */
    char *out;
    pid_t ssh, tar;
    int input; /* the input of ssh */
    int status;
};

struct hosts {
    const struct hil_hosts_run *run;
    struct host at[HOSTS_MAX];
    unsigned count;
    char out[4096];
    int folder; /* descriptor that holds `out` */
};

/* --- distributing the nodes ------------------------------------------------------------------- */

/* Refuses names that ssh would take for options, or that a shell or a file name would change. */
static bool hosts_name_fits(const char *name)
{
    return name[0] && name[0] != '-' && name[0] != '.' &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_@:") ==
               strlen(name);
}

static int hosts_parse(struct hosts *h)
{
    const char *list = h->run->hosts;

    for (const char *name = list; name; name = strchr(name, ',')) {
        name += *name == ',';
        struct host *host = &h->at[h->count];
        snprintf(host->name, sizeof host->name, "%.*s", (int)strcspn(name, ","), name);
        if (h->count == HOSTS_MAX || !hosts_name_fits(host->name)) {
            fprintf(stderr, "--hosts %s: up to %d hosts with commas between them are allowed\n",
                    list, HOSTS_MAX);
            return -EINVAL;
        }
        for (unsigned i = 0; i < h->count; i++)
            if (strcmp(h->at[i].name, host->name) == 0) {
                fprintf(stderr, "--hosts %s: each host is allowed once\n", list);
                return -EINVAL;
            }
        h->count++;
    }
    return 0;
}

/* Adds the executor's nodes to the list. */
static int hosts_add_nodes(struct host *host, const struct hil_scenario *s,
                           const struct hil_executor_config *e)
{
    char name[HIL_NODE_NAME_BYTES];

    for (unsigned i = 0; i < e->count; i++) {
        const size_t used = strlen(host->nodes);
        hil_node_name(s->system, e->nodes[i], name);
        if (used + strlen(name) + 2 > sizeof host->nodes) {
            fprintf(stderr, "--hosts: %s would have too many nodes\n", host->name);
            return -EINVAL;
        }
        sprintf(host->nodes + used, "%s%s", used ? "," : "", name);
    }
    return 0;
}

/* Gives each host one executor of the scenario. */
static int hosts_share(struct hosts *h)
{
    const struct hil_scenario *s = h->run->scenario;

    if (!hil_has_addresses(s) || !s->rendezvous.host[0]) {
        fprintf(stderr,
                "--hosts: allowed in real time with the fabrics verbs and tcp, and without a "
                "list of addresses\n");
        return -EINVAL;
    }
    if (h->count != s->executor_count) {
        fprintf(
            stderr,
            "--hosts %s: allowed: one host for each of the scenario's %u executors (placement)\n",
            h->run->hosts, s->executor_count);
        return -EINVAL;
    }
    int rc = 0;
    for (unsigned i = 0; !rc && i < h->count; i++)
        rc = hosts_add_nodes(&h->at[i], s, &s->executors[i]);
    return rc;
}

/* --- starting --------------------------------------------------------------------------------- */

enum { HOSTS_SCRIPT_BYTES = 4000, HOSTS_QUOTES = 16 };

/* Writes a command that runs the script. The user's shell on the host may be any: for all of them
 * quotes mean the same. `command` has room for HOSTS_QUOTES quotes in the script. */
static void hosts_quote(const char *script, char *command)
{
    char *to = stpcpy(command, "exec sh -c '");

    for (const char *c = script; *c; c++)
        if (*c == '\'')
            to = stpcpy(to, "'\\''");
        else
            *to++ = *c;
    strcpy(to, "'");
}

_Noreturn static void hosts_exec_ssh(const struct host *host, unsigned wait_s)
{
    const char *ssh = getenv("HILOCO_SSH");
    char script[HOSTS_SCRIPT_BYTES], there[HOSTS_SCRIPT_BYTES + 16 + 3 * HOSTS_QUOTES], here[600];

    snprintf(script, sizeof script, hosts_script, host->nodes, wait_s);
    hosts_quote(script, there);
    snprintf(here, sizeof here, "exec %s -o BatchMode=yes \"$0\" \"$1\"", ssh ? ssh : "ssh");
    hil_signals_default();
    signal(SIGINT, SIG_IGN); /* the launcher stops it by closing its input */
    execl("/bin/sh", "sh", "-c", here, host->name, there, (char *)NULL);
    _exit(127);
}

_Noreturn static void hosts_exec_tar(const struct host *host)
{
    hil_signals_default();
    signal(SIGINT, SIG_IGN);
    execl("/bin/sh", "sh", "-c", hosts_unpack, host->out, (char *)NULL);
    _exit(127);
}

static void hosts_become(int input, int output)
{
    dup2(input, STDIN_FILENO);
    if (output >= 0)
        dup2(output, STDOUT_FILENO);
}

static int hosts_start(const struct hosts *h, struct host *host)
{
    int in[2] = {-1, -1}, out[2] = {-1, -1};

    if (asprintf(&host->out, "%s/" HIL_RESULTS_PARTS "/%s", h->out, host->name) < 0)
        return -ENOMEM;
    if (mkdir(host->out, 0777) || pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
        return -errno;
    fflush(NULL);
    host->ssh = fork();
    if (host->ssh == 0) {
        hosts_become(in[0], out[1]);
        hosts_exec_ssh(host, h->run->wait_s);
    }
    host->tar = host->ssh < 0 ? -1 : fork();
    if (host->tar == 0) {
        hosts_become(out[0], -1);
        hosts_exec_tar(host);
    }
    const int rc = host->tar < 0 ? -errno : 0;
    close(in[0]);
    close(out[0]);
    close(out[1]);
    host->input = in[1];
    return rc;
}

static bool hosts_tell(const struct host *host, const char *secret, const char *scenario)
{
    return dprintf(host->input, "%s\n%zu\n%s", secret, strlen(scenario), scenario) > 0;
}

/* --- ending ----------------------------------------------------------------------------------- */

static void hosts_stop(struct hosts *h)
{
    for (unsigned i = 0; i < h->count; i++) {
        if (h->at[i].input >= 0)
            close(h->at[i].input);
        h->at[i].input = -1;
    }
}

static int hosts_status_of(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : HIL_EXIT_FAILED;
}

/* Returns whether it has ended. */
static bool hosts_look(struct hosts *h, struct host *host)
{
    int status;

    if (host->ssh <= 0)
        return true;
    if (!hil_reap(host->ssh, WNOHANG, &status))
        return false;
    host->ssh = 0;
    host->status = hosts_status_of(status);
    if (host->status == 255) { /* ssh's own failure, which ssh has reported */
        host->status = HIL_EXIT_FAILED;
        hosts_stop(h);
    }
    if (host->status && host->status != HIL_EXIT_INVALID && host->status != HIL_EXIT_LIMIT)
        fprintf(stderr, "%s: its nodes ended with status %d\n", host->name, host->status);
    if (host->tar > 0)
        hil_reap(host->tar, 0, &status);
    if ((host->tar <= 0 || hosts_status_of(status)) && !host->status) {
        fprintf(stderr, "%s: its results could not be fetched\n", host->name);
        host->status = HIL_EXIT_FAILED;
    }
    return true;
}

static void hosts_wait(struct hosts *h)
{
    bool over = false;

    while (!over) {
        over = true;
        for (unsigned i = 0; i < h->count; i++)
            over &= hosts_look(h, &h->at[i]);
        if (hil_signal_status())
            hosts_stop(h);
        poll(NULL, 0, HOSTS_LOOK_MS);
    }
}

/* The worst status: a failure, then a failed limit, then a run that is not valid. */
static int hosts_status(const struct hosts *h)
{
    static const int worse[] = {HIL_EXIT_USAGE, HIL_EXIT_FAILED, HIL_EXIT_LIMIT, HIL_EXIT_INVALID};

    if (hil_signal_status())
        return hil_signal_status();
    for (size_t k = 0; k < sizeof worse / sizeof worse[0]; k++)
        for (unsigned i = 0; i < h->count; i++)
            if (h->at[i].status == worse[k])
                return worse[k];
    for (unsigned i = 0; i < h->count; i++)
        if (h->at[i].status)
            return HIL_EXIT_FAILED;
    return HIL_EXIT_OK;
}

/* --- their results ---------------------------------------------------------------------------- */

/* A host that sent no results has no folder. The record of processes that were killed is made
 * whole. */
static bool hosts_brought(const struct host *host)
{
    const struct hil_trace_watch nobody = {0};
    char record[HIL_PATH_BYTES];

    if (!host->out || rmdir(host->out) == 0 || hil_run_path(record, host->out, "trace.h5"))
        return false;
    if (hil_run_has_journal(host->out) && hil_recover(host->out, &nobody, stderr))
        return false;
    return access(record, F_OK) == 0;
}

static int hosts_merge(struct hosts *h)
{
    struct hil_merge_from parts[HOSTS_MAX];
    struct hil_merge merge = {.scenario = h->run->scenario,
                              .parts = parts,
                              .partial = true,
                              .quiet = h->run->keep_quiet,
                              .out = h->out,
                              .is_open = true,
                              .where = h->run->where,
                              .where_size = h->run->where_size};

    for (unsigned i = 0; i < h->count; i++)
        if (hosts_brought(&h->at[i]))
            parts[merge.count++] = (struct hil_merge_from){h->at[i].out, h->at[i].name};
    return merge.count ? hil_merge_run(&merge) : HIL_EXIT_FAILED;
}

/* --- all of it -------------------------------------------------------------------------------- */

static int hosts_make_parts(const struct hosts *h)
{
    char path[HIL_PATH_BYTES];
    const int rc = hil_run_path(path, h->out, HIL_RESULTS_PARTS);

    return rc ? rc : mkdir(path, 0777) ? -errno : 0;
}

/* If a host failed, its failure is reported, since it says more than the result of the merge;
 * otherwise the result of the run. */
static int hosts_end(struct hosts *h)
{
    const int merged = hosts_merge(h), status = hosts_status(h);

    return status == HIL_EXIT_OK || status == HIL_EXIT_LIMIT || status == HIL_EXIT_INVALID ? merged
                                                                                           : status;
}

static int hosts_run_all(struct hosts *h)
{
    unsigned char bytes[HOSTS_SECRET];
    char secret[2 * HOSTS_SECRET + 1];
    int rc = hil_secret_new(bytes, sizeof bytes);

    if (!rc)
        rc = hosts_make_parts(h);

    for (unsigned i = 0; i < HOSTS_SECRET; i++)
        sprintf(secret + 2 * i, "%02x", bytes[i]);
    for (unsigned i = 0; !rc && i < h->count; i++) {
        rc = hosts_start(h, &h->at[i]);
        if (!rc && !hosts_tell(&h->at[i], secret, h->run->scenario->resolved))
            rc = -EPIPE;
    }
    if (rc) {
        fprintf(stderr, "--hosts: %s\n", strerror(-rc));
        hosts_stop(h);
    }
    hosts_wait(h);
    hosts_stop(h);
    return rc ? HIL_EXIT_FAILED : hosts_end(h);
}

int hil_hosts_run(const struct hil_hosts_run *run)
{
    struct hosts *h = calloc(1, sizeof *h);
    int status = HIL_EXIT_USAGE;

    if (!h)
        return HIL_EXIT_FAILED;
    h->run = run;
    for (unsigned i = 0; i < HOSTS_MAX; i++)
        h->at[i].input = -1;
    if (hosts_parse(h) || hosts_share(h))
        goto done;
    hil_catch_signals();
    signal(SIGPIPE, SIG_IGN);
    h->folder = hil_results_open(h->out, sizeof h->out, run->out, run->scenario->name, HIL_OF_A_RUN,
                                 stderr);
    status = h->folder < 0 ? hil_results_status(h->folder) : hosts_run_all(h);
    if (h->folder >= 0)
        close(h->folder);
done:
    for (unsigned i = 0; i < h->count; i++)
        free(h->at[i].out);
    free(h);
    return status;
}
