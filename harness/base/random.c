#include "random.h"

#include <math.h>

uint64_t hil_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

double hil_random_uniform(uint64_t *state)
{
    return (double)(hil_random(state) >> 11) * 0x1p-53;
}

double hil_random_normal(uint64_t *state)
{
    const double radius = sqrt(-2 * log1p(-hil_random_uniform(state)));

    return radius * cos(0x1.921fb54442d18p+2 * hil_random_uniform(state));
}
