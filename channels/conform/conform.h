/*
 * loco-conform: what a network card does, as far as trials can show it.
 *
 *      conform.c   the command line, and the processes
 *      stage.c     the nodes of the trials, and the operations that the trials are made of
 *      litmus.c    the litmus programs
 *      cost.c      what operations cost
 *      card.c      what the card, its driver and this machine say of themselves
 *      report.c    the table that is printed, or the JSON
 *
 * Two processes take part: the poster, which posts operations and reports, and the target, whose
 * memory they act on. Both run the same programs in the same order, round by round.
 */
#ifndef CONFORM_H
#define CONFORM_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../loco/loco.h"

/* Exit statuses. */
enum { CONFORM_FINE = 0, CONFORM_EXCLUDED = 1, CONFORM_FAILED = 2 };

/* Ends the program: the measurement cannot go on. */
_Noreturn void conform_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* --- the stage ------------------------------------------------------------------------------- */

/* The poster has two nodes, so two links to the target that nothing orders. The target has one. */
enum { ROAD_A, ROAD_B, TARGET, NODES };

enum { LONGEST_PUT = 16384 }; /* bytes */

/* Places in a node's memory, each in cache lines of its own. */
enum {
    AT_BLOCK = 0,
    AT_FLAG = LONGEST_PUT, /* the poster: the target may look */
    AT_X = AT_FLAG + 128,
    AT_Y = AT_X + 128,
    AT_SUM = AT_Y + 128,
    AT_SEEN = AT_SUM + 128,   /* at the poster: the round that the target has looked at */
    AT_COUNT = AT_SEEN + 128, /* at the target: surprises so far */
    AT_PLAN = AT_COUNT + 128, /* at the target: what the poster will do */
    AT_FACTS = AT_PLAN + 128, /* at the target: what its card says, as text */
    FACTS_SIZE = 2048,
    MEMORY_SIZE = AT_FACTS + FACTS_SIZE,
};

/* A node. */
struct end {
    struct loco_manager *manager;
    struct loco_shared_region shared;
    unsigned char *memory; /* its own copy */
    uint64_t *results;     /* network memory */
};

struct stage {
    struct end ends[NODES]; /* this process's */
    uint64_t trials;        /* of each program */
    bool atomics;           /* the card has them */
    uint64_t round;         /* counts upwards, through all programs; below 2^32 */
    uint64_t surprises;     /* what the target has seen so far, at the target */
    struct loco_ack block;  /* the newest long put */
};

/* Opens a node and its memory. stage_meet then waits for the others. Before the target closes its
 * node, it waits until the poster has said that it needs it no more. */
void stage_open(struct stage *s, uint32_t node, struct loco_fabric *fabric);
void stage_meet(struct stage *s, uint32_t node, unsigned seconds);
void stage_dismiss_target(struct stage *s);
void stage_close(struct stage *s, uint32_t node);

/* A word of this process's node, as its CPU sees it. */
uint64_t *stage_word(struct stage *s, uint32_t node, size_t at);
uint64_t stage_load(struct stage *s, uint32_t node, size_t at);

/* Waits until the word is at least `value`. The target waits for as long as the poster lives, as
 * the poster does much that the target has no part in. */
void stage_await(struct stage *s, uint32_t node, size_t at, uint64_t value);

/* Operations of a road on the target's memory. */
struct loco_ack stage_put(struct stage *s, uint32_t road, size_t at, uint64_t value);
struct loco_ack stage_post_get(struct stage *s, uint32_t road, size_t at, size_t size, void *to);
struct loco_ack stage_post_add(struct stage *s, uint32_t road, size_t at, uint64_t add,
                               uint64_t *old);
void stage_wait(struct stage *s, struct loco_ack ack);
void stage_fence(struct stage *s, uint32_t road);

/* The same, with a wait. */
uint64_t stage_get(struct stage *s, uint32_t road, size_t at);
uint64_t stage_add(struct stage *s, uint32_t road, size_t at, uint64_t value);
uint64_t stage_swap(struct stage *s, uint32_t road, size_t at, uint64_t expected, uint64_t desired);

/* Every word of a long put has the round in both of its halves. */
uint64_t stage_pattern(uint64_t round);

/* Posts a put of `size` bytes of the round's pattern to the block, from network memory. */
struct loco_ack stage_put_block(struct stage *s, size_t size);

/* The target tells the poster that it has looked in this round. Its count of surprises is in its
 * memory before that. */
void stage_answer(struct stage *s);

/* --- the programs ---------------------------------------------------------------------------- */

enum rule {
    MUST_NOT, /* libloco's memory model excludes the outcome */
    MAY,      /* it does not */
};

/* A program. It counts how often its outcome is seen. */
struct litmus {
    const char *name;
    const char *outcome; /* what is looked for */
    enum rule rule;
    bool atomics;    /* it needs them */
    unsigned unless; /* MAY: and excluded on a fabric with this capability */
    size_t size;     /* of its put, if its outcome depends on that */
    /* These return whether the outcome was seen. The poster acts, then the target looks, then the
     * poster checks. NULL: nothing. */
    bool (*act)(struct stage *s, size_t size);
    bool (*look)(struct stage *s, size_t size);
    bool (*check)(struct stage *s);
};

/* All of them; the last has no name. */
extern const struct litmus litmus_programs[];

/* Whether libloco excludes the outcome. */
bool litmus_is_excluded(const struct stage *s, const struct litmus *l);

bool litmus_is_run(const struct stage *s, const struct litmus *l);

/* Plays all rounds. The poster's returns how often the outcome was seen. */
uint64_t litmus_post(struct stage *s, const struct litmus *l);
void litmus_look(struct stage *s, const struct litmus *l);

/* What an operation costs, ns. */
struct cost {
    const char *name;
    const char *what;
    bool atomics;
    bool answered; /* the target answers each */
    void (*act)(struct stage *s);
};

struct price {
    uint64_t median, p99;
};

extern const struct cost cost_operations[];

bool cost_is_run(const struct stage *s, const struct cost *c);
struct price cost_post(struct stage *s, const struct cost *c);
void cost_look(struct stage *s, const struct cost *c);

/* --- facts ----------------------------------------------------------------------------------- */

/* Finds the address of a device of this machine, or takes `name` for an address itself. Ends the
 * program if it is neither. */
void card_find_address(const char *name, char *address, size_t size);

/* What is known of the card with the address (NULL: without a card) and of this machine: an object
 * of texts. *atomics receives whether the card has atomic operations. */
json_t *card_facts(const char *address, bool *atomics);

/* --- the report ------------------------------------------------------------------------------ */

struct report {
    json_t *json; /* NULL: a table is printed as it grows */
    json_t *rows;
    unsigned excluded; /* outcomes that were seen and must not be */
};

/* `there` are the facts of the other machine; NULL: there is none. */
void report_begin(struct report *r, bool as_json, json_t *here, json_t *there);
void report_litmus(struct report *r, const struct litmus *l, bool excluded, uint64_t trials,
                   uint64_t seen);
void report_cost(struct report *r, const struct cost *c, uint64_t trials, struct price price);
void report_end(struct report *r);

#endif
