/* The program loco-conform: its command line, and its two processes. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conform.h"

enum { TRIALS = 100000, TRIALS_MAX = 10000000, PORT = 18715, PORT_MAX = 65535 - NODES };
enum { MEET_SECONDS = 30, MEET_MACHINE_SECONDS = 300 };

static const char help[] =
    "usage: loco-conform DEVICE [--with ADDRESS] [--trials N] [--port PORT] [--json]\n"
    "\n"
    "Measures what an RDMA card does: in which order puts are placed, of how many bytes a put is\n"
    "seen whole, what makes sure that it is placed, how atomics behave, and what each costs.\n"
    "Prints a table with the number of trials behind each row.\n"
    "\n"
    "DEVICE is a name that ibv_devices lists, or an address of its network interface. `shm` is\n"
    "this machine's shared memory, without a card. Two processes on this machine use the card's\n"
    "own loop-back. To use two machines, start it on both, each with the address of the other.\n"
    "Then the machine with the lower address posts, and prints the report.\n"
    "\n"
    "  --with ADDRESS  the other machine's address\n"
    "  --trials N      rounds of each row (default 100000); that of the machine that posts counts\n"
    "  --port PORT     the first of three ports in a row (default 18715)\n"
    "  --json          print the report as JSON\n"
    "  --version       print the version\n"
    "\n"
    "exit status: 0, 1 if an outcome was seen that libloco excludes, 2 if it did not get so far.\n";

struct options {
    const char *device, *with;
    uint64_t trials;
    uint16_t port;
    bool json;
};

/* How this process takes part. */
struct part {
    const struct options *options;
    bool posts;
    const char *poster, *target; /* addresses */
    const char *directory;       /* where the processes meet on shm; NULL: they use a card */
    int ready; /* the poster's end of a pipe, whose reader the target is; -1: none */
};

_Noreturn void conform_die(const char *format, ...)
{
    va_list arguments;

    fflush(stdout);
    fputs("loco-conform: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputs("\n", stderr);
    _exit(CONFORM_FAILED);
}

/* --- the two parts ---------------------------------------------------------------------------- */

static struct loco_fabric *open_fabric(const struct part *p)
{
    const char *const addresses[NODES] = {
        [ROAD_A] = p->poster, [ROAD_B] = p->poster, [TARGET] = p->target};
    const struct loco_verbs_config config = {
        .addresses = addresses, .address_count = NODES, .port = p->options->port};
    struct loco_fabric *fabric;
    int rc =
        p->directory ? loco_shm_open(&fabric, p->directory) : loco_verbs_open(&fabric, &config);

    if (rc)
        conform_die("cannot open the fabric: %s", strerror(-rc));
    return fabric;
}

static void close_fabric(const struct part *p, struct loco_fabric *fabric)
{
    if (p->directory)
        loco_shm_close(fabric);
    else
        loco_verbs_close(fabric);
}

static unsigned patience(const struct part *p)
{
    return p->options->with ? MEET_MACHINE_SECONDS : MEET_SECONDS;
}

static const char *address_here(const struct part *p)
{
    return p->directory ? NULL : p->posts ? p->poster : p->target;
}

/* The facts that the target has left in its memory. */
static json_t *get_facts(struct stage *s)
{
    char *text = (char *)s->ends[ROAD_A].results;

    stage_wait(s, stage_post_get(s, ROAD_A, AT_FACTS, FACTS_SIZE, text));
    text[FACTS_SIZE - 1] = '\0';
    json_t *facts = json_loads(text, 0, NULL);
    if (!facts)
        conform_die("the other side's facts cannot be read");
    return facts;
}

static void leave_facts(struct stage *s, json_t *facts)
{
    char *text = json_dumps(facts, JSON_COMPACT);

    if (text)
        snprintf((char *)s->ends[TARGET].memory + AT_FACTS, FACTS_SIZE, "%s", text);
    free(text);
    json_decref(facts);
}

/* The target learns from a word what will be played: the number of trials, and bit 0: atomics. */
static void tell_plan(struct stage *s)
{
    stage_put(s, ROAD_A, AT_PLAN, s->trials << 1 | s->atomics);
}

static void await_plan(struct stage *s)
{
    stage_await(s, TARGET, AT_PLAN, 1);
    s->trials = stage_load(s, TARGET, AT_PLAN) >> 1;
    s->atomics = stage_load(s, TARGET, AT_PLAN) & 1;
}

static int post_all(struct stage *s, const struct options *o, json_t *here)
{
    json_t *there = o->with ? get_facts(s) : NULL;
    struct report r;

    tell_plan(s);
    report_begin(&r, o->json, here, there);
    for (const struct litmus *l = litmus_programs; l->name; l++)
        if (litmus_is_run(s, l))
            report_litmus(&r, l, litmus_is_excluded(s, l), s->trials, litmus_post(s, l));
    for (const struct cost *c = cost_operations; c->name; c++)
        if (cost_is_run(s, c))
            report_cost(&r, c, s->trials, cost_post(s, c));
    stage_dismiss_target(s);
    report_end(&r);
    json_decref(there);
    return r.excluded ? CONFORM_EXCLUDED : CONFORM_FINE;
}

static int run_poster(const struct part *p)
{
    struct stage s = {.trials = p->options->trials};
    json_t *facts = card_facts(address_here(p), &s.atomics);
    struct loco_fabric *fabric = open_fabric(p);

    if (p->ready >= 0 && write(p->ready, "", 1) != 1)
        conform_die("the process of the target is gone");
    stage_open(&s, ROAD_A, fabric);
    stage_open(&s, ROAD_B, fabric);
    stage_meet(&s, ROAD_A, patience(p));
    stage_meet(&s, ROAD_B, patience(p));
    const int status = post_all(&s, p->options, facts);
    stage_close(&s, ROAD_B);
    stage_close(&s, ROAD_A);
    close_fabric(p, fabric);
    json_decref(facts);
    return status;
}

static int run_target(const struct part *p)
{
    struct stage s = {0};
    json_t *facts = card_facts(address_here(p), &s.atomics);
    struct loco_fabric *fabric = open_fabric(p);

    stage_open(&s, TARGET, fabric);
    leave_facts(&s, facts);
    stage_meet(&s, TARGET, patience(p));
    await_plan(&s);
    for (const struct litmus *l = litmus_programs; l->name; l++)
        if (litmus_is_run(&s, l))
            litmus_look(&s, l);
    for (const struct cost *c = cost_operations; c->name; c++)
        if (cost_is_run(&s, c))
            cost_look(&s, c);
    stage_close(&s, TARGET);
    close_fabric(p, fabric);
    return CONFORM_FINE;
}

/* --- one machine, or two ---------------------------------------------------------------------- */

/* The target is a child, which dies with this process. It begins when the poster has found the
 * card, so that only one of them says if there is none. Neither uses the card before the fork. */
static void run_child(struct part *p, int ready)
{
    char byte;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(p->ready);
    p->ready = -1;
    p->posts = false;
    _exit(read(ready, &byte, 1) == 1 ? run_target(p) : CONFORM_FAILED);
}

static int run_both(struct part *p)
{
    int ends[2], status = 0;

    if (pipe2(ends, O_CLOEXEC))
        conform_die("cannot make a pipe: %s", strerror(errno));
    p->ready = ends[1];
    const pid_t child = fork();
    if (child < 0)
        conform_die("cannot fork: %s", strerror(errno));
    if (child == 0)
        run_child(p, ends[0]);
    close(ends[0]);
    p->posts = true;
    const int mine = run_poster(p);
    close(ends[1]);
    if (waitpid(child, &status, 0) != child || status)
        conform_die("the process of the target failed");
    return mine;
}

static int run_on_shm(const struct options *o)
{
    const char *temporary = getenv("TMPDIR");
    char folder[92];
    struct part p = {.options = o, .directory = folder};

    snprintf(folder, sizeof folder, "%s/loco-conform.XXXXXX", temporary ? temporary : "/tmp");
    if (!mkdtemp(folder))
        conform_die("cannot make the folder %s: %s", folder, strerror(errno));
    return run_both(&p);
}

/* Orders addresses: those of IPv4 first, then by their bytes. */
static int compare_addresses(const char *a, const char *b)
{
    struct in6_addr bytes_a = {0}, bytes_b = {0};
    const bool a4 = inet_pton(AF_INET, a, &bytes_a) == 1, b4 = inet_pton(AF_INET, b, &bytes_b) == 1;

    if ((!a4 && inet_pton(AF_INET6, a, &bytes_a) != 1) ||
        (!b4 && inet_pton(AF_INET6, b, &bytes_b) != 1))
        conform_die("--with takes the other machine's address, not '%s'", b);
    if (a4 != b4)
        conform_die("%s and %s are addresses of different kinds", a, b);
    return memcmp(&bytes_a, &bytes_b, sizeof bytes_a);
}

static int run_on_card(const struct options *o)
{
    char here[INET6_ADDRSTRLEN];

    card_find_address(o->device, here, sizeof here);
    if (!o->with) {
        struct part p = {.options = o, .poster = here, .target = here};
        return run_both(&p);
    }
    const int order = compare_addresses(here, o->with);
    if (order == 0)
        conform_die("%s is this machine's own address; --with takes the other's", o->with);
    const struct part p = {.options = o,
                           .ready = -1,
                           .posts = order < 0,
                           .poster = order < 0 ? here : o->with,
                           .target = order < 0 ? o->with : here};
    fprintf(stderr, "loco-conform: %s posts, and prints the report\n", p.poster);
    return p.posts ? run_poster(&p) : run_target(&p);
}

/* --- the command line ------------------------------------------------------------------------- */

static uint64_t parse_number(const char *option, const char *text, uint64_t most)
{
    char *end;
    const unsigned long long number = strtoull(text, &end, 10);

    if (*text < '0' || *text > '9' || *end || number < 1 || number > most)
        conform_die("--%s takes a number from 1 to %llu, not '%s'", option,
                    (unsigned long long)most, text);
    return number;
}

static struct options parse(int argc, char **argv)
{
    static const struct option known[] = {
        {"with", required_argument, NULL, 'w'},
        {"trials", required_argument, NULL, 't'},
        {"port", required_argument, NULL, 'p'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'v'},
        {0},
    };
    struct options o = {.trials = TRIALS, .port = PORT};

    for (int option; (option = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        switch (option) {
        case 'w':
            o.with = optarg;
            break;
        case 't':
            o.trials = parse_number("trials", optarg, TRIALS_MAX);
            break;
        case 'p':
            o.port = (uint16_t)parse_number("port", optarg, PORT_MAX);
            break;
        case 'j':
            o.json = true;
            break;
        case 'h':
            fputs(help, stdout);
            exit(CONFORM_FINE);
        case 'v':
            printf("loco-conform %s\n", HIL_VERSION);
            exit(CONFORM_FINE);
        default:
            exit(CONFORM_FAILED);
        }
    }
    if (optind + 1 != argc)
        conform_die("which device? loco-conform --help says more");
    o.device = argv[optind];
    return o;
}

int main(int argc, char **argv)
{
    const struct options o = parse(argc, argv);
    int status;

    if (strcmp(o.device, "shm") != 0)
        status = run_on_card(&o);
    else if (!o.with)
        status = run_on_shm(&o);
    else
        conform_die("shm is the memory of one machine; it takes no --with");
    if (fclose(stdout) == EOF)
        conform_die("the report cannot be written");
    return status;
}
