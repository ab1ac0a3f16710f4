/* Places where a line of text may end: at a space, and beside a character of double width.
 *
 * Chinese and Japanese put no spaces between words. A line does not end before a closing mark or after an
 * opening one (the rules of kinsoku, as in Unicode Standard Annex 14). */
#ifndef BASE_LINE_BREAK_H
#define BASE_LINE_BREAK_H

/* Bytes of the words, or of the Chinese characters, that fit into `columns`; a longer word is cut. At least
 * one character if there is text. The spaces that follow belong to no line. */
int line_break(const char *text, int columns);

#endif
