/*
 * scan.h - C source as text, for the places that clang does not tell: where a
 * declaration's braces and attributes are, and which #pragma pack is in force.
 *
 * All offsets are bytes of text[0 .. len); every function returns an offset
 * <= len and never reads behind it, whatever the text is.
 */
#ifndef LM_OPTIMIZER_SCAN_H
#define LM_OPTIMIZER_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Behind white space, comments and line splices. */
size_t lm_scan_blank(const char *text, size_t len, size_t at);

/* Behind the token at `at`: a word or number, a string or character, else one byte. */
size_t lm_scan_token(const char *text, size_t len, size_t at);

/* True if a name starts at `at`. */
bool lm_scan_is_name(const char *text, size_t len, size_t at);

/* Behind the ')' that closes the '(' at `at`; len if there is none. */
size_t lm_scan_parens(const char *text, size_t len, size_t at);

/* Behind the macro invocation at `at`: its name, and its arguments if '(' follows. */
size_t lm_scan_invocation(const char *text, size_t len, size_t at);

/* The first '{' from `at` on, outside parentheses, comments and directives; len if none. */
size_t lm_scan_open(const char *text, size_t len, size_t at);

/* True if the word occurs as a token in text[begin .. end). */
bool lm_scan_has_word(const char *text, size_t begin, size_t end, const char *word);

/*
 * The value of #pragma pack in force at `end`, by the directives and _Pragma
 * operators in text[0 .. end), conditionals ignored; initial is the value at
 * the start and what pack() returns to.  0: none.
 */
uint32_t lm_scan_pack(const char *text, size_t end, uint32_t initial);

#endif
