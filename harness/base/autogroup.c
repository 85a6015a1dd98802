#include "autogroup.h"

#include <stdio.h>

static const char AUTOGROUP[] = "/proc/self/autogroup";

enum { AUTOGROUP_FIRST = -20 };

int hil_autogroup_parse(const char *text)
{
    int nice;

    return sscanf(text, "/autogroup-%*d nice %d", &nice) == 1 ? nice : HIL_AUTOGROUP_KEPT;
}

int hil_autogroup_usual(void)
{
    char text[64] = "";
    FILE *f = fopen(AUTOGROUP, "re");

    if (f && !fgets(text, sizeof text, f))
        text[0] = '\0';
    if (f)
        fclose(f);
    const int nice = hil_autogroup_parse(text);
    return nice == AUTOGROUP_FIRST ? HIL_AUTOGROUP_KEPT : nice;
}

static void autogroup_write(int nice)
{
    FILE *f = fopen(AUTOGROUP, "we");

    if (!f)
        return;
    fprintf(f, "%d", nice);
    fclose(f);
}

void hil_autogroup_raise(void)
{
    autogroup_write(AUTOGROUP_FIRST);
}

void hil_autogroup_put_back(int usual)
{
    if (usual != HIL_AUTOGROUP_KEPT)
        autogroup_write(usual);
}
