/*
 * The course of a workload in which two participants of a lock lose each other, and a third loses
 * neither. Node PARTED_HOLDER holds the lock, PARTED_OFF waits for it, and then PARTED_THIRD behind
 * that one. PARTED_OFF and PARTED_HOLDER lose each other. PARTED_OFF gives up, so PARTED_THIRD,
 * which has lost nobody, must be told.
 */
#ifndef TESTS_SIM_PARTED_H
#define TESTS_SIM_PARTED_H

#include "channels/loco-sim/workload.h"

enum { PARTED_OFF = 0, PARTED_THIRD = 1, PARTED_HOLDER = 2 };

/* Before a run, at each node. */
void parted_begin(void);

/* The holder, once it has the lock: returns when the others have given up. */
void parted_hold(struct loco_sim_actor *a);

/* The others: waits until they are to wait for the lock; and takes what came of that and of a try
 * after it. */
void parted_await(struct loco_sim_actor *a);
void parted_give_up(struct loco_sim_actor *a, int waited, int tried);

#endif
