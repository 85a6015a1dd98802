/* Standard output of a program, which may be full. */
#ifndef HIL_STANDARD_FILES_H
#define HIL_STANDARD_FILES_H

/* Returns the exit status; it is 1, after a message, if what the program printed was lost. */
int hil_standard_files_end(int status);

#endif
