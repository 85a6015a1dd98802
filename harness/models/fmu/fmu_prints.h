/* While FMUs are at work, what they print to the standard output goes to the standard error: our
 * own output may be read by programs. */
#ifndef HIL_FMU_PRINTS_H
#define HIL_FMU_PRINTS_H

/* They may be nested. */
void fmu_prints_away(void);
void fmu_prints_back(void);

#endif
