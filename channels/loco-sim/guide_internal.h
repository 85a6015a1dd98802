/*
 * A run whose choices are guided. The files of this folder share it:
 *
 *      answers.c      the answers that make up a run, and their text
 *      guide.c        one run: what is asked, and what is answered
 *      touches.c      what threads and operations touched
 *      reduce.c       which runs need not be made, as another one is the same
 *      search.c       which runs to make: depth first, and PCT
 *      shrink.c       a run that fails, with as few answers as can be
 */
#ifndef LOCO_SIM_GUIDE_INTERNAL_H
#define LOCO_SIM_GUIDE_INTERNAL_H

#include "explore.h"
#include "touches_internal.h"

enum class { OTHER, PREEMPTION, DELAY };

struct kind {
    const char *name;
    enum class class;
    enum { FIXED, TO_ANY, TO_LARGEST } branches; /* depth first: to which answers */
};

extern const struct kind loco_sim_kinds[LOCO_CHOICES];

bool loco_sim_answers_add(struct loco_sim_answers *answers, struct loco_sim_answer answer);
void loco_sim_answer_print(const struct loco_sim_answer *answer, FILE *file);

/* A choice at which depth first could branch. The rest is for putting last a thread or operation.
 */
struct branch {
    enum loco_choice what;
    uint32_t number;
    uint64_t bound, usual;
    uint64_t who;
    struct touches own;    /* touched by it from here to its next such choice */
    size_t next;           /* that choice's branch; 0: there is none, or others act before */
    struct touches others; /* touched by others while it was last, in all runs that were made */
    bool made;             /* they were */
};

/* One that a given answer puts last, and that has not gone on yet. */
struct away {
    uint64_t who;
    bool is_away;
    struct touches others;
};

enum { SLOTS = 2 * LOCO_CHOICES }; /* kinds, early and later */

struct guide {
    struct loco_sim_director director; /* the first member */
    struct loco_sim_answers made;      /* not the usual ones */
    uint32_t asked[SLOTS];
    bool failed, as_drawn, loud; /* failed: no memory */
    bool acted;                  /* an actor acts, or has acted */

    /* Given answers, sorted, and where each kind's next one is. */
    struct loco_sim_answer *given;
    size_t given_count, next[SLOTS];

    /* Depth first: the branches after the last given answer. */
    bool branches;
    struct branch *branch;
    size_t branch_count, branch_room;
    bool reduces;         /* what is touched is noted */
    size_t open[2];       /* branches, from 1, of the thread and of the operation that act */
    struct away *away;    /* for each given answer */
    size_t given_so_far;  /* answers */
    uint64_t thread;      /* which acts */
    uint64_t thread_node; /* where */
    uint32_t events;      /* of the history so far */

    /* PCT: */
    unsigned depth;
    uint64_t random;
    uint64_t *moment; /* where one is put last; depth - 1 of them */
    struct loco_sim_size size;
};

/* Gives the guide a copy of the answers. Returns 0 or -ENOMEM. */
int loco_sim_guide_give(struct guide *guide, const struct loco_sim_answers *answers);
void loco_sim_guide_free(struct guide *guide);

/* Runs, and moves the answers that were made to `made`, unless it is NULL. */
int loco_sim_guide_run(struct guide *guide, const struct loco_sim_case *run,
                       struct loco_sim_answers *made);

/* As loco_sim_replay, with the answers that were made. */
int loco_sim_guide_replay(const struct loco_sim_case *run, const struct loco_sim_answers *answers,
                          bool loud, struct loco_sim_answers *made);

/* PCT: draws a number below `below`. */
uint64_t loco_sim_guide_draw(struct guide *guide, uint64_t below);

/* --- reduce.c --- */

void loco_sim_reduce_begin(struct guide *guide, struct loco_sim_chooser *chooser);
void loco_sim_reduce_free(struct guide *guide);

/* A thread or operation may be put last here, and is not; `is_branch`: the last branch is about it.
 */
void loco_sim_reduce_choice(struct guide *guide, enum loco_choice what, bool is_branch);

/* The next given answer is made. */
void loco_sim_reduce_given(struct guide *guide, enum loco_choice what, uint64_t value);

/* Whether putting last at the branch gives runs that are like those that put last later. */
bool loco_sim_reduce_skips(struct guide *guide, struct branch *branch);

/* The branches of the answers that a search has given; and those of all answers that it may. */
enum { ANSWERS_MAX = 64 };

struct loco_sim_search {
    uint64_t runs;
    bool every;                         /* also the runs that are like others */
    struct touches others[ANSWERS_MAX]; /* of each given answer, in the runs that have it so far */
    double until; /* no run begins when the process has used so many seconds; 0: all runs do */
};

double loco_sim_seconds_used(void);

/* As loco_sim_depth_first and loco_sim_pct, but until a time, and with other random numbers. */
int loco_sim_search_depth_first(const struct loco_sim_case *run, struct loco_sim_budget budget,
                                struct loco_sim_answers *answers, struct loco_sim_search *search);
int loco_sim_search_pct(const struct loco_sim_case *run, uint64_t random, unsigned depth,
                        struct loco_sim_size *size, struct loco_sim_answers *answers);

#endif
