/*
 * Formats a scenario's keys and values for figures. The name of a key ends in its unit, spelled
 * with the letters allowed in keys: ki_per_v_s is in 1/(V s). A figure writes the unit after the
 * value instead.
 */
#ifndef HIL_KEY_WORDS_H
#define HIL_KEY_WORDS_H

#include <stddef.h>

enum { HIL_KEY_WORDS_BYTES = 256 };

/* "components.control.parameters.ki_per_v_s" in 1/(V s): "controller gains ki". */
void hil_key_words(const char *key, const char *unit, char words[HIL_KEY_WORDS_BYTES]);

/* The same for the last part of the key: "ki". */
void hil_key_short_words(const char *key, const char *unit, char words[HIL_KEY_WORDS_BYTES]);

/* A unit as it is written in figures: "µs", "Ω"; after a value "/(V s)". */
const char *hil_unit_words(const char *unit);

/* The value with its unit: "150 /(V s)", "40 µs". */
void hil_value_words(const char *value, const char *unit, char words[HIL_KEY_WORDS_BYTES]);

/* Breaks the text at ", " into lines of at most this many letters, where possible. */
void hil_break_lines(char *text, unsigned letters);

/* The number of letters in the longest line, and the number of lines. */
unsigned hil_longest_line(const char *text);
unsigned hil_line_count(const char *text);

#endif
