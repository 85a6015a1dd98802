/* What a program inherits from the process that started it. */
#ifndef HIL_INHERITED_H
#define HIL_INHERITED_H

/*
 * Brings it to a known state. Call it first.
 *
 * - Standard input, output and error that are closed are opened on nothing. Without this the first
 *   files that the program opens would take their places, and get its messages.
 * - All signals do what they do by default, and none is blocked. SIGHUP stays ignored if it was
 *   (nohup).
 * - The secret leaves the environment (secret.h).
 * - The owner may read and write the files that the program makes, and only those whom the umask
 *   lets in may read them; nobody else may write.
 */
void hil_inherited_reset(void);

#endif
