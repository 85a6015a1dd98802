#include "looks.h"

#include <math.h>

/* A colour on bright pages and in figures, and on dark pages. */
struct look {
    const char *name;
    uint32_t bright, dark;
};

static const struct look looks[] = {
    {"paper", 0xffffff, 0x14181d},
    {"ink", 0x1d232a, 0xe4e8ec},   /* texts */
    {"faint", 0x68727d, 0x98a2ad}, /* lesser texts, references */
    {"grid", 0xdfe3e8, 0x2c333b},
    {"mark", 0x4f62d6, 0x93a2ff},  /* events, and what can be clicked */
    {"good", 0x1e7d46, 0x56c27c},  /* passed; the window of the steady state */
    {"bad", 0xc62f2f, 0xff7b72},   /* failed, faults, missed steps */
    {"doubt", 0x9a6700, 0xdea73b}, /* inconclusive, does not settle */
};

static const struct look series[] = {
    {"blue", 0x2b7bba, 0x5aa9e6},   {"orange", 0xcf4f0b, 0xf08a4b}, {"green", 0x3a8a4d, 0x62b878},
    {"purple", 0x8e5bb0, 0xbd92dc}, {"yellow", 0xb08a00, 0xd4b13a}, {"navy", 0x08306b, 0x8fa8d8},
    {"brown", 0x7f1d02, 0xc98a78},  {"grey", 0x6b6b6b, 0xa8a8a8},
};

/* Colours of a map, from its least value to its greatest. */
static const struct look map[] = {
    {"weakest", 0xe4eff8, 0x16283a},
    {"weak", 0x6baed6, 0x2b5f8f},
    {"strong", 0x2b7bba, 0x5aa9e6},
    {"strongest", 0x08306b, 0xcfe6f7},
};

enum {
    LOOKS = sizeof looks / sizeof looks[0],
    SERIES = sizeof series / sizeof series[0],
    MAP = sizeof map / sizeof map[0],
};

static const uint32_t ramps[][3] = {
    [HIL_LOOK_SETTLES] = {0x6baed6, 0x2b7bba, 0x08306b},
    [HIL_LOOK_SWINGS] = {0xf59b42, 0xcf4f0b, 0x7f1d02},
};

uint32_t hil_look_ramp(enum hil_look_ramp ramp, double share)
{
    const int from = share < 0.5 ? 0 : 1;
    const uint32_t low = ramps[ramp][from], high = ramps[ramp][from + 1];
    uint32_t colour = 0;

    for (int shift = 16; shift >= 0; shift -= 8) {
        const double a = low >> shift & 0xff, b = high >> shift & 0xff;
        colour = colour << 8 | (uint32_t)lround(a + (2 * share - from) * (b - a));
    }
    return colour;
}

static void looks_array(const char *name, const struct look *at, unsigned count, FILE *to)
{
    fprintf(to, "array %s[%u] = [", name, count);
    for (unsigned i = 0; i < count; i++)
        fprintf(to, "%s'#%06x'", i ? ", " : "", at[i].bright);
    fputs("]\n", to);
}

void hil_looks_gnuplot(FILE *to)
{
    fputs("# Colours, as in reports and in the scope.\n", to);
    for (unsigned i = 0; i < LOOKS; i++)
        fprintf(to, "%s = '#%06x'\n", looks[i].name, looks[i].bright);
    looks_array("hues", series, SERIES, to);
    looks_array("map_hues", map, MAP, to);
    fputc('\n', to);
}

static uint32_t look_of(const struct look *look, int dark)
{
    return dark ? look->dark : look->bright;
}

static void looks_variables(int dark, FILE *to)
{
    for (unsigned i = 0; i < LOOKS; i++)
        fprintf(to, "--%s:#%06x;", looks[i].name, look_of(&looks[i], dark));
    for (unsigned i = 0; i < SERIES; i++)
        fprintf(to, "--series-%u:#%06x;", i + 1, look_of(&series[i], dark));
    for (unsigned i = 0; i < MAP; i++)
        fprintf(to, "--map-%u:#%06x;", i + 1, look_of(&map[i], dark));
}

char *hil_looks_style(const char *css)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);

    if (!to)
        return NULL;
    fputs(":root{color-scheme:light dark;", to);
    looks_variables(0, to);
    fputs("}@media (prefers-color-scheme:dark){:root:not(.paper){", to);
    looks_variables(1, to);
    fprintf(to, "}}:root.paper{color-scheme:light}\n%s", css);
    return fclose(to) ? NULL : text;
}
