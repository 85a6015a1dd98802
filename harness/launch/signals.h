/*
 * The signals that end a run.
 */
#ifndef HIL_SIGNALS_H
#define HIL_SIGNALS_H

/* From here on the signals that end a run do so in order: SIGINT, SIGTERM, SIGQUIT, and SIGHUP,
 * unless that was ignored before (nohup). */
void hil_catch_signals(void);

/* The exit status of the first that came; 0: none has. */
int hil_signal_status(void);

#endif
