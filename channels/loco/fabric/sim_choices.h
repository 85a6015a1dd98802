/*
 * The choices of the simulator under chaos. Whatever the simulator could do in more than one way,
 * it asks its chooser, if it has one. Without a chooser it draws from the seed.
 *
 * Each choice has a usual answer. A run in which all answers are the usual ones is quiet: the
 * network makes all its steps at once and in order, and a thread runs until it waits. So a run is
 * known by its other answers. The same answers give the same run.
 *
 * Threads, and operations in flight, have ranks. Usually, of those that can go on, the one of the
 * highest rank does: operations before threads, and of each the one that was begun first. A thread
 * that waits has a low rank from the beginning of its wait on. A thread that is switched away from
 * (LOCO_CHOICE_SWITCH), and an operation that is delayed or does not do its usual step first, is
 * put last: it is below those that wait, for the next 200 waits.
 *
 * Once a run has made four fifths of its turns, nobody is asked any more. The schedule is then fair
 * and without delays. So a run that does not end has threads that wait for ever.
 */
#ifndef LOCO_SIM_CHOICES_H
#define LOCO_SIM_CHOICES_H

#include <stdint.h>
#include <stdio.h>

#include "fabric.h"
#include "language.h"

LOCO_DECLARATIONS

/* What is chosen. A number's usual value is the quiet one. */
enum loco_choice {
    LOCO_CHOICE_TIME, /* how many ns a turn takes */
    LOCO_CHOICE_TURN, /* which fiber or operation has the turn */
    LOCO_CHOICE_RANK, /* of a new thread or operation; 0: the usual */
    LOCO_CHOICE_REST, /* the rank of a thread that waits; 0: the last */

    /* Preemptions of threads. */
    LOCO_CHOICE_SWITCH,    /* 1: the thread is put last, as it is at a word of network memory or at
                              an operation; only asked for if another can go on */
    LOCO_CHOICE_INTERRUPT, /* 1: the thread is interrupted here */
    LOCO_CHOICE_COUNTDOWN, /* how many accesses to memory until the next interruption */
    LOCO_CHOICE_STALL,     /* for how many turns it is held back */

    /* Delays in the network and in store buffers. */
    LOCO_CHOICE_DELAY,    /* 1: the operation is put last; only asked for if another can go on */
    LOCO_CHOICE_ORDER,    /* which of an operation's possible steps comes first */
    LOCO_CHOICE_TEAR,     /* how many words move in this step, less one */
    LOCO_CHOICE_WORD,     /* the word that moves first */
    LOCO_CHOICE_STRIDE,   /* from word to word, less one */
    LOCO_CHOICE_STREAM,   /* 1: words move on before all are read */
    LOCO_CHOICE_AGAIN,    /* 1: a read is repeated */
    LOCO_CHOICE_PATIENCE, /* how many turns an operation's next step waits */
    LOCO_CHOICE_STORE,    /* how many turns a store waits in its buffer */
    LOCO_CHOICE_ROOM,     /* 1: the send queue is short */
    LOCO_CHOICE_NEWS,     /* how late control messages and losses are heard of */
    LOCO_CHOICES
};

/* What a thread or an operation does. */
enum loco_sim_deed {
    LOCO_SIM_RUNS,   /* it goes on: a thread of a node, an operation of a link */
    LOCO_SIM_PAUSES, /* a thread waits, sleeps, is switched away from, or ends */
    LOCO_SIM_READS,  /* a word of network memory, or something else that is shared */
    LOCO_SIM_WRITES,
    LOCO_SIM_POSTS, /* to a link */
    LOCO_SIM_TIMES, /* looks at the clock, or waits until a time */
    LOCO_SIM_HIDES, /* something that is not told */
};

struct loco_sim_chooser {
    /* Returns a number below `bound`. `drawn` is what the seed says; `usual` is the quiet answer.
     * A larger number counts as the usual one. */
    uint64_t (*choose)(struct loco_sim_chooser *chooser, enum loco_choice what, uint64_t bound,
                       uint64_t usual, uint64_t drawn);
    /* Unless it is NULL: is told what each thread and each operation does. `what` is a number of
     * the word, link or node, the same in each run, and not 0. A thread that reads and writes
     * memory without being interrupted there, as of code that is not compiled for it, hides what it
     * does. */
    void (*note)(struct loco_sim_chooser *chooser, uint64_t who, enum loco_sim_deed deed,
                 uint64_t what);
};

/* Lets the chooser decide from now on. It stays valid until the run has ended. */
void loco_sim_choose_by(struct loco_fabric *sim, struct loco_sim_chooser *chooser);

/* From within choose(): the number of the thread or operation that the choice is about. */
uint64_t loco_sim_subject(const struct loco_fabric *sim);

/* From within choose(): prints what the choice is about. */
void loco_sim_describe(const struct loco_fabric *sim, FILE *file);

/* After a run that did not end: prints each thread that is left, with the words of network memory
 * that it looks at, and of each link the oldest operations that are not done. */
void loco_sim_explain(struct loco_fabric *sim, FILE *file);

LOCO_DECLARATIONS_END

#endif
