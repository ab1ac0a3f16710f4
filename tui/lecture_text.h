/* The text of a lecture's stop as HTML and as Markdown, for pages and handouts. */
#ifndef TUI_LECTURE_TEXT_H
#define TUI_LECTURE_TEXT_H

#include "base/text.h"
#include "lecture/lecture.h"

/* Writes a text with inline marks as HTML. Addresses other than http and https are left out. */
void tui_lecture_text_add_html(Text *out, const char *text);
/* Writes the stop's blocks: paragraphs, lists and code. */
void tui_lecture_blocks_add_html(Text *out, const LectureStop *stop);
/* Writes the question with its choices, as a block of the class "question". */
void tui_lecture_question_add_html(Text *out, const LectureQuestion *question);

void tui_lecture_blocks_add_markdown(Text *out, const LectureStop *stop);
void tui_lecture_question_add_markdown(Text *out, const LectureQuestion *question);

#endif
