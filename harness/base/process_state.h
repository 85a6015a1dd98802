/*
 * The state of a process that foreign code may change when it is loaded, or makes a component: the
 * current folder, the locale, the handling of floating-point numbers, what the signals do by which
 * a run is ended and watched, and the mask of new files. A library may change it without intention:
 * one that was linked with -ffast-math changes the arithmetic of whoever loads it.
 */
#ifndef HIL_PROCESS_STATE_H
#define HIL_PROCESS_STATE_H

#include <fenv.h>
#include <locale.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

enum { HIL_KEPT_SIGNALS = 9 };

struct hil_process_state {
    int folder;
    char *locale;
    locale_t thread_locale;
    fenv_t arithmetic;
    sigset_t mask;
    struct sigaction signals[HIL_KEPT_SIGNALS];
    bool has_file_mask;
    mode_t file_mask;
};

/* Keeps the state, and restores it. */
void hil_process_state_keep(struct hil_process_state *state);
void hil_process_state_restore(struct hil_process_state *state);

#endif
