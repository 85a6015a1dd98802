/*
 * Signal handling: the signals that end a run, and one that must not.
 */
#ifndef HIL_SIGNALS_H
#define HIL_SIGNALS_H

/* From now on, SIGINT, SIGTERM and SIGQUIT end a run in an orderly way. So does SIGHUP, unless it
 * was ignored before (nohup). */
void hil_catch_signals(void);

/* The exit status of the first signal that came; 0: none. */
int hil_signal_status(void);

/* How many of these signals came. */
unsigned hil_signals_caught(void);

/* From now on, SIGUSR1 asks to save the newest events of a trace; how often it did. */
void hil_catch_saves(void);
unsigned hil_saves_asked(void);

/* From now on, exceeding the file size limit (ulimit -f) is an ordinary error, "File too large",
 * instead of a deadly signal. */
void hil_ignore_file_limit(void);

#endif
