/* A law: proportional and integral, within the limits of the duty cycle. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char tables[] =
    "hiloco 1\n"
    "name pi\n"
    "doc Proportional and integral law\n"
    "kind sampled\n"
    "parameter kp_per_v 1/V 0.01 0 10 duty cycle for each volt of error\n"
    "parameter ki_per_v_s \"1/(V s)\" 0.5 0 1e4 growth of the duty cycle for each volt of error\n"
    "parameter duty_min - 0 0 1 least duty cycle\n"
    "parameter duty_max - 1 0 1 greatest duty cycle\n"
    "input reference_v V required -1e4 1e4 reference\n"
    "input voltage_v V required -1e4 1e4 measured voltage\n"
    "output duty - duty cycle\n"
    "ready\n";

int main(void)
{
    const int socket = atoi(getenv("HILOCO_FD"));
    FILE *in = fdopen(socket, "r"), *out = fdopen(dup(socket), "w");
    double period = 0, kp = 0, ki = 0, min = 0, max = 1, integral = 0, reference, voltage;
    char line[1000], *numbers;

    setvbuf(out, NULL, _IOLBF, 0);
    fputs(tables, out);
    while (fgets(line, sizeof line, in)) {
        numbers = line + strcspn(line, " ");
        if (strncmp(line, "create", 6) == 0) {
            sscanf(numbers, "%lf %lf %lf %lf %lf", &period, &kp, &ki, &min, &max);
            fputs(min <= max ? "ok\n" : "error duty_min is above duty_max\n", out);
        } else if (sscanf(numbers, "%*u %lf %lf", &reference, &voltage) == 2) {
            integral = fmin(fmax(integral + ki * period * (reference - voltage), min), max);
            fprintf(out, "%.17g\n", fmin(fmax(kp * (reference - voltage) + integral, min), max));
        }
    }
    return 0;
}
