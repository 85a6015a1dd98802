/* Redirects the standard output of models that are not built in to the standard error while their
 * code runs, because programs may read our own output. */
#ifndef HIL_PRINTS_H
#define HIL_PRINTS_H

/* Calls may be nested. */
void hil_prints_away(void);
void hil_prints_back(void);

#endif
