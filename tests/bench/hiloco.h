/* Functions for benchmarks that run the command hiloco. */
#ifndef BENCH_HILOCO_H
#define BENCH_HILOCO_H

/* Runs the hiloco in this program's folder, without output. The first of `arguments` is its name,
 * and the last is NULL. Returns the status from waitpid, or a negative errno. */
int bench_hiloco(const char *const arguments[]);

/* Removes a folder and its content. Prints a message if it cannot. */
void bench_remove(const char *directory);

#endif
