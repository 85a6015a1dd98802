/*
 * Signals: those that end a run, and one that must not.
 */
#ifndef HIL_SIGNALS_H
#define HIL_SIGNALS_H

/* From here on the signals that end a run do so in order: SIGINT, SIGTERM, SIGQUIT, and SIGHUP,
 * unless that was ignored before (nohup). */
void hil_catch_signals(void);

/* The exit status of the first that came; 0: none has. */
int hil_signal_status(void);

/* A file that may not grow (ulimit -f) is an error like others from here on: File too large. */
void hil_ignore_file_limit(void);

#endif
