/* Places where a line of text may end: at a space, and beside a character of double width, since Chinese and
 * Japanese put no spaces between words. Not before a closing mark nor after an opening one (the rules of
 * kinsoku, as in Unicode Standard Annex 14). */
#ifndef BASE_LINE_BREAK_H
#define BASE_LINE_BREAK_H

/* Bytes of the words, or of the Chinese characters, that fit into `columns`; a word that is longer than that is cut. At
 * least one character where there is text. The spaces that follow belong to no line. */
int line_break(const char *text, int columns);

#endif
