/*
 * Random numbers that are the same on every machine: splitmix64 (Steele, Lea, Flood 2014), a
 * generator whose whole state is a counter. The initial state is the seed.
 */
#ifndef HIL_RANDOM_H
#define HIL_RANDOM_H

#include <stdint.h>

/* One 64-bit number. */
uint64_t hil_random(uint64_t *state);

/* Uniform in [0, 1): the upper 53 bits of one number. */
double hil_random_uniform(uint64_t *state);

/* Normal with mean 0 and standard deviation 1: uses two numbers, by Box and Muller. */
double hil_random_normal(uint64_t *state);

#endif
