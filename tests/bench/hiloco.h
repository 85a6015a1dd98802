/* Benchmarks of hiloco as it is run: by its command. */
#ifndef BENCH_HILOCO_H
#define BENCH_HILOCO_H

/* Runs the hiloco that lies beside this program, without a word. Of `arguments` the first is its
 * name, and the last is NULL. Returns what waitpid says of it, or a negative errno. */
int bench_hiloco(const char *const arguments[]);

/* Removes a folder, with all that is in it. If it cannot, it says so. */
void bench_remove(const char *directory);

#endif
