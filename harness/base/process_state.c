#include "process_state.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Others stay as they are: a virtual machine in a model may need its own handler of SIGSEGV. */
static const int kept_signals[HIL_KEPT_SIGNALS] = {
    SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD, SIGALRM, SIGPIPE, SIGXFSZ, SIGWINCH,
};

/* umask() would have to change it, which other threads may notice. */
static bool read_file_mask(mode_t *mask)
{
    FILE *status = fopen("/proc/self/status", "re");
    bool found = false;
    char line[256];

    while (status && !found && fgets(line, sizeof line, status))
        found = sscanf(line, "Umask: %o", mask) == 1;
    if (status)
        fclose(status);
    return found;
}

void hil_process_state_keep(struct hil_process_state *s)
{
    const char *locale = setlocale(LC_ALL, NULL);

    s->folder = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    s->locale = locale ? strdup(locale) : NULL;
    s->thread_locale = uselocale(NULL);
    fegetenv(&s->arithmetic);
    pthread_sigmask(SIG_SETMASK, NULL, &s->mask);
    for (unsigned i = 0; i < HIL_KEPT_SIGNALS; i++)
        sigaction(kept_signals[i], NULL, &s->signals[i]);
    s->has_file_mask = read_file_mask(&s->file_mask);
}

void hil_process_state_restore(struct hil_process_state *s)
{
    if (s->has_file_mask)
        umask(s->file_mask);
    for (unsigned i = 0; i < HIL_KEPT_SIGNALS; i++)
        sigaction(kept_signals[i], &s->signals[i], NULL);
    pthread_sigmask(SIG_SETMASK, &s->mask, NULL);
    fesetenv(&s->arithmetic);
    uselocale(s->thread_locale);
    if (s->locale && strcmp(s->locale, setlocale(LC_ALL, NULL)) != 0)
        setlocale(LC_ALL, s->locale);
    free(s->locale);
    if (s->folder < 0)
        return;
    if (fchdir(s->folder)) {
        /* The folder is no longer accessible, which a model cannot cause. */
    }
    close(s->folder);
}
