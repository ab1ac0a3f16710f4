/* UTF-8: the characters of a text, and the terminal columns that each takes.
 *
 * The C library's wcwidth() is not used: it depends on the locale (C covers only ASCII) and differs between
 * glibc and musl. The table utf8_kinds.def is from Unicode 14.0.0: East Asian Width W and F take two columns
 * (Unicode Standard Annex 11), Mn, Me and Cf none. Characters of ambiguous width take one, as terminals do by
 * default. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

typedef enum Utf8Kind {
    UTF8_NARROW,
    UTF8_WIDE,
    UTF8_MARK,   /* combines with the previous character */
    UTF8_FORMAT, /* joiners, marks of direction, soft hyphens, ... */
    UTF8_CONTROL /* controls, line separators, and characters for private use */
} Utf8Kind;

enum { UTF8_BYTES = 4 }; /* bytes of the longest character */

/* Reads the character at *text and moves past it. A byte that begins no well-formed character (RFC 3629) is
 * one '?', so that reading always advances. Not to be called at the end of the text. */
uint32_t utf8_next(const char **text);
/* Returns the bytes written, without a terminator. */
size_t utf8_encode(uint32_t character, char out[UTF8_BYTES]);
Utf8Kind utf8_kind(uint32_t character);
/* 2, 1 or, for marks, formats and controls, 0. */
int utf8_columns(uint32_t character);
/* Removes from the end of `text` a character that a buffer's end has cut in two. */
void utf8_drop_half(char *text);

#endif
