#include "signals.h"

#include <signal.h>
#include <stddef.h>

#include "../base/exit_status.h"

static volatile sig_atomic_t caught; /* the first signal */
static volatile sig_atomic_t count;  /* of signals */

static void on_signal(int signal)
{
    count++;
    if (!caught)
        caught = signal;
}

void hil_catch_signals(void)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGQUIT, SIGHUP};
    const struct sigaction action = {.sa_handler = on_signal};
    struct sigaction before;

    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (sigaction(ends[i], &action, &before) == 0 && ends[i] == SIGHUP &&
            before.sa_handler == SIG_IGN)
            sigaction(SIGHUP, &before, NULL);
}

unsigned hil_signals_caught(void)
{
    return (unsigned)count;
}

static volatile sig_atomic_t saves;

static void on_save(int signal)
{
    (void)signal;
    saves++;
}

void hil_catch_saves(void)
{
    const struct sigaction action = {.sa_handler = on_save, .sa_flags = SA_RESTART};

    sigaction(SIGUSR1, &action, NULL);
}

unsigned hil_saves_asked(void)
{
    return (unsigned)saves;
}

void hil_ignore_file_limit(void)
{
    signal(SIGXFSZ, SIG_IGN);
}

int hil_signal_status(void)
{
    const int signal = caught;

    return signal == 0         ? 0
           : signal == SIGHUP  ? HIL_EXIT_HUNG_UP
           : signal == SIGQUIT ? HIL_EXIT_QUIT
                               : HIL_EXIT_INTERRUPTED;
}
