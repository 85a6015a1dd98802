/*
 * A scenario's key and its value, as a figure writes them. A key's name ends in its unit, in
 * letters that a key may have: ki_per_v_s is in 1/(V s). The figure has the unit behind the value.
 */
#ifndef HIL_KEY_WORDS_H
#define HIL_KEY_WORDS_H

#include <stddef.h>

enum { HIL_KEY_WORDS_BYTES = 256 };

/* "controller.gains.ki_per_v_s" in 1/(V s): "controller gains ki". */
void hil_key_words(const char *key, const char *unit, char words[HIL_KEY_WORDS_BYTES]);

/* The same of the key's last part: "ki". */
void hil_key_short_words(const char *key, const char *unit, char words[HIL_KEY_WORDS_BYTES]);

/* A unit as it is written: "µs", "Ω"; behind a value "/(V s)". */
const char *hil_unit_words(const char *unit);

/* The value with its unit: "150 /(V s)", "40 µs". */
void hil_value_words(const char *value, const char *unit, char words[HIL_KEY_WORDS_BYTES]);

/* Breaks the text at its ", " into lines of at most so many letters, where that can be done. */
void hil_break_lines(char *text, unsigned letters);

/* How many letters the longest line has, and how many lines there are. */
unsigned hil_longest_line(const char *text);
unsigned hil_line_count(const char *text);

#endif
