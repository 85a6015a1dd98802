/* Leaves out what does not count, and finds the eigenvalues. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eigenvalues.h"
#include "linearize.h"

/* --- states that do not count ----------------------------------------------------------------- */

/* Whether a state stays what it is, such as the integral of a law without an integral gain. */
static bool reduce_stays(const struct linear_model *m, unsigned state)
{
    for (unsigned j = 0; j < m->states; j++)
        if (fabs(m->a[state * m->states + j] - (j == state)) > 1e-9)
            return false;
    for (unsigned j = 0; j < m->inputs; j++)
        if (m->b[state * m->inputs + j] != 0)
            return false;
    return true;
}

/* Whether a state counts: whether any output, or another state that counts, depends on it. */
static bool reduce_counts(const struct linear_model *m, const bool *counts, unsigned state)
{
    for (unsigned i = 0; i < m->outputs; i++)
        if (m->c[i * m->states + state] != 0)
            return true;
    for (unsigned i = 0; i < m->states; i++)
        if (i != state && counts[i] && m->a[i * m->states + state] != 0)
            return true;
    /* by itself it is a mode, unless it is only overwritten */
    return m->a[state * m->states + state] != 0;
}

static void reduce_to(struct linear_model *m, const bool *counts)
{
    const unsigned before = m->states;
    unsigned states = 0, row = 0;

    for (unsigned i = 0; i < before; i++)
        states += counts[i];
    for (unsigned i = 0; i < before; i++) {
        if (!counts[i])
            continue;
        for (unsigned j = 0, column = 0; j < before; j++)
            if (counts[j])
                m->a[row * states + column++] = m->a[i * before + j];
        memmove(&m->b[row * m->inputs], &m->b[i * m->inputs], m->inputs * sizeof *m->b);
        m->x[row++] = m->x[i];
    }
    for (unsigned i = 0; i < m->outputs; i++)
        for (unsigned j = 0, column = 0; j < before; j++)
            if (counts[j])
                m->c[i * states + column++] = m->c[i * before + j];
    m->states = states;
}

int linear_reduce(struct linear_model *m)
{
    bool *counts = malloc(m->states + 1);
    bool again = true;

    if (!counts)
        return -ENOMEM;
    for (unsigned i = 0; i < m->states; i++)
        counts[i] = !reduce_stays(m, i);
    while (again) {
        again = false;
        for (unsigned i = 0; i < m->states; i++) {
            if (!counts[i] || reduce_counts(m, counts, i))
                continue;
            counts[i] = false;
            again = true;
        }
    }
    reduce_to(m, counts);
    free(counts);
    return 0;
}

/* --- parts that are not coupled --------------------------------------------------------------- */

static void modes_mark(const struct linear_model *m, unsigned *part_of, unsigned part,
                       unsigned *pending)
{
    for (unsigned left = 1; left > 0;) {
        const unsigned i = pending[--left];
        for (unsigned j = 0; j < m->states; j++) {
            const bool coupled = m->a[i * m->states + j] != 0 || m->a[j * m->states + i] != 0;
            if (!coupled || part_of[j] != UINT_MAX)
                continue;
            part_of[j] = part;
            pending[left++] = j;
        }
    }
}

static int modes_find_parts(struct linear_modes *modes, const struct linear_model *m)
{
    unsigned *pending = calloc(m->states + 1, sizeof *pending);

    modes->part_of = malloc((m->states + 1) * sizeof *modes->part_of);
    if (!pending || !modes->part_of) {
        free(pending);
        return -ENOMEM;
    }
    for (unsigned i = 0; i < m->states; i++)
        modes->part_of[i] = UINT_MAX;
    for (unsigned i = 0; i < m->states; i++) {
        if (modes->part_of[i] != UINT_MAX)
            continue;
        modes->part_of[i] = modes->part_count;
        pending[0] = i;
        modes_mark(m, modes->part_of, modes->part_count++, pending);
    }
    free(pending);
    return 0;
}

/* --- eigenvalues ------------------------------------------------------------------------------ */

/* An eigenvalue below this is that of a delay, which is zero but for rounding. */
static const double zero = 1e-4;

/* How far two eigenvalues may be apart to count as one that several loops have. */
static const double alike = 1e-7;

/* By how much an integrator's may be from 1, by rounding. */
static const double standing = 1e-8;

static void modes_add(struct linear_modes *modes, double complex z, unsigned part, double period_s)
{
    if (cabs(z) < zero) {
        modes->gone++;
        return;
    }
    for (unsigned i = 0; i < modes->count; i++)
        if (modes->at[i].part != part && cabs(modes->at[i].z - z) < alike) {
            modes->at[i].count++;
            return;
        }
    if (fabs(cimag(z)) < alike * cabs(z))
        z = creal(z);
    const double complex s = clog(z) / period_s;
    modes->at[modes->count++] = (struct linear_mode){
        .z = z,
        .frequency_hz = fabs(cimag(s)) / (2 * acos(-1)),
        .damping = s == 0 ? 0 : -creal(s) / cabs(s),
        .time_s = 1 / fabs(creal(s)),
        .count = 1,
        .part = part,
    };
}

/* The matrix of a part, in units of each state's size, so that its numbers are alike. */
static unsigned modes_matrix(const struct linear_modes *modes, const struct linear_model *m,
                             unsigned part, double *a)
{
    unsigned n = 0;

    for (unsigned i = 0; i < m->states; i++) {
        const double size = m->x[i].scale > 0 ? m->x[i].scale : 1;
        for (unsigned j = 0; modes->part_of[i] == part && j < m->states; j++)
            if (modes->part_of[j] == part)
                a[n++] = m->a[i * m->states + j] * (m->x[j].scale > 0 ? m->x[j].scale : 1) / size;
    }
    return (unsigned)lround(sqrt(n));
}

static int modes_compare(const void *a, const void *b)
{
    const struct linear_mode *x = a, *y = b;
    const double by = cabs(y->z) - cabs(x->z);

    if (fabs(by) > 1e-12)
        return by > 0 ? 1 : -1;
    return (cimag(y->z) > cimag(x->z)) - (cimag(y->z) < cimag(x->z));
}

int linear_find_modes(struct linear_modes *modes, const struct linear_model *m)
{
    double *a = malloc(((size_t)m->states * m->states + 1) * sizeof *a);
    double complex *z = malloc((m->states + 1) * sizeof *z);

    *modes = (struct linear_modes){.at = calloc(m->states + 1, sizeof *modes->at)};
    int rc = a && z && modes->at ? modes_find_parts(modes, m) : -ENOMEM;
    for (unsigned part = 0; !rc && part < modes->part_count; part++) {
        const unsigned n = modes_matrix(modes, m, part, a);
        rc = hil_eigenvalues(n, a, z);
        for (unsigned i = 0; !rc && i < n; i++)
            modes_add(modes, z[i], part, 1e-9 * (double)m->period_ns);
    }
    if (!rc)
        qsort(modes->at, modes->count, sizeof *modes->at, modes_compare);
    free(a);
    free(z);
    return rc;
}

void linear_free_modes(struct linear_modes *modes)
{
    free(modes->at);
    free(modes->part_of);
    *modes = (struct linear_modes){0};
}

double linear_radius(const struct linear_modes *modes)
{
    return modes->count ? cabs(modes->at[0].z) : 0;
}

bool linear_is_stable(const struct linear_modes *modes)
{
    return linear_radius(modes) <= 1 + standing;
}
