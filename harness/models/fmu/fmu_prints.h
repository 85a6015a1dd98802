/* Redirects the standard output of FMUs to the standard error while their code runs, because
 * programs may read our own output. */
#ifndef HIL_FMU_PRINTS_H
#define HIL_FMU_PRINTS_H

/* Calls may be nested. */
void fmu_prints_away(void);
void fmu_prints_back(void);

#endif
