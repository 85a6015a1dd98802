/* Standard input, output and error of a program, which may be closed or full. */
#ifndef HIL_STANDARD_FILES_H
#define HIL_STANDARD_FILES_H

/* Opens those that are closed, on nothing. Without this the first files that the program opens
 * would take their places, and get its messages. Call it first. */
void hil_standard_files_open(void);

/* Returns the exit status; it is 1, after a message, if what the program printed was lost. */
int hil_standard_files_end(int status);

#endif
