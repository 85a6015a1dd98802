/*
 * Random numbers that are the same everywhere: splitmix64 (Steele, Lea, Flood 2014), the generator
 * whose whole state is a counter. The first state is the seed.
 */
#ifndef HIL_RANDOM_H
#define HIL_RANDOM_H

#include <stdint.h>

/* One number of 64 bits. */
uint64_t hil_random(uint64_t *state);

/* Uniform in [0, 1): one number, its upper 53 bits. */
double hil_random_uniform(uint64_t *state);

/* Of mean 0 and deviation 1: two numbers, by Box and Muller. */
double hil_random_normal(uint64_t *state);

#endif
