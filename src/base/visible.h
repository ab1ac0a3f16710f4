/* Visible: text of unknown origin (names, messages) as printable UTF-8. What is no printable character is
 * written as its escape: "\x1b", "\u2028". */
#ifndef BASE_VISIBLE_H
#define BASE_VISIBLE_H

#include "base/text.h"

void visible_add(Text *out, const char *text);
/* The same as XML 1.0: as the text of an element or the value of an attribute in double quotes. */
void visible_add_xml(Text *out, const char *text);

#endif
